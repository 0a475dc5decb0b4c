"""Verdicts and reports of gold runs, made by hand, and commands run in this process."""

from pathlib import Path

from click.testing import CliRunner, Result

from answerable.check.report import EvalReport, RecordedAnswer, Verdict
from answerable.cli import main
from answerable.engine.types import Mode
from support import sites


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


def run(
    folder: Path, *arguments: str, typed: str | None = None, columns: int = 500, **env: str
) -> Result:
    """Run `answerable` for the site in a folder, in this process."""
    sites.forget_plugins()
    runner = CliRunner(env={"COLUMNS": str(columns), **env})
    done = runner.invoke(main, ["-f", str(folder / "mkdocs.yml"), *arguments], input=typed)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.output
    return done
