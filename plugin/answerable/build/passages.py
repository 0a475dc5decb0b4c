"""Records cut into passages: windows of whole paragraphs under one heading."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar
from urllib.parse import quote

from ..serve.terms import count_words
from ..serve.types import Passage
from .records import Block, Record, Section
from .sentences import split

# A word of an alphabet, or a letter of a script that may have no spaces with its marks: with few,
# since nothing else would bound a passage.
_ATOM = re.compile(r"[^\W\u0e00-\U0010ffff]+\W{0,16}|\w\W{0,16}|\W{1,16}")
_UNSAFE = frozenset(' "<>`\\')


class Measured(Protocol):
    """Something that knows how many words it has."""

    @property
    def words(self) -> int: ...


M = TypeVar("M", bound=Measured)


@dataclass(frozen=True, slots=True)
class Window:
    """How long a passage is, in words, and what share of it the next one repeats."""

    words: int = 240
    overlap: float = 0.25


@dataclass(frozen=True, slots=True)
class Cut:
    """A passage and what else it is found by, line by line, which is never quoted."""

    passage: Passage
    head: str

    @property
    def retrieval_text(self) -> str:
        """All that the passage is found by."""
        return f"{self.head}\n{self.passage.text}" if self.head else self.passage.text


@dataclass(frozen=True, slots=True)
class _Unit:
    """The least that is not cut: a paragraph, or a sentence or some lines of a long one.

    ``glue`` stands before the unit when it follows another; ``sentences`` are offsets in it;
    ``words`` is how many it has, in a script without spaces half its characters.
    """

    text: str
    glue: str
    sentences: tuple[tuple[int, int], ...]
    words: int


def cut(
    record: Record,
    window: Window,
    abbreviations: Mapping[str, str] | None = None,
    extra: str = "",
) -> list[Cut]:
    """All passages of a record, in reading order.

    abbreviations: short forms to long ones, the record's own if None. extra: what all passages
    of the record are found by too.
    """
    expansions = _Expansions(record.abbreviations if abbreviations is None else abbreviations)
    cuts: list[Cut] = []
    taken: dict[str, int] = {}
    for section in record.sections:
        units = [u for block in section.blocks for u in _units(block, window, record.language)]
        for group in pack(units, window):
            passage = _passage(record, section, group, taken)
            head = _head(record, section, extra, expansions.of(passage.text))
            cuts.append(Cut(passage, head))
    return cuts


def _new_id(name: str, taken: dict[str, int]) -> str:
    """The first of NAME, NAME~2, NAME~3 … that is free; an anchor may look like a window's id.

    taken: every id, with the last number that was given under it.
    """
    number = taken.get(name, 0) + 1
    while (found := f"{name}~{number}" if number > 1 else name) in taken:
        number += 1
    taken[found] = 1
    taken[name] = number
    return found


def windows(text: str, window: Window, language: str = "en") -> list[str]:
    """A plain text cut at its blank lines the way a page is cut at its paragraphs."""
    blocks = [Block("prose", part.strip()) for part in re.split(r"\n\s*\n", text) if part.strip()]
    units = [unit for block in blocks for unit in _units(block, window, language)]
    return [_join(group)[0] for group in pack(units, window)]


def pack(units: Iterable[M], window: Window) -> list[list[M]]:
    """Units in order, grouped so that no group but one of a single unit is over the window.

    The last units of a group that together fit the overlap open the next group again.
    """
    groups: list[list[M]] = []
    group: list[M] = []
    words = 0
    fresh = False
    for unit in units:
        if fresh and words + unit.words > window.words:
            groups.append(group)
            group = _tail(group, min(window.words * window.overlap, window.words - unit.words))
            words = sum(u.words for u in group)
        group.append(unit)
        words += unit.words
        fresh = True
    return [*groups, group] if fresh else groups


def _tail(group: Sequence[M], budget: float) -> list[M]:
    start = len(group)
    while start and group[start - 1].words <= budget:
        start -= 1
        budget -= group[start].words
    return list(group[start:])


def _units(block: Block, window: Window, language: str) -> Iterable[_Unit]:
    glue = "\n" if block.kind in ("item", "row") else "\n\n"
    sentences = split(block, language)
    whole = _Unit(block.text, glue, tuple(sentences), count_words(block.text))
    if whole.words <= window.words:
        return [whole]
    if block.kind == "code":
        return [
            unit for n, line in enumerate(block.text.split("\n"))
            for unit in _pieces(line, "\n" if n else glue, window)
        ]  # fmt: skip
    units: list[_Unit] = []
    last = 0
    for start, end in sentences:
        # Japanese has no space between its sentences, and none must be put into a quote.
        between = glue if not units else " " if start > last else ""
        units += _pieces(block.text[start:end], between, window, sentence=True)
        last = end
    return units


def _pieces(text: str, glue: str, window: Window, *, sentence: bool = False) -> list[_Unit]:
    """A text as units no longer than a window; one that has to be broken is no sentence."""
    words = count_words(text)
    if words <= window.words:
        return [_Unit(text, glue, ((0, len(text)),) if sentence else (), words)]
    edges = _edges(text, window)
    units: list[_Unit] = []
    start = at = 0
    while start < len(text):
        at = _fitting(text, start, edges, at, window)
        end = edges[at - 1]
        piece = text[start:end].rstrip()
        units.append(_Unit(piece, glue, (), count_words(piece)))
        glue = " " if text[end - 1].isspace() else ""
        start = end
    return units


def _fitting(text: str, start: int, edges: Sequence[int], at: int, window: Window) -> int:
    """How many of the edges, more than ``at``, end a piece from ``start`` within the window."""

    def words(end: int) -> int:
        return count_words(text[start:end])

    # Two letters or one word of an alphabet make a word at least: the last edge is not far.
    stop = min(at + 2 * window.words + 1, len(edges))
    return max(at + 1, bisect_right(edges, window.words, at, stop, key=words))


def _edges(text: str, window: Window) -> list[int]:
    """Where a text may be broken: after its words, and in a run that is too long after letters."""
    edges: list[int] = []
    for match in re.finditer(r"\S+\s*|\s+", text):
        start, end = match.span()
        if count_words(match.group()) > window.words:
            edges += [atom.end() for atom in _ATOM.finditer(text, start, end)]
        else:
            edges.append(end)
    return edges


def _join(group: Sequence[_Unit]) -> tuple[str, list[tuple[int, int]]]:
    parts: list[str] = []
    sentences: list[tuple[int, int]] = []
    base = 0
    for unit in group:
        glue = unit.glue if base else ""
        base += len(glue)
        sentences += [(base + start, base + end) for start, end in unit.sentences]
        parts += (glue, unit.text)
        base += len(unit.text)
    return "".join(parts), sentences


def _fragment(anchor: str) -> str:
    """An anchor as a url's fragment, as browsers write one: they find it by its decoded form."""
    if all(map(_is_safe, anchor)):
        return anchor
    # A percent sign that stood as it is would be decoded with the rest.
    return "".join(
        c if c != "%" and _is_safe(c) else quote(c, safe="", errors="replace") for c in anchor
    )


def _is_safe(character: str) -> bool:
    return character.isprintable() and character not in _UNSAFE


def _passage(
    record: Record, section: Section, group: Sequence[_Unit], taken: dict[str, int]
) -> Passage:
    text, sentences = _join(group)
    name = "-".join(section.anchor.split())
    return Passage(
        id=_new_id(f"{record.id}#{name}" if name else record.id, taken),
        record=record.id,
        url=f"{record.url}#{_fragment(section.anchor)}" if section.anchor else record.url,
        title=" › ".join((record.title, *section.path)),
        text=text,
        sentences=tuple(sentences),
        date=record.metadata.date,
        language=record.language,
    )


def _head(record: Record, section: Section, extra: str, expansions: Iterable[str]) -> str:
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
            (short, _whole(short, 0), long, _whole(long, re.IGNORECASE))
            for short, long in abbreviations.items()
        ]

    def of(self, text: str) -> Iterator[str]:
        for short, is_short, long, is_long in self._forms:
            if is_short.search(text):
                yield long
            elif is_long.search(text):
                yield short


def _whole(phrase: str, flags: int) -> re.Pattern[str]:
    words = r"\s+".join(map(re.escape, phrase.split()))
    return re.compile(rf"(?<!\w){words}(?!\w)", flags)
