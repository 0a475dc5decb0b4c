"""Refuse enrichment, page metadata or prompts that share a run of words with a gold query.

Such a text would answer that one question instead of its subject.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..indexing.leak_audit.word_runs import (
    WordRun,
    cut_runs,
    find_line,
    split_tokens,
    weigh_tokens,
)
from ..indexing.notes import note_lint
from ..indexing.pages.records import Record
from ..serve.answers import prompt
from ..serve.bundle_format.text_lines import THEME_SEPARATOR
from ..serve.errors import GoldError
from ..serve.stores.bundle import Bundle
from ..serve.text.tokenization import extract_terms
from .gold import GoldQuery

# "How do I use the" says nothing about a subject: a specific run holds as many content terms, the
# site's own name aside.
_MIN_CONTENT_TERMS = 2


@dataclass(frozen=True, slots=True)
class Overlap:
    """The first run that a text shares with a gold query. ``line``: of the text, from 1."""

    query: str
    place: str
    line: int
    words: str


def check_gold_overlap(
    queries: Iterable[GoldQuery], texts: Mapping[str, str], site_name: str | None = None
) -> None:
    """Refuse a text that shares a run with a gold query; GoldError names both and the words.

    texts: by what an error calls them, such as their path.
    """
    overlaps = list(find_gold_overlaps(queries, texts, site_name))
    if overlaps:
        first = overlaps[0]
        others = f" (and {len(overlaps) - 1} more)" if overlaps[1:] else ""
        raise GoldError(
            f"{first.place}: line {first.line} shares the words {first.words!r} with gold query "
            f"{first.query!r}{others}, which would answer the question instead of the subject: say "
            "it in other words"
        )


def find_gold_overlaps(
    queries: Iterable[GoldQuery], texts: Mapping[str, str], site_name: str | None = None
) -> Iterator[Overlap]:
    """Find, for every text, the first run that it shares with each gold query."""
    owners: dict[WordRun, list[str]] = {}
    for query in queries:
        tokens = split_tokens(query.query)
        # As long as in the label lint: words, or letters of a script without spaces.
        for _, run in cut_runs(tokens, weigh_tokens(tokens), note_lint.SHARED_LETTERS):
            if _is_specific(run, query.language or "en", site_name or ""):
                owners.setdefault(run, []).append(query.id)
    lengths = {len(run) for run in owners}
    for place, text in texts.items():
        reported: set[str] = set()
        for start, run in _slide_windows(split_tokens(text), lengths):
            for name in owners.get(run, ()):
                if name not in reported:
                    reported.add(name)
                    yield Overlap(name, place, find_line(text, start), " ".join(run))


def read_prompt_templates() -> dict[str, str]:
    """Read the package's prompt templates, by their path."""
    folder = Path(prompt.__file__).parent / "prompts"
    return {f"prompts/{path.name}": path.read_text("utf-8") for path in folder.glob("*.jinja")}


def read_existing_files(paths: Iterable[Path | None]) -> dict[str, str]:
    """Read those of some files that exist, by their path."""
    files = (path for path in paths if path is not None and path.is_file())
    return {str(path): path.read_text("utf-8-sig", errors="replace") for path in files}


def list_bundle_metadata(bundle: Bundle) -> dict[str, str]:
    """List what a bundle holds of its pages' front matter, by page, field and value."""
    texts: dict[str, str] = {}
    for row, record in enumerate(bundle.record_ids):
        themes = bundle.record_themes[row].split(THEME_SEPARATOR)
        texts |= _name_metadata(record, bundle.record_summaries[row], (), themes)
    for entry in bundle.aliases:
        for row in entry.records:
            texts |= _name_metadata(bundle.record_ids[row], "", (entry.phrase,), ())
    return texts


def list_page_metadata(records: Iterable[Record]) -> dict[str, str]:
    """List the description, aliases and tags of pages, by page, field and value."""
    texts: dict[str, str] = {}
    for record in records:
        metadata = record.metadata
        texts |= _name_metadata(record.id, metadata.summary, metadata.aliases, metadata.themes)
    return texts


def _name_metadata(
    record: str, summary: str, aliases: Iterable[str], themes: Iterable[str]
) -> dict[str, str]:
    """Name each value, so that no run crosses from one to the next."""
    return {
        **({f"page {record}: description": summary} if summary else {}),
        **{f"page {record}: alias {alias!r}": alias for alias in aliases},
        **{f"page {record}: tag {theme!r}": theme for theme in themes},
    }


def _is_specific(run: WordRun, language: str, site_name: str) -> bool:
    content = set(extract_terms(" ".join(run), language))
    return len(content.difference(extract_terms(site_name, language))) >= _MIN_CONTENT_TERMS


def _slide_windows(words: Sequence[str], lengths: Collection[int]) -> Iterator[tuple[int, WordRun]]:
    """Yield every sequence of words of some lengths, with the number of its first word."""
    for start in range(len(words)):
        for length in lengths:
            yield start, tuple(words[start : start + length])
