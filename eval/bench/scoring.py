"""Summarize ranks, scores and shown texts: recall, AUROC, floors, references held."""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from answerable.serve.bundle_format.manifest import LOCAL_PROFILE
from answerable.serve.text.tokenization import split_lowercase_words

# A text holds a reference in free words if it has this share of them in their order.
HELD = 0.5

# Of the standard normal distribution: 95 % lie within so many deviations.
_Z_95 = 1.959964

# Where recall is measured.
FIRST = (1, 3, 8)

# Floors to compare with the one that is shipped.
FLOORS = sorted({0.30, 0.36, 0.42, 0.48, 0.54, 0.60, LOCAL_PROFILE.floor})

# What a question set gives: free words, or a span as its offset and its text.
Reference = str | Sequence[Any]


def measure_reference(text: str, references: Sequence[Reference]) -> float | None:
    """Measure the share of a reference that a text holds, in [0, 1]; None without a reference.

    Of several the one it holds best; of a span all or nothing; of free words their recall.
    """
    return max((_measure_one_reference(text, reference) for reference in references), default=None)


def _measure_one_reference(text: str, reference: Reference) -> float:
    if isinstance(reference, str):
        return rouge_l_recall(text, reference)
    return float(holds_span(text, reference[1]))


def holds_span(text: str, span: str) -> bool:
    """Look for a span in a text as whole words, whatever its case and white space."""
    span_text, whole_text = (" ".join(each.split()).casefold() for each in (span, text))
    return bool(span_text) and bool(re.search(rf"(?<!\w){re.escape(span_text)}(?!\w)", whole_text))


def rouge_l_recall(text: str, reference: str) -> float:
    """Compute the share of a reference's words that a text has in the same order, in [0, 1].

    ROUGE-L recall of one sequence without stemming (C.-Y. Lin, "ROUGE: a package for automatic
    evaluation of summaries", 2004): the longest common subsequence by the reference's length.
    The package rouge-score gives the same number for ASCII text; it splits words at other letters,
    needs nltk and absl-py, and had its last release in 2022.
    """
    words, expected = split_lowercase_words(text), split_lowercase_words(reference)
    # The longest common subsequence of all words of the text so far and so many of the reference.
    longest = [0] * (len(expected) + 1)
    for word in words:
        before = 0
        for n, other in enumerate(expected, 1):
            above = longest[n]
            longest[n] = before + 1 if word == other else max(above, longest[n - 1])
            before = above
    return longest[-1] / len(expected) if expected else 0.0


def auroc(positive: Sequence[float], negative: Sequence[float]) -> float | None:
    """Compute how likely a positive scores above a negative, a tie half; None without any.

    The area under the ROC curve, as the statistic of Mann & Whitney (1947).
    """
    if not positive or not negative:
        return None
    others = np.sort(np.asarray(negative, dtype=np.float64))
    below = np.searchsorted(others, positive, side="left")
    ties = np.searchsorted(others, positive, side="right") - below
    return float((below + ties / 2).mean() / len(others))


def floors(
    answerable: Sequence[float], tiers: Mapping[str, Sequence[float]]
) -> list[dict[str, Any]]:
    """Tabulate, for some floors, the shares of questions that each answers and refuses.

    By their best scores before boosts; tiers: those of each kind that has to be refused.
    """
    return [
        {
            "name": f"{floor:.2f}",
            "answered": share([score >= floor for score in answerable]),
            **{
                f"refused_{tier}": share([score < floor for score in scores])
                for tier, scores in sorted(tiers.items())
            },
        }
        for floor in FLOORS
    ]


def share(holds: Sequence[bool]) -> float | None:
    """Return the share of questions for which something holds; None without questions."""
    return sum(holds) / len(holds) if holds else None


def recall_shares(name: str, ranks: Sequence[float]) -> dict[str, float | None]:
    """Return a column for each of 1, 3, 8: the share of questions with a right item so early.

    ranks: as for ``recalls``.
    """
    return {f"{name}_{k}": share([rank <= k for rank in ranks]) for k in FIRST}


def recalls(ranks: Sequence[float]) -> list[dict[str, Any]]:
    """Tabulate, for 1, 3 and 8, the questions of ``n`` with something right among so many first.

    ranks: that of the first right page or text of each question, infinite without one.
    """
    counts = {k: sum(rank <= k for rank in ranks) for k in FIRST}
    return [
        {
            "name": f"at {k}",
            "n": len(ranks),
            "found": count,
            **interval("recall", count, len(ranks)),
        }
        for k, count in counts.items()
    ]


def interval(name: str, part: int, whole: int) -> dict[str, float | None]:
    """Return the columns of a share and of its 95 % confidence interval.

    It is Wilson's score interval (E. B. Wilson, JASA 22, 1927).
    """
    if not whole:
        return dict.fromkeys((name, f"{name}_low", f"{name}_high"))
    share, square = part / whole, _Z_95 * _Z_95 / whole
    middle = (share + square / 2) / (1 + square)
    spread = _Z_95 * math.sqrt(share * (1 - share) / whole + square / 4 / whole) / (1 + square)
    low, high = max(0.0, middle - spread), min(1.0, middle + spread)
    return {name: share, f"{name}_low": low, f"{name}_high": high}
