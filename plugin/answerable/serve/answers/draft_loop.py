"""Draft a reply: call the answerer until a draft meets the contract, twice at most, or refuse."""

from collections.abc import Iterator, Mapping, Sequence

from ..errors import ContractViolation, ProviderError, Rule
from ..request_context import current_context
from ..types import Answer, Drop, Evidence, Passage, Reply
from .answerer import Answerer
from .contract import enforce_contract, repair_reference

# A draft that breaks the contract, or that loses its first claim, gets one more attempt.
MAX_DRAFTS = 2

# What a model is told of a claim that falls; the other rules want each exact part to be quoted.
_REMEDIES: Mapping[Rule, str] = {
    "quote": "does not stand in its source: copy a sentence of that source character by character",
    "short-quote": "is too short to quote: quote the whole sentence",
    "length": "is too long: write one sentence",
    "code": "is not whole code of a cited source: copy the whole command or line",
    "too-many": "is one claim too many",
}


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
            context.count_refusals(error.stage, error.rule)
            continue
        context.count_refusals("ground", *answer.rules)
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


def describe_drops(drops: Sequence[Drop]) -> str:
    """Describe claims that fell to the model that wrote them: each with its part and the remedy."""
    default = "does not stand in the sentences that the claim quotes: quote it, or leave it out"
    return "; ".join(
        f"claim {drop.claim}: {drop.part!r:.200} ({drop.rule}) {_REMEDIES.get(drop.rule, default)}"
        for drop in drops
    )


def list_named_passages(draft: object, evidence: Evidence) -> Iterator[Passage]:
    """List the passages that the claims of a draft name, whatever else is wrong with it."""
    claims = draft.get("claims") if isinstance(draft, Mapping) else None
    for claim in claims if isinstance(claims, list | tuple) else ():
        supports = claim.get("evidence") if isinstance(claim, Mapping) else None
        for support in supports if isinstance(supports, list | tuple) else ():
            source = support.get("source") if isinstance(support, Mapping) else None
            if isinstance(source, str):
                try:
                    item = repair_reference(source, evidence, to_hint=False)
                except ContractViolation:
                    continue
                if isinstance(item, Passage):
                    yield item
