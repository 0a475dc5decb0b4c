"""Refuse gold queries that name sources a site lacks; match retrieved items with named sources."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath

from ..serve.answers.contract import EvidenceItem
from ..serve.errors import GoldError
from ..serve.retrieval.store import Store
from ..serve.stores.bundle import Bundle
from ..serve.types import Citation, Passage, RecordCitation
from .gold import GoldQuery
from .gold_fields import suggest_spelling

_WINDOW_SUFFIX = re.compile(r"~\d+$")


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
    return NoteSources({**{each: each for each in ids.values()}, **ids}, unrouted)


def list_public_sources(bundle: Bundle) -> frozenset[str]:
    """List the names of records and passages that a gold source may have."""
    return frozenset((*bundle.record_ids, *bundle.passage_ids))


def select_public_sources(query: GoldQuery, store: Store) -> frozenset[str]:
    """Select the sources of a query that are records or passages; any other may be a note.

    A database lists neither, so that none of its sources counts as public.
    """
    if not isinstance(store, Bundle):
        return frozenset()
    own_sources = frozenset(source for each in query.sources_by_field.values() for source in each)
    return own_sources.intersection(store.record_ids) | own_sources.intersection(store.passage_ids)


def matches_source(item: EvidenceItem, source: str, notes: Mapping[str, str]) -> bool:
    """Match an item with a source: its record, its passage or, by path or id, its note.

    notes: from both to the id.
    """
    if isinstance(item, Passage):
        return source in (item.record, item.id)
    return notes.get(source) == item.note


def list_cited_sources(citations: Iterable[Citation], notes: Mapping[str, str]) -> frozenset[str]:
    """List every name that a gold source may give to something cited.

    A record, a passage with and without its window, or a note by its path or its id. notes: from
    both to the id.
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
    find_renamed: Callable[[GoldQuery, str], str | None] | None = None,
    is_logged: bool = False,
) -> None:
    """Refuse sources that no record, passage or note has; GoldError names all, one on a line.

    public: the names of all records and passages. suggest: the names that the error may propose.
    find_renamed: what a missing source is called now, by the question of its query. is_logged: the
    error may become public, so that it names nothing that could be the path of a note.
    """
    check = _SourceCheck(public, notes, suggest, find_renamed, is_logged)
    mistakes = [
        f"{path}: query {query.id!r}: {mistake}"
        for query in queries
        for mistake in check.find_mistakes(query)
    ]
    if mistakes:
        raise GoldError("\n".join(mistakes))


@dataclass(frozen=True, slots=True)
class _SourceCheck:
    """Hold the arguments of ``check_gold_sources``, under the same names."""

    public: Collection[str]
    notes: NoteSources
    suggest: Collection[str]
    find_renamed: Callable[[GoldQuery, str], str | None] | None
    is_logged: bool

    def find_mistakes(self, query: GoldQuery) -> Iterator[str]:
        """Find what is wrong with the sources of a query, each with the field and the remedy."""
        for field_name, sources in query.sources_by_field.items():
            for number, source in enumerate(sources, 1):
                shown = f"number {number}" if self._is_private(source) else repr(source)
                if source in self.public or source in self.notes.ids:
                    if field_name == "expectCited" and (problem := self._clash(query, source)):
                        yield f"{field_name}: {shown} {problem}; drop one of the two"
                elif source not in self.notes.unrouted:
                    missing = self._describe_missing(query, field_name, source, shown)
                    yield f"{field_name}: {missing}"
                elif field_name != "forbidSources":
                    shown = f"number {number}" if self.is_logged else repr(source)
                    yield (
                        f"{field_name}: {shown} is a note with `routes: off`, which no question "
                        "can find; drop it from the query, or take `routes: off` out of the note"
                    )

    def _is_private(self, source: str) -> bool:
        """Tell whether a public log may not name a source."""
        if not self.is_logged or source in self.public:
            return False
        # Written without its suffix, or not quite as it is spelled.
        names = {_drop_suffix(path) for path in (*self.notes.ids, *self.notes.unrouted)}
        return _may_be_path(source) or bool(suggest_spelling(_drop_suffix(source), names))

    def _describe_missing(self, query: GoldQuery, field_name: str, source: str, shown: str) -> str:
        if self._is_private(source):
            return f"there is no record, passage or note for {shown}; correct it"
        remedy = "correct it" if self.is_logged else "build the site again or correct it"
        renamed_to = None
        # What has to be absent is not what the question is about.
        if self.find_renamed and field_name != "forbidSources" and not _may_be_path(source):
            renamed_to = self.find_renamed(query, source)
        renamed = f"; its question finds {renamed_to}" if renamed_to else ""
        spelling = suggest_spelling(source, self.suggest, 3)
        return f"there is no record, passage or note {shown}{spelling}{renamed}; {remedy}"

    def _clash(self, query: GoldQuery, source: str) -> str:
        """Describe why no answer that the query accepts can cite a source; "" if one can."""
        if source in self.public and query.forbid_record_citations:
            return "is a page, which contradicts forbidRecordCitations"
        kind, mode = ("page", "related-material") if source in self.public else ("note", "partial")
        if mode in query.expected_modes:
            return f"is a {kind}, which an answer of the mode {mode} does not cite"
        return ""


def _drop_suffix(source: str) -> str:
    """Drop an anchor and the suffix of a path."""
    path = PurePath(source.partition("#")[0])
    return str(path.with_suffix("")) if path.name else source


def _may_be_path(source: str) -> bool:
    """Tell whether a source could be the path of a note, which has a suffix."""
    return bool(PurePath(source.partition("#")[0]).suffix)
