"""Choose among the statements of a passage, widen a quote to whole sentences, and link to it."""

import urllib.parse
from dataclasses import dataclass

from ..structure import ENDLESS, LEAD_INS, LEADS_IN, UNLINKED, Statement, split_runs
from ..types import Passage

TextRange = tuple[int, int]

# A longer sentence is not cited whole because of a quote from it; of 100 sentences of real
# documentation sites 99 are shorter. In characters.
MAX_WIDENED_SENTENCE = 300


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
        if following == len(self.statements) or not self.statements[place].flags & LEADS_IN:
            return None
        is_other = self.statements[following].group != self.statements[place].group
        return following if is_other and self.statements[following].group else None

    def find_lead_in(self, place: int) -> int | None:
        """Find the place of the sentence that leads into a statement's list or table."""
        before = self.find_group(place).start - 1
        if before >= 0 and self.statements[before].flags & LEADS_IN:
            return before
        return None


def find_surrounding_ranges(passage: Passage, start: int, end: int) -> list[TextRange]:
    """Find where the sentences of a passage stand that a range touches; of code, its lines.

    A sentence that leads into code belongs together with it.
    """
    units = list_units(passage)
    touched = [n for n, unit in enumerate(units) if _overlap(unit, (start, end))]
    if not touched:
        return [(start, end)]
    first, last = touched[0], touched[-1]
    while last + 1 < len(units) and _leads_into_code(passage, units[touched[-1] : last + 2]):
        last += 1
    words = min(start, units[first][0]), max(end, units[last][1])
    lead_in = first
    while lead_in and units[lead_in] not in passage.sentences:
        lead_in -= 1
    if lead_in < first and _leads_into_code(passage, units[lead_in : first + 1]):
        return [units[lead_in], words]
    return [words]


def find_surrounding_sentences(passage: Passage, start: int, end: int) -> str:
    """Find the words of ``find_surrounding_ranges``."""
    ranges = find_surrounding_ranges(passage, start, end)
    return "\n".join(passage.text[slice(*each)] for each in ranges)


def list_code(passage: Passage, start: int, end: int) -> list[str]:
    """List the code that a range of whole sentences or lines touches: spans, and lines of blocks.

    Up to three spans with the words between them count as one.
    """
    spans = [
        s for s in passage.spans if s.kind == "code" and _overlap((s.start, s.end), (start, end))
    ]
    code = [
        passage.text[first.start : last.end]
        for n, first in enumerate(spans)
        for last in spans[n : n + 3]
    ]
    for block in passage.blocks:
        if block.kind == "code":
            lines = passage.text[max(start, block.start) : min(end, block.end)]
            code += lines.replace("\\\n", " ").split("\n")
    return code


def widen_to_sentences(passage: Passage, start: int, end: int) -> TextRange:
    """Extend a range to the whole sentences at its edges, each if it is short.

    So a reader sees the "not" before the words that a model has quoted.
    """
    for unit in list_units(passage):
        if unit[1] - unit[0] <= MAX_WIDENED_SENTENCE:
            if unit[0] < start < unit[1]:
                start = unit[0]
            if unit[0] < end < unit[1]:
                end = unit[1]
    return start, end


def is_line_of_code(passage: Passage, start: int, end: int) -> bool:
    """Test whether a range is all of one or more lines of code."""
    units = [unit for unit in list_units(passage) if _overlap(unit, (start, end))]
    blocks = [block for block in passage.blocks if _overlap((block.start, block.end), (start, end))]
    is_whole = bool(units) and (units[0][0], units[-1][1]) == (start, end)
    return is_whole and bool(blocks) and all(block.kind == "code" for block in blocks)


def strip_range(text: str, start: int, end: int) -> TextRange:
    """Strip white space from the ends of a range; an empty one where there is nothing else."""
    part = text[start:end]
    return start + len(part) - len(part.lstrip()), max(start, end - len(part) + len(part.rstrip()))


def _leads_into_code(passage: Passage, units: list[TextRange]) -> bool:
    """Test whether the first unit is a sentence that ends in a colon, and the others are code."""
    sentence, *lines = units
    return (
        sentence in passage.sentences
        and passage.text[slice(*sentence)].endswith(LEAD_INS)
        and not any(line in passage.sentences for line in lines)
    )


def list_units(passage: Passage) -> list[TextRange]:
    """List the sentences of a passage and, between them, its lines, in order."""
    units: list[TextRange] = []
    last = 0
    for sentence in (*passage.sentences, (len(passage.text), len(passage.text))):
        for line in passage.text[last : sentence[0]].split("\n"):
            if line.strip():
                units.append(strip_range(passage.text, last, last + len(line)))
            last += len(line) + 1
        units.append(sentence)
        last = sentence[1]
    return units[:-1]


def _overlap(one: TextRange, other: TextRange) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def link_to_statements(passage: Passage, start: int, end: int) -> str:
    """Add a text fragment (#:~:text=) to the url of a passage, which highlights the statements.

    They are those that a range touches, whole. The url stays as it is where there are none, or
    where a browser would find equal words before them.
    """
    touched = [
        statement
        for statement in passage.statements
        if _overlap((statement.start, statement.end), (start, end))
    ]
    if not touched or touched[0].flags & UNLINKED:
        return passage.url
    first, last = touched[0], touched[-1]
    runs = split_runs(passage.text[first.start : first.end])
    head = runs[0].split()[: first.head or None] if runs else []
    parts = [_encode_words(head)]
    if first.prefix:
        before = passage.text[: first.start].split()[-first.prefix :]
        parts.insert(0, f"{_encode_words(before)}-")
    is_one = first is last and len(runs) == 1 and not first.head
    is_named = not last.flags & ENDLESS and (first is last or not last.prefix)
    if is_named and not is_one:
        tail = split_runs(passage.text[last.start : last.end])[-1:]
        parts += [_encode_words(run.split()[-last.tail :]) for run in tail]
    return f"{passage.url}{'' if '#' in passage.url else '#'}:~:text={','.join(parts)}"


def _encode_words(words: list[str]) -> str:
    """Percent-encode words for a fragment, hyphens too; half of a surrogate pair is no letter."""
    return urllib.parse.quote(" ".join(words), safe="", errors="replace").replace("-", "%2D")
