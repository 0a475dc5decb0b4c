"""The protocol every answerer follows.

From evidence to a reply: no draft without evidence, and no answer that is not settled.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

from ..errors import ContractViolation
from ..request_context import current_context
from ..types import Answer, Evidence, Reply
from .contract import enforce_contract


class Answerer(Protocol):
    """Drafts an answer from evidence; whatever it returns is settled by the contract."""

    @property
    def label(self) -> str:
        """Name all that an answer depends on beside evidence and prompt, for the answer cache."""

    @property
    def max_question_tokens(self) -> int:
        """Bound the tokens that one question costs; 0 only for an answerer that costs nothing."""

    def draft(self, question: str, evidence: Evidence, violation: str | None = None) -> object:
        """A draft as the contract describes it.

        ``violation`` names what was wrong with the previous draft for the same question.
        """


def draft_reply(
    answerer: Answerer,
    question: str,
    evidence: Evidence,
    confidence: Callable[[Answer], float],
    names: Sequence[str] = (),
) -> Reply:
    """A settled answer or a refusal.

    A draft that breaks the contract is asked for once more, with the violation named; a second one
    refuses. confidence: in an answer that has a source. names: what the site is called.
    """
    if not evidence:
        return Reply(reason="no-evidence")
    violation: str | None = None
    current = current_context()
    for _ in range(2):
        with current.stage("writing"):
            draft = answerer.draft(question, evidence, violation)
        try:
            with current.stage("checking"):
                settled = enforce_contract(draft, evidence, (question, *names))
        except ContractViolation as error:
            violation = str(error)
            current.count_refusals(error.stage, error.rule)
            continue
        current.count_refusals("ground", *settled.rules)
        if settled.mode == "not-found":
            return Reply(settled, reason="declined")
        return Reply(settled, confidence(settled), passages=evidence.passages)
    return Reply(reason="contract")
