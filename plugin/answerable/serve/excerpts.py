"""Cut an excerpt from a section: what a person would copy, with marks for what is left out."""

from collections.abc import Collection, Mapping, Sequence

from .frozen import frozen
from .statement_choice import Budget, Range, StatementChoice
from .statements import read_passage
from .types import Passage
from .visible_text import count_visible


@frozen
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
        return count_visible(self.text)


def cut_excerpt(
    passage: Passage,
    supports: Sequence[float],
    weights: Mapping[str, float],
    budget: Budget,
    shown: Collection[str] = (),
) -> Excerpt | None:
    """Cut an excerpt from a passage; None where it states nothing.

    supports: how well each statement of ``read_passage`` backs an answer, in [0, 1]. weights: of
    the question's terms, which choose the lines of code. shown: texts of statements that are shown
    already, as those are which two windows share.
    """
    choice = StatementChoice(passage, read_passage(passage), supports, weights, budget, shown)
    choice.run()
    ranges = _merge(passage.text, sorted(choice.ranges.values()))
    statements = tuple(passage.text[start:end] for start, end in choice.ranges.values())
    return _excerpt(passage, ranges, statements) if ranges else None


def _merge(text: str, ranges: Sequence[Range]) -> list[Range]:
    """Join ranges that nothing but white space divides."""
    merged: list[Range] = []
    for start, end in ranges:
        if merged and not text[merged[-1][1] : start].strip():
            merged[-1] = merged[-1][0], end
        else:
            merged.append((start, end))
    return merged


def _excerpt(passage: Passage, ranges: Sequence[Range], statements: tuple[str, ...]) -> Excerpt:
    parts = tuple(passage.text[start:end] for start, end in ranges)
    shown = parts[0]
    for (_, end), (start, _), part in zip(ranges, ranges[1:], parts[1:], strict=False):
        is_inline = "\n" not in passage.text[end:start]
        shown += f" … {part}" if is_inline else f"\n…\n{part}"
    return Excerpt(parts, shown, statements)
