"""Violations of a draft: what its model is told of them, and which passages it meant."""

from collections.abc import Iterator, Mapping, Sequence

from ..errors import ContractViolation, Drop, Rule
from ..types import Evidence, Passage
from .contract import repair_reference

# What a model is told of a claim that falls; the other rules want each exact part to be quoted.
_REMEDIES: Mapping[Rule, str] = {
    "quote": "does not stand in its source: copy a sentence of that source character by character",
    "short-quote": "is too short to quote: quote the whole sentence",
    "length": "is too long: write one sentence",
    "code": "is not whole code of a cited source: copy the whole command or line",
    "too-many": "is one claim too many",
}


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
