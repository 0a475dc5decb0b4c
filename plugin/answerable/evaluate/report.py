"""The report of a run over the gold set: a row for each verdict, and what the run depended on."""

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from ..serve.answers import prompt
from ..serve.bundle_format.manifest import Manifest
from ..serve.types import Mode, Reason
from .gold import GoldQuery
from .runner import Verdict

Tier = Literal["retrieval", "full"]
TIERS: tuple[Tier, ...] = ("retrieval", "full")

_SCORE_DIGITS = 6


@dataclass(frozen=True, slots=True)
class VerdictRow:
    """One query and its verdict; see ``Verdict`` for what the fields mean."""

    id: str
    query: str
    tags: tuple[str, ...]
    note: str
    expected_mode: Mode | None
    passed: bool
    issues: tuple[str, ...]
    mode: Mode | None
    reason: Reason | None
    refused: bool
    top: str | None
    passage_score: float
    hint_score: float
    ranks: tuple[int | None, ...]
    claims: int
    dropped: int

    @property
    def is_answerable(self) -> bool:
        """Tell whether the query requires an answer, by its mode or by an expected source."""
        return self.expected_mode != "not-found" and bool(self.expected_mode or self.ranks)

    @property
    def is_refused(self) -> bool:
        """Tell whether it was refused; where no answer was asked for, by the floors."""
        return self.refused if self.mode is None else self.mode == "not-found"

    @property
    def is_answered(self) -> bool:
        """Tell whether it was answered as required; where no answer was asked for, not refused."""
        if self.mode is None or self.expected_mode is None:
            return not self.is_refused
        return self.mode == self.expected_mode


@dataclass(frozen=True, slots=True)
class EvalReport:
    """The verdicts of a run over ``total`` queries, and what they depended on.

    ``made_at``: UTC, to the microsecond, which names the file. ``prompt``: the version of the
    instructions; ``embedder`` and ``answers``: the models. ``skipped``: queries that only an
    answer model can be held to.
    """

    made_at: str
    bundle: str
    prompt: str
    embedder: str
    answers: str
    floor: float
    note_floor: float
    tier: Tier
    total: int
    rows: tuple[VerdictRow, ...]
    skipped: tuple[str, ...] = ()

    @property
    def failed(self) -> tuple[str, ...]:
        """List the ids of the queries that failed."""
        return tuple(row.id for row in self.rows if not row.passed)

    @property
    def passed(self) -> int:
        """Count the queries that passed."""
        return len(self.rows) - len(self.failed)

    @property
    def runnable(self) -> int:
        """Count the queries that were not skipped."""
        return self.total - len(self.skipped)

    @property
    def is_aborted(self) -> bool:
        """Tell whether the run ended before every query was judged."""
        return len(self.rows) < self.runnable

    @property
    def holds(self) -> bool:
        """Tell whether every query was judged and none failed."""
        return not self.failed and not self.is_aborted


@dataclass(frozen=True, slots=True)
class ReportDiff:
    """The ids of the verdicts that differ from those of the report made at ``against``."""

    against: str
    newly_failing: tuple[str, ...]
    newly_passing: tuple[str, ...]


def make_report(
    manifest: Manifest,
    verdicts: Iterable[Verdict],
    queries: Sequence[GoldQuery],
    runnable: Sequence[GoldQuery],
    *,
    tier: Tier,
    answers: str,
) -> EvalReport:
    """Make the report of a run that ends now. runnable: the queries that were not skipped."""
    rows = tuple(map(make_verdict_row, verdicts))
    return EvalReport(
        made_at=format_timestamp(dt.datetime.now(dt.UTC)),
        bundle=manifest.id,
        prompt=prompt.PROMPT_VERSION,
        embedder=manifest.identity.label,
        answers=answers,
        floor=manifest.profile.floor,
        note_floor=manifest.profile.note_floor,
        tier=tier,
        total=len(queries),
        rows=rows,
        skipped=tuple(query.id for query in queries if query not in runnable),
    )


def make_verdict_row(verdict: Verdict) -> VerdictRow:
    """Make the row of a verdict."""
    query = verdict.query
    return VerdictRow(
        id=query.id,
        query=query.query,
        tags=query.tags,
        note=query.note,
        expected_mode=query.expect_answer_mode,
        passed=verdict.passed,
        issues=verdict.issues,
        mode=verdict.mode,
        reason=verdict.reason,
        refused=verdict.refused,
        top=verdict.top_id,
        passage_score=round(verdict.passage_score, _SCORE_DIGITS),
        hint_score=round(verdict.hint_score, _SCORE_DIGITS),
        ranks=verdict.ranks,
        claims=verdict.claims,
        dropped=verdict.dropped,
    )


def diff_reports(before: EvalReport, after: EvalReport) -> ReportDiff:
    """Compare two reports by the verdicts of the queries that both have judged."""
    passed_before = {row.id: row.passed for row in before.rows}
    changed = [row for row in after.rows if passed_before.get(row.id, row.passed) != row.passed]
    return ReportDiff(
        before.made_at,
        tuple(row.id for row in changed if not row.passed),
        tuple(row.id for row in changed if row.passed),
    )


def format_timestamp(moment: dt.datetime) -> str:
    """Format a moment as reports are named by it, so that names sort by time."""
    return moment.astimezone(dt.UTC).strftime("%Y-%m-%dT%H-%M-%S.%fZ")
