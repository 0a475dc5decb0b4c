"""The report's JSON is the one that the manual describes, field by field."""

from dataclasses import replace
from typing import Any

from answerable.evaluate.diff import PageChange, SiteDiff, encode_site_diff
from answerable.evaluate.report import REPORT_VERSION, encode_report
from answerable.evaluate.verdict import (
    VERDICT_STATUSES,
    CallUsage,
    ClaimSupport,
    NearMiss,
    RecordedAnswer,
    RecordedCitation,
    RepeatedRun,
    SourceRank,
)
from support import manual
from support.eval_reports import report, row

CITATION = RecordedCitation("record", "a#b", "/a/#b", "A › B", "Quoted.")
FULL_ROW = replace(
    row("chain"),
    answer=RecordedAnswer("Quoted. [1]", (CITATION,), 0.5),
    ranks=(SourceRank("a", 1),),
    near_misses=(NearMiss("c", 0.3),),
    usage=CallUsage(1, 2, 0.5),
    supports=(ClaimSupport("A claim.", "yes"),),
    judge_usage=CallUsage(1, 2, 0.5),
    runs=(RepeatedRun(), RepeatedRun()),
)


def names(fields: dict[str, Any], prefix: str = "") -> set[str]:
    """Every key of an object and of the objects within it, as paths such as `answer.text`."""
    paths = set()
    for key, value in fields.items():
        paths.add(f"{prefix}{key}")
        for inner in value if isinstance(value, list | tuple) else [value]:
            if isinstance(inner, dict):
                paths |= names(inner, f"{prefix}{key}.")
    return paths


def documented(head: str) -> set[str]:
    rows = manual.rows("evaluate.md", head)
    return {name.strip("` ") for row in rows for name in row[0].split(",")}


def test_the_manual_describes_every_field_of_a_report() -> None:
    encoded = encode_report(report(FULL_ROW), report(FULL_ROW))
    assert encoded["version"] == REPORT_VERSION
    verdict = encoded["verdicts"][0]
    top = {key: value for key, value in encoded.items() if key not in ("verdicts", "metrics")}
    # The names of tags are the site's own.
    top["tags"] = {}
    # What each verdict has too.
    top["usage"] = top["judge_usage"] = None
    assert documented("field of a report") == names(top) | {"verdicts", "metrics"}
    assert documented("field of a verdict") == names(verdict)
    table = {row[0].strip("`"): row[1] for row in manual.rows("evaluate.md", "field of a report")}
    assert f"`{REPORT_VERSION}`" in table["version"]


def test_the_manual_describes_every_field_of_a_comparison() -> None:
    run = report(FULL_ROW)
    page = PageChange("gone", "a", "/a/")
    changed = report(replace(FULL_ROW, answer=RecordedAnswer("Other. [1]", (CITATION,), 0.5)))
    encoded = encode_site_diff(SiteDiff("main", "abc", run, changed, (page,)))
    assert documented("field of a comparison") == set(encoded)
    table = {row[0]: row[1] for row in manual.rows("evaluate.md", "field of a comparison")}
    assert f"`{encoded['version']}`" in table["`version`"]
    (change,) = encoded["changed"]
    for field, inner in (
        ("against", encoded["against"]),
        ("changed", change),
        ("changed", change["before"]),
        ("pages", encoded["pages"][0]),
    ):
        assert {name for name in inner if f"`{name}`" not in table[f"`{field}`"]} == set()


def test_the_manual_describes_every_status() -> None:
    assert [row[0].strip("`") for row in manual.rows("evaluate.md", "status")] == [
        *VERDICT_STATUSES
    ]
