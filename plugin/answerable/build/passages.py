"""Records cut into passages: windows of whole paragraphs under one heading."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import count

from ..serve.types import Passage
from .records import Block, Record, Section
from .sentences import split


@dataclass(frozen=True, slots=True)
class Window:
    """How long a passage is, in words, and what share of it the next one repeats."""

    words: int = 240
    overlap: float = 0.25


@dataclass(frozen=True, slots=True)
class Cut:
    """A passage and the text it is found by, which is never quoted."""

    passage: Passage
    retrieval_text: str


@dataclass(frozen=True, slots=True)
class _Unit:
    """The least that is not cut: a paragraph, or a sentence or some lines of a long one.

    ``glue`` stands before the unit when it follows another; ``sentences`` are offsets in it.
    """

    text: str
    glue: str
    sentences: tuple[tuple[int, int], ...]

    @property
    def words(self) -> int:
        return len(self.text.split())


def cut(record: Record, window: Window, language: str = "en") -> list[Cut]:
    """All passages of a record, in reading order."""
    cuts: list[Cut] = []
    taken: set[str] = set()
    for section in record.sections:
        units = [unit for block in section.blocks for unit in _units(block, window, language)]
        for group in pack(units, window):
            cuts.append(_cut(record, section, group, taken))
    return cuts


def _new_id(name: str, taken: set[str]) -> str:
    """The first of NAME, NAME~2, NAME~3 … that is free; an anchor may look like a window's id."""
    found = next(
        candidate for number in count(1)
        if (candidate := f"{name}~{number}" if number > 1 else name) not in taken
    )  # fmt: skip
    taken.add(found)
    return found


def windows(text: str, window: Window) -> list[str]:
    """A plain text cut at its blank lines the way a page is cut at its paragraphs."""
    blocks = [Block("prose", part.strip()) for part in re.split(r"\n\s*\n", text) if part.strip()]
    units = [unit for block in blocks for unit in _units(block, window, "en")]
    return [_join(group)[0] for group in pack(units, window)]


def pack(units: Sequence[_Unit], window: Window) -> list[list[_Unit]]:
    """Units in order, grouped so that no group but one of a single unit is over the window.

    The last units of a group that together fit the overlap open the next group again.
    """
    groups: list[list[_Unit]] = []
    group: list[_Unit] = []
    fresh = False
    for unit in units:
        if fresh and sum(u.words for u in group) + unit.words > window.words:
            groups.append(group)
            group = _tail(group, min(window.words * window.overlap, window.words - unit.words))
            fresh = False
        group = [*group, unit]
        fresh = True
    return [*groups, group] if fresh else groups


def _tail(group: Sequence[_Unit], budget: float) -> list[_Unit]:
    tail: list[_Unit] = []
    for unit in reversed(group):
        budget -= unit.words
        if budget < 0:
            break
        tail.insert(0, unit)
    return tail


def _units(block: Block, window: Window, language: str) -> Iterable[_Unit]:
    glue = "\n" if block.kind in ("item", "row") else "\n\n"
    sentences = split(block, language)
    whole = _Unit(block.text, glue, tuple(sentences))
    if whole.words <= window.words:
        return [whole]
    if block.kind == "code":
        return [
            unit for n, line in enumerate(block.text.split("\n"))
            for unit in _pieces(line, "\n" if n else glue, window)
        ]  # fmt: skip
    return [
        unit for n, (start, end) in enumerate(sentences)
        for unit in _pieces(block.text[start:end], " " if n else glue, window, sentence=True)
    ]  # fmt: skip


def _pieces(text: str, glue: str, window: Window, *, sentence: bool = False) -> Iterable[_Unit]:
    """A text as units no longer than a window; one that has to be broken is no sentence."""
    words = text.split()
    if len(words) <= window.words:
        return [_Unit(text, glue, ((0, len(text)),) if sentence else ())]
    edges = [match.end() for match in re.finditer(r"\S+\s*", text)]
    starts = [0, *edges[window.words - 1 : -1 : window.words]]
    ends = [*starts[1:], len(text)]
    return [
        _Unit(text[start:end].rstrip(), " " if start else glue, ())
        for start, end in zip(starts, ends, strict=True)
    ]


def _join(group: Sequence[_Unit]) -> tuple[str, list[tuple[int, int]]]:
    text = ""
    sentences: list[tuple[int, int]] = []
    for unit in group:
        text += (unit.glue if text else "") + unit.text
        base = len(text) - len(unit.text)
        sentences += [(base + start, base + end) for start, end in unit.sentences]
    return text, sentences


def _cut(record: Record, section: Section, group: Sequence[_Unit], taken: set[str]) -> Cut:
    text, sentences = _join(group)
    anchor = f"#{section.anchor}" if section.anchor else ""
    passage = Passage(
        id=_new_id(f"{record.id}{anchor}", taken),
        record=record.id,
        url=record.url + anchor,
        title=" › ".join((record.title, *section.path)),
        text=text,
        sentences=tuple(sentences),
        date=record.metadata.date,
    )
    long_forms = [
        long for short, long in record.abbreviations.items()
        if re.search(rf"(?<!\w){re.escape(short)}(?!\w)", text)
    ]  # fmt: skip
    parts = (
        record.title,
        *record.metadata.aliases,
        *section.path,
        record.metadata.summary,
        *record.metadata.themes,
        *long_forms,
        text,
    )
    return Cut(passage, "\n".join(part for part in parts if part))
