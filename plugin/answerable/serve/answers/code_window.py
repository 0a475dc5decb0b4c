"""Choose the run of lines of a code block in which given terms weigh most; return its offsets."""

import re
from collections.abc import Iterator, Mapping, Sequence

from ..text.tokenization import extract_terms

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


def cut_code(
    code: str, weights: Mapping[str, float], max_lines: int, max_characters: int
) -> tuple[int, int]:
    """Choose the (start, end) of the run of lines with most of the weight of some terms.

    All of the code where it is short enough. Of equal runs the longest and then the first.
    """
    lines = code.split("\n")
    if len(lines) <= max_lines and len(code) <= max_characters:
        return 0, len(code)
    offsets = [0]
    for line in lines:
        offsets.append(offsets[-1] + len(line) + 1)
    # In the order of the text: sums of the same numbers in another order may differ.
    line_terms = [
        [term for term in dict.fromkeys(extract_terms(line)) if term in weights] for line in lines
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
    first, last = window
    return offsets[first], min(offsets[last + 1] - 1, offsets[first] + max_characters)


def complete_code(
    code: str, end: int, weights: Mapping[str, float], max_lines: int, max_characters: int
) -> int:
    """Extend the end of a cut to the end of its part of the code, if that is near.

    A part ends at a blank line or at the end. Of a longer one, lines are added up to the last one
    that closes a bracket, holds a term that no line above has or follows a line that leads into it.
    end: of the cut. max_lines, max_characters: how much may be added.
    """
    part = _BLANK_LINE.split(code[end:], maxsplit=1)[0].rstrip()
    if part.count("\n") <= max_lines and len(part) <= max_characters:
        return end + len(part)
    added = size = 0
    missing = weights.keys() - extract_terms(code[:end])
    before = code[:end].rpartition("\n")[2]
    for line in part.split("\n")[1 : max_lines + 1]:
        leads_on = added == size and _LEADS_ON.match(before)
        size += len(line) + 1
        if size > max_characters:
            break
        if leads_on or _CLOSING.match(line) or not missing.isdisjoint(extract_terms(line)):
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
