"""The overlap lint: beside the pages nothing may say a gold query's own words.

What a page is found by and does not say, a prompt or code that shares a run of words with a gold
query would answer that question, and not its subject.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..build import labels, runs
from ..build.runs import Run
from ..build.tokens import tokens
from ..serve import prompt, terms
from ..serve.errors import GoldError
from .gold import GoldQuery

# A shared run is as long as in the label lint: words, or letters of a script without spaces.
_RUN = labels.LETTERS
_WORD = labels.LETTERS // labels.RUN
_UNSPACED = re.compile(f"[{terms.UNSPACED}]")
# "How do I use the" says nothing about a subject: a run that tells holds as many content terms,
# the site's own name aside.
_TELLING = 2


@dataclass(frozen=True, slots=True)
class Overlap:
    """The first run that a text shares with a gold query. line: of the text, from 1."""

    query: str
    place: str
    line: int
    words: str


def check(
    queries: Iterable[GoldQuery], texts: Mapping[str, str], site_name: str | None = None
) -> None:
    """Refuse a text that shares a run with a gold query; GoldError names both and the words.

    texts: by what an error calls them, such as their path.
    """
    found = list(find(queries, texts, site_name))
    if found:
        first = found[0]
        more = f" (and {len(found) - 1} more)" if found[1:] else ""
        raise GoldError(
            f"{first.place}: line {first.line} shares the words {first.words!r} with gold query "
            f"{first.query!r}{more}, which would answer the question instead of the subject: say "
            "it in other words"
        )


def find(
    queries: Iterable[GoldQuery], texts: Mapping[str, str], site_name: str | None = None
) -> Iterator[Overlap]:
    """For every text, the first run that it shares with each gold query."""
    owners: dict[Run, list[str]] = {}
    for query in queries:
        for run in _cut(tokens(query.query)):
            if _tells(run, query.language or "en", site_name or ""):
                owners.setdefault(run, []).append(query.id)
    lengths = {len(run) for run in owners}
    for place, text in texts.items():
        seen: set[str] = set()
        for start, run in _windows(tokens(text), lengths):
            for name in owners.get(run, ()):
                if name not in seen:
                    seen.add(name)
                    yield Overlap(name, place, runs.line(text, start), " ".join(run))


def package_texts() -> dict[str, str]:
    """The prompt templates that the package holds."""
    folder = Path(prompt.__file__).parent / "prompts"
    return {f"prompts/{path.name}": path.read_text("utf-8") for path in folder.glob("*.jinja")}


def file_texts(paths: Iterable[Path | None]) -> dict[str, str]:
    """The files that there are of some paths."""
    files = (path for path in paths if path is not None and path.is_file())
    return {str(path): path.read_text("utf-8-sig", errors="replace") for path in files}


def _tells(run: Run, language: str, site_name: str) -> bool:
    content = set(terms.read(" ".join(run), language))
    return len(content.difference(terms.read(site_name, language))) >= _TELLING


def _cut(words: Sequence[str]) -> Iterator[Run]:
    """Every shortest sequence of words that is as long as a run."""
    weights = [1 if _UNSPACED.match(word) else _WORD for word in words]
    for start in range(len(words)):
        weight = 0
        for end in range(start, len(words)):
            weight += weights[end]
            if weight >= _RUN:
                yield tuple(words[start : end + 1])
                break


def _windows(words: Sequence[str], lengths: Collection[int]) -> Iterator[tuple[int, Run]]:
    """Every sequence of words of some lengths, with its first word's number."""
    for start in range(len(words)):
        for length in lengths:
            yield start, tuple(words[start : start + length])
