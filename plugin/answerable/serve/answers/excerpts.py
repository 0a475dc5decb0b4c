"""Choose the statements of a section that a person would copy, and what each of them needs.

Cut an excerpt from a section: what a person would copy, with marks for what is left out.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from ..text.normalization import count_visible_characters
from ..text.tokenization import extract_terms
from ..types import Passage
from .code_window import complete_code, cut_code
from .statements import PassageStatements, is_quotable_alone, split_statements

# What being next to a chosen statement, being first or leading into code adds to a support.
NEIGHBOR_BONUS = 0.08
FIRST_BONUS = 0.05
CODE_BONUS = 0.05
# A further statement supports the answer at least this much of what the best one does: where it is
# next to a chosen one, and where something is left out between them.
MIN_NEIGHBOR_SHARE, MIN_APART_SHARE = 0.5, 0.8
# A single statement of so few words is not left out between two chosen ones.
MAX_BRIDGE_WORDS = 15
# Room for fewer lines than this shows no code.
MIN_CODE_LINES = 3
MAX_CODE_CHARACTERS = 800
# A claim that is its quote may have 1,200 visible characters (DESIGN: the contract).
MAX_VISIBLE_CHARACTERS = 1150
# What an antecedent or the last item of a list may take beyond the budget, in words.
EXTRA_WORDS = 20
# What whole code, or the end of a part of it, may take beyond the budget, in lines.
EXTRA_LINES = 4
# Of a list that is too long, the items that support at least this much of what the best one does.
MIN_ITEM_SHARE = 0.7
# What a term of the lead-in and one of the heading add to a term's weight in a line of code.
_LEAD_IN, _HEADING = 1.0, 1.5

TextRange = tuple[int, int]


@dataclass(frozen=True, slots=True)
class ExcerptBudget:
    """How long an excerpt is: words of prose, and lines of code beside them."""

    words: int
    lines: int


class StatementSelection:
    """One choice of statements as it grows: what is chosen, and what room is left."""

    def __init__(
        self,
        passage: Passage,
        reading: PassageStatements,
        supports: Sequence[float],
        weights: Mapping[str, float],
        budget: ExcerptBudget,
        shown: Collection[str],
    ) -> None:
        self.passage = passage
        self.reading = reading
        self.statements = reading.statements
        self.weights = weights
        self.ranges: dict[int, TextRange] = {}
        self.words = budget.words
        self.lines = budget.lines
        self.visible = MAX_VISIBLE_CHARACTERS
        self.shown_tabs: dict[int, int] = {}
        self.open = {
            place
            for place, statement in enumerate(reading.statements)
            if is_quotable_alone(passage.text, statement)
            and passage.text[statement.start : statement.end] not in shown
            and (not statement.leads_in or self._leads_somewhere(place))
        }
        self.supports = self._raise_supports(supports)

    def run(self) -> None:
        """Choose the best statement, and then others while there is room for them."""
        best: float | None = None
        while self.open and self.words > 0:
            candidates = [
                (self._value(place), -place)
                for place in self.open
                if best is None
                or self._value(place)
                >= best * (MIN_NEIGHBOR_SHARE if self._is_near(place) else MIN_APART_SHARE)
            ]
            if not candidates:
                break
            value, negative = max(candidates)
            place = -negative
            self.open.discard(place)
            if best is not None and self.statements[place].words > self.words:
                continue
            if self._take(place) and best is None:
                best = value
        self._bridge()

    def _bridge(self) -> None:
        """Choose a short sentence or item that alone lies between two chosen statements."""
        for place, statement in enumerate(self.statements):
            is_between = place - 1 in self.ranges and place + 1 in self.ranges
            is_short = (
                statement.kind in ("sentence", "item") and statement.words <= MAX_BRIDGE_WORDS
            )
            is_plain = not statement.is_pointer and not statement.leads_in
            if is_between and is_short and is_plain and not self._is_other_tab(place):
                self._add(place)

    def _raise_supports(self, supports: Sequence[float]) -> list[float]:
        """Add to a statement's support what its code and being the first one add."""
        raised = list(supports)
        for place in self.open:
            codes = self.reading.code_after(place)
            if codes:
                both = (supports[place] + max(supports[code] for code in codes)) / 2
                raised[place] = max(supports[place], both) + CODE_BONUS
        if self.open:
            raised[min(self.open)] += FIRST_BONUS
        return raised

    def _value(self, place: int) -> float:
        return self.supports[place] + (NEIGHBOR_BONUS if self._is_near(place) else 0)

    def _is_near(self, place: int) -> bool:
        return place - 1 in self.ranges or place + 1 in self.ranges

    def _take(self, place: int) -> bool:
        """Choose a statement with what it needs; False where it leads nowhere or has no room."""
        statement = self.statements[place]
        listed = self.reading.list_after(place)
        codes = self.reading.code_after(place)
        is_bare = statement.leads_in and listed is None and not self._has_room(codes)
        if is_bare or self._is_other_tab(place) or not self._add(place):
            return False
        self._take_label(statement.label)
        self._take_code(place, codes)
        if statement.group or listed is not None:
            self._take_list(place if listed is None else listed)
        if statement.is_dangling:
            self._take_antecedent(place)
        return True

    def _leads_somewhere(self, place: int) -> bool:
        """Whether what a sentence leads into is a list or code that can be quoted."""
        listed = self.reading.list_after(place)
        return listed is not None or bool(self.reading.code_after(place))

    def _has_room(self, codes: Sequence[int]) -> bool:
        """Whether code is chosen, or there is room to choose it."""
        is_chosen = any(code in self.ranges for code in codes)
        return is_chosen or (bool(codes) and self.lines >= MIN_CODE_LINES)

    def _is_other_tab(self, place: int) -> bool:
        """Whether a statement stands in another tab of a set of which one is shown."""
        label = self.statements[place].label
        if label < 0 or self.passage.blocks[label].detail != "tab":
            return False
        return self.shown_tabs.get(self.passage.blocks[label].group, label) != label

    def _take_label(self, block: int) -> None:
        """Choose the label of the tab or the term that a statement stands under."""
        for place, statement in enumerate(self.statements):
            if statement.kind == "label" and statement.block == block:
                self._add(place)
                if self.passage.blocks[block].detail == "tab":
                    self.shown_tabs[self.passage.blocks[block].group] = block

    def _take_code(self, place: int, codes: Sequence[int]) -> None:
        """Choose the lines of the code that follows a statement, of one tab if there are tabs."""
        allowed = [code for code in codes if not self._is_other_tab(code)]
        if not allowed or self.lines < MIN_CODE_LINES or any(code in self.ranges for code in codes):
            return
        code = max(allowed, key=lambda each: (self._code_value(each), -each))
        self._take_label(self.statements[code].label)
        text = self.passage.text
        start, end = self.statements[code].start, self.statements[code].end
        weights = dict(self.weights)
        lead_in = text[self.statements[place].start : self.statements[place].end]
        for words, weight in ((lead_in, _LEAD_IN), (_get_own_heading(self.passage), _HEADING)):
            for term in extract_terms(words, self.passage.language):
                weights[term] = weights.get(term, 0.0) + weight
        room = min(MAX_CODE_CHARACTERS, self.visible)
        is_nearly_whole = text.count("\n", start, end) < self.lines + EXTRA_LINES
        lines = self.lines + EXTRA_LINES if is_nearly_whole else self.lines
        first, last = cut_code(text[start:end], weights, lines, room)
        last = complete_code(text[start:end], last, EXTRA_LINES, room - (last - first))
        self.ranges[code] = start + first, start + last
        self.lines -= text[start + first : start + last].count("\n") + 1
        self.visible -= count_visible_characters(text[start + first : start + last])

    def _code_value(self, code: int) -> float:
        """The support of code and of the label of its tab."""
        label = self.statements[code - 1]
        named = self.supports[code - 1] if label.kind == "label" else 0.0
        return self.supports[code] + named

    def _take_list(self, place: int) -> None:
        """Choose a list or a table: whole where there is room, else what supports most of it.

        A table brings its column names, and steps are chosen from the first one on.
        """
        group = self.reading.group_of(place)
        lead_in = self.reading.lead_in_of(place)
        if lead_in is not None:
            self._add(lead_in)
        for each in group:
            if self.statements[each].kind == "header":
                self._add(each)
        listed = [each for each in group if self.statements[each].kind not in ("code", "header")]
        needed = sum(self.statements[each].words for each in listed if each not in self.ranges)
        has_steps = any(self.statements[each].is_numbered for each in group)
        if needed > self.words + EXTRA_WORDS and not has_steps:
            listed.sort(key=lambda each: (-self.supports[each], each))
            least = MIN_ITEM_SHARE * self.supports[listed[0]]
            listed = [each for each in listed if self.supports[each] >= least]
        for each in listed:
            if each not in self.ranges and self.statements[each].words > self.words + EXTRA_WORDS:
                break
            self._add(each)
            self._take_code(each, self.reading.code_after(each))

    def _take_antecedent(self, place: int) -> None:
        """Choose the sentences before one that begins with a word for what they say."""
        while self.statements[place].is_dangling:
            before = place - 1
            while before >= 0 and self.statements[before].kind not in ("sentence", "item"):
                before -= 1
            if before < 0 or before in self.ranges or self.statements[before].is_pointer:
                return
            if self.statements[before].words > self.words + EXTRA_WORDS or not self._add(before):
                return
            self._take_code(before, self.reading.code_after(before))
            place = before

    def _add(self, place: int) -> bool:
        statement = self.statements[place]
        visible = count_visible_characters(self.passage.text[statement.start : statement.end])
        self.open.discard(place)
        if place in self.ranges or visible > self.visible:
            return False
        self.ranges[place] = statement.start, statement.end
        self.words -= statement.words
        self.visible -= visible
        return True


def _get_own_heading(passage: Passage) -> str:
    return passage.title.rpartition(" › ")[2]


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Parts of one passage, in order, with something left out between them.

    ``text`` is what is shown: the parts, and dots for what is left out. ``statements`` are the
    texts of the statements in it.
    """

    parts: tuple[str, ...]
    text: str
    statements: tuple[str, ...]

    @property
    def visible(self) -> int:
        """How many characters of it are not white space."""
        return count_visible_characters(self.text)


def cut_excerpt(
    passage: Passage,
    supports: Sequence[float],
    weights: Mapping[str, float],
    budget: ExcerptBudget,
    shown: Collection[str] = (),
) -> Excerpt | None:
    """Cut an excerpt from a passage; None where it states nothing.

    supports: how well each statement of ``read_passage`` backs an answer, in [0, 1]. weights: of
    the question's terms, which choose the lines of code. shown: texts of statements that are shown
    already, as those are which two windows share.
    """
    choice = StatementSelection(
        passage, split_statements(passage), supports, weights, budget, shown
    )
    choice.run()
    ranges = _merge_ranges(passage.text, sorted(choice.ranges.values()))
    statements = tuple(passage.text[start:end] for start, end in choice.ranges.values())
    return _join_parts(passage, ranges, statements) if ranges else None


def _merge_ranges(text: str, ranges: Sequence[TextRange]) -> list[TextRange]:
    """Join ranges that nothing but white space divides."""
    merged: list[TextRange] = []
    for start, end in ranges:
        if merged and not text[merged[-1][1] : start].strip():
            merged[-1] = merged[-1][0], end
        else:
            merged.append((start, end))
    return merged


def _join_parts(
    passage: Passage, ranges: Sequence[TextRange], statements: tuple[str, ...]
) -> Excerpt:
    parts = tuple(passage.text[start:end] for start, end in ranges)
    shown = parts[0]
    for (_, end), (start, _), part in zip(ranges, ranges[1:], parts[1:], strict=False):
        is_inline = "\n" not in passage.text[end:start]
        shown += f" … {part}" if is_inline else f"\n…\n{part}"
    return Excerpt(parts, shown, statements)
