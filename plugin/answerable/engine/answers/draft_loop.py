"""Draft a reply: call the answerer until a draft meets the contract, twice at most, or refuse."""

from collections.abc import Sequence

from ..errors import ContractViolation, ProviderError
from ..request_context import current_context
from ..types import Answer, Evidence, Passage, Reply
from .answerer import Answerer
from .contract import enforce_contract
from .violations import describe_drops, list_named_passages

# A draft that breaks the contract, or that loses its first claim, gets one more attempt.
MAX_DRAFTS = 2


def draft_reply(
    answerer: Answerer,
    question: str,
    evidence: Evidence,
    names: Sequence[str] = (),
    asked: str = "",
) -> Reply:
    """Draft an answer until it meets the contract, or refuse; no draft without evidence.

    names: of the site, which a claim may use. asked: the question in the reader's own words, of
    which a claim may use what a cited passage has too. A second draft gets the violation of the
    first; of two with claims that hold the one with more of them counts.
    """
    if not evidence:
        return Reply(reason="no-evidence")
    best: Answer | None = None
    violation: str | None = None
    named: dict[Passage, None] = {}
    context = current_context()
    for _ in range(MAX_DRAFTS):
        try:
            with context.stage("writing"):
                draft = answerer.draft(question, evidence, violation)
        except ProviderError:
            # What the first attempt left is worth more than a reply without a model.
            if best is None or not best.claims:
                raise
            break
        named |= dict.fromkeys(list_named_passages(draft, evidence))
        try:
            with context.stage("checking"):
                answer = enforce_contract(draft, evidence, names, asked)
        except ContractViolation as error:
            violation = str(error)
            context.refusals[f"{error.stage}/{error.rule}"] += 1
            continue
        context.refusals.update(f"ground/{rule}" for rule in answer.rules)
        if best is None or len(answer.claims) >= len(best.claims):
            best = answer
        fallen = [drop for drop in answer.drops if drop.claim is not None]
        is_lost = bool(fallen) and (not answer.claims or fallen[0].claim == 1)
        if not is_lost or answerer.max_evidence_characters is None:
            break
        violation = describe_drops(fallen)
    if best is None or (best.mode == "not-found" and best.drops):
        return Reply(best or Answer(), reason="contract", passages=tuple(named))
    if best.mode == "not-found":
        return Reply(best, reason="declined")
    return Reply(best, passages=evidence.passages)
