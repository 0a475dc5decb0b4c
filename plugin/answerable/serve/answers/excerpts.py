"""Excerpts: the statements, code, list or rows of a passage that a reader would copy."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from ..structure import BARE, DANGLING, LEADS_IN, NUMBERED, POINTER, TITLE_SEPARATOR
from ..text.normalization import count_visible_characters
from ..text.tokenization import NO_FORMS, extract_terms
from ..types import Passage
from .grounding import locate_quote
from .statements import PassageStatements, TextRange, strip_range

# The share that a term counts in a line if a line above it in the window has it already.
REPEATED_TERM_SHARE = 0.15
# Added to the score of a window that begins or ends at the edge of a part of the code.
_AFTER_BLANK, _AT_MARGIN, _BEFORE_BLANK = 0.5, 0.3, 0.4
# Added for each further line of a window.
_LINE_BONUS = 0.01
# The share that a term counts in an import; what is used below counts in full.
IMPORT_LINE_SHARE = 0.15

_IMPORT = re.compile(r"\s*(?:import|from|using|use|require|include|#include)\b")
_CLOSING = re.compile(r"\s*[)\]}]")
# A line that says nothing without the next one: a comment, a decorator, an open bracket or block.
_LEADS_ON = re.compile(r"\s*(?:#|//|--\s|@)|.*[(\[{:,=\\]\s*$")
_BLANK_LINE = re.compile(r"\n[^\S\n]*(?=\n|$)")
# Code is mostly written in words of this language, whatever its page is.
CODE_LANGUAGE = "en"


def cut_code(
    code: str,
    weights: Mapping[str, float],
    max_lines: int,
    max_characters: int,
    forms: Mapping[str, str] = NO_FORMS,
) -> tuple[int, int]:
    """Choose the (start, end) of the run of lines with most of the weight of some terms.

    All of the code where it is short enough. Of equal runs the longest and then the first. forms:
    the term of each form of the question's terms.
    """
    lines = code.split("\n")
    if len(lines) <= max_lines and len(code) <= max_characters:
        return 0, len(code)
    read_terms = partial(extract_terms, language=CODE_LANGUAGE, terms_by_form=forms)
    offsets = [0]
    for line in lines:
        offsets.append(offsets[-1] + len(line) + 1)
    # In the order of the text: sums of the same numbers in another order may differ.
    line_terms = [
        [term for term in dict.fromkeys(read_terms(line)) if term in weights] for line in lines
    ]
    shares = [IMPORT_LINE_SHARE if is_import else 1.0 for is_import in _mark_imports(lines)]
    best, window = -1.0, (0, 0)
    for first, line in enumerate(lines):
        if not line.strip():
            continue
        follows_blank = first == 0 or not lines[first - 1].strip()
        opening = (_AFTER_BLANK if follows_blank else 0) + (0 if line[0].isspace() else _AT_MARGIN)
        opening *= shares[first]
        covered: set[str] = set()
        weight = 0.0
        for last in range(first, min(first + max_lines, len(lines))):
            if last > first and offsets[last + 1] - offsets[first] > max_characters:
                break
            own = sum(weights[term] for term in line_terms[last] if term not in covered)
            repeated = sum(weights[term] for term in line_terms[last] if term in covered)
            weight += shares[last] * (own + REPEATED_TERM_SHARE * repeated)
            if shares[last] == 1:
                covered.update(line_terms[last])
            if not lines[last].strip():
                continue
            is_edge = last + 1 == len(lines) or not lines[last + 1].strip()
            score = weight + opening + (_BEFORE_BLANK if is_edge else 0)
            score += _LINE_BONUS * (last - first)
            if score > best:
                best, window = score, (first, last)
    start, end = offsets[window[0]], offsets[window[1] + 1] - 1
    if end - start > max_characters:
        # A line that is longer than that, such as a signature, is cut between words.
        words = code[start : start + max_characters + 1].rpartition(" ")[0]
        end = start + (len(words) if words.strip() else max_characters)
    return start, end


def complete_code(
    code: str,
    end: int,
    weights: Mapping[str, float],
    max_lines: int,
    max_characters: int,
    forms: Mapping[str, str] = NO_FORMS,
) -> int:
    """Extend the end of a cut to the end of its part of the code, if that is near.

    A part ends at a blank line or at the end. Of a longer one, lines are added up to the last one
    that closes a bracket, holds a term that no line above has or follows a line that leads into it.
    end: of the cut. max_lines, max_characters: how much may be added. forms: see ``cut_code``.
    """
    part = _BLANK_LINE.split(code[end:], maxsplit=1)[0].rstrip()
    if part.count("\n") <= max_lines and len(part) <= max_characters:
        return end + len(part)
    if not part.startswith("\n"):
        # The line itself is cut.
        return end
    added = size = 0
    read_terms = partial(extract_terms, language=CODE_LANGUAGE, terms_by_form=forms)
    missing = weights.keys() - read_terms(code[:end])
    before = code[:end].rpartition("\n")[2]
    for line in part.split("\n")[1 : max_lines + 1]:
        leads_on = added == size and _LEADS_ON.match(before)
        size += len(line) + 1
        if size > max_characters:
            break
        if leads_on or _CLOSING.match(line) or not missing.isdisjoint(read_terms(line)):
            added = size
        before = line
    return end + added


def _mark_imports(lines: Sequence[str]) -> Iterator[bool]:
    """Mark the lines that import names, up to the bracket that ends a list of them."""
    is_open = False
    for line in lines:
        is_import = is_open or _IMPORT.match(line) is not None
        yield is_import
        is_open = (
            is_import
            and (is_open or line.rstrip().endswith(("(", "{")))
            and not (is_open and _CLOSING.match(line))
        )


# Added to the support of a statement next to a selected one, of the first one, and before code.
NEIGHBOR_BONUS, FIRST_BONUS, CODE_BONUS = 0.08, 0.05, 0.05
# A further statement has at least this share of the best one's support: next to a selected one, and
# apart from all of them.
MIN_NEIGHBOR_SHARE, MIN_APART_SHARE = 0.5, 0.8
# A single statement of so few words is not left out between two selected ones.
MAX_BRIDGE_WORDS = 15
# Code is not shown where there is room for fewer lines.
MIN_CODE_LINES = 3
MAX_CODE_CHARACTERS = 800
# A claim that is its quote may have 1,200 visible characters: see ``grounding``.
MAX_VISIBLE_CHARACTERS = 1150
# How many words an antecedent or the last item of a list may exceed the budget by.
EXTRA_WORDS = 20
# How many lines whole code, or the end of a part of it, may exceed the budget by.
EXTRA_LINES = 4
# Of a list that is too long, items with at least this share of the best one's support are shown.
MIN_ITEM_SHARE = 0.7
# Added to the weight of a term in a line of code if it is in the lead-in or in the heading.
LEAD_IN_WEIGHT, HEADING_TERM_WEIGHT = 1.0, 1.5


@dataclass(frozen=True, slots=True)
class ExcerptBudget:
    """Limit the length of an excerpt: words of prose, lines of code, and visible characters."""

    words: int
    lines: int
    visible: int = MAX_VISIBLE_CHARACTERS


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Hold parts of one passage, in order, with something left out between them.

    ``starts``: the offset of each part, after white space. ``text`` is what a reader sees: the
    parts, with dots between them. ``statements`` are the texts of the statements in it.
    """

    parts: tuple[str, ...]
    starts: tuple[int, ...]
    text: str
    statements: tuple[str, ...]

    @property
    def visible(self) -> int:
        """Count its characters without white space."""
        return count_visible_characters(self.text)


def cut_excerpt(
    passage: Passage,
    supports: Sequence[float],
    weights: Mapping[str, float],
    budget: ExcerptBudget,
    excluded: Collection[str] = (),
    forms: Mapping[str, str] = NO_FORMS,
) -> Excerpt | None:
    """Cut an excerpt from a passage; None where it states nothing.

    supports: how well each of its statements supports an answer, in [0, 1]. weights: of the
    question's terms, which choose the lines of code. excluded: texts of statements that are shown
    already, since two windows may share some; only labels and column names, which what is below
    them needs, are repeated. forms: the term of each form of the question's terms.
    """
    selection = _StatementSelection(passage, supports, weights, budget, excluded, forms)
    selection.run()
    ranges = [
        each
        for each in _merge_ranges(passage.text, sorted(selection.selected_ranges.values()))
        # What no claim can quote, such as a lead-in of one word whose list begins elsewhere.
        if _is_quotable(passage, *each)
    ]
    statements = tuple(selection.read_text(place) for place in selection.selected_ranges)
    return _join_parts(passage, ranges, statements) if ranges else None


def _merge_ranges(text: str, ranges: Sequence[TextRange]) -> list[TextRange]:
    """Merge ranges that only white space divides."""
    merged: list[TextRange] = []
    for start, end in ranges:
        if merged and not text[merged[-1][1] : start].strip():
            merged[-1] = merged[-1][0], end
        else:
            merged.append((start, end))
    return merged


def _is_quotable(passage: Passage, start: int, end: int) -> bool:
    start, end = strip_range(passage.text, start, end)
    return not isinstance(locate_quote(passage.text[start:end], passage, start), str)


def _join_parts(
    passage: Passage, ranges: Sequence[TextRange], statements: tuple[str, ...]
) -> Excerpt:
    """Join the ranges of a passage into an excerpt, with dots between them."""
    parts = tuple(passage.text[start:end] for start, end in ranges)
    text = parts[0]
    for (_, end), (start, _), part in zip(ranges, ranges[1:], parts[1:], strict=False):
        is_inline = "\n" not in passage.text[end:start]
        text += f" … {part}" if is_inline else f"\n…\n{part}"
    starts = tuple(strip_range(passage.text, *each)[0] for each in ranges)
    return Excerpt(parts, starts, text, statements)


class _StatementSelection:
    """Select statements one by one while there is room for them, each with what it needs."""

    def __init__(
        self,
        passage: Passage,
        supports: Sequence[float],
        weights: Mapping[str, float],
        budget: ExcerptBudget,
        excluded: Collection[str],
        forms: Mapping[str, str],
    ) -> None:
        self.passage = passage
        self.reading = PassageStatements(passage.statements)
        self.statements = passage.statements
        self.weights = weights
        self.forms = forms
        # The range of each selected statement, by its place.
        self.selected_ranges: dict[int, TextRange] = {}
        self.words_left = budget.words
        self.lines_left = budget.lines
        self.visible_left = budget.visible
        # The block of the selected tab, by its tab set.
        self.tabs: dict[int, int] = {}
        self.excluded = {
            place
            for place, statement in enumerate(self.statements)
            if statement.kind not in ("label", "header") and self.read_text(place) in excluded
        }
        # The places that may still be selected.
        self.selectable = {
            place
            for place, statement in enumerate(self.statements)
            if not statement.flags & BARE
            and place not in self.excluded
            and (
                not statement.flags & LEADS_IN
                or self.reading.find_list_after(place) is not None
                or self._find_code(place)
            )
        }
        self.supports = self._raise_supports(supports)

    def read_text(self, place: int) -> str:
        """Return the whole text of a statement."""
        return self.passage.text[self.statements[place].start : self.statements[place].end]

    def run(self) -> None:
        """Select the best statement, and then others while there is room for them."""
        best: float | None = None
        while self.selectable and self.words_left > 0:
            candidates = [
                (self._compute_value(place), -place)
                for place in self.selectable
                if best is None
                or self._compute_value(place)
                >= best * (MIN_NEIGHBOR_SHARE if self._is_near(place) else MIN_APART_SHARE)
            ]
            if not candidates:
                break
            value, negative = max(candidates)
            place = -negative
            self.selectable.discard(place)
            if best is not None and self.statements[place].words > self.words_left:
                continue
            if self._add_with_context(place) and best is None:
                best = value
        self._add_bridges()

    def _add_bridges(self) -> None:
        """Select a short sentence or item that alone lies between two selected statements."""
        for place, statement in enumerate(self.statements):
            is_between = place - 1 in self.selected_ranges and place + 1 in self.selected_ranges
            is_short = (
                statement.kind in ("sentence", "item") and statement.words <= MAX_BRIDGE_WORDS
            )
            is_plain = not statement.flags & (POINTER | LEADS_IN)
            if is_between and is_short and is_plain and not self._is_other_tab(place):
                self._add(place)

    def _raise_supports(self, supports: Sequence[float]) -> list[float]:
        """Raise the support of statements before code, and of the first one."""
        raised = list(supports)
        for place in self.selectable:
            codes = self._find_code(place)
            if codes:
                both = (supports[place] + max(supports[code] for code in codes)) / 2
                raised[place] = max(supports[place], both) + CODE_BONUS
        if self.selectable:
            raised[min(self.selectable)] += FIRST_BONUS
        return raised

    def _compute_value(self, place: int) -> float:
        return self.supports[place] + (NEIGHBOR_BONUS if self._is_near(place) else 0)

    def _is_near(self, place: int) -> bool:
        return place - 1 in self.selected_ranges or place + 1 in self.selected_ranges

    def _add_with_context(self, place: int) -> bool:
        """Select a statement with what it needs; False where it leads nowhere or has no room."""
        statement = self.statements[place]
        listed = self.reading.find_list_after(place)
        codes = self._find_code(place)
        is_bare = statement.flags & LEADS_IN and listed is None and not self._has_room(codes)
        if is_bare or self._is_other_tab(place) or not self._add(place):
            return False
        self._add_label(statement.label)
        self._add_code(place, codes)
        if statement.group or listed is not None:
            self._add_list(place if listed is None else listed)
        if statement.flags & DANGLING:
            self._add_antecedent(place)
        return True

    def _find_code(self, place: int) -> list[int]:
        """Find the places of the code that follows a statement and is not shown already."""
        return [code for code in self.reading.find_code_after(place) if code not in self.excluded]

    def _has_room(self, codes: Sequence[int]) -> bool:
        """Test whether code is selected, or there is room to select it."""
        is_chosen = any(code in self.selected_ranges for code in codes)
        return is_chosen or (bool(codes) and self.lines_left >= MIN_CODE_LINES)

    def _fits_prose(self, place: int) -> bool:
        """Test whether there is room for a statement, or nearly so."""
        return self.statements[place].words <= self.words_left + EXTRA_WORDS

    def _is_other_tab(self, place: int) -> bool:
        """Test whether a statement is in another tab of a set of which one is selected."""
        label = self.statements[place].label
        if label < 0 or self.passage.blocks[label].detail != "tab":
            return False
        return self.tabs.get(self.passage.blocks[label].group, label) != label

    def _add_label(self, block: int) -> None:
        """Select the label of the tab or the term above a statement."""
        for place, statement in enumerate(self.statements):
            if statement.kind == "label" and statement.block == block:
                self._add(place)
                if self.passage.blocks[block].detail == "tab":
                    self.tabs[self.passage.blocks[block].group] = block

    def _add_code(self, place: int, codes: Sequence[int]) -> None:
        """Select lines of the code that follows a statement, of one tab if there are tabs."""
        allowed = [code for code in codes if not self._is_other_tab(code)]
        is_selected = any(code in self.selected_ranges for code in codes)
        if not allowed or is_selected or self.lines_left < MIN_CODE_LINES:
            return

        def rate(code: int) -> tuple[float, int]:
            has_label = self.statements[code - 1].kind == "label"
            return self.supports[code] + (self.supports[code - 1] if has_label else 0.0), -code

        code = max(allowed, key=rate)
        self._add_label(self.statements[code].label)
        text = self.passage.text
        start, end = self.statements[code].start, self.statements[code].end
        weights = dict(self.weights)
        lead_in = self.read_text(place)
        heading = self.passage.title.rpartition(TITLE_SEPARATOR)[2]
        for words, weight in ((lead_in, LEAD_IN_WEIGHT), (heading, HEADING_TERM_WEIGHT)):
            for term in extract_terms(words, self.passage.language, self.forms):
                weights[term] = weights.get(term, 0.0) + weight
        room = min(MAX_CODE_CHARACTERS, self.visible_left)
        is_nearly_whole = text.count("\n", start, end) < self.lines_left + EXTRA_LINES
        lines = self.lines_left + EXTRA_LINES if is_nearly_whole else self.lines_left
        first, last = cut_code(text[start:end], weights, lines, room, self.forms)
        last = complete_code(
            text[start:end], last, self.weights, EXTRA_LINES, room - (last - first), self.forms
        )
        self.selected_ranges[code] = start + first, start + last
        self.lines_left -= text[start + first : start + last].count("\n") + 1
        self.visible_left -= count_visible_characters(text[start + first : start + last])

    def _add_list(self, place: int) -> None:
        """Select a list or a table: whole where there is room, else its best items or rows.

        A table brings its column names, and steps are selected from the first one on.
        """
        group = self.reading.find_group(place)
        lead_in = self.reading.find_lead_in(place)
        if lead_in is not None:
            self._add(lead_in)
        for each in group:
            if self.statements[each].kind == "header":
                self._add(each)
        listed = [
            each
            for each in group
            if self.statements[each].kind not in ("code", "header") and each not in self.excluded
        ]
        needed = sum(
            self.statements[each].words for each in listed if each not in self.selected_ranges
        )
        has_steps = any(self.statements[each].flags & NUMBERED for each in group)
        if needed > self.words_left + EXTRA_WORDS and not has_steps:
            listed.sort(key=lambda each: (-self.supports[each], each))
            least = MIN_ITEM_SHARE * self.supports[listed[0]]
            listed = [each for each in listed if self.supports[each] >= least]
        for each in listed:
            is_shown = each in self.selected_ranges
            if not is_shown and not (self._fits_prose(each) and self._add(each)):
                break
            self._add_code(each, self._find_code(each))

    def _add_antecedent(self, place: int) -> None:
        """Select the sentences that a dangling one refers to."""
        while self.statements[place].flags & DANGLING:
            before = place - 1
            while before >= 0 and self.statements[before].kind not in ("sentence", "item"):
                before -= 1
            if before < 0 or before in self.selected_ranges:
                return
            if self.statements[before].flags & POINTER:
                return
            if not self._fits_prose(before) or not self._add(before):
                return
            self._add_code(before, self._find_code(before))
            place = before

    def _add(self, place: int) -> bool:
        """Add a statement to the selection; False where it is shown or has no room."""
        statement = self.statements[place]
        visible = count_visible_characters(self.read_text(place))
        self.selectable.discard(place)
        is_shown = place in self.selected_ranges or place in self.excluded
        if is_shown or visible > self.visible_left:
            return False
        self.selected_ranges[place] = statement.start, statement.end
        self.words_left -= statement.words
        self.visible_left -= visible
        return True
