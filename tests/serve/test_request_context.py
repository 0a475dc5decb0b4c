"""One question's way: its stages, its deadline, who stops it, and what it has cost."""

import threading

import pytest

from answerable.serve.errors import CancelledError, ProviderError
from answerable.serve.request_context import (
    RequestContext,
    RequestStage,
    current_context,
    use_context,
)


def test_stages_are_announced_and_timed_in_order() -> None:
    stages: list[RequestStage] = []
    question = RequestContext()
    assert question.timings() == {}
    question.begin(600)
    question.listener = stages.append
    names: list[RequestStage] = [
        "embedding",
        "searching",
        "writing",
        "checking",
        "writing",
        "checking",
    ]
    for name in names:
        with question.stage(name):
            assert stages[-1] == name
    assert stages == names
    timings = question.timings()
    assert list(timings) == ["embedding", "searching", "writing", "checking"]
    assert min(timings.values()) >= 0


def test_stage_does_not_begin_after_the_deadline() -> None:
    stages: list[RequestStage] = []
    question = RequestContext(0)
    question.listener = stages.append
    with pytest.raises(ProviderError, match="in time") as error, question.stage("writing"):
        raise AssertionError
    assert error.value.timeout
    assert stages == []
    assert question.timings() == {}


def test_pause_ends_on_cancellation() -> None:
    question = RequestContext()
    stopping = threading.Timer(0.05, question.cancel)
    stopping.start()
    with pytest.raises(CancelledError):
        question.pause(600)
    stopping.join()


def test_pause_ends_at_the_deadline() -> None:
    with pytest.raises(ProviderError, match="in time"):
        RequestContext(0.05).pause(600)


def test_tokens_are_those_counted_and_the_most_that_others_can_have_cost() -> None:
    question = RequestContext()
    assert question.tokens == 0
    question.count_tokens(100, 20)
    question.assume_tokens(40)
    question.count_tokens(1, 2)
    assert question.tokens == 163
    assert (question.tokens_in, question.tokens_out) == (101, 22)


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
