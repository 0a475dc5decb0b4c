"""A log line is one line of JSON and holds nothing that an asker has written."""

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answerable.serve.http import logs
from answerable.serve.http.logs import AccessLogEntry
from answerable.serve.request_context import RequestContext
from support.sites import ROOT

FIELDS = [
    "event",
    "time",
    "request_id",
    "method",
    "path",
    "status",
    "mode",
    "reason",
    "cache",
    "duration_ms",
    "timings_ms",
    "tokens_in",
    "tokens_out",
    "bundle",
    "cited",
]
SEEN = AccessLogEntry(
    request_id="req_1",
    method="POST",
    path="answer",
    status=200,
    mode="supported",
    cache="miss",
    timings_ms={"searching": 3.14159, "embedding": 0.26},
    tokens_in=900,
    tokens_out=40,
    bundle="3f9c",
    duration_ms=12.3456,
    hour="2026-12-31T23:00Z",
    cited=("guide/deploy", "caf\u00e9"),
)


def observation(**fields: Any) -> AccessLogEntry:
    usual: dict[str, Any] = {"request_id": "req_1", "method": "GET", "path": "x", "status": 200}
    return AccessLogEntry(**(usual | fields))


def parsed(entry: AccessLogEntry) -> dict[str, Any]:
    row: dict[str, Any] = json.loads(entry.to_line())
    return row


def test_log_line_fields_are_complete_and_in_order() -> None:
    assert SEEN.to_line() == (
        b'{"event": "request", "time": "2026-12-31T23:00Z", "request_id": "req_1", '
        b'"method": "POST", "path": "answer", '
        b'"status": 200, "mode": "supported", "reason": null, "cache": "miss", '
        b'"duration_ms": 12.3, "timings_ms": {"embedding": 0.3, "searching": 3.1}, '
        b'"tokens_in": 900, "tokens_out": 40, "bundle": "3f9c", '
        b'"cited": ["guide/deploy", "caf\\u00e9"]}\n'
    )
    assert list(parsed(SEEN)) == FIELDS


def test_log_line_timings_match_request_context() -> None:
    call = RequestContext()
    for stage in ("embedding", "searching", "writing", "checking"):
        with call.stage(stage):
            pass
    timings = parsed(observation(timings_ms=call.timings()))["timings_ms"]
    assert list(timings) == ["embedding", "searching", "writing", "checking"]
    assert all(value >= 0 for value in timings.values())


@pytest.mark.parametrize("path", logs.LOGGED_PATHS)
def test_known_path_is_logged(path: str) -> None:
    assert observation(path=path).path == observation(path=f"/{path}/").path == path


@pytest.mark.parametrize(
    "path",
    ["", "/", "Answer", "answer/x", "who-is-the-harbour-master", "answer?q=secret", "answer\n"],
)
def test_unknown_path_is_logged_as_other(path: str) -> None:
    assert parsed(observation(path=path))["path"] == "other"


def test_unknown_method_is_logged_as_other() -> None:
    assert parsed(observation(method="MOOR"))["method"] == "other"
    assert parsed(observation(method="OPTIONS"))["method"] == "OPTIONS"


def test_known_reason_is_logged() -> None:
    for reason in ("no-evidence", "declined", "contract", "rate-limited", "paused", "timeout"):
        assert parsed(observation(reason=reason))["reason"] == reason


def test_unknown_values_are_logged_as_null() -> None:
    words = "sk-live-1234 is my key"
    entry = observation(mode=words, reason=words, cache=words, timings_ms={words: 1.0})
    assert b"sk-live" not in entry.to_line()
    assert parsed(entry) | {
        "mode": None,
        "reason": None,
        "cache": None,
        "timings_ms": {},
    } == parsed(entry)


def test_contract_rules_follow_the_fields_of_every_line() -> None:
    counts = {"ground/number": 2, "validate/shape": 1, "the secret is out": 3}
    entry = observation(contract=counts)
    assert parsed(entry)["contract"] == {"validate/shape": 1, "ground/number": 2}
    assert list(parsed(entry)) == [*FIELDS, "contract"]
    assert "contract" not in parsed(observation(contract={"ground/marmalade": 1}))


@pytest.mark.parametrize("cause", logs.LOGGED_CAUSES)
def test_cause_of_a_failed_call_precedes_contract_rules(cause: str) -> None:
    entry = observation(cause=cause, contract={"ground/number": 1})
    assert parsed(entry)["cause"] == cause
    assert list(parsed(entry)) == [*FIELDS, "cause", "contract"]


def test_cause_that_is_not_ours_is_not_logged() -> None:
    assert "cause" not in parsed(observation(cause="sk-live-1234"))


def test_manual_explains_every_cause() -> None:
    text = (ROOT / "docs" / "observe.md").read_text("utf-8")
    section = text.split("\n## Why did a call of a provider fail?\n")[1].split("\n## ")[0]
    assert re.findall(r"^\| `([\w-]+)` \|", section, re.M) == list(logs.LOGGED_CAUSES)


def test_infinite_and_nan_durations_are_logged_as_null() -> None:
    entry = observation(duration_ms=float("inf"), timings_ms={"writing": float("nan")})
    assert parsed(entry)["duration_ms"] is None
    assert parsed(entry)["timings_ms"] == {"writing": None}


ANY = st.text() | st.none()


@given(
    st.builds(
        AccessLogEntry,
        request_id=st.text(),
        method=st.text(),
        path=st.text(),
        status=st.integers(),
        mode=ANY,
        reason=ANY,
        cache=ANY,
        timings_ms=st.dictionaries(st.text() | st.sampled_from(logs.LOGGED_STAGES), st.floats()),
        tokens_in=st.integers(),
        tokens_out=st.integers(),
        bundle=ANY,
        cause=ANY | st.sampled_from(logs.LOGGED_CAUSES),
        contract=st.dictionaries(
            st.text() | st.sampled_from(logs.LOGGED_CONTRACT_RULES), st.integers()
        ),
        duration_ms=st.floats(),
        hour=ANY,
        cited=st.lists(st.text()).map(tuple),
    )
)
def test_log_line_is_one_line_of_printable_ascii_json(entry: AccessLogEntry) -> None:
    line = entry.to_line()
    assert line.endswith(b"\n")
    assert all(0x20 <= byte < 0x7F for byte in line[:-1])
    assert len(line.decode().splitlines()) == 1
    row = json.loads(line, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    assert row["request_id"] == entry.request_id
    assert row["path"] in (*logs.LOGGED_PATHS, "other")
    assert row["method"] in (*logs.LOGGED_METHODS, "other")
