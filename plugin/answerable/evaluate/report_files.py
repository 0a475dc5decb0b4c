"""What a run of the gold set has found: kept, read again, and held against the run before."""

import datetime as dt
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from ..indexing.output.atomic_files import write_file, write_private_file
from ..serve.answers import prompt as prompt_module
from ..serve.bundle_format.manifest import Manifest
from ..serve.errors import GoldError
from .gold import GoldQuery
from .metrics import compute_metrics, compute_metrics_by_tag
from .report import (
    VerdictRow,
    make_verdict_row,
    parse_verdict_row,
    require_count,
    require_number,
    require_text,
)
from .runner import Verdict

Tier = Literal["retrieval", "full"]
TIERS: tuple[Tier, ...] = ("retrieval", "full")

REPORT_VERSION = 1
# So many reports are kept of each site; the oldest go.
MAX_REPORTS = 50

_REPORT_SUFFIX = ".json"


@dataclass(frozen=True)
class EvalReport:
    """The verdicts of a run over ``total`` queries, and what they were found with.

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

    @cached_property
    def failed(self) -> tuple[str, ...]:
        """The ids of the queries that failed."""
        return tuple(row.id for row in self.rows if not row.passed)

    @property
    def passed(self) -> int:
        """How many queries passed."""
        return len(self.rows) - len(self.failed)

    @property
    def asked(self) -> int:
        """How many queries there were to judge."""
        return self.total - len(self.skipped)

    @property
    def is_aborted(self) -> bool:
        """Whether the run ended before every query was judged."""
        return len(self.rows) + len(self.skipped) < self.total

    @property
    def holds(self) -> bool:
        """Whether every query was judged and none failed."""
        return not self.failed and not self.is_aborted

    def as_json(self, previous: "EvalReport | None" = None) -> dict[str, Any]:
        """The report as it is written. previous: the run that it is held against."""
        difference = diff_reports(previous, self) if previous else None
        return {
            "version": REPORT_VERSION,
            "made_at": self.made_at,
            "bundle": self.bundle,
            "prompt": self.prompt,
            "embedder": self.embedder,
            "answers": self.answers,
            "floor": self.floor,
            "note_floor": self.note_floor,
            "tier": self.tier,
            "total": self.total,
            "passed": self.passed,
            "failed": len(self.failed),
            "skipped": list(self.skipped),
            "aborted": self.is_aborted,
            "verdicts": [row.as_json() for row in self.rows],
            "metrics": compute_metrics(self.rows).as_json(),
            "tags": {
                tag: found.as_json() for tag, found in compute_metrics_by_tag(self.rows).items()
            },
            "diff": difference.as_json() if difference else None,
        }


def make_report(
    manifest: Manifest,
    verdicts: Iterable[Verdict],
    queries: Sequence[GoldQuery],
    asked: Sequence[GoldQuery],
    *,
    tier: Tier,
    answers: str,
) -> EvalReport:
    """The report of a run that ends now. asked: those of the queries that were not skipped."""
    made = tuple(map(make_verdict_row, verdicts))
    return EvalReport(
        made_at=format_timestamp(dt.datetime.now(dt.UTC)),
        bundle=manifest.id,
        prompt=prompt_module.PROMPT_VERSION,
        embedder=manifest.identity.label,
        answers=answers,
        floor=manifest.profile.floor,
        note_floor=manifest.profile.note_floor,
        tier=tier,
        total=len(queries),
        rows=made,
        skipped=tuple(query.id for query in queries if query not in asked),
    )


@dataclass(frozen=True, slots=True)
class ReportDiff:
    """Which verdicts differ from those of the run before, by query."""

    against: str
    newly_failing: tuple[str, ...]
    newly_passing: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """The differences as a report holds them."""
        return {
            "against": self.against,
            "newly_failing": list(self.newly_failing),
            "newly_passing": list(self.newly_passing),
        }


def diff_reports(before: EvalReport, after: EvalReport) -> ReportDiff:
    """What has changed between two runs, of the queries that both have judged."""
    held = {row.id: row.passed for row in before.rows}
    changed = [row for row in after.rows if held.get(row.id, row.passed) != row.passed]
    return ReportDiff(
        before.made_at,
        tuple(row.id for row in changed if not row.passed),
        tuple(row.id for row in changed if row.passed),
    )


def format_timestamp(moment: dt.datetime) -> str:
    """A moment as a report is named by, in the order of time."""
    return moment.astimezone(dt.UTC).strftime("%Y-%m-%dT%H-%M-%S.%fZ")


def archive_report(folder: Path, report: EvalReport, previous: EvalReport | None) -> Path:
    """Write a report among those of a site; where it is."""
    path = folder / f"{report.made_at}{_REPORT_SUFFIX}"
    write_report(path, report, previous, private=True)
    for old in _list_report_paths(folder)[:-MAX_REPORTS]:
        old.unlink(missing_ok=True)
    return path


def write_report(
    path: Path, report: EvalReport, previous: EvalReport | None, *, private: bool = False
) -> None:
    """Write a report to a file. private: for its owner alone, since it may name notes by path."""
    text = json.dumps(report.as_json(previous), indent=1, ensure_ascii=False) + "\n"
    put = write_private_file if private else write_file
    put(path, text.encode("utf-8", "backslashreplace"))


def read_latest_report(folder: Path) -> EvalReport:
    """The report of the last run; GoldError if there is none or it cannot be read."""
    found = _list_report_paths(folder)
    return read_report(found[-1] if found else folder / f"latest{_REPORT_SUFFIX}")


def find_previous_report(folder: Path, report: EvalReport) -> EvalReport | None:
    """The last run of the same tier to hold one against, None if there is none.

    Of those that share the most queries with it: a run of a part says nothing of the rest.
    """
    asked = {row.id for row in report.rows}
    best: EvalReport | None = None
    most = 0
    for path in reversed(_list_report_paths(folder)):
        # One that another version has written is no reason not to run the gold set.
        with suppress(GoldError):
            found = read_report(path)
            shared = len(asked & {row.id for row in found.rows})
            if found.tier == report.tier and shared > most:
                best, most = found, shared
        if most == len(asked):
            break
    return best


def read_report(path: Path) -> EvalReport:
    """A report in a file; GoldError if it is none, or if its counts do not agree."""
    try:
        data = json.loads(path.read_bytes())
        report = _parse_report(data)
        _check_counts(data, report)
    except FileNotFoundError:
        raise GoldError(f"{path} does not exist: run `answerable eval` first") from None
    except OSError as error:
        raise GoldError(f"{path} cannot be read ({error.strerror}): name a report") from None
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise GoldError(
            f"{path} is no report of `answerable eval` ({error!s:.100}): delete it, or name another"
        ) from None
    return report


def _parse_report(data: Any) -> EvalReport:
    if data["version"] != REPORT_VERSION:
        raise ValueError(f"version {data['version']!r:.20}, this is {REPORT_VERSION}")
    names = ("made_at", "bundle", "prompt", "embedder", "answers")
    texts = {name: require_text(data[name]) for name in names}
    if data["tier"] not in TIERS:
        raise ValueError(f"tier {data['tier']!r:.20}")
    return EvalReport(
        **texts,
        floor=require_number(data["floor"]),
        note_floor=require_number(data["note_floor"]),
        tier=data["tier"],
        total=require_count(data["total"]),
        rows=tuple(parse_verdict_row(row) for row in data["verdicts"]),
        skipped=tuple(require_text(name) for name in data["skipped"]),
    )


def _check_counts(data: Any, report: EvalReport) -> None:
    """Refuse counts that contradict the verdicts."""
    seen = Counter([*(row.id for row in report.rows), *report.skipped])
    twice = [name for name, times in seen.items() if times > 1]
    if twice:
        raise ValueError(f"{twice[0]!r} is there twice")
    counted = {
        "passed": report.passed,
        "failed": len(report.failed),
        "aborted": report.is_aborted,
    }
    for name, found in counted.items():
        if type(data[name]) is not type(found) or data[name] != found:
            raise ValueError(f"{name} is {data[name]!r:.20}, its verdicts say {found}")
    if sum(seen.values()) > report.total:
        raise ValueError(f"it has {sum(seen.values())} verdicts of {report.total} queries")


def list_failed_ids(report: EvalReport, name: str) -> Sequence[str]:
    """The ids that failed in a report; GoldError if its run was aborted. name: what to call it."""
    if report.is_aborted:
        raise GoldError(
            f"{name} is of a run that was aborted, so it does not know every failure: run the "
            "whole set again"
        )
    return report.failed


def _list_report_paths(folder: Path) -> list[Path]:
    """The reports of a site, the oldest first."""
    return sorted(folder.glob(f"*Z{_REPORT_SUFFIX}"))
