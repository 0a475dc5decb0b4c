"""What a function logs and counts: values of our own, and no words of an asker."""

import json
import re
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest
from prometheus_client.parser import text_string_to_metric_families

from answerable.engine.engine import Engine
from answerable.engine.errors import PolicyError, ProviderError
from answerable.engine.settings import LogRefusals
from answerable.function.logs import (
    LineFile,
    RefusalLine,
    RefusalLog,
    RequestLine,
    RequestMetrics,
    format_hour,
    hash_asker,
)
from support.app_requests import Request
from support.service_requests import (
    BEARER,
    DIGEST,
    QUESTION,
    ROUTED,
    SENT,
    Paid,
    asking,
    request,
    usual,
)

SECRET = "a secret of sixteen letters"
NOON = 1_714_564_800.0
DAY = 86_400


def test_methods_and_paths_that_are_not_ours_are_neither_logged_nor_counted(base: Engine) -> None:
    ask = asking(base, usual(metrics_token=DIGEST))
    for sent in (request("SK-LIVE", "sk-live"), request("SK-LIVE", "answer")):
        ask.send(sent)
        assert (ask.log[-1]["method"], ask.log[-1]["path"]) == ("other", "other")
    assert b"sk-live" not in b"".join((*ask.lines, ask.get("metrics", **BEARER).body)).lower()


def test_metrics_count_requests_seconds_and_tokens() -> None:
    metrics = RequestMetrics()
    answered = RequestLine(
        "", "req_1", "POST", "answer", 200, mode="partial", cache="miss", duration_ms=120.0,
        tokens_in=900, tokens_out=40,
    )  # fmt: skip
    limited = RequestLine("", "req_3", "POST", "answer", 429, reason="rate-limited")
    for line in (answered, answered, limited):
        metrics.observe(line)
    samples = {
        (sample.name, *(value for _, value in sorted(sample.labels.items()) if value)): sample.value
        for family in text_string_to_metric_families(metrics.render().decode())
        for sample in family.samples
    }
    # By label: cache, mode, path, reason, status.
    assert samples["answerable_requests_total", "miss", "partial", "answer", "200"] == 2
    assert samples["answerable_requests_total", "answer", "rate-limited", "429"] == 1
    assert samples["answerable_tokens_total", "in"] == 1800
    assert samples["answerable_request_seconds_bucket", "0.1", "answer"] == 1
    assert samples["answerable_request_seconds_bucket", "0.25", "answer"] == 3
    assert all(name.startswith("answerable_") for name, *_ in samples)
    assert b"_created" not in metrics.render()


def test_missing_prometheus_client_is_policy_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "prometheus_client", None)
    with pytest.raises(PolicyError, match=r"ANSWERABLE_METRICS_TOKEN: .*pip install"):
        RequestMetrics()


def test_log_line_has_outcome_and_not_question(base: Engine) -> None:
    ask = asking(base)
    body = ask().json
    (line,) = ask.log
    assert line["request_id"] == body["request_id"]
    assert (line["method"], line["path"], line["status"]) == ("POST", "answer", 200)
    assert (line["mode"], line["reason"], line["cache"]) == ("partial", None, "miss")
    assert (line["tokens_in"], line["tokens_out"]) == (20, 10)
    assert line["bundle"] == base.store.manifest.id
    assert list(line["timings_ms"]) == ["embedding", "searching", "writing", "checking"]
    # The id of the cited page is public; no other word of the question is anywhere.
    assert line.pop("cited") == ["rope"]
    assert "rope" not in json.dumps(line).lower()
    assert b"192.0.2" not in ask.lines[0]


def test_log_line_has_hour_and_cited_pages_of_each_answer(base: Engine) -> None:
    """A cached answer cites what it did; refusals and searches cite nothing, and nothing a note."""
    ask = asking(base, answerer=Paid(drafts=[ROUTED, {}]))
    before = time.time()
    for question in (QUESTION, QUESTION, "Who?! Ropes!"):
        ask(question)
    ask.get("search", "q=rope")
    assert [(line["cache"], line["cited"]) for line in ask.log] == [
        ("miss", ["rope"]), ("hit", ["rope"]), ("miss", []), (None, []),
    ]  # fmt: skip
    hours = {format_hour(before), format_hour(time.time())}
    assert {line["time"] for line in ask.log} <= hours
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:00Z", hour) for hour in hours)


@pytest.mark.parametrize("sent", SENT, ids=lambda sent: f"{sent.method} {sent.path}")
def test_every_request_is_one_log_line(base: Engine, sent: Request) -> None:
    ask = asking(base, usual(bearer=(DIGEST,)))
    for headers in (sent.headers, {**sent.headers, **BEARER}):
        ask.lines.clear()
        response = ask.send(replace(sent, headers=headers))
        (line,) = ask.log
        assert line["status"] == response.status


@pytest.mark.parametrize("streams", [False, True])
def test_log_line_has_reason_of_failed_request(base: Engine, streams: bool) -> None:
    def fail() -> None:
        raise ProviderError("the provider cannot be reached", cause="unreachable")

    drafts = [{}, "no draft", "no draft"]
    ask = asking(base, usual(rate="3/day"), answerer=Paid(drafts=drafts))
    late = asking(base, answerer=Paid(before=fail))
    questions = ("Ropes?", "Another?", "", "?!", "Late?")
    for asks, question in (*((ask, question) for question in questions), (late, "Ropes?")):
        asks(question, streams=streams)
    assert [line["reason"] for line in ask.log] == [
        "declined", "contract", "bad-request", "no-evidence", "rate-limited"
    ]  # fmt: skip
    assert ask.log[1]["contract"] == {"validate/not-json": 2}
    assert not any("cause" in line for line in ask.log)
    # What a model was to answer is answered without it.
    assert [(line["reason"], line["cause"]) for line in late.log] == [(None, "unreachable")]


def refusal_log(
    write: Callable[[bytes], object], setting: LogRefusals = "text", secret: str = SECRET
) -> RefusalLog:
    return RefusalLog(lambda: setting, write, secret)


def test_failing_logs_cost_no_answer(base: Engine) -> None:
    def fail(_: object) -> None:
        raise OSError("the disk is full")

    assert asking(base, log=fail)().status == 200
    assert b"event: answer" in asking(base, log=fail)(streams=True).body
    ask = asking(base, answerer=Paid(drafts=[{}]), refusals=refusal_log(fail))
    assert ask().json["reason"] == "declined"


def read_lines(lines: list[bytes]) -> list[RefusalLine]:
    return [msgspec.json.decode(line, type=RefusalLine) for line in lines]


def test_refused_question_is_logged_each_time_and_is_never_near_a_note(base: Engine) -> None:
    lines: list[bytes] = []
    ask = asking(base, answerer=Paid(drafts=[{}]), refusals=refusal_log(lines.append))
    for _ in range(2):
        assert ask(f"  {QUESTION}\n").json["reason"] == "declined"
    ask("?!")
    first, second, last = read_lines(lines)
    assert (first.text, first.reason, first.near) == (QUESTION, "declined", "rope#use")
    assert first.bundle == base.store.manifest.id
    assert second == first
    assert (last.reason, last.near) == ("no-evidence", None)


def test_only_what_is_answered_in_the_upper_grade_is_no_refusal(base: Engine) -> None:
    lines: list[bytes] = []
    ask = asking(base, refusals=refusal_log(lines.append))
    ask()
    assert lines == []
    assert ask("Which rope holds a zebrafish?").json["claims"]
    assert [line.reason for line in read_lines(lines)] == ["nearest"]


def redact(
    monkeypatch: pytest.MonkeyPatch,
    setting: LogRefusals,
    now: float = NOON,
    address: str = "192.0.2.7",
    **changes: Any,
) -> dict[str, Any] | None:
    """The line of a refusal that is logged at a time, None if none is."""
    monkeypatch.setattr(time, "time", lambda: now)
    lines: list[bytes] = []
    fields = {
        "question": QUESTION, "asker": hash_asker(address, SECRET), "reason": "no-evidence",
        "bundle": "b", "near": "rope", **changes,
    }  # fmt: skip
    refusal_log(lines.append, setting).add(**fields)
    return json.loads(lines[0]) if lines else None


def test_logged_refusal_has_hour_and_hashes_and_text_only_if_wanted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert get_args(LogRefusals) == ("none", "hashed", "text")
    assert redact(monkeypatch, "none") is None
    row = redact(monkeypatch, "hashed", NOON + 3599) or {}
    hashes = {"asker": row["asker"], "question": row["question"]}
    assert row == {
        "event": "refusal", "time": "2024-05-01T12:00Z", "reason": "no-evidence", "bundle": "b",
        "near": "rope", **hashes,
    }  # fmt: skip
    assert all(re.fullmatch(r"[0-9a-f]{16}", value) for value in hashes.values())
    assert redact(monkeypatch, "text") == {**row, "text": QUESTION}


def test_asker_is_hashed_for_a_day_and_a_question_for_good(monkeypatch: pytest.MonkeyPatch) -> None:
    def find(name: str, now: float = NOON, **changes: str) -> str:
        row = redact(monkeypatch, "hashed", now, **changes) or {}
        return str(row[name])

    assert find("asker") == find("asker", NOON + 60) != find("asker", NOON + DAY)
    assert find("asker") != find("asker", address="192.0.2.8")
    assert find("asker", address="") == ""
    assert find("question") == find("question", NOON + DAY)
    assert find("question") == find("question", question="which rope HOLDS")
    assert find("question") != find("question", question="Which rope breaks?")
    assert find("question", question="192.0.2.7") != find("asker")


def test_concurrent_appends_keep_lines_whole_and_private(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "log.jsonl"
    file = LineFile(path, pytest.fail)
    line = b"x" * 3000 + b"\n"

    def append() -> None:
        for _ in range(20):
            file.append(line)

    threads = [threading.Thread(target=append) for _ in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert path.read_bytes() == line * 80
    assert path.stat().st_mode & 0o777 == 0o600


def test_full_or_unwritable_log_drops_lines_and_reports_once(tmp_path: Path) -> None:
    path, reports = tmp_path / "log.jsonl", list[str]()
    file = LineFile(path, reports.append, limit=100)
    for _ in range(50):
        file.append(b"0123456789\n")
    assert path.read_bytes() == b"0123456789\n" * 9
    path.unlink()
    file.append(b"again\n")
    assert path.read_bytes() == b"again\n"
    folder = LineFile(tmp_path, reports.append)
    for _ in range(2):
        folder.append(b"a line\n")
    full, unwritable = reports
    assert "has 100 bytes" in full
    assert "cannot be written (Is a directory)" in unwritable
