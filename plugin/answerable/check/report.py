"""The report of a gold run: its verdicts, as a file, as lines of a terminal and as Markdown."""

import json
import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from ..engine.errors import GoldError
from ..engine.types import Mode, Reason
from ..indexing.files import write_file, write_private_file
from .gold import GoldQuery

Tier = Literal["retrieval", "full"]
# ``error``: a call failed, so that nothing could be judged. ``known-failure``: it fails as the gold
# file says. ``unexpected-pass``: it passes where the gold file says that it fails.
VerdictStatus = Literal["pass", "fail", "error", "known-failure", "unexpected-pass"]

REPORT_VERSION = 3
# Of an archive, named by their times.
_REPORTS = "*Z.json"
# GitHub refuses a comment of more than 65,536 characters: verdicts that fail have these of them.
_MAX_FAILURES = 20_000
_FLOORS, _FLOOR_STEP = 9, 0.04
_LABELS = {"fail": "FAIL", "error": "ERROR", "unexpected-pass": "FAIL", "known-failure": "known"}
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\u200b-\u200f\u202a-\u202e\u2066-\u2069]")


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
    """The text of an answer with [n] markers, and its citations by number."""

    mode: Mode
    text: str
    reason: Reason | None = None
    citations: tuple[RecordedCitation, ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome of one gold query.

    ``issues`` say what is wrong, and hold neither a pattern nor the path of a note, so that anybody
    may read them. ``note`` is the gold file's. ``top``: the id of the best candidate. ``score``:
    that of the best passage, as the floor is compared with it, of an expected page if there is one;
    None where only notes are expected.
    """

    id: str
    query: str
    status: VerdictStatus = "pass"
    issues: tuple[str, ...] = ()
    note: str = ""
    top: str | None = None
    score: float | None = None
    answer: RecordedAnswer | None = None

    @property
    def holds(self) -> bool:
        """True if the outcome is the one that the gold file expects."""
        return self.status in ("pass", "known-failure")


@dataclass(frozen=True, slots=True)
class FloorCounts:
    """Counts of the answerable queries that a floor lets through and of the refusals it keeps."""

    floor: float
    answered: int
    answerable: int
    refused: int
    refusable: int


@dataclass(frozen=True, slots=True)
class EvalReport:
    """The verdicts of a run over ``total`` queries.

    ``made_at``: UTC, and the name of the file. ``answers``: a model or a provider. ``skipped``:
    queries that only an answer model can be held to.
    """

    made_at: str
    bundle: str
    answers: str
    tier: Tier
    total: int
    skipped: tuple[str, ...]
    floors: tuple[FloorCounts, ...]
    verdicts: tuple[Verdict, ...]

    @property
    def failed(self) -> tuple[str, ...]:
        """The ids of the queries whose outcome the gold file does not expect."""
        return tuple(verdict.id for verdict in self.verdicts if not verdict.holds)

    @property
    def is_aborted(self) -> bool:
        """True if the run ended before every query was judged."""
        return len(self.verdicts) < self.total - len(self.skipped)

    @property
    def is_unjudged(self) -> bool:
        """True if every query met a failed call."""
        statuses = {verdict.status for verdict in self.verdicts}
        return statuses == {"error"} and not self.is_aborted

    @property
    def holds(self) -> bool:
        """True if every query was judged and none failed."""
        return not self.failed and not self.is_aborted

    def count(self, status: VerdictStatus) -> int:
        """Count the queries with a status."""
        return sum(verdict.status == status for verdict in self.verdicts)


def count_floors(
    queries: Sequence[GoldQuery], verdicts: Iterable[Verdict], floor: float
) -> tuple[FloorCounts, ...]:
    """Count what nine floors around a site's own would answer and refuse of a gold set."""
    by_id = {query.id: query for query in queries}
    answerable: list[float] = []
    refusable: list[float] = []
    for verdict in verdicts:
        query = by_id[verdict.id]
        # What only a model refuses, and what a note answers, is none of this floor's business.
        if verdict.score is None or query.requires_model or query.expect_reason == "declined":
            continue
        is_refusal = query.expected_modes == ("not-found",) or query.expect_reason
        (refusable if is_refusal else answerable).append(verdict.score)
    # The site's own floor is in the middle, unless that would take some below zero.
    first = floor - _FLOOR_STEP * min(_FLOORS // 2, int(floor / _FLOOR_STEP))
    floors = [round(first + _FLOOR_STEP * step, 3) for step in range(_FLOORS)]
    return tuple(
        FloorCounts(
            value,
            sum(score >= value for score in answerable),
            len(answerable),
            sum(score < value for score in refusable),
            len(refusable),
        )
        for value in floors
    )


def write_report(path: Path, report: EvalReport, *, private: bool = False) -> None:
    """Write a report to a file. private: for its owner alone, since it holds what was asked."""
    text = format_report_json(report)
    write = write_private_file if private else write_file
    write(path, f"{text}\n".encode("utf-8", "backslashreplace"))


def format_report_json(report: EvalReport) -> str:
    """Format a report as JSON."""
    fields = {"version": REPORT_VERSION, "holds": report.holds, **msgspec.to_builtins(report)}
    return json.dumps(fields, indent=1, ensure_ascii=False)


def archive_report(folder: Path, report: EvalReport) -> Path:
    """Write a report into a site's archive, which keeps the last 50, and return its path."""
    path = folder / f"{report.made_at}.json"
    write_report(path, report, private=True)
    for old in sorted(folder.glob(_REPORTS))[:-50]:
        old.unlink(missing_ok=True)
    return path


def read_latest_report(folder: Path) -> EvalReport:
    """Read the report of the last run; GoldError if there is none or it cannot be read."""
    return read_report(max(folder.glob(_REPORTS), default=folder / "latest.json"))


def read_report(path: Path) -> EvalReport:
    """Read a report; GoldError for another file."""
    try:
        data = msgspec.json.decode(path.read_bytes())
        if data["version"] != REPORT_VERSION:
            raise ValueError(f"version {data['version']!r:.20}, this is {REPORT_VERSION}")
        return msgspec.convert(data, EvalReport)
    except FileNotFoundError:
        raise GoldError(f"{path} does not exist: run `answerable eval` first") from None
    except OSError as error:
        raise GoldError(f"{path} cannot be read ({error.strerror}): name a report") from None
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise GoldError(
            f"{path} is not a report of `answerable eval` ({error!s:.100}): delete it, or name "
            "another"
        ) from None


def summarize_report(report: EvalReport) -> str:
    """Count the verdicts of a run by their status, in one sentence."""
    counts = {
        "known to fail": report.count("known-failure"),
        "passed unexpectedly": report.count("unexpected-pass"),
        "failed": report.count("fail"),
        "not judged, because a call failed": report.count("error"),
        "skipped: only an answer model can be held to those": len(report.skipped),
    }
    runnable = report.total - len(report.skipped)
    parts = [f"{report.count('pass')} of {runnable} passed ({report.tier} tier)"]
    parts += [f"{count} {label}" for label, count in counts.items() if count]
    parts += ["and the run was aborted"] if report.is_aborted else []
    return ", ".join(parts)


def list_run_lines(report: EvalReport, floor: float) -> Iterator[str]:
    """Lay out a run for a terminal: what did not pass, the counts, and what nine floors trade.

    floor: the site's own.
    """
    yield from list_failures(report.verdicts)
    yield f"{summarize_report(report)}."
    yield "\nfloor  answerable queries above it  refusals below it"
    for row in report.floors:
        answered = f"{row.answered} of {row.answerable}"
        refused = f"{row.refused} of {row.refusable}"
        mark = "  the site's own" if row.floor == round(floor, 3) else ""
        yield f"{row.floor:.3f}  {answered:26}  {refused:17}{mark}".rstrip()


def list_failures(verdicts: Iterable[Verdict]) -> Iterator[str]:
    """List the verdicts that did not simply pass, with what was found and the gold file's note."""
    for verdict in verdicts:
        if verdict.status != "pass":
            note = f"  note: {verdict.note}\n" if verdict.note else ""
            yield (
                f"{_LABELS[verdict.status]} {verdict.id}: {'; '.join(verdict.issues)}\n"
                f"  asked: {verdict.query}\n"
                f"  found first: {verdict.top or 'nothing'}\n{note}"
            )


def format_run_markdown(report: EvalReport) -> str:
    """Format a run in Markdown: counts, and all verdicts that did not simply pass."""
    verb = "holds" if report.holds else "does not hold"
    parts = [f"### The gold set {verb}\n", f"{summarize_report(report)}.\n"]
    if failures := list(list_failures(report.verdicts)):
        parts.append(format_block(failures, _MAX_FAILURES, "verdicts"))
    return "\n".join(parts)


def format_block(texts: Sequence[str], room: int, noun: str) -> str:
    """Format the texts for which there is room as a block, in which nothing counts as Markdown.

    room: in characters. noun: what the texts are.
    """
    fitting = []
    for text in texts:
        if len(text) <= room:
            fitting.append(text)
            room -= len(text)
    if left_out := len(texts) - len(fitting):
        fitting.append(f"{left_out} more {noun} are in the report, and not here.")
    # GitHub breaks no line of such a block.
    broken = [
        part
        for line in "\n".join(fitting).split("\n")
        for part in textwrap.wrap(_CONTROL.sub("", line), 100, replace_whitespace=False) or [""]
    ]
    text = "\n".join(broken).strip("\n")
    fence = "`" * (max(map(len, re.findall("`+", text)), default=0) + 3)
    return f"{fence}\n{text}\n{fence}\n"
