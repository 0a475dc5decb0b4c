"""Records and notes to a full-precision index."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
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

# The words of `normalise`, which reads a character at a time and is too slow for whole pages.
_WORD = re.compile(r"[^\W_]+")

# A note has no terms to find it by, only vectors, and a mean over many words says little: shorter
# windows told answerable questions from others better on every length that was tried.
NOTE_WINDOW = Window(words=60, overlap=0.25)


@dataclass(frozen=True, slots=True)
class SiteInfo:
    """What is known of the site as a whole. ``route`` is the template of what a route says.

    ``names`` are what the site and its author are called: no question's word is unknown for being
    one of theirs.
    """

    name: str
    url: str | None
    language: str
    route: str = TEMPLATES["en"]
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Index:
    """All that a bundle is made from. Of notes it has their hints and vectors only.

    ``passage_records`` gives each cut's record, ``hint_owners`` each note window's hint, as rows.
    ``languages`` holds (language, first, last + 1) of the passages' rows, which stand language by
    language; ``weights`` is what each record's scores are multiplied by.
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
    languages: tuple[tuple[str, int, int], ...]
    weights: tuple[float, ...]


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
    by_note = [note_texts(note, site.language) for note in notes]
    texts = [cut.retrieval_text for cut in cuts] + [text for group in by_note for text in group]
    vectors, embedded = cache.embed(texts, embedder, cache_folder, progress)
    names = _bearers(_name_phrases(record) for record in kept)
    themes = _bearers(record.metadata.themes for record in kept)
    pages = (" ".join(cut.retrieval_text for cut in group) for group in by_record)
    frequencies = count_pages({*names, *themes}, pages)
    return Index(
        site=site,
        scripts=frozenset().union(*(terms.scripts(cut.retrieval_text) for cut in cuts)),
        records=kept,
        names=_names(names, frequencies),
        themes=_names(themes, frequencies),
        cuts=cuts,
        passage_records=tuple(row for row, group in enumerate(by_record) for _ in group),
        passage_vectors=vectors[: len(cuts)],
        lexicon=lexicon.index(cuts, site.language),
        hints=hints,
        hint_vectors=vectors[len(cuts) :],
        hint_owners=tuple(row for row, group in enumerate(by_note) for _ in group),
        embedded=embedded,
        languages=((site.language, 0, len(cuts)),) if cuts else (),
        weights=(1.0,) * len(kept),
    )


def note_texts(note: Note, language: str = "en") -> list[str]:
    """A note's windows, each under its title and label, as they are embedded."""
    head = "\n".join(part for part in (note.title, note.label) if part)
    parts = passages.windows(note.body, NOTE_WINDOW, language)
    return [f"{head}\n\n{part}" for part in parts] or [head]


def _name_phrases(record: Record) -> tuple[str, ...]:
    return (record.title, record.slug, *record.metadata.aliases)


def _bearers(phrases: Iterable[Iterable[str]]) -> dict[str, list[int]]:
    """Each distinct phrase, normalised, and the rows of the records that bear it."""
    bearers: dict[str, list[int]] = {}
    for row, texts in enumerate(phrases):
        for phrase in {normalise(text) for text in texts} - {"", "index", "readme"}:
            bearers.setdefault(phrase, []).append(row)
    return bearers


def _names(
    bearers: Mapping[str, Sequence[int]], frequencies: Mapping[str, int]
) -> tuple[Name, ...]:
    return tuple(
        Name(phrase, tuple(rows), frequencies[phrase]) for phrase, rows in sorted(bearers.items())
    )


def count_pages(phrases: Collection[str], pages: Iterable[str]) -> Counter[str]:
    """In how many pages each normalised phrase occurs, as whole words."""
    wanted = frozenset(phrases)
    lengths: dict[str, set[int]] = {}
    for phrase in wanted:
        words = phrase.split()
        lengths.setdefault(words[0], set()).add(len(words))
    counts: Counter[str] = Counter()
    for page in pages:
        words = _WORD.findall(page.lower())
        runs = {
            " ".join(words[start : start + length])
            for start, word in enumerate(words)
            for length in lengths.get(word, ())
        }
        counts.update(runs & wanted)
    return counts
