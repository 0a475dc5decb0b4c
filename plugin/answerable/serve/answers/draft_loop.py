"""Protocol of answerers, and the loop that drafts until the contract accepts or refuses."""

from collections.abc import Callable, Sequence
from typing import Protocol

from ..errors import ContractViolation
from ..request_context import current_context
from ..types import Answer, Evidence, Reply
from .contract import enforce_contract

# A draft that breaks the contract gets one more attempt.
MAX_DRAFTS = 2


class Answerer(Protocol):
    """Draft an answer from evidence; the contract judges whatever it returns."""

    @property
    def label(self) -> str:
        """Name all that an answer depends on beside evidence and prompt, for the answer cache."""

    @property
    def max_question_tokens(self) -> int:
        """Bound the tokens that one question costs; 0 only for an answerer that costs nothing."""

    def draft(self, question: str, evidence: Evidence, violation: str | None = None) -> object:
        """Draft an answer in the shape that ``enforce_contract`` describes.

        violation: what was wrong with the previous draft for the same question.
        """


def draft_reply(
    answerer: Answerer,
    question: str,
    evidence: Evidence,
    confidence: Callable[[Answer], float],
    names: Sequence[str] = (),
) -> Reply:
    """Draft an answer until it meets the contract, or refuse; no draft without evidence.

    A second draft is told the violation of the first. confidence: in an answer that has a source.
    names: of the site, which a claim may use.
    """
    if not evidence:
        return Reply(reason="no-evidence")
    violation: str | None = None
    context = current_context()
    for _ in range(MAX_DRAFTS):
        with context.stage("writing"):
            draft = answerer.draft(question, evidence, violation)
        try:
            with context.stage("checking"):
                answer = enforce_contract(draft, evidence, (question, *names))
        except ContractViolation as error:
            violation = str(error)
            context.count_refusals(error.stage, error.rule)
            continue
        context.count_refusals("ground", *answer.rules)
        if answer.mode == "not-found":
            return Reply(answer, reason="declined")
        return Reply(answer, confidence(answer), passages=evidence.passages)
    return Reply(reason="contract")
