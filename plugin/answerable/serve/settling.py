"""From evidence to a reply: no draft without evidence, and no answer that is not settled."""

from collections.abc import Callable, Sequence

from . import call, contract
from .answerer import Answerer
from .errors import ContractViolation
from .types import Answer, Evidence, Reply


def reply(
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
    current = call.current()
    for _ in range(2):
        with current.stage("writing"):
            draft = answerer.draft(question, evidence, violation)
        try:
            with current.stage("checking"):
                settled = contract.settle_claims(draft, evidence, (question, *names))
        except ContractViolation as error:
            violation = str(error)
            current.refused(error.stage, error.rule)
            continue
        current.refused("ground", *settled.rules)
        if settled.mode == "not-found":
            return Reply(settled, reason="declined")
        return Reply(settled, confidence(settled), passages=evidence.passages)
    return Reply(reason="contract")
