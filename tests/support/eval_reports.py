"""Verdicts and reports of gold runs, made by hand for tests of what is done with them."""

from answerable.evaluate.report import EvalReport, RecordedAnswer, Verdict
from answerable.serve.types import Mode


def row(name: str, *issues: str, mode: Mode = "partial", text: str = "Yes.") -> Verdict:
    """Make a verdict of the full tier; it passes without issues."""
    return Verdict(
        id=name, query=f"What is {name}?", status="fail" if issues else "pass", issues=issues,
        top="a#b", score=0.6, answer=RecordedAnswer(mode, text),
    )  # fmt: skip


def report(*rows: Verdict, total: int | None = None) -> EvalReport:
    """Make the report of some verdicts. total: how many queries there were."""
    return EvalReport(
        made_at="2026-11-21T10-00-00.0Z", bundle="abc123", answers="extractive", tier="full",
        total=total or len(rows), skipped=(), floors=(), verdicts=rows,
    )  # fmt: skip
