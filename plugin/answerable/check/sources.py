"""Sources of gold queries: what a name stands for, and a refusal of those that a site lacks."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..engine.answers.contract import EvidenceItem
from ..engine.errors import GoldError
from ..engine.retrieval.sections import WINDOW_SUFFIX
from ..engine.stores.bundle import Bundle
from ..engine.types import Citation, Passage, RecordCitation
from .gold import GoldQuery, suggest_spelling


@dataclass(frozen=True, slots=True)
class NoteSources:
    """The notes that a gold source may name, without their text.

    ``ids``: from a note's path, and from its id, to its id. ``unrouted``: the paths of notes with
    `routes: off`, which a query may forbid and not expect.
    """

    ids: Mapping[str, str] = field(default_factory=dict)
    unrouted: tuple[str, ...] = ()


def make_note_sources(ids: Mapping[str, str], unrouted: tuple[str, ...]) -> NoteSources:
    """Make the sources of a notebook, where a path counts before an id that is written like it.

    ids: from a note's path to its id, which is public.
    """
    return NoteSources({**{name: name for name in ids.values()}, **ids}, unrouted)


def list_public_sources(bundle: Bundle) -> frozenset[str]:
    """List the names of records and passages that a gold source may have."""
    return frozenset((*bundle.index.record_ids, *bundle.index.passage_ids))


def select_public_sources(query: GoldQuery, bundle: Bundle) -> frozenset[str]:
    """Select the sources of a query that are records or passages; any other may be a note."""
    sources = frozenset(name for names in query.sources_by_field.values() for name in names)
    return sources & list_public_sources(bundle)


def matches_source(item: EvidenceItem, source: str, notes: Mapping[str, str]) -> bool:
    """Match an item with a source: its record, its passage or, by path or id, its note.

    notes: from a path or an id to the id.
    """
    if isinstance(item, Passage):
        return source in (item.record, item.id)
    return notes.get(source) == item.note


def list_cited_sources(citations: Iterable[Citation], notes: Mapping[str, str]) -> frozenset[str]:
    """List every name that a gold source may give to something cited.

    A record, a passage with and without its window, or a note by its path or its id. notes: as
    for ``matches_source``.
    """
    names: set[str] = set()
    note_ids: set[str] = set()
    for citation in citations:
        if isinstance(citation, RecordCitation):
            section = WINDOW_SUFFIX.sub("", citation.id)
            names |= {citation.id, section, section.partition("#")[0]}
        else:
            note_ids.add(WINDOW_SUFFIX.sub("", citation.id))
    return frozenset(names.union(path for path, name in notes.items() if name in note_ids))


def check_gold_sources(
    queries: Sequence[GoldQuery],
    path: Path,
    public: Collection[str],
    notes: NoteSources,
) -> None:
    """Refuse sources that no record, passage or note has; GoldError names all, one on a line.

    public: the names of all records and passages. The error may stand in a public log, and a source
    may be the path of a note, so that it goes by its number.
    """
    mistakes = [
        f"{path}: query {query.id!r}: {mistake}"
        for query in queries
        for mistake in _find_mistakes(query, public, notes)
    ]
    if mistakes:
        raise GoldError("\n".join(mistakes))


def _find_mistakes(query: GoldQuery, public: Collection[str], notes: NoteSources) -> Iterator[str]:
    """Find what is wrong with the sources of a query, each with the field and the remedy."""
    for field_name, sources in query.sources_by_field.items():
        for number, source in enumerate(sources, 1):
            shown = f"{field_name}: number {number}"
            if source in public or source in notes.ids:
                continue
            if source not in notes.unrouted:
                yield (
                    f"{shown}: there is no record, passage or note of that name"
                    f"{suggest_spelling(source, public, 3)}; build the site again or correct it"
                )
            elif field_name != "forbidSources":
                yield (
                    f"{shown} is a note with `routes: off`, which no question can find; drop it "
                    "from the query, or take `routes: off` out of the note"
                )
