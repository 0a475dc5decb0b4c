"""Counts that Prometheus's own parser reads, under labels of ours only."""

import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from answerable.serve.errors import PolicyError
from answerable.serve.http.logs import (
    LOGGED_MODES,
    LOGGED_OUTCOMES,
    LOGGED_PATHS,
    LOGGED_REASONS,
    METRICS_TYPE,
    AccessLogEntry,
    RequestMetrics,
)

ANSWERED = AccessLogEntry(
    "req_1",
    "POST",
    "answer",
    200,
    mode="partial",
    cache="miss",
    tokens_in=900,
    tokens_out=40,
    duration_ms=120.0,
)
REFUSED = AccessLogEntry("req_2", "POST", "answer", 200, mode="not-found", reason="no-evidence")
LIMITED = AccessLogEntry("req_3", "POST", "answer", 429, reason="rate-limited")
REQUEST = ("path", "status", "mode", "reason", "cache")


def counts(metrics: RequestMetrics) -> dict[tuple[str, ...], float]:
    """Every value by the name of its sample and the values of its labels."""
    return {
        (sample.name, *(value for _, value in sorted(sample.labels.items()) if value)): sample.value
        for family in text_string_to_metric_families(metrics.render().decode())
        for sample in family.samples
    }


def test_requests_are_counted_by_outcome() -> None:
    metrics = RequestMetrics()
    for entry in (ANSWERED, ANSWERED, REFUSED, LIMITED):
        metrics.observe(entry)
    samples = counts(metrics)
    requests = {
        key[1:]: value for key, value in samples.items() if key[0].endswith("requests_total")
    }
    # By label: cache, mode, path, reason, status.
    assert requests == {
        ("miss", "partial", "answer", "200"): 2.0,
        ("not-found", "answer", "no-evidence", "200"): 1.0,
        ("answer", "rate-limited", "429"): 1.0,
    }
    assert samples["answerable_tokens_total", "in"] == 1800
    assert samples["answerable_tokens_total", "out"] == 80
    assert samples["answerable_refusals_total", "no-evidence"] == 1
    assert samples["answerable_refusals_total", "declined"] == 0
    assert ("answerable_refusals_total", "rate-limited") not in samples


def test_durations_are_observed_in_seconds() -> None:
    metrics = RequestMetrics()
    metrics.observe(ANSWERED)
    samples = counts(metrics)
    assert samples["answerable_request_seconds_sum", "answer"] == pytest.approx(0.12)
    assert samples["answerable_request_seconds_count", "answer"] == 1
    assert samples["answerable_request_seconds_bucket", "0.1", "answer"] == 0
    assert samples["answerable_request_seconds_bucket", "0.25", "answer"] == 1


def test_metrics_have_own_registry_without_machine_facts() -> None:
    first, second = RequestMetrics(), RequestMetrics()
    first.observe(ANSWERED)
    assert counts(second)["answerable_tokens_total", "in"] == 0
    names = {key[0] for key in counts(first)}
    assert all(name.startswith("answerable_") for name in names)
    assert b"_created" not in first.render()


def test_metrics_content_type_is_prometheus_text() -> None:
    assert METRICS_TYPE == "text/plain; version=0.0.4; charset=utf-8"
    text = RequestMetrics().render()
    # What a reader of this version does not know.
    assert b"# EOF" not in text
    assert b"# TYPE answerable_requests_total counter\n" in text


WORDS = st.text(min_size=1)
SEEN = st.builds(
    AccessLogEntry,
    request_id=WORDS,
    method=WORDS,
    path=WORDS | st.sampled_from(LOGGED_PATHS),
    status=st.integers(),
    mode=WORDS | st.sampled_from(LOGGED_MODES),
    reason=WORDS | st.sampled_from(LOGGED_REASONS),
    cache=WORDS | st.sampled_from(LOGGED_OUTCOMES),
    question=WORDS,
    bundle=WORDS,
)


@settings(max_examples=25)
@given(st.lists(SEEN, max_size=20))
def test_labels_hold_closed_lists_of_values_only(observations: list[AccessLogEntry]) -> None:
    metrics = RequestMetrics()
    for entry in observations:
        metrics.observe(entry)
    allowed = {
        *LOGGED_PATHS,
        *LOGGED_MODES,
        *LOGGED_REASONS,
        *LOGGED_OUTCOMES,
        "other",
        "",
        "200",
        "202",
        "204",
    }
    allowed |= {"400", "401", "403", "404", "405", "413", "415", "429", "500", "503", "504"}
    for family in text_string_to_metric_families(metrics.render().decode()):
        for sample in family.samples:
            values = {value for name, value in sample.labels.items() if name in REQUEST}
            assert values <= allowed


def test_missing_prometheus_client_is_policy_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "prometheus_client", None)
    with pytest.raises(PolicyError, match=r"ANSWERABLE_METRICS_TOKEN: .*pip install"):
        RequestMetrics()
