"""Records and notes to a full-precision index."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..serve import terms
from ..serve.bundle import Name
from ..serve.embedder import Embedder, Vectors
from ..serve.phrases import normalise
from ..serve.routes import TEMPLATES
from ..serve.types import RoutingHint
from . import cache, lexicon, notebook, passages
from .lexicon import Lexicon
from .notebook import Note
from .passages import Cut, Window
from .records import Record

# A note has no terms to find it by, only vectors, and a mean over many words says little: shorter
# windows told answerable questions from others better on every length that was tried.
NOTE_WINDOW = Window(words=60, overlap=0.25)


@dataclass(frozen=True, slots=True)
class SiteInfo:
    """What is known of the site as a whole. ``route`` is the template of what a route says."""

    name: str
    url: str | None
    language: str
    route: str = TEMPLATES["en"]


@dataclass(frozen=True, slots=True)
class Index:
    """All that a bundle is made from. Of notes it has their hints and vectors only.

    ``passage_records`` gives each cut's record, ``hint_owners`` each note window's hint, as rows.
    ``embedded`` counts the texts that were not in the cache.
    """

    site: SiteInfo
    scripts: frozenset[str]
    records: tuple[Record, ...]
    names: tuple[Name, ...]
    themes: tuple[Name, ...]
    cuts: tuple[Cut, ...]
    passage_records: tuple[int, ...]
    passage_vectors: Vectors
    lexicon: Lexicon
    hints: tuple[RoutingHint, ...]
    hint_vectors: Vectors
    hint_owners: tuple[int, ...]
    embedded: int


def build(
    site: SiteInfo,
    records: Iterable[Record],
    notes: Sequence[Note],
    resolve: Callable[[str], str],
    embedder: Embedder,
    cache_folder: Path,
    window: Window | None = None,
    progress: cache.Progress | None = None,
) -> Index:
    """Cut, embed and index a site.

    resolve: from a note's ``about`` to a url; it raises NotebookError. Vectors that the cache
    has are not embedded again.
    """
    window = window or Window()
    kept = tuple(record for record in records if not record.metadata.excluded)
    hints = tuple(notebook.hint(note, resolve) for note in notes)
    by_record = [passages.cut(record, window, site.language) for record in kept]
    cuts = tuple(cut for group in by_record for cut in group)
    by_note = [note_texts(note) for note in notes]
    texts = [cut.retrieval_text for cut in cuts] + [text for group in by_note for text in group]
    vectors, embedded = cache.embed(texts, embedder, cache_folder, progress)
    full_texts = [_phrase_text(group) for group in by_record]
    return Index(
        site=site,
        scripts=frozenset().union(*(terms.scripts(cut.retrieval_text) for cut in cuts)),
        records=kept,
        names=_names(((row, _name_phrases(r)) for row, r in enumerate(kept)), full_texts),
        themes=_names(((row, r.metadata.themes) for row, r in enumerate(kept)), full_texts),
        cuts=cuts,
        passage_records=tuple(row for row, group in enumerate(by_record) for _ in group),
        passage_vectors=vectors[: len(cuts)],
        lexicon=lexicon.index(cuts, site.language),
        hints=hints,
        hint_vectors=vectors[len(cuts) :],
        hint_owners=tuple(row for row, group in enumerate(by_note) for _ in group),
        embedded=embedded,
    )


def note_texts(note: Note) -> list[str]:
    """A note's windows, each under its title and label, as they are embedded."""
    head = "\n".join(part for part in (note.title, note.label) if part)
    return [f"{head}\n\n{part}" for part in passages.windows(note.body, NOTE_WINDOW)] or [head]


def _phrase_text(cuts: Sequence[Cut]) -> str:
    return f" {normalise(' '.join(cut.retrieval_text for cut in cuts))} "


def _name_phrases(record: Record) -> tuple[str, ...]:
    return (record.title, record.slug, *record.metadata.aliases)


def _names(
    phrases: Iterable[tuple[int, Iterable[str]]], full_texts: Sequence[str]
) -> tuple[Name, ...]:
    """Each distinct phrase, the records that bear it and in how many records it occurs."""
    bearers: dict[str, set[int]] = {}
    for row, texts in phrases:
        for text in texts:
            phrase = normalise(text)
            if phrase and phrase not in ("index", "readme"):
                bearers.setdefault(phrase, set()).add(row)
    return tuple(
        Name(phrase, tuple(sorted(rows)), sum(f" {phrase} " in text for text in full_texts))
        for phrase, rows in sorted(bearers.items())
    )
