"""The verdict of one gold query, as a report holds it, and the metrics and costs of several."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import msgspec

from ..serve.errors import FailureCause
from ..serve.types import Mode, Reason

# ``error``: a call failed, so that nothing could be judged. ``flaky``: some of its runs pass and
# others fail. ``known-failure``: it fails as the gold file expects. ``unexpected-pass``: it passes
# where the gold file expects a failure.
VerdictStatus = Literal["pass", "fail", "error", "flaky", "known-failure", "unexpected-pass"]
VERDICT_STATUSES: tuple[VerdictStatus, ...] = get_args(VerdictStatus)

# Of the standard normal distribution: 95 % lie within so many deviations.
_Z_95 = 1.959964
# A call of a small model costs a hundredth of a cent.
_MONEY_DIGITS = 6
# In place of an issue whose public wording is not known.
_WITHHELD_ISSUE = "an issue that the report names"


@dataclass(frozen=True, slots=True)
class SourceRank:
    """The place of an expected source among the retrieved items, from 1; None if it is not there.

    ``source`` is the name that the gold file gives it.
    """

    source: str
    rank: int | None


@dataclass(frozen=True, slots=True)
class NearMiss:
    """A candidate under its floor. ``id``: of the passage or hint."""

    id: str
    score: float


@dataclass(frozen=True, slots=True)
class RecordedCitation:
    """One citation of a recorded answer; ``title`` is a hint's label, whose ``quote`` is empty."""

    kind: Literal["record", "hint"]
    id: str
    url: str
    title: str
    quote: str = ""


@dataclass(frozen=True, slots=True)
class RecordedAnswer:
    """The text of an answer with [n] markers, its citations by number, its confidence in [0, 1]."""

    text: str
    citations: tuple[RecordedCitation, ...] = ()
    confidence: float = 0.0


@dataclass(frozen=True, slots=True)
class CallUsage:
    """The tokens of a query's calls to one model, and the seconds that they took in all."""

    input_tokens: int
    output_tokens: int
    seconds: float


# What a judge model says of a claim and its quotes; ``error``: its call failed.
Support = Literal["yes", "no", "unclear", "error"]
JUDGED_SUPPORTS: tuple[Support, ...] = ("yes", "no", "unclear")


@dataclass(frozen=True, slots=True)
class ClaimSupport:
    """One claim's text and what a judge model says of its quotes, or why its call failed."""

    claim: str
    support: Support
    cause: FailureCause | None = None


@dataclass(frozen=True, slots=True)
class RepeatedRun:
    """One of several runs of a query: what was wrong, the failed call, the answer's mode and text.

    ``error`` and ``cause``: as those of a verdict.
    """

    issues: tuple[str, ...] = ()
    error: str | None = None
    cause: FailureCause | None = None
    mode: Mode | None = None
    text: str = ""

    @property
    def passed(self) -> bool:
        """Tell whether the run was judged and nothing is wrong."""
        return self.error is None and not self.issues


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome of one gold query; a report holds all of it but ``top_expected``.

    ``id``, ``query``, ``tags``, ``note``, ``expected_modes`` and ``known_failure`` are the gold
    query's. ``issues`` say what is wrong, and ``public_issues`` the same, in the same order,
    without a pattern or the path of a note. ``error`` says which call failed, so that there was
    nothing to judge, and ``cause`` why, in a word of a closed list. ``mode`` and ``reason`` are
    those of the answer, None where no answer was asked for. ``below_floors``: nothing was above the
    floors (``refused`` in a report). ``top``: the id of the best candidate. The scores are the best
    of either stream, with no floor applied, as the floors are compared with them. ``ranks``: of
    each expected source. ``near_misses``: best first. ``retrieved`` counts the items above the
    floors, at most eight of each stream, and ``relevant`` those of them that are of an expected
    source. ``claims`` and ``dropped`` count claims that the contract has accepted and rejected.
    ``usage``: None where no model was called. ``runs``: each run of a query that was asked more
    than once; the other fields are those of the first run with an error, else of the first that
    fails, else of the first. ``supports`` and ``judge_usage``: what a judge model says of each
    claim, and what its calls took. ``top_expected``: the best candidate is one of
    ``expectSources``.
    """

    id: str
    query: str
    issues: tuple[str, ...]
    top: str | None
    below_floors: bool
    tags: tuple[str, ...] = ()
    note: str = ""
    expected_modes: tuple[Mode, ...] = ()
    known_failure: str | None = None
    error: str | None = None
    mode: Mode | None = None
    reason: Reason | None = None
    passage_score: float = 0.0
    hint_score: float = 0.0
    ranks: tuple[SourceRank, ...] = ()
    near_misses: tuple[NearMiss, ...] = ()
    retrieved: int = 0
    relevant: int = 0
    claims: int = 0
    dropped: int = 0
    answer: RecordedAnswer | None = None
    usage: CallUsage | None = None
    cause: FailureCause | None = None
    runs: tuple[RepeatedRun, ...] = ()
    supports: tuple[ClaimSupport, ...] = ()
    judge_usage: CallUsage | None = None
    top_expected: bool = False
    public_issues: tuple[str, ...] = ()

    @property
    def public(self) -> "Verdict":
        """Return the verdict as anybody may read it: its issues in their public wording.

        What only a report holds, such as ranks, is as private as before.
        """
        issues = self.public_issues
        if len(issues) != len(self.issues):
            issues = (_WITHHELD_ISSUE,) * len(self.issues)
        return replace(self, issues=issues, public_issues=issues)

    @property
    def status(self) -> VerdictStatus:
        """Name the outcome in one word."""
        if self.error is not None:
            return "error"
        if self.known_failure is not None:
            return "known-failure" if self.issues else "unexpected-pass"
        if any(run.passed for run in self.runs) and self.issues:
            return "flaky"
        return "fail" if self.issues else "pass"

    @property
    def passed(self) -> bool:
        """Tell whether the query was judged and nothing is wrong, whatever the file expects."""
        return self.error is None and not self.issues

    @property
    def holds(self) -> bool:
        """Tell whether the outcome is the one that the gold file expects."""
        return self.status in ("pass", "known-failure")

    @property
    def pass_count(self) -> int:
        """Count the runs that passed; of a query that was asked once, 0 or 1."""
        return sum(run.passed for run in self.runs) if self.runs else int(self.passed)

    @property
    def outcome(self) -> str:
        """Say in a sentence what is wrong; "" of a pass."""
        if self.status == "unexpected-pass":
            return "unexpected pass: drop knownFailure"
        listed = "; ".join(filter(None, (self.error, *self.issues)))
        if self.status == "flaky":
            listed = f"flaky, {self.pass_count} of {len(self.runs)} runs passed: {listed}"
        return f"{listed} (known failure: {self.known_failure})" if self.known_failure else listed

    @property
    def requires_refusal(self) -> bool:
        """Tell whether a refusal is the only acceptable outcome."""
        return self.expected_modes == ("not-found",)

    @property
    def is_answerable(self) -> bool:
        """Tell whether the query requires an answer, by its modes or by an expected source."""
        return "not-found" not in self.expected_modes and bool(self.expected_modes or self.ranks)

    @property
    def is_refused(self) -> bool:
        """Tell whether it was refused; where no answer was asked for, by the floors."""
        return self.below_floors if self.mode is None else self.mode == "not-found"

    @property
    def is_answered(self) -> bool:
        """Tell whether it was answered as required; where no answer was asked for, not refused."""
        if self.mode is None or not self.expected_modes:
            return not self.is_refused
        return self.mode in self.expected_modes


def encode_verdict(verdict: Verdict) -> dict[str, Any]:
    """Encode a verdict as a report holds it, with its status."""
    row: dict[str, Any] = msgspec.to_builtins(verdict)
    del row["top_expected"]
    return row | {"refused": row.pop("below_floors"), "status": verdict.status}


def parse_verdict(row: Mapping[str, Any]) -> Verdict:
    """Parse the verdict of a report; ValueError, TypeError or KeyError for anything else."""
    verdict = msgspec.convert({**row, "below_floors": row["refused"]}, Verdict)
    if row["status"] != verdict.status:
        raise ValueError(
            f"{verdict.id}: status is {row['status']!r:.20}, its issues say {verdict.status}"
        )
    return verdict


@dataclass(frozen=True, slots=True)
class ModelPrice:
    """Price a million tokens that a model reads (``input``) and writes (``output``)."""

    input: float
    output: float

    def compute_cost(self, usage: CallUsage) -> float:
        """Compute what tokens cost, in the currency of the price."""
        cost = usage.input_tokens * self.input + usage.output_tokens * self.output
        return round(cost / 1_000_000, _MONEY_DIGITS)


def sum_usages(usages: Sequence[CallUsage | None]) -> CallUsage | None:
    """Add up tokens and seconds; None if there are none."""
    counted = [usage for usage in usages if usage]
    if not counted:
        return None
    return CallUsage(
        sum(usage.input_tokens for usage in counted),
        sum(usage.output_tokens for usage in counted),
        round(sum(usage.seconds for usage in counted), 3),
    )


@dataclass(frozen=True, slots=True)
class Proportion:
    """Count ``part`` of ``whole``, with a 95 % confidence interval of the share."""

    part: int
    whole: int

    @property
    def value(self) -> float | None:
        """Divide, into [0, 1]; None of nothing."""
        return self.part / self.whole if self.whole else None

    @property
    def interval(self) -> tuple[float, float]:
        """Compute Wilson's score interval (E. B. Wilson, JASA 22, 1927), within [0, 1]."""
        if not self.whole:
            return 0.0, 1.0
        share, square = self.part / self.whole, _Z_95 * _Z_95 / self.whole
        middle = (share + square / 2) / (1 + square)
        spread = _Z_95 * math.sqrt(share * (1 - share) / self.whole + square / 4 / self.whole)
        spread /= 1 + square
        return max(0.0, middle - spread), min(1.0, middle + spread)

    def as_json(self) -> dict[str, Any]:
        """Encode the share as a report holds it."""
        low, high = self.interval
        return {
            "part": self.part,
            "whole": self.whole,
            "value": None if self.value is None else round(self.value, 4),
            "interval": [round(low, 4), round(high, 4)],
        }


@dataclass(frozen=True, slots=True)
class Metrics:
    """Summarize verdicts in numbers: shares by their names, and ``mrr``.

    ``passed``: queries. ``recall``: expected sources among the retrieved, the first eight of each
    stream. ``precision``: retrieved items, the same, that are of an expected source. ``answered``:
    questions to be answered that were, in the mode they require; in the retrieval tier, that were
    not refused. ``refused``: questions to be refused that were; in the retrieval tier, by the
    floors. ``quoted``: claims whose quotes were verified, of all that were drafted. ``mrr``: the
    mean of 1 / rank of the first expected source, None without one.
    """

    shares: Mapping[str, Proportion]
    mrr: float | None

    def as_json(self) -> dict[str, Any]:
        """Encode the metrics as a report holds them."""
        mrr = None if self.mrr is None else round(self.mrr, 4)
        return {name: share.as_json() for name, share in self.shares.items()} | {"mrr": mrr}


def compute_metrics(verdicts: Sequence[Verdict]) -> Metrics:
    """Compute the metrics of verdicts; all but ``passed`` leave out those that are errors."""
    judged = [verdict for verdict in verdicts if verdict.error is None]
    sourced = [verdict for verdict in judged if verdict.ranks]
    ranks = [place.rank for verdict in sourced for place in verdict.ranks]
    firsts = [
        max((1 / place.rank for place in verdict.ranks if place.rank), default=0.0)
        for verdict in sourced
    ]
    relevant, retrieved, claims, dropped = (
        sum(getattr(verdict, name) for verdict in rows)
        for name, rows in (
            ("relevant", sourced), ("retrieved", sourced), ("claims", judged), ("dropped", judged)
        )
    )  # fmt: skip
    shares = {
        "passed": _count_true(verdict.passed for verdict in verdicts),
        "recall": _count_true(rank is not None for rank in ranks),
        "precision": Proportion(relevant, retrieved),
        "answered": _count_true(verdict.is_answered for verdict in judged if verdict.is_answerable),
        "refused": _count_true(
            verdict.is_refused for verdict in judged if verdict.requires_refusal
        ),
        "quoted": Proportion(claims, claims + dropped),
    }
    return Metrics(shares, sum(firsts) / len(firsts) if firsts else None)


def compute_metrics_by_tag(verdicts: Sequence[Verdict]) -> dict[str, Metrics]:
    """Compute the metrics of the verdicts that bear each tag, in the order of tags."""
    tags = sorted({tag for verdict in verdicts for tag in verdict.tags})
    return {
        tag: compute_metrics([verdict for verdict in verdicts if tag in verdict.tags])
        for tag in tags
    }


def _count_true(values: Iterable[bool]) -> Proportion:
    listed = list(values)
    return Proportion(sum(listed), len(listed))
