"""One question's way: its stages, its deadline, who stops it, and what it has cost."""

import threading

import pytest

from answerable.engine.errors import CancelledError, ProviderError
from answerable.engine.request_context import (
    RequestContext,
    RequestStage,
    current_context,
    use_context,
)


def test_stages_are_announced_and_timed_in_order() -> None:
    stages: list[RequestStage] = []
    question = RequestContext()
    question.listener = stages.append
    names: tuple[RequestStage, ...] = ("embedding", "searching", "writing", "checking", "writing")
    for name in names:
        with question.stage(name):
            assert stages[-1] == name
    timings = question.timings()
    assert set(timings) == set(names)
    assert min(timings.values()) >= 0


def test_no_stage_begins_after_the_deadline() -> None:
    question = RequestContext(0)
    with pytest.raises(ProviderError, match="in time") as error, question.stage("writing"):
        raise AssertionError
    assert error.value.cause == "timeout"
    assert question.timings() == {}


def test_a_pause_ends_on_cancellation_and_at_the_deadline() -> None:
    question = RequestContext()
    stopping = threading.Timer(0.05, question.cancel)
    stopping.start()
    with pytest.raises(CancelledError):
        question.pause(600)
    stopping.join()
    with pytest.raises(ProviderError, match="in time"):
        RequestContext(0.05).pause(600)


def test_each_question_has_its_own_context() -> None:
    outer, inner = RequestContext(), RequestContext()
    with use_context(outer):
        with use_context(inner):
            assert current_context() is inner
        assert current_context() is outer
        elsewhere: list[RequestContext] = []
        thread = threading.Thread(target=lambda: elsewhere.append(current_context()))
        thread.start()
        thread.join()
    assert elsewhere[0] not in (outer, inner)
    assert current_context() is not current_context()
