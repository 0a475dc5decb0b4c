"""Small records, indexes and bundles, and parts that count or follow a script."""

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from answerable.engine.bundle import Bundle, open_bundle
from answerable.engine.engine import Engine
from answerable.engine.index.columns import Index, SiteMetadata
from answerable.engine.index.manifest import LOCAL_PROFILE, Profile
from answerable.engine.retrieval import retrieve as retrieve_module
from answerable.engine.retrieval.question import read_question
from answerable.engine.retrieval.retrieve import RetrievalResult
from answerable.engine.retrieval.store import Store
from answerable.engine.types import Passage, RoutingHint
from answerable.engine.vectors import Embedder, EmbedderIdentity, Floats
from answerable.function.policy import Policy
from answerable.indexing.build import build_index
from answerable.indexing.notes.notebook import Note
from answerable.indexing.pages.markdown import parse_article
from answerable.indexing.pages.page_index import index_record
from answerable.indexing.pages.records import Record, parse_metadata
from answerable.indexing.write import pack_index, write_index
from support.app_requests import Request, Response, app_of, send
from support.scripted import LETTER_IDENTITY, LetterEmbedder, ScriptedAnswerer

NOON = dt.datetime(2024, 5, 1, 12, tzinfo=dt.UTC)
TINY = LETTER_IDENTITY


@dataclass
class CountingEmbedder:
    """Another embedder and every text that it was asked for."""

    inner: Embedder
    texts: list[str] = field(default_factory=list)

    @property
    def identity(self) -> EmbedderIdentity:
        return self.inner.identity

    @property
    def max_question_tokens(self) -> int:
        return self.inner.max_question_tokens

    def word_rank(self, word: str) -> int | None:
        return self.inner.word_rank(word)

    def embed(self, texts: Sequence[str]) -> Floats:
        self.texts += texts
        return self.inner.embed(texts)


def record(name: str, html: str, title: str = "", **meta: Any) -> Record:
    """A record from a page's HTML."""
    title = title or name.capitalize()
    article = parse_article(html, title, f"/{name}/")
    return Record(
        id=name,
        url=f"/{name}/",
        title=title,
        metadata=parse_metadata(meta),
        sections=article.sections,
        anchors=article.anchors,
        abbreviations=article.abbreviations,
    )


def note(name: str, body: str, about: str = "https://archive.example/") -> Note:
    """A note whose label and locator carry its name."""
    return Note(f"{name}.md", f"note-{name}", f"Label {name}", f"shelf {name}", about, "", body)


def index_of(
    folder: Path,
    pages: Iterable[Record] = (),
    notes: Sequence[Note] = (),
    embedder: Embedder | None = None,
    language: str = "en",
    *,
    languages: Mapping[str, str] | None = None,
    names: Sequence[str] = (),
    weights: Mapping[str, float] | None = None,
    dimensions: int | None = None,
) -> Index:
    """An index of records and notes; folder: where the embedding cache goes.

    languages: of the records that are not in the site's own, by id.
    """
    own = languages or {}
    index, _ = build_index(
        SiteMetadata("Test", None, language, names=tuple(names)),
        [index_record(replace(page, language=own.get(page.id, language))) for page in pages],
        notes,
        lambda about: about,
        embedder or LetterEmbedder(),
        folder / "cache",
        weights,
        dimensions=dimensions,
    )
    return index


def bundle_of(
    folder: Path,
    index: Index,
    profile: Profile = LOCAL_PROFILE,
    identity: EmbedderIdentity = TINY,
) -> Bundle:
    """Write an index as a bundle and open it."""
    write_index(pack_index(index, identity, profile, NOON), folder / "bundle")
    return open_bundle(folder / "bundle")


def engine_of(folder: Path, *pages: Record, answerer: ScriptedAnswerer | None = None) -> Engine:
    """An engine over a bundle of letters, with a floor that anything passes."""
    bundle = bundle_of(folder, index_of(folder, pages), Profile(floor=0.0, note_floor=0.0))
    return Engine(bundle, LetterEmbedder(), answerer or ScriptedAnswerer([]))


def passage(name: str, text: str, url: str = "") -> Passage:
    """A passage of one sentence."""
    return Passage(name, name, url or f"/{name}/", name.upper(), text)


def routing(name: str, url: str = "") -> RoutingHint:
    """A hint."""
    return RoutingHint(f"note:{name}", f"Label {name}", f"shelf {name}", url or f"/{name}/")


# Nothing is held back: what a test asks is answered, and anew each time.
OPEN = Policy(
    rate="1000/second", rate_all="1000/second", cache_seconds=0, tokens_per_day=None,
    allowed_origins=("https://harbour.example",),
)  # fmt: skip


def handle(engine: Engine, request: Request) -> Response:
    """Answer a request by a function over an engine, without any limit."""
    return send(app_of(engine, OPEN), request)


def retrieve(
    store: Store, question: str, vector: Floats, *args: Any, **kwargs: Any
) -> RetrievalResult:
    """Read a question and retrieve with a vector of its own; see ``retrieval.retrieve``."""
    return retrieve_module.retrieve(store, read_question(store, question), vector, *args, **kwargs)
