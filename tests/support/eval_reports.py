"""Verdicts and reports of gold runs, made by hand for tests of what is done with them."""

from answerable.evaluate.report import EvalReport
from answerable.evaluate.verdict import SourceRank, Verdict
from answerable.serve.types import Mode


def row(
    name: str, *issues: str, mode: Mode = "partial", passage: float = 0.6, tag: str = "direct"
) -> Verdict:
    """Make a verdict of the full tier; it passes without issues."""
    expected: Mode = "not-found" if tag == "off-topic" else "partial"
    return Verdict(
        id=name, query=f"What is {name}?", tags=(tag,), note="", expected_modes=(expected,),
        issues=issues, mode=mode, reason=None, below_floors=False, top="a#b",
        passage_score=passage, hint_score=0.2, ranks=(SourceRank("a", 1),), claims=1, dropped=0,
        public_issues=issues,
    )  # fmt: skip


def report(
    *rows: Verdict, total: int | None = None, made_at: str = "2026-11-21T10-00-00.0Z"
) -> EvalReport:
    """Make the report of some verdicts. total: how many queries there were."""
    return EvalReport(
        made_at=made_at, bundle="abc123", prompt="1", embedder="local/x@256", answers="extractive",
        floor=0.36, note_floor=0.45, tier="full", total=total or len(rows), verdicts=rows,
    )  # fmt: skip
