"""Cut a block of code to the lines that a person would copy."""

from collections.abc import Mapping

from . import terms

# A line's terms count less where a line above it in the window has them already.
REPEATED = 0.15
# What a window gains where it begins or ends at the edge of a part of the code.
_AFTER_BLANK, _AT_MARGIN, _BEFORE_BLANK = 0.5, 0.3, 0.4


def cut_code(
    code: str, weights: Mapping[str, float], max_lines: int, max_characters: int
) -> tuple[int, int]:
    """Return the (start, end) of the run of lines that holds most of the weight of some terms.

    All of the code where it is short enough. Of equal runs the longest and then the first.
    """
    lines = code.split("\n")
    if len(lines) <= max_lines and len(code) <= max_characters:
        return 0, len(code)
    offsets = [0]
    for line in lines:
        offsets.append(offsets[-1] + len(line) + 1)
    line_terms = [frozenset(terms.read(line)) for line in lines]
    best, window = -1.0, (0, 0)
    for first, line in enumerate(lines):
        if not line.strip():
            continue
        opening = _opening(lines, first)
        covered: set[str] = set()
        weight = 0.0
        for last in range(first, min(first + max_lines, len(lines))):
            if last > first and offsets[last + 1] - offsets[first] > max_characters:
                break
            known = line_terms[last] & covered
            weight += sum(weights.get(term, 0.0) for term in line_terms[last] - covered)
            weight += REPEATED * sum(weights.get(term, 0.0) for term in known)
            covered |= line_terms[last]
            if not lines[last].strip():
                continue
            is_edge = last + 1 == len(lines) or not lines[last + 1].strip()
            score = weight + opening + (_BEFORE_BLANK if is_edge else 0) + 0.01 * (last - first)
            if score > best:
                best, window = score, (first, last)
    first, last = window
    return offsets[first], min(offsets[last + 1] - 1, offsets[first] + max_characters)


def _opening(lines: list[str], first: int) -> float:
    """What a window gains by where it begins: after a blank line, without an indent."""
    is_edge = first == 0 or not lines[first - 1].strip()
    return (_AFTER_BLANK if is_edge else 0) + (_AT_MARGIN if not lines[first][:1].isspace() else 0)
