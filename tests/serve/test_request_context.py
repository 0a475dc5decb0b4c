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
    question.begin(600, stages.append)
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
    question = RequestContext(0, stages.append)
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


def test_tokens_are_summed_and_uncounted_calls_are_bounded() -> None:
    question = RequestContext()
    assert question.cost == 0
    question.begin_provider_call()
    question.end_provider_call(100, 20)
    question.begin_provider_call()
    assert question.cost is None
    assert (question.tokens_in, question.tokens_out) == (100, 20)
    question.end_provider_call(1, 2)
    assert question.cost == 123
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


def test_uncounted_calls_of_a_block_cost_its_bound() -> None:
    question = RequestContext()
    with question.bounding("answerer", 100):
        assert question.cost == 100
    assert question.cost == 100
    assert (question.tokens_in, question.tokens_out) == (0, 0)


def test_counted_calls_of_a_block_cost_what_they_count() -> None:
    question = RequestContext()
    with question.bounding("answerer", 100):
        question.end_provider_call(20, 5)
        question.end_provider_call(3, 2)
    assert question.cost == 30
    with question.bounding("embedder", 40):
        question.begin_provider_call(15)
        assert question.cost == 30 + 15
        question.end_provider_call(7, 0)
    assert question.cost == 37


def test_a_call_that_begins_itself_and_counts_nothing_costs_its_own_bound() -> None:
    question = RequestContext()
    with question.bounding("answerer", 100):
        question.begin_provider_call(60)
    assert question.cost == 60


def test_a_second_block_costs_what_the_first_one_has_left() -> None:
    question = RequestContext()
    with question.bounding("answerer", 100):
        question.end_provider_call(20, 10)
    with question.bounding("answerer", 100):
        pass
    assert question.cost == 100


def test_a_block_counts_no_call_of_another_one() -> None:
    question = RequestContext()
    with question.bounding("embedder", 40):
        pass
    with question.bounding("answerer", 100):
        with question.bounding("inner", 7):
            pass
        question.end_provider_call(20, 0)
        question.end_provider_call(5, 0)
    assert question.cost == 40 + 7 + 25


def test_a_block_is_charged_before_it_begins() -> None:
    question = RequestContext()
    charges: list[tuple[int | None, int | None]] = []
    with question.charging(lambda *charge: charges.append(charge)):
        with question.bounding("embedder", 40):
            assert charges == [(40, None)]
        with question.bounding("answerer", 100):
            assert charges == [(40, None), (140, None)]
        # Both attempts of a question have one bound, and nothing is charged without one.
        with question.bounding("answerer", 100), question.bounding("free", 0):
            pass
    assert len(charges) == 2
