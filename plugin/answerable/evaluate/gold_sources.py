"""Refuse gold queries that name sources a site lacks; match retrieved items with named sources."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath

from ..serve.answers.contract import EvidenceItem
from ..serve.errors import GoldError
from ..serve.stores.bundle import Bundle
from ..serve.types import Citation, Passage, RecordCitation
from .gold import GoldQuery
from .gold_fields import suggest_spelling

_WINDOW_SUFFIX = re.compile(r"~\d+$")


@dataclass(frozen=True, slots=True)
class NoteSources:
    """The notes that a gold source may name, without their text.

    ``ids``: from a note's path to its id. ``unrouted``: the paths of notes with `routes: off`,
    which a query may forbid and not expect.
    """

    ids: Mapping[str, str] = field(default_factory=dict)
    unrouted: tuple[str, ...] = ()


def list_public_sources(bundle: Bundle) -> frozenset[str]:
    """List the names of records and passages that a gold source may have."""
    return frozenset((*bundle.record_ids, *bundle.passage_ids))


def matches_source(item: EvidenceItem, source: str, notes: Mapping[str, str]) -> bool:
    """Match an item with a source: its record, its passage or, by path, its note.

    notes: from a note's path to its id.
    """
    if isinstance(item, Passage):
        return source in (item.record, item.id)
    return notes.get(source) == item.note


def list_cited_sources(citations: Iterable[Citation], notes: Mapping[str, str]) -> frozenset[str]:
    """List every name that a gold source may give to something cited.

    A record, a passage with and without its window, or a note by its path. notes: from a note's
    path to its id.
    """
    names: set[str] = set()
    note_ids: set[str] = set()
    for citation in citations:
        if isinstance(citation, RecordCitation):
            section = _WINDOW_SUFFIX.sub("", citation.id)
            names |= {citation.id, section, section.partition("#")[0]}
        else:
            note_ids.add(_WINDOW_SUFFIX.sub("", citation.id))
    return frozenset(names.union(path for path, name in notes.items() if name in note_ids))


def check_gold_sources(
    queries: Sequence[GoldQuery],
    path: Path,
    public: Collection[str],
    notes: NoteSources,
    *,
    suggest: Collection[str] = (),
    is_logged: bool = False,
) -> None:
    """Refuse a source that no record, passage or note has; GoldError names it.

    public: the names of all records and passages. suggest: the names that the error may propose.
    is_logged: the error may become public, so that it names nothing that could be the path of a
    note.
    """
    remedy = "correct it" if is_logged else "build the site again or correct it"
    for query in queries:
        for name, sources in query.sources_by_field.items():
            for number, source in enumerate(sources, 1):
                is_unrouted = source in notes.unrouted
                if source in public or source in notes.ids:
                    continue
                if is_unrouted and name == "forbidSources":
                    continue
                where = f"{path}: query {query.id!r}: {name}"
                if is_unrouted:
                    shown = f"number {number}" if is_logged else repr(source)
                    raise GoldError(
                        f"{where}: {shown} is a note with `routes: off`, which no question can "
                        "find; drop it from the query, or take `routes: off` out of the note"
                    )
                shown = f"{source!r}{suggest_spelling(source, suggest, 3)}"
                if is_logged and _may_be_path(source):
                    shown = f"for number {number}"
                raise GoldError(f"{where}: there is no record, passage or note {shown}; {remedy}")


def _may_be_path(source: str) -> bool:
    """Tell whether a source could be the path of a note, which has a suffix."""
    return bool(PurePath(source.partition("#")[0]).suffix)
