"""Answerer without a language model: quote whole passages, and point to up to two notes."""

from dataclasses import dataclass
from typing import Any

from ..rules import RULES
from ..types import Evidence

MAX_DRAFT_ROUTES = 2
# Two whole passages hold more answers than three excerpts of them did.
MAX_PASSAGES: int = RULES["extractive"]["MAX_PASSAGES"]
# The notebook alone answers where its best cosine leads the best passage's by this much.
ROUTES_ONLY_LEAD = 0.10
# A note that lags the best passage by more than this does not belong beside claims.
ROUTES_LAG = 0.15


@dataclass(frozen=True, slots=True)
class ExtractiveAnswerer:
    """Quote the first two passages of the evidence, each as a claim that is its own quote.

    The routing rule: at most two hints are routed to, all of them above the note floor. Where the
    best of them leads the best passage by ``ROUTES_ONLY_LEAD`` the answer is in the notebook and
    there are no claims; where it lags by more than ``ROUTES_LAG`` there are no routes beside
    claims. Without a passage and a hint it declines.
    """

    label: str = "extractive"
    max_question_tokens: int = 0
    max_evidence_characters: int | None = None

    def draft(self, question: str, evidence: Evidence, violation: str | None = None) -> object:
        """Draft verbatim excerpts; it needs no second attempt, so violation is unused."""
        del question, violation
        routes = [f"h{n}" for n in range(1, min(len(evidence.hints), MAX_DRAFT_ROUTES) + 1)]
        if routes and evidence.lead >= ROUTES_ONLY_LEAD:
            return {"claims": [], "routes": routes}
        claims: list[dict[str, Any]] = [
            {
                "text": passage.text,
                "evidence": [{"source": f"s{n}", "quote": passage.text}],
            }
            for n, passage in enumerate(evidence.passages[:MAX_PASSAGES], 1)
        ]
        if claims and evidence.lead < -ROUTES_LAG:
            routes = []
        return {"claims": claims, "routes": routes}
