"""Refuse sources that a site lacks, and texts that were written for one gold query."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..engine.answers import prompt
from ..engine.answers.contract import EvidenceItem
from ..engine.bundle import Bundle
from ..engine.errors import GoldError
from ..engine.types import WINDOW_SUFFIX, Citation, Passage, RecordCitation
from ..indexing.stems import extract_stems
from ..indexing.word_runs import (
    SHARED_WEIGHT,
    RunIndex,
    WordRun,
    cut_runs,
    find_line,
    split_words,
)
from .gold import GoldQuery, suggest_spelling

# "How do I use the" says nothing about a subject: a specific run holds as many content terms, the
# site's own name aside.
_MIN_CONTENT_TERMS = 2


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


def check_gold_overlap(
    queries: Iterable[GoldQuery], texts: Mapping[str, str], site_name: str | None = None
) -> None:
    """Refuse a text that shares a run with a gold query. GoldError names both and the words.

    texts: by what an error calls them, such as their path.
    """
    owners: dict[WordRun, str] = {}
    for query in queries:
        # As long as in the label lint.
        for _, run in cut_runs(split_words(query.query), SHARED_WEIGHT):
            language = query.language or "en"
            content = set(extract_stems(" ".join(run), language))
            content -= set(extract_stems(site_name or "", language))
            if len(content) >= _MIN_CONTENT_TERMS:
                owners.setdefault(run, query.id)
    index = RunIndex(owners)
    for place, text in texts.items():
        for start, run in index.find(text):
            raise GoldError(
                f"{place}: line {find_line(text, start)} shares the words {' '.join(run)!r} "
                f"with gold query {owners[run]!r}, which would answer the question instead of "
                "the subject: say it in other words"
            )


def read_prompt_templates() -> dict[str, str]:
    """Read the package's prompt templates, by their path."""
    templates = prompt.TEMPLATES.glob("*.jinja")
    return {f"prompts/{path.name}": path.read_text("utf-8") for path in templates}


def read_existing_files(paths: Iterable[str | Path | None]) -> dict[str, str]:
    """Read those of some files that exist, by their path."""
    files = (Path(path) for path in paths if path)
    return {str(f): f.read_text("utf-8-sig", errors="replace") for f in files if f.is_file()}


def list_bundle_metadata(bundle: Bundle) -> dict[str, str]:
    """List what a bundle holds of its pages' front matter, by page, field and value.

    Each value stands alone, so that no run crosses from one to the next.
    """
    texts: dict[str, str] = {}
    for row, record in enumerate(bundle.index.record_ids):
        if summary := bundle.index.record_summaries[row]:
            texts[f"page {record}: description"] = summary
        for theme in bundle.index.record_themes[row]:
            texts[f"page {record}: tag {theme!r}"] = theme
    aliases = bundle.index.aliases
    for alias in aliases.rows:
        for row in aliases.find_records(alias):
            texts[f"page {bundle.index.record_ids[row]}: alias {alias!r}"] = alias
    return texts
