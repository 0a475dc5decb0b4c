"""Confidence in an answer, in the three buckets that are published of it."""

from ..retrieval.question import QuestionReading
from ..retrieval.rank import SAME_QUESTION, Scored
from ..types import Confidence, Passage

# Where the first passages come from this many pages, no section is clearly meant. On five sites
# whose answers were read, 22 % of the upper grade were wrong then, and 33 % by scores alone.
FIRST_PASSAGES, MANY_PAGES = 3, 3


def rate_passages(reading: QuestionReading, passages: list[Scored[Passage]]) -> Confidence:
    """Rate the passages that answer a question without a model, best first: medium or low.

    Low where no section is clearly meant, or where the site lacks a word of the question.
    """
    if passages[0].question > SAME_QUESTION:
        # Its author says that the section answers this very question.
        return "medium"
    if any(remark.kind == "unknown" for remark in reading.remarks):
        return "low"
    pages = {scored.item.record for scored in passages[:FIRST_PASSAGES]}
    return "low" if len(pages) >= MANY_PAGES else "medium"
