"""Confidence in an answer, in the three buckets that are published of it."""

from ..index.manifest import Profile
from ..retrieval.question import QuestionReading
from ..retrieval.rank import SAME_QUESTION, Scored
from ..rules import RULES
from ..types import Confidence, Passage

# Where the first passages come from this many pages, no section is clearly meant.
FIRST_PASSAGES: int = RULES["confidence"]["FIRST_PASSAGES"]
MANY_PAGES: int = RULES["confidence"]["MANY_PAGES"]
# The best score of an answer of the upper grade is so far above the floor. Of 221 answers that were
# read, both rules together leave 34 % of the upper grade wrong, instead of 42 % without them.
SURE_ABOVE_FLOOR: float = RULES["confidence"]["SURE_ABOVE_FLOOR"]


def rate_passages(
    profile: Profile, reading: QuestionReading, passages: list[Scored[Passage]]
) -> Confidence:
    """Rate the passages that answer a question without a model, best first: medium or low.

    Low where no section is clearly meant, or where the site lacks a word of the question.
    """
    if passages[0].question > SAME_QUESTION:
        # Its author says that the section answers this very question.
        return "medium"
    if any(remark.kind == "unknown" for remark in reading.remarks):
        return "low"
    pages = {scored.item.record for scored in passages[:FIRST_PASSAGES]}
    best = max(scored.base for scored in passages)
    return (
        "medium" if len(pages) < MANY_PAGES and best >= profile.floor + SURE_ABOVE_FLOOR else "low"
    )
