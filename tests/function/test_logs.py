"""What a function logs and counts: closed lists of values, and no words of an asker."""

import json
import re
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from answerable.function.logs import (
    AccessLogEntry,
    LoggedRefusal,
    RefusedQuestion,
    RequestMetrics,
    format_hour,
    make_line_appender,
    make_refusal_logger,
    redact_refusal,
)
from answerable.serve import settings
from answerable.serve.engine import Engine
from answerable.serve.errors import BundleError, PolicyError, ProviderError
from answerable.serve.settings import read_settings
from support.app_requests import Request
from support.service_requests import (
    BEARER,
    DIGEST,
    QUESTION,
    ROUTED,
    SENT,
    USUAL,
    Asking,
    Paid,
    asking,
)

SECRET = b"a secret of sixteen letters"
NOON = 1_714_564_800.0
DAY = 86_400
# What nobody but an asker could have written.
WORDS = "sk-live-1234 is my key\u2028\x7f\x00\r\n\ud800"


def test_log_line_fields_are_complete_and_in_order() -> None:
    entry = AccessLogEntry(
        "req_1", "POST", "/answer/", 200, mode="supported", cache="miss",
        timings_ms={"searching": 3.14159, "embedding": float("nan")}, tokens_in=900, tokens_out=40,
        bundle="3f9c", cause="timeout", contract={"ground/number": 2, "validate/shape": 1},
        duration_ms=12.3456, hour="2026-12-31T23:00Z",
        cited=("guide/deploy", "caf\u00e9"),
    )  # fmt: skip
    assert entry.to_line() == (
        b'{"event": "request", "time": "2026-12-31T23:00Z", "request_id": "req_1", '
        b'"method": "POST", "path": "answer", '
        b'"status": 200, "mode": "supported", "reason": null, "cache": "miss", '
        b'"duration_ms": 12.3, "timings_ms": {"embedding": null, "searching": 3.1}, '
        b'"tokens_in": 900, "tokens_out": 40, "bundle": "3f9c", '
        b'"cited": ["guide/deploy", "caf\\u00e9"], "cause": "timeout", '
        b'"contract": {"validate/shape": 1, "ground/number": 2}}\n'
    )


def strange_entry() -> AccessLogEntry:
    return AccessLogEntry(
        "req_1", WORDS, WORDS, 299, mode=WORDS, reason=WORDS, cache=WORDS, cause=WORDS,
        timings_ms={WORDS: 1.0}, contract={WORDS: 1}, duration_ms=float("inf"),
    )  # fmt: skip


def test_values_that_are_not_ours_are_neither_logged_nor_counted() -> None:
    entry = strange_entry()
    line = entry.to_line()
    assert all(0x20 <= byte < 0x7F for byte in line[:-1])
    row = json.loads(line)
    assert (row["method"], row["path"], row["timings_ms"]) == ("other", "other", {})
    assert row["mode"] is row["reason"] is row["cache"] is row["duration_ms"] is None
    assert not row.keys() & {"cause", "contract", "question"}
    metrics = RequestMetrics()
    metrics.observe(entry)
    assert b"sk-live" not in metrics.render() + line
    assert count_samples(metrics)["answerable_requests_total", "other", "other"] == 1


def count_samples(metrics: RequestMetrics) -> dict[tuple[str, ...], float]:
    """Every value by the name of its sample and the values of its labels, as Prometheus reads."""
    return {
        (sample.name, *(value for _, value in sorted(sample.labels.items()) if value)): sample.value
        for family in text_string_to_metric_families(metrics.render().decode())
        for sample in family.samples
    }


def test_metrics_count_requests_seconds_tokens_and_refusals() -> None:
    metrics = RequestMetrics()
    answered = AccessLogEntry(
        "req_1", "POST", "answer", 200, mode="partial", cache="miss", tokens_in=900, tokens_out=40,
        duration_ms=120.0,
    )  # fmt: skip
    refused = replace(answered, mode="not-found", reason="no-evidence", cache=None)
    limited = AccessLogEntry("req_3", "POST", "answer", 429, reason="rate-limited")
    for entry in (answered, answered, refused, limited):
        metrics.observe(entry)
    samples = count_samples(metrics)
    requests = {
        tuple(labels): value
        for (name, *labels), value in samples.items()
        if name.endswith("requests_total")
    }
    # By label: cache, mode, path, reason, status.
    assert requests == {
        ("miss", "partial", "answer", "200"): 2.0,
        ("not-found", "answer", "no-evidence", "200"): 1.0,
        ("answer", "rate-limited", "429"): 1.0,
    }
    assert samples["answerable_tokens_total", "in"] == 2700
    assert samples["answerable_refusals_total", "no-evidence"] == 1
    assert samples["answerable_refusals_total", "declined"] == 0
    assert samples["answerable_request_seconds_bucket", "0.1", "answer"] == 1
    assert samples["answerable_request_seconds_bucket", "0.25", "answer"] == 4
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
    ask = asking(base, replace(USUAL, bearer=(DIGEST,)))
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
    ask = asking(base, replace(USUAL, rate="3/day"), answerer=Paid(drafts=drafts))
    late = asking(base, answerer=Paid(before=fail))
    questions = ("Ropes?", "Another?", "", "?!", "Late?")
    for asks, question in (*((ask, question) for question in questions), (late, "Ropes?")):
        asks(question, streams=streams)
    assert [line["reason"] for line in ask.log] == [
        "declined", "contract", "bad-request", "no-evidence", "rate-limited"
    ]  # fmt: skip
    assert not any("cause" in line for line in ask.log)
    # What a model was to answer is answered without it.
    assert [(line["reason"], line["cause"]) for line in late.log] == [(None, "unreachable")]


def test_failing_logs_cost_no_answer(base: Engine) -> None:
    def fail(line: object) -> None:
        del line
        raise OSError("the disk is full")

    assert asking(base, log=fail)().status == 200
    assert b"event: answer" in asking(base, log=fail)(streams=True).body
    ask = asking(base, answerer=Paid(drafts=[{}]), log_refusal=fail)
    assert ask().json["reason"] == "declined"


def log_refusals(base: Engine, **options: Any) -> tuple[Asking, list[RefusedQuestion]]:
    refused: list[RefusedQuestion] = []
    return asking(base, log_refusal=refused.append, **options), refused


def test_refused_question_is_passed_on_each_time_and_is_never_near_a_note(base: Engine) -> None:
    ask, refused = log_refusals(base, answerer=Paid(drafts=[{}]))
    for _ in range(2):
        assert ask(f"  {QUESTION}\n").json["reason"] == "declined"
    bundle = base.store.manifest.id
    assert refused == [RefusedQuestion(QUESTION, "192.0.2.1", "declined", bundle, "rope#use")] * 2
    ask("?!")
    assert (refused[-1].reason, refused[-1].near) == ("no-evidence", None)


def test_only_what_is_answered_in_the_upper_grade_is_no_refusal(base: Engine) -> None:
    ask, refused = log_refusals(base)
    ask()
    assert refused == []
    assert ask("Which rope holds a zebrafish?").json["claims"]
    assert [question.reason for question in refused] == ["nearest"]


def redacted(now: float = NOON, *, text: bool = False, **changes: Any) -> LoggedRefusal:
    fields = {
        "question": QUESTION, "address": "192.0.2.7", "reason": "no-evidence", "bundle": "b",
        "near": "rope", **changes,
    }  # fmt: skip
    return redact_refusal(RefusedQuestion(**fields), SECRET, now, with_text=text)


def test_logged_refusal_has_hour_and_hashes_and_text_only_if_wanted() -> None:
    row = json.loads(redacted(NOON + 3599).to_line())
    asker, question = row.pop("asker"), row.pop("question")
    assert row == {
        "event": "refusal", "time": "2024-05-01T12:00Z", "reason": "no-evidence", "bundle": "b",
        "near": "rope",
    }  # fmt: skip
    assert re.fullmatch(r"[0-9a-f]{16}", asker)
    assert re.fullmatch(r"[0-9a-f]{16}", question)
    with_text = json.loads(redacted(text=True).to_line())
    assert with_text == {**json.loads(redacted().to_line()), "text": QUESTION}


def test_asker_is_hashed_for_a_day_and_a_question_for_good() -> None:
    today, tomorrow = redacted(), redacted(NOON + DAY)
    assert today.asker_hash == redacted(NOON + 60).asker_hash != tomorrow.asker_hash
    assert today.asker_hash != redacted(address="192.0.2.8").asker_hash
    assert redacted(address="").asker_hash == ""
    assert tomorrow.question_hash == today.question_hash
    assert redacted(question="which rope HOLDS").question_hash == today.question_hash
    assert redacted(question="Which rope breaks?").question_hash != today.question_hash
    same = redacted(question="192.0.2.7")
    assert same.question_hash != same.asker_hash


def test_refusals_are_logged_by_the_current_setting() -> None:
    written: list[bytes] = []
    log = make_refusal_logger(
        iter(settings.LOG_REFUSALS_CHOICES).__next__, written.append, SECRET, lambda: NOON
    )
    for _ in settings.LOG_REFUSALS_CHOICES:
        log(RefusedQuestion(QUESTION, "192.0.2.7", "no-evidence", "b", "rope"))
    assert written == [redacted().to_line(), redacted(text=True).to_line()]
    assert settings.FunctionSettings().log_refusals == "none"


def test_unknown_log_refusals_setting_is_rejected(tmp_path: Path) -> None:
    (tmp_path / settings.SETTINGS_FILE).write_text('{"log_refusals": "hashd"}', "utf-8")
    with pytest.raises(BundleError, match="Invalid enum value 'hashd' - at `\\$\\.log_refusals`"):
        read_settings(tmp_path)


def test_concurrent_appends_keep_lines_whole_and_private(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "log.jsonl"
    append = make_line_appender(path, pytest.fail)
    line = b"x" * 3000 + b"\n"
    threads = [threading.Thread(target=lambda: [append(line) for _ in range(20)]) for _ in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert path.read_bytes() == line * 80
    assert path.stat().st_mode & 0o777 == 0o600


def test_full_or_unwritable_log_drops_lines_and_reports_once(tmp_path: Path) -> None:
    path, reports = tmp_path / "log.jsonl", list[str]()
    append = make_line_appender(path, reports.append, limit=100)
    for _ in range(50):
        append(b"0123456789\n")
    assert path.read_bytes() == b"0123456789\n" * 9
    path.unlink()
    append(b"again\n")
    assert path.read_bytes() == b"again\n"
    append = make_line_appender(tmp_path, reports.append)
    for _ in range(2):
        append(b"a line\n")
    full, unwritable = reports
    assert "has 100 bytes" in full
    assert "cannot be written (Is a directory)" in unwritable
