"""Split a passage into statements that can be quoted; widen a quote to its whole sentences."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Literal, NamedTuple

from ..structure import DIAGRAM_LANGUAGE, RECORDING_LANGUAGE, Block
from ..text.tokenization import count_words
from ..types import Passage

StatementKind = Literal["sentence", "item", "row", "header", "code", "label"]

TextRange = tuple[int, int]

# A longer sentence is not cited whole because of a quote from it; of 100 sentences of real
# documentation sites 99 are shorter. In characters.
MAX_WIDENED_SENTENCE = 300
# A longer list item is read sentence by sentence.
MAX_ITEM_WORDS = 60
# A shorter sentence is a label or a fragment.
MIN_SENTENCE_WORDS = 4
# A longer sentence says more than where to read on.
MAX_POINTER_WORDS = 30

_LEAD_INS = (":", "：", "...", "…")
# Where a passage does not say where its sentences end: at a line's end, and after a stop.
_SENTENCE_ENDS = re.compile(r"\s*\n\s*|(?<=[.!?])\s+|(?<=[。！？])")
_QUESTIONS = ("?", "？", "؟")
_POINTER = re.compile(
    r"(?:for (?:more|further|all)\b.*\b(?:see|read|check|refer|visit|have a look)\b"
    r"|(?:you can |we(?:'ll| will) |you(?:'ll| will) |please )?"
    r"(?:see|read (?:more|about|on)|refer to|learn (?:more|about|how)|check (?:out )?the|"
    r"take a look|have a look|continue (?:with|to|reading))\b"
    r"|more (?:info|information|details) (?:about|on|in|at)\b)",
    re.IGNORECASE,
)
# Words at the start of a sentence that refer to the sentence before it.
_DANGLING = re.compile(
    r"(?:but|and|or|so|then|this|that|these|those|it|its|they|them|their|he|she|his|her|also|"
    r"however|therefore|thus|hence|otherwise|instead|here|there|such|both|either|neither|again|"
    r"similarly|likewise|yet|still|moreover|furthermore|additionally|the same|the latter|"
    r"the former|in (?:this|that|these|those|such|both) \w+|for (?:this|that|example|instance)|"
    r"to do (?:this|that|so)|because of (?:this|that)|as (?:described|explained|shown|mentioned)|"
    r"as you can see|if (?:this|that|it|they|so|not)|when (?:this|that|it|they)|"
    r"after (?:this|that))\b",
    re.IGNORECASE,
)


class Statement(NamedTuple):
    """Locate a unit that is quoted whole or not at all: ``text[start:end]`` of a passage.

    ``block`` is its place among the passage's blocks, ``group`` the list or table it belongs to
    (0 for none), ``label`` the block of the tab's or term's label above it, -1 for none.
    ``is_pointer`` leads elsewhere, ``is_dangling`` begins by referring to the sentence before it,
    ``leads_in`` ends with a colon or dots, ``is_numbered`` is a step of a list.
    """

    kind: StatementKind
    start: int
    end: int
    block: int
    words: int
    group: int = 0
    label: int = -1
    is_pointer: bool = False
    is_dangling: bool = False
    leads_in: bool = False
    is_numbered: bool = False


@dataclass(frozen=True, slots=True)
class PassageStatements:
    """Hold the statements of a passage, in order, and answer where each leads."""

    statements: tuple[Statement, ...]

    def find_code_after(self, place: int) -> tuple[int, ...]:
        """Find the places of the code that follows a statement: one, or one of each tab."""
        places: list[int] = []
        for following in range(place + 1, len(self.statements)):
            kind = self.statements[following].kind
            if kind == "code" and (not places or self.statements[following - 1].kind == "label"):
                places.append(following)
            elif kind != "label":
                break
        return tuple(places)

    def find_group(self, place: int) -> range:
        """Find the places of the list or table that a statement belongs to."""
        group = self.statements[place].group
        first = last = place
        while group and first and self.statements[first - 1].group == group:
            first -= 1
        while (
            group and last + 1 < len(self.statements) and self.statements[last + 1].group == group
        ):
            last += 1
        return range(first, last + 1)

    def find_list_after(self, place: int) -> int | None:
        """Find the place of the first item or row that a lead-in leads into."""
        following = place + 1
        if following == len(self.statements) or not self.statements[place].leads_in:
            return None
        is_other = self.statements[following].group != self.statements[place].group
        return following if is_other and self.statements[following].group else None

    def find_lead_in(self, place: int) -> int | None:
        """Find the place of the sentence that leads into a statement's list or table."""
        before = self.find_group(place).start - 1
        if before >= 0 and self.statements[before].leads_in:
            return before
        return None


def split_statements(passage: Passage) -> PassageStatements:
    """Split a passage into statements, leaving out titles, captions and diagrams."""
    return PassageStatements(tuple(_split_passage(passage)))


def is_quotable_alone(text: str, statement: Statement) -> bool:
    """Test whether a statement answers alone: not a pointer, a question or a fragment."""
    words = text[statement.start : statement.end]
    if statement.kind in ("code", "label", "header") or statement.is_pointer:
        return False
    if statement.kind == "sentence" and statement.words < MIN_SENTENCE_WORDS:
        return False
    return not words.endswith(_QUESTIONS)


def find_surrounding_sentences(passage: Passage, start: int, end: int) -> str:
    """Find the sentences of a passage that a range touches; of code, its lines.

    A sentence that leads into code belongs together with it.
    """
    units = _split_units(passage.text, passage.sentences)
    touched = [n for n, unit in enumerate(units) if _overlap(unit, (start, end))]
    if not touched:
        return passage.text[start:end]
    first, last = touched[0], touched[-1]
    while last + 1 < len(units) and _leads_into_code(passage, units[touched[-1] : last + 2]):
        last += 1
    words = passage.text[min(start, units[first][0]) : max(end, units[last][1])]
    lead_in = first
    while lead_in and units[lead_in] not in passage.sentences:
        lead_in -= 1
    if lead_in < first and _leads_into_code(passage, units[lead_in : first + 1]):
        return f"{passage.text[slice(*units[lead_in])]}\n{words}"
    return words


def widen_to_sentences(passage: Passage, start: int, end: int) -> TextRange:
    """Extend a range to the whole sentences at its edges, each if it is short.

    So a reader sees the "not" before the words that a model has quoted.
    """
    for unit in _split_units(passage.text, passage.sentences):
        if unit[1] - unit[0] <= MAX_WIDENED_SENTENCE:
            if unit[0] < start < unit[1]:
                start = unit[0]
            if unit[0] < end < unit[1]:
                end = unit[1]
    return start, end


def is_line_of_code(passage: Passage, start: int, end: int) -> bool:
    """Test whether a range is all of one or more lines that are in no sentence."""
    units = [u for u in _split_units(passage.text, passage.sentences) if _overlap(u, (start, end))]
    if not units or (units[0][0], units[-1][1]) != (start, end):
        return False
    if passage.blocks:
        blocks = [each for each in passage.blocks if _overlap((each.start, each.end), (start, end))]
        return all(block.kind == "code" for block in blocks)
    return bool(passage.sentences) and not any(unit in passage.sentences for unit in units)


def strip_range(text: str, start: int, end: int) -> TextRange:
    """Strip white space from the ends of a range; an empty one where there is nothing else."""
    part = text[start:end]
    return start + len(part) - len(part.lstrip()), max(start, end - len(part) + len(part.rstrip()))


def _split_passage(passage: Passage) -> Iterator[Statement]:
    """Yield the statements of a passage, each with the tab's or term's label above it."""
    lists = {block.group for block in passage.blocks if block.kind in ("item", "row")}
    label: tuple[int, Block] | None = None
    for place, block in enumerate(passage.blocks):
        if block.kind == "label":
            if block.detail in ("tab", "term"):
                label = place, block
                yield _describe(passage.text, "label", block.start, block.end, place, place)
            continue
        if label and (block.level <= label[1].level or block.group < label[1].group):
            label = None
        group = block.group if block.group in lists else 0
        for kind, start, end in _split_block(passage, block):
            statement = _describe(passage.text, kind, start, end, place, label[0] if label else -1)
            numbered = kind == "item" and bool(block.detail)
            yield statement._replace(group=group, is_numbered=numbered)


def _split_block(passage: Passage, block: Block) -> Iterator[tuple[StatementKind, int, int]]:
    """Yield the kind and the offsets of each statement of a block; a long item is sentences."""
    words = passage.text[block.start : block.end]
    if block.kind == "code":
        if block.detail not in (DIAGRAM_LANGUAGE, RECORDING_LANGUAGE):
            yield "code", block.start, block.end
    elif block.kind == "row":
        yield "header" if block.detail == "header" else "row", block.start, block.end
    elif block.kind == "item" and count_words(words) <= MAX_ITEM_WORDS:
        yield "item", block.start, block.end
    else:
        for start, end in passage.sentences:
            if block.start <= start and end <= block.end:
                yield "sentence", start, end


def _describe(
    text: str, kind: StatementKind, start: int, end: int, block: int, label: int
) -> Statement:
    """Describe one statement by its words: where it leads, and whether it stands alone."""
    words = text[start:end]
    count = count_words(words)
    is_prose = kind in ("sentence", "item")
    return Statement(
        kind,
        start,
        end,
        block,
        count,
        label=label,
        is_pointer=is_prose and count <= MAX_POINTER_WORDS and _POINTER.match(words) is not None,
        is_dangling=is_prose and _DANGLING.match(words) is not None,
        leads_in=is_prose and words.endswith(_LEAD_INS),
    )


def _leads_into_code(passage: Passage, units: tuple[TextRange, ...]) -> bool:
    """Test whether the first unit is a sentence that ends in a colon, and the others are code."""
    sentence, *lines = units
    return (
        sentence in passage.sentences
        and passage.text[slice(*sentence)].endswith(_LEAD_INS)
        and not any(line in passage.sentences for line in lines)
    )


@lru_cache(maxsize=64)
def _split_units(text: str, sentences: tuple[TextRange, ...]) -> tuple[TextRange, ...]:
    """Split a text into its sentences and, between them, its lines, in order."""
    edges = [(0, 0), *sentences, (len(text), len(text))]
    gaps = [(before[1], after[0]) for before, after in pairwise(edges)]
    units = set(sentences)
    for start, end in gaps:
        breaks = _SENTENCE_ENDS.finditer(text, start, end)
        cuts = [start, *(at for match in breaks for at in match.span()), end]
        lines = zip(cuts[::2], cuts[1::2], strict=True)
        units.update(strip_range(text, *line) for line in lines if text[slice(*line)].strip())
    return tuple(sorted(units))


def _overlap(one: TextRange, other: TextRange) -> bool:
    return one[0] < other[1] and other[0] < one[1]
