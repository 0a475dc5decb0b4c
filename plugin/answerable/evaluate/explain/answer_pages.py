"""List the pages that an answer is quoted from: their shares of its words, and their ranks."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ...serve.text.tokenization import count_words
from ...serve.types import Answer
from .candidates import ExplainedCandidate


@dataclass(frozen=True, slots=True)
class AnswerPage:
    """Hold a page that an answer quotes, and its ``share`` of the quoted words.

    ``rank``: of its best passage. ``passages``: the ids of those that are quoted.
    """

    page: str
    share: float
    rank: int
    passages: tuple[str, ...]


def list_answer_pages(
    answer: Answer, candidates: Sequence[ExplainedCandidate]
) -> tuple[AnswerPage, ...]:
    """List the pages of an answer, the largest share first. candidates: the explained passages."""
    explained = {candidate.id: candidate for candidate in candidates}
    words: Counter[str] = Counter()
    passages: dict[str, list[str]] = {}
    for citation in (citation for claim in answer.claims for citation in claim.citations):
        page = explained[citation.id].record
        # A quote of code alone has no words.
        words[page] += max(1, count_words(citation.quote))
        passages.setdefault(page, []).append(citation.id)
    return tuple(
        AnswerPage(
            page,
            count / words.total(),
            min(each.rank for each in candidates if each.record == page),
            tuple(dict.fromkeys(passages[page])),
        )
        for page, count in words.most_common()
    )
