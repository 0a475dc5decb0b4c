"""Cut a record into passages: overlapping windows under one heading, with text to find them by."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar
from urllib.parse import quote

from ...serve.structure import TITLE_SEPARATOR
from ...serve.types import Passage
from .records import PageBlock, Record, Section
from .text_units import UnitCluster, cluster_units, cut_blocks, join_units

_UNSAFE_IN_FRAGMENT = frozenset(' "<>`\\')


class Measured(Protocol):
    """Something that knows how many words it has."""

    @property
    def words(self) -> int: ...


M = TypeVar("M", bound=Measured)


@dataclass(frozen=True, slots=True)
class PassageWindow:
    """The length of a passage in words, and the share of it that the next one repeats."""

    words: int = 240
    overlap: float = 0.25


@dataclass(frozen=True, slots=True)
class IndexedPassage:
    """A passage and the context it is also found by, line by line, which is never quoted."""

    passage: Passage
    context: str

    @property
    def retrieval_text(self) -> str:
        """Return all that the passage is found by."""
        return f"{self.context}\n{self.passage.text}" if self.context else self.passage.text


def cut_passages(
    record: Record,
    window: PassageWindow,
    abbreviations: Mapping[str, str] | None = None,
    extra: str = "",
) -> list[IndexedPassage]:
    """Cut a record into passages, in reading order.

    abbreviations: short forms to long ones, the record's own if None. extra: text that all
    passages of the record are found by too.
    """
    expansions = _Expansions(record.abbreviations if abbreviations is None else abbreviations)
    passages: list[IndexedPassage] = []
    last_numbers: dict[str, int] = {}
    for section in record.sections:
        units = list(cut_blocks(section.blocks, window.words, record.language))
        clusters = cluster_units(units, window.words)
        for group in pack_windows(clusters, window, _repeat_table_header):
            passage = _make_passage(record, section, group, last_numbers)
            context = _join_context(record, section, extra, expansions.find(passage.text))
            passages.append(IndexedPassage(passage, context))
    return passages


def add_page_context(
    record: Record, passages: Iterable[Passage], abbreviations: Mapping[str, str], extra: str = ""
) -> list[IndexedPassage]:
    """Add the context of their page to passages that stand under no heading of it.

    abbreviations, extra: see ``cut_passages``.
    """
    expansions = _Expansions(abbreviations)
    section = Section((), "", ())
    return [
        IndexedPassage(each, _join_context(record, section, extra, expansions.find(each.text)))
        for each in passages
    ]


def cut_plain_text(text: str, window: PassageWindow, language: str = "en") -> list[str]:
    """Cut a plain text at its blank lines, the way a page is cut at its paragraphs."""
    parts = (part.strip() for part in re.split(r"\n\s*\n", text))
    blocks = [PageBlock("text", part) for part in parts if part]
    units = cut_blocks(blocks, window.words, language)
    return [join_units(group)[0] for group in pack_windows(units, window)]


def pack_windows(
    units: Iterable[M], window: PassageWindow, repeat: Callable[[M], M | None] = lambda _: None
) -> list[list[M]]:
    """Group units in order, so that no group but one of a single unit is longer than the window.

    The last units of a group that together fit the overlap open the next group again. repeat:
    returns what a group repeats before a unit that it begins with, if that fits too.
    """
    groups: list[list[M]] = []
    group: list[M] = []
    words = 0
    for unit in units:
        if group and words + unit.words > window.words:
            groups.append(group)
            overlap = min(window.words * window.overlap, window.words - unit.words)
            group = _prepend_repeated([*_take_overlap(group, overlap), unit], window, repeat)
            words = sum(each.words for each in group)
        else:
            group.append(unit)
            words += unit.words
    return [*groups, group] if group else groups


def _prepend_repeated(
    group: list[M], window: PassageWindow, repeat: Callable[[M], M | None]
) -> list[M]:
    """Put before a group what it repeats; what overlaps gives way to that."""
    words = sum(unit.words for unit in group)
    for first, unit in enumerate(group):
        repeated = repeat(unit)
        if words + (repeated.words if repeated else 0) <= window.words:
            return [repeated, *group[first:]] if repeated else group[first:]
        words -= unit.words
    return group[-1:]


def _take_overlap(group: Sequence[M], budget: float) -> list[M]:
    start = len(group)
    while start and group[start - 1].words <= budget:
        start -= 1
        budget -= group[start].words
    return list(group[start:])


def _repeat_table_header(cluster: UnitCluster) -> UnitCluster | None:
    """Return the column names that a window repeats which begins within a table."""
    header = cluster.header
    return UnitCluster((header,), header.words) if header else None


def _make_passage(
    record: Record, section: Section, group: Sequence[UnitCluster], last_numbers: dict[str, int]
) -> Passage:
    units = [unit for cluster in group for unit in cluster.units]
    text, sentences, blocks, spans = join_units(units)
    name = "-".join(section.anchor.split())
    return Passage(
        id=_assign_id(f"{record.id}#{name}" if name else record.id, last_numbers),
        record=record.id,
        url=f"{record.url}#{_encode_fragment(section.anchor)}" if section.anchor else record.url,
        title=TITLE_SEPARATOR.join((record.title, *section.path)),
        text=text,
        sentences=sentences,
        date=record.metadata.date,
        language=record.language,
        blocks=blocks,
        spans=spans,
    )


def _assign_id(name: str, last_numbers: dict[str, int]) -> str:
    """Return the first free of NAME, NAME~2, NAME~3 …; an anchor may look like a window's id.

    last_numbers: every id in use, with the last number that was assigned under it.
    """
    number = last_numbers.get(name, 0) + 1
    while (unique := f"{name}~{number}" if number > 1 else name) in last_numbers:
        number += 1
    last_numbers[unique] = 1
    last_numbers[name] = number
    return unique


def _encode_fragment(anchor: str) -> str:
    """Encode an anchor as browsers write a url's fragment: they find it by its decoded form."""
    if all(map(_is_safe, anchor)):
        return anchor
    # A percent sign that stood as it is would be decoded with the others.
    return "".join(
        c if c != "%" and _is_safe(c) else quote(c, safe="", errors="replace") for c in anchor
    )


def _is_safe(character: str) -> bool:
    return character.isprintable() and character not in _UNSAFE_IN_FRAGMENT


def _join_context(record: Record, section: Section, extra: str, expansions: Iterable[str]) -> str:
    metadata = record.metadata
    page = (record.title, *metadata.aliases, *section.path, metadata.summary, *metadata.themes)
    return "\n".join(part for part in (*page, extra, *expansions) if part)


class _Expansions:
    """Find the other form of each abbreviation that a text uses, the long one or the short one."""

    def __init__(self, abbreviations: Mapping[str, str]) -> None:
        self._forms = [
            (short, _match_whole_phrase(short, 0), long, _match_whole_phrase(long, re.IGNORECASE))
            for short, long in abbreviations.items()
        ]

    def find(self, text: str) -> Iterator[str]:
        for short, short_pattern, long, long_pattern in self._forms:
            if short_pattern.search(text):
                yield long
            elif long_pattern.search(text):
                yield short


def _match_whole_phrase(phrase: str, flags: int) -> re.Pattern[str]:
    words = r"\s+".join(map(re.escape, phrase.split()))
    return re.compile(rf"(?<!\w){words}(?!\w)", flags)
