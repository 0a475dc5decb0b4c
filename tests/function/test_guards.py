"""Guards: the cache, what may be under way, what it may cost, and until when."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from answerable.engine.engine import Engine
from answerable.engine.errors import ProviderError
from answerable.engine.index.manifest import Profile
from answerable.function.app import create_app
from answerable.function.exchange import Function
from answerable.function.requests import JSON_TYPE
from support.app_requests import Response, send
from support.deadlines import PATIENCE
from support.doubles import bundle_of, index_of, record
from support.openapi_check import events
from support.service_requests import (
    QUESTION,
    ROPE,
    USUAL,
    Failing,
    Paid,
    Slow,
    asking,
    code,
    header,
    question_request,
    usual,
)


def test_cache_key_depends_on_question_language_and_bundle(base: Engine, tmp_path: Path) -> None:
    ask = asking(base)
    # A site in English has nothing in other languages, whichever they are.
    for language in (None, "en", "fr", "pt-BR", "EN"):
        assert ask(language=language).status == 200
    assert [line["cache"] for line in ask.log] == ["miss", "miss", "hit", "hit", "hit"]
    assert ask("which rope holds?").status == 200
    assert len(ask.answerer.questions) == 3
    other = bundle_of(tmp_path, index_of(tmp_path, [record("rope", f"<p>{ROPE}</p>")]),
                      Profile(floor=0, note_floor=0))  # fmt: skip
    engine = replace(ask.engine, store=other)
    served = iter((ask.engine, engine))
    both = create_app(Function(lambda: next(served), USUAL))
    ids = [send(both, question_request()).json["bundle"] for _ in range(2)]
    assert ids == [base.store.manifest.id, other.manifest.id]
    assert len(ask.answerer.questions) == 5


def test_refusals_are_cached_unless_contract_was_broken(base: Engine) -> None:
    ask = asking(base, answerer=Paid(drafts=[{}, "no draft", "no draft", {}]))
    assert [ask().json["reason"] for _ in range(2)] == ["declined", "declined"]
    assert ask("Another?").json["reason"] == "contract"
    assert ask("Another?").json["reason"] == "declined"
    assert [line["cache"] for line in ask.log] == ["miss", "hit", "miss", "miss"]


def failing(*faults: Exception) -> Paid:
    """An answerer that raises these faults, one a call, and then works."""
    remaining = list(faults)

    def fail() -> None:
        if remaining:
            raise remaining.pop(0)

    return Paid(before=fail)


UNREACHABLE = ProviderError("the provider cannot be reached: check it", cause="unreachable")


@pytest.mark.parametrize("streams", [False, True])
def test_failing_model_gives_uncached_keyless_reply(base: Engine, streams: bool) -> None:
    reported: list[str] = []
    ask = asking(base, answerer=failing(UNREACHABLE), report_failure=reported.append)
    first, second, third = (read_answer(ask(streams=streams)) for _ in range(3))
    assert (first["fallback"], first["written"], first["complete"]) == (True, False, False)
    assert first["claims"][0] == second["claims"][0]
    assert (second["fallback"], second["written"], third["fallback"]) == (False, True, False)
    # The one that failed was asked again, and its answer is kept.
    assert ask.answerer.questions == [QUESTION] * 2
    assert [line["cache"] for line in ask.log] == ["miss", "miss", "hit"]
    assert [line.get("cause") for line in ask.log] == ["unreachable", None, None]
    assert [line["status"] for line in ask.log] == [200] * 3
    assert reported == [f"A model could not be asked: {UNREACHABLE}"]
    assert str(UNREACHABLE) not in b"".join(ask.lines).decode()


def read_answer(response: Response) -> dict[str, Any]:
    """Read the answer of a response in one piece, or the last event of a stream."""
    assert response.status == 200
    if header(response, "Content-Type") == JSON_TYPE:
        body: dict[str, Any] = response.json
        return body
    name, data = events(response.body.decode())[-1]
    assert name == "answer"
    return dict(data)


def test_failing_embedder_is_uncached_problem(base: Engine) -> None:
    reported: list[str] = []
    embedder = Failing(faults=[UNREACHABLE])
    ask = asking(base, embedder=embedder, report_failure=reported.append)
    assert code(ask()) == "unavailable"
    assert ask.answerer.questions == []
    assert [line["cause"] for line in ask.log] == ["unreachable"]
    assert reported == [f"A model could not be asked: {UNREACHABLE}"]
    assert ask().json["written"]


@pytest.mark.parametrize(
    ("answerer", "embedder", "expected"),
    [
        # The day is not spent before the question that spends the last of it.
        (Paid(cost=60), None, [200] * 3 + [503] * 2),
        # A call whose provider counts nothing costs the most that it can.
        (Paid(cost=None), None, [200] * 2 + [503] * 3),
        (Paid(max_question_tokens=0, cost=0), None, [200] * 5),
        # What fails before a call has cost nothing.
        (Paid(), Failing(faults=[UNREACHABLE] * 4), [503] * 4 + [200]),
    ],
)
def test_a_question_spends_what_its_calls_have_cost(
    base: Engine, answerer: Paid, embedder: Failing | None, expected: list[int]
) -> None:
    policy = usual(tokens_per_day=175)
    ask = asking(base, policy, answerer=answerer, embedder=embedder or base.embedder)
    responses = [ask(f"Rope {n}?") for n in range(5)]
    assert [response.status for response in responses] == expected
    codes = {code(response) for response in responses if response.status == 503}
    assert codes <= {"unavailable" if embedder else "capped"}
    assert len(answerer.questions) == expected.count(200)


@pytest.mark.parametrize("streams", [False, True])
def test_late_answer_is_timeout(base: Engine, streams: bool) -> None:
    ask = asking(base, usual(deadline=PATIENCE), embedder=Slow())
    response = ask(streams=streams)
    if streams:
        stream_events = events(response.body.decode())
        assert [name for name, _ in stream_events] == ["stage", "problem"]
        assert stream_events[-1][1]["code"] == "timeout"
    else:
        assert code(response) == "timeout"
    assert ask.answerer.questions == []
    assert [line["status"] for line in ask.log] == [504]


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        (ProviderError("upstream words"), "unavailable"),
        (ProviderError("upstream words", cause="timeout"), "timeout"),
        (ValueError("upstream words"), "internal"),
    ],
)
@pytest.mark.parametrize("streams", [False, True])
def test_internal_error_is_fixed_text(
    base: Engine, fault: Exception, expected: str, streams: bool
) -> None:
    ask = asking(base, embedder=Failing(faults=[fault]))
    body = ask(streams=streams).body
    assert f'"code": "{expected}"'.encode() in body
    assert b"upstream" not in body
    assert b"upstream" not in b"".join(ask.lines)
    assert ask.get("health").status == 200
