"""Write and strictly read evaluation reports as JSON; archive them, find one to compare with."""

import json
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..indexing.output.atomic_files import write_file, write_private_file
from ..serve.errors import GoldError
from .metrics import compute_metrics, compute_metrics_by_tag
from .report import TIERS, EvalReport, diff_reports
from .verdict_json import (
    encode_verdict,
    parse_verdict,
    require_count,
    require_number,
    require_text,
)

REPORT_VERSION = 2
# An archive keeps so many reports of a site; the oldest are deleted.
MAX_REPORTS = 50

_REPORT_SUFFIX = ".json"


def encode_report(report: EvalReport, previous: EvalReport | None) -> dict[str, Any]:
    """Encode a report as JSON. previous: the report that it is compared with."""
    tags = compute_metrics_by_tag(report.verdicts)
    return {
        "version": REPORT_VERSION,
        **asdict(report),
        "passed": report.passed,
        "failed": len(report.failed),
        "known_failures": len(report.known_failures),
        "errors": len(report.errors),
        "flaky": len(report.flaky),
        "aborted": report.is_aborted,
        "usage": None if report.usage is None else asdict(report.usage),
        "judge_usage": None if report.judge_usage is None else asdict(report.judge_usage),
        "verdicts": [encode_verdict(verdict) for verdict in report.verdicts],
        "metrics": compute_metrics(report.verdicts).as_json(),
        "tags": {tag: metrics.as_json() for tag, metrics in tags.items()},
        "diff": asdict(diff_reports(previous, report)) if previous else None,
    }


def write_report(
    path: Path, report: EvalReport, previous: EvalReport | None, *, private: bool = False
) -> None:
    """Write a report to a file. private: for its owner alone, since it may name notes by path."""
    text = json.dumps(encode_report(report, previous), indent=1, ensure_ascii=False) + "\n"
    write = write_private_file if private else write_file
    write(path, text.encode("utf-8", "backslashreplace"))


def archive_report(folder: Path, report: EvalReport, previous: EvalReport | None) -> Path:
    """Write a report into a site's archive, delete the oldest ones, and return its path."""
    path = folder / f"{report.made_at}{_REPORT_SUFFIX}"
    write_report(path, report, previous, private=True)
    for old in _list_report_paths(folder)[:-MAX_REPORTS]:
        old.unlink(missing_ok=True)
    return path


def read_latest_report(folder: Path) -> EvalReport:
    """Read the report of the last run; GoldError if there is none or it cannot be read."""
    paths = _list_report_paths(folder)
    return read_report(paths[-1] if paths else folder / f"latest{_REPORT_SUFFIX}")


def find_previous_report(folder: Path, report: EvalReport) -> EvalReport | None:
    """Find the last report of the same tier and answerer to compare one with; None without any.

    Of those that share the most queries with it: a run of a part says nothing of the others.
    """
    ids = {verdict.id for verdict in report.verdicts}
    best: EvalReport | None = None
    most_shared = 0
    for path in reversed(_list_report_paths(folder)):
        # A report that another version has written is no reason not to run the gold set.
        with suppress(GoldError):
            candidate = read_report(path)
            shared = len(ids & {verdict.id for verdict in candidate.verdicts})
            is_alike = (candidate.tier, candidate.answers) == (report.tier, report.answers)
            if is_alike and shared > most_shared:
                best, most_shared = candidate, shared
        if most_shared == len(ids):
            break
    return best


def read_report(path: Path) -> EvalReport:
    """Read a report; GoldError for another file, or one whose counts contradict its verdicts."""
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
            f"{path} is not a report of `answerable eval` ({error!s:.100}): delete it, or name "
            "another"
        ) from None
    return report


def list_failed_ids(report: EvalReport, name: str) -> Sequence[str]:
    """List the ids that failed; GoldError for an aborted run. name: what an error calls it."""
    if report.is_aborted:
        raise GoldError(
            f"{name} is of a run that was aborted, so it does not know every failure: run the "
            "whole set again"
        )
    return report.failed


def _parse_report(data: Any) -> EvalReport:
    if data["version"] != REPORT_VERSION:
        raise ValueError(f"version {data['version']!r:.20}, this is {REPORT_VERSION}")
    if data["tier"] not in TIERS:
        raise ValueError(f"tier {data['tier']!r:.20}")
    names = ("made_at", "bundle", "prompt", "embedder", "answers")
    return EvalReport(
        **{name: require_text(data[name]) for name in names},
        floor=require_number(data["floor"]),
        note_floor=require_number(data["note_floor"]),
        tier=data["tier"],
        total=require_count(data["total"]),
        verdicts=tuple(parse_verdict(row) for row in data["verdicts"]),
        skipped=tuple(require_text(name) for name in data["skipped"]),
        site_url=None if data["site_url"] is None else require_text(data["site_url"]),
        judge=None if data["judge"] is None else require_text(data["judge"]),
        cost=None if data["cost"] is None else require_number(data["cost"]),
    )


def _check_counts(data: Any, report: EvalReport) -> None:
    """Refuse counts that contradict the verdicts."""
    counts = Counter([*(verdict.id for verdict in report.verdicts), *report.skipped])
    duplicates = [name for name, count in counts.items() if count > 1]
    if duplicates:
        raise ValueError(f"duplicate id {duplicates[0]!r}")
    computed = {
        "passed": report.passed,
        "failed": len(report.failed),
        "known_failures": len(report.known_failures),
        "errors": len(report.errors),
        "flaky": len(report.flaky),
        "aborted": report.is_aborted,
    }
    for name, value in computed.items():
        if type(data[name]) is not type(value) or data[name] != value:
            raise ValueError(f"{name} is {data[name]!r:.20}, its verdicts say {value}")
    if counts.total() > report.total:
        raise ValueError(f"it has {counts.total()} verdicts of {report.total} queries")


def _list_report_paths(folder: Path) -> list[Path]:
    """List the reports of a site, the oldest first."""
    return sorted(folder.glob(f"*Z{_REPORT_SUFFIX}"))
