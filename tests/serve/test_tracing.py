"""Spans of a real OpenTelemetry SDK tell stages and numbers, and nobody's words."""

from collections.abc import Iterator
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from answerable.serve.request_context import start_span

QUESTION = "Where does the harbour master keep her lantern?"


@pytest.fixture
def exported(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    """Collect the spans of a provider that only this test has set."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    # A process can set its provider once only.
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", provider)
    yield exporter
    provider.shutdown()


def spans(exported: InMemorySpanExporter) -> dict[str, ReadableSpan]:
    return {span.name: span for span in exported.get_finished_spans()}


def public_attributes(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


def test_stage_spans_are_nested_in_the_answer_span(exported: InMemorySpanExporter) -> None:
    with start_span("answerable.answer", request_id="req_1") as note:
        with start_span("answerable.embedding"):
            pass
        with start_span("answerable.writing", model="gpt-4o-mini"):
            pass
        note(mode="partial", tokens_in=900, cached=False)
    by_name = spans(exported)
    assert list(by_name) == ["answerable.embedding", "answerable.writing", "answerable.answer"]
    answer = by_name["answerable.answer"]
    assert answer.parent is None
    for name in ("answerable.embedding", "answerable.writing"):
        parent = by_name[name].parent
        assert parent
        assert parent.span_id == answer.context.span_id
    assert public_attributes(answer) == {
        "answerable.request_id": "req_1",
        "answerable.mode": "partial",
        "answerable.tokens_in": 900,
        "answerable.cached": False,
    }
    assert public_attributes(by_name["answerable.writing"]) == {"answerable.model": "gpt-4o-mini"}


def test_span_attributes_hold_no_sentence(exported: InMemorySpanExporter) -> None:
    with start_span("answerable.answer", question=QUESTION, mode="partial", reason=None) as note:
        note(text=QUESTION, line="one\ntwo", long="x" * 101, japanese="係留", tokens_in=1)
    [span] = exported.get_finished_spans()
    assert public_attributes(span) == {"answerable.mode": "partial", "answerable.tokens_in": 1}
    assert "lantern" not in span.to_json()


def test_span_records_only_the_type_of_an_error(exported: InMemorySpanExporter) -> None:
    with (
        pytest.raises(ValueError, match="lantern"),
        start_span("answerable.answer"),
        start_span("answerable.writing"),
    ):
        raise ValueError(QUESTION)
    for span in exported.get_finished_spans():
        assert public_attributes(span) == {"error.type": "ValueError"}
        assert span.status.status_code is trace.StatusCode.ERROR
        assert not span.events
        assert "lantern" not in span.to_json()


def test_nothing_is_traced_without_a_provider() -> None:
    assert isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider)
    first, second = (
        start_span("answerable.answer", mode="partial"),
        start_span("answerable.writing"),
    )
    # One object for all: nothing is made.
    assert first is second
    with first as note, second as inner:
        note(mode="partial")
        inner(tokens_in=1)
    with pytest.raises(ValueError, match="storm"), start_span("answerable.answer"):
        raise ValueError("storm")
