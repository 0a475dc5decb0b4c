"""Define the report of a gold run (verdicts, bundle, models, floors); make one, and compare two."""

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ..serve.answers import prompt
from ..serve.bundle_format.manifest import Manifest
from .answer_diff import diff_answers
from .gold import GoldQuery
from .run_costs import ModelPrice, sum_usages
from .verdict import CallUsage, Verdict

Tier = Literal["retrieval", "full"]
TIERS: tuple[Tier, ...] = ("retrieval", "full")


@dataclass(frozen=True, slots=True)
class EvalReport:
    """The verdicts of a run over ``total`` queries, and what they depended on.

    ``made_at``: UTC, to the microsecond, which names the file. ``prompt``: the version of the
    instructions; ``embedder`` and ``answers``: the models. ``skipped``: queries that only an
    answer model can be held to. ``site_url``: what urls of citations are relative to, if known.
    ``cost``: of the answer model's tokens; None without its price. ``judge``: the model that was
    asked whether quotes support claims.
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
    verdicts: tuple[Verdict, ...]
    skipped: tuple[str, ...] = ()
    site_url: str | None = None
    cost: float | None = None
    judge: str | None = None

    @property
    def public(self) -> "EvalReport":
        """Return the report with the issues of its verdicts as anybody may read them."""
        return replace(self, verdicts=tuple(verdict.public for verdict in self.verdicts))

    @property
    def failed(self) -> tuple[str, ...]:
        """List the ids of the queries whose outcome the gold file does not expect."""
        return tuple(verdict.id for verdict in self.verdicts if not verdict.holds)

    @property
    def known_failures(self) -> tuple[str, ...]:
        """List the ids of the queries that fail as the gold file expects."""
        return tuple(each.id for each in self.verdicts if each.status == "known-failure")

    @property
    def errors(self) -> tuple[str, ...]:
        """List the ids of the queries that could not be judged, because a call failed."""
        return tuple(each.id for each in self.verdicts if each.status == "error")

    @property
    def flaky(self) -> tuple[str, ...]:
        """List the ids of the queries of which some runs pass and others fail."""
        return tuple(each.id for each in self.verdicts if each.status == "flaky")

    @property
    def usage(self) -> CallUsage | None:
        """Add up the tokens and seconds of the answer model; None if it was not called."""
        return sum_usages([verdict.usage for verdict in self.verdicts])

    @property
    def judge_usage(self) -> CallUsage | None:
        """Add up the tokens and seconds of the judge model; None if it was not called."""
        return sum_usages([verdict.judge_usage for verdict in self.verdicts])

    @property
    def is_unjudged(self) -> bool:
        """Tell whether no query could be judged, because every one met a failed call.

        An aborted run has not asked every query.
        """
        return (
            bool(self.verdicts) and len(self.errors) == len(self.verdicts) and not self.is_aborted
        )

    @property
    def unexpected_passes(self) -> tuple[str, ...]:
        """List the ids of the queries that pass although the gold file expects a failure."""
        return tuple(each.id for each in self.verdicts if each.status == "unexpected-pass")

    @property
    def passed(self) -> int:
        """Count the queries that passed."""
        return sum(verdict.status == "pass" for verdict in self.verdicts)

    @property
    def runnable(self) -> int:
        """Count the queries that were not skipped."""
        return self.total - len(self.skipped)

    @property
    def is_aborted(self) -> bool:
        """Tell whether the run ended before every query was judged."""
        return len(self.verdicts) < self.runnable

    @property
    def holds(self) -> bool:
        """Tell whether every query was judged and none failed."""
        return not self.failed and not self.is_aborted


@dataclass(frozen=True, slots=True)
class ReportDiff:
    """The ids of the verdicts that differ from those of the report made at ``against``.

    ``changed_answers``: the text, the mode or the citations are others, whatever the verdicts.
    """

    against: str
    newly_failing: tuple[str, ...]
    newly_passing: tuple[str, ...]
    changed_answers: tuple[str, ...] = ()


def make_report(
    manifest: Manifest,
    verdicts: Iterable[Verdict],
    queries: Sequence[GoldQuery],
    runnable: Sequence[GoldQuery],
    *,
    tier: Tier,
    answers: str,
    site_url: str | None = None,
    price: ModelPrice | None = None,
    judge: str | None = None,
) -> EvalReport:
    """Make the report of a run that ends now.

    runnable: the queries that were not skipped. price: of the answer model, if it is known.
    """
    report = EvalReport(
        made_at=format_timestamp(dt.datetime.now(dt.UTC)),
        bundle=manifest.id,
        prompt=prompt.PROMPT_VERSION,
        embedder=manifest.identity.label,
        answers=answers,
        floor=manifest.profile.floor,
        note_floor=manifest.profile.note_floor,
        tier=tier,
        total=len(queries),
        verdicts=tuple(verdicts),
        skipped=tuple(query.id for query in queries if query not in runnable),
        site_url=site_url,
        judge=judge,
    )
    if price is None or report.usage is None:
        return report
    return replace(report, cost=price.compute_cost(report.usage))


def diff_reports(before: EvalReport, after: EvalReport) -> ReportDiff:
    """Compare two reports by the verdicts of the queries that both have judged."""
    held_before = {verdict.id: verdict.holds for verdict in before.verdicts}
    changed = [
        verdict
        for verdict in after.verdicts
        if held_before.get(verdict.id, verdict.holds) != verdict.holds
    ]
    return ReportDiff(
        before.made_at,
        tuple(verdict.id for verdict in changed if not verdict.holds),
        # A failure that has become a known one holds too, and passes no more than before.
        tuple(verdict.id for verdict in changed if verdict.holds and not verdict.known_failure),
        tuple(change.after.id for change in diff_answers(before.verdicts, after.verdicts).changed),
    )


def format_timestamp(moment: dt.datetime) -> str:
    """Format a moment as reports are named by it, so that names sort by time."""
    return moment.astimezone(dt.UTC).strftime("%Y-%m-%dT%H-%M-%S.%fZ")
