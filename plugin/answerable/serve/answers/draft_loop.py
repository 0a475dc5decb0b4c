"""Draft a reply: call the answerer until a draft meets the contract, twice at most, or refuse."""

from collections.abc import Callable, Sequence

from ..errors import ContractViolation
from ..request_context import current_context
from ..types import Answer, Evidence, Reply
from .answerer import Answerer
from .contract import enforce_contract

# A draft that breaks the contract gets one more attempt.
MAX_DRAFTS = 2


def draft_reply(
    answerer: Answerer,
    question: str,
    evidence: Evidence,
    confidence: Callable[[Answer], float],
    names: Sequence[str] = (),
) -> Reply:
    """Draft an answer until it meets the contract, or refuse; no draft without evidence.

    A second draft gets the violation of the first. names: of the site, which a claim may use.
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
                answer = enforce_contract(draft, evidence, names)
        except ContractViolation as error:
            violation = str(error)
            context.count_refusals(error.stage, error.rule)
            continue
        context.count_refusals("ground", *answer.rules)
        if answer.mode == "not-found":
            return Reply(answer, reason="declined")
        return Reply(answer, confidence(answer), passages=evidence.passages)
    return Reply(reason="contract")
