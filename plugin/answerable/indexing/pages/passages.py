"""Records cut into passages: windows of whole paragraphs under one heading."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar
from urllib.parse import quote

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
    """How long a passage is, in words, and what share of it the next one repeats."""

    words: int = 240
    overlap: float = 0.25


@dataclass(frozen=True, slots=True)
class IndexedPassage:
    """A passage and what else it is found by, line by line, which is never quoted."""

    passage: Passage
    head: str

    @property
    def retrieval_text(self) -> str:
        """All that the passage is found by."""
        return f"{self.head}\n{self.passage.text}" if self.head else self.passage.text


def cut_passages(
    record: Record,
    window: PassageWindow,
    abbreviations: Mapping[str, str] | None = None,
    extra: str = "",
) -> list[IndexedPassage]:
    """All passages of a record, in reading order.

    abbreviations: short forms to long ones, the record's own if None. extra: what all passages
    of the record are found by too.
    """
    expansions = _Expansions(record.abbreviations if abbreviations is None else abbreviations)
    cuts: list[IndexedPassage] = []
    taken: dict[str, int] = {}
    for section in record.sections:
        pieces = list(cut_blocks(section.blocks, window.words, record.language))
        for group in pack_windows(
            list(cluster_units(pieces, window.words)), window, _repeat_table_header
        ):
            passage = _make_passage(record, section, group, taken)
            head = _join_context(record, section, extra, expansions.of(passage.text))
            cuts.append(IndexedPassage(passage, head))
    return cuts


def _assign_id(name: str, taken: dict[str, int]) -> str:
    """The first of NAME, NAME~2, NAME~3 … that is free; an anchor may look like a window's id.

    taken: every id, with the last number that was given under it.
    """
    number = taken.get(name, 0) + 1
    while (found := f"{name}~{number}" if number > 1 else name) in taken:
        number += 1
    taken[found] = 1
    taken[name] = number
    return found


def cut_plain_text(text: str, window: PassageWindow, language: str = "en") -> list[str]:
    """A plain text cut at its blank lines the way a page is cut at its paragraphs."""
    parts = (part.strip() for part in re.split(r"\n\s*\n", text))
    blocks = [PageBlock("text", part) for part in parts if part]
    pieces = cut_blocks(blocks, window.words, language)
    return [join_units(group)[0] for group in pack_windows(pieces, window)]


def _repeat_table_header(cluster: UnitCluster) -> UnitCluster | None:
    """The column names that a window repeats which begins within a table."""
    header = cluster.header
    return UnitCluster((header,), header.words) if header else None


def pack_windows(
    units: Iterable[M], window: PassageWindow, opening: Callable[[M], M | None] = lambda _: None
) -> list[list[M]]:
    """Units in order, grouped so that no group but one of a single unit is over the window.

    The last units of a group that together fit the overlap open the next group again. opening:
    what a group repeats before a unit that it begins with, if that fits too.
    """
    groups: list[list[M]] = []
    group: list[M] = []
    words = 0
    fresh = False
    for unit in units:
        if fresh and words + unit.words > window.words:
            groups.append(group)
            tail = _take_overlap(
                group, min(window.words * window.overlap, window.words - unit.words)
            )
            group = _prepend_repeated([*tail, unit], window, opening)[:-1]
            words = sum(u.words for u in group)
        group.append(unit)
        words += unit.words
        fresh = True
    return [*groups, group] if fresh else groups


def _prepend_repeated(
    group: list[M], window: PassageWindow, opening: Callable[[M], M | None]
) -> list[M]:
    """Put before a group what it repeats; what overlaps gives way to that."""
    words = sum(unit.words for unit in group)
    for first, unit in enumerate(group):
        repeated = opening(unit)
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


def _encode_fragment(anchor: str) -> str:
    """An anchor as a url's fragment, as browsers write one: they find it by its decoded form."""
    if all(map(_is_safe, anchor)):
        return anchor
    # A percent sign that stood as it is would be decoded with the rest.
    return "".join(
        c if c != "%" and _is_safe(c) else quote(c, safe="", errors="replace") for c in anchor
    )


def _is_safe(character: str) -> bool:
    return character.isprintable() and character not in _UNSAFE_IN_FRAGMENT


def _make_passage(
    record: Record, section: Section, group: Sequence[UnitCluster], taken: dict[str, int]
) -> Passage:
    text, sentences, blocks, spans = join_units([u for cluster in group for u in cluster.units])
    name = "-".join(section.anchor.split())
    return Passage(
        id=_assign_id(f"{record.id}#{name}" if name else record.id, taken),
        record=record.id,
        url=f"{record.url}#{_encode_fragment(section.anchor)}" if section.anchor else record.url,
        title=" › ".join((record.title, *section.path)),
        text=text,
        sentences=sentences,
        date=record.metadata.date,
        language=record.language,
        blocks=blocks,
        spans=spans,
    )


def _join_context(record: Record, section: Section, extra: str, expansions: Iterable[str]) -> str:
    parts = (
        record.title,
        *record.metadata.aliases,
        *section.path,
        record.metadata.summary,
        *record.metadata.themes,
        extra,
        *expansions,
    )
    return "\n".join(part for part in parts if part)


class _Expansions:
    """The other form of each abbreviation that a text uses, the long one or the short one."""

    def __init__(self, abbreviations: Mapping[str, str]) -> None:
        self._forms = [
            (short, _match_whole_phrase(short, 0), long, _match_whole_phrase(long, re.IGNORECASE))
            for short, long in abbreviations.items()
        ]

    def of(self, text: str) -> Iterator[str]:
        for short, is_short, long, is_long in self._forms:
            if is_short.search(text):
                yield long
            elif is_long.search(text):
                yield short


def _match_whole_phrase(phrase: str, flags: int) -> re.Pattern[str]:
    words = r"\s+".join(map(re.escape, phrase.split()))
    return re.compile(rf"(?<!\w){words}(?!\w)", flags)
