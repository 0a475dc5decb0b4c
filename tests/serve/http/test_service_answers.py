"""Behind the limits: the cache, what may be under way, what it may cost, and until when."""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from answerable.serve.engine import Engine
from answerable.serve.errors import BudgetError, ProviderError
from answerable.serve.http import protections
from answerable.serve.http.messages import EVENT_STREAM_TYPE, Response
from answerable.serve.index.manifest import Profile
from answerable.serve.request_context import RequestContext, RequestStage
from support.deadlines import PATIENCE, until
from support.doubles import bundle_of, index_of, record
from support.openapi_check import events
from support.service_requests import (
    QUESTION,
    ROPE,
    USUAL,
    Asking,
    Failing,
    Looking,
    Paid,
    Slow,
    asking,
    code,
    header,
    letters,
    question_request,
)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    return letters(tmp_path_factory.mktemp("service"))


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
    ask.engine = replace(ask.engine, store=other)
    ask.service._find_engine = lambda: ask.engine
    assert ask().json["bundle"] == other.manifest.id
    assert len(ask.answerer.questions) == 4


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
    reported: list[Exception] = []
    ask = asking(base, answerer=failing(UNREACHABLE), report_error=reported.append)
    options: dict[str, Any] = {"streams": streams, "headers": {"accept": EVENT_STREAM_TYPE}}
    first, second, third = (read_answer(ask(**options)) for _ in range(3))
    assert (first["fallback"], first["written"], first["complete"]) == (True, False, False)
    assert first["claims"][0] == second["claims"][0]
    assert (second["fallback"], second["written"], third["fallback"]) == (False, True, False)
    # The one that failed was asked again, and its answer is kept.
    assert ask.answerer.questions == [QUESTION] * 2
    assert [line["cache"] for line in ask.log] == ["miss", "miss", "hit"]
    assert [line.get("cause") for line in ask.log] == ["unreachable", None, None]
    assert [line["status"] for line in ask.log] == [200] * 3
    assert reported == [UNREACHABLE]
    assert str(UNREACHABLE) not in b"".join(ask.lines).decode()


def read_answer(response: Response) -> dict[str, Any]:
    """Read the answer of a response in one piece, or the last event of a stream."""
    if not response.events:
        assert response.status == 200
        body: dict[str, Any] = response.json
        return body
    name, data = events(b"".join(response.events).decode())[-1]
    assert name == "answer"
    return dict(data)


def test_cap_that_model_call_meets_is_no_fallback(base: Engine) -> None:
    def charge() -> None:
        raise BudgetError("today's tokens are spent", transient=False)

    ask = asking(base, answerer=Paid(before=charge))
    assert code(ask()) == "capped"


def test_failing_embedder_is_uncached_problem(base: Engine) -> None:
    reported: list[Exception] = []
    embedder = Failing(faults=[UNREACHABLE])
    ask = asking(base, embedder=embedder, report_error=reported.append)
    assert code(ask()) == "unavailable"
    assert ask.answerer.questions == []
    assert [line["cause"] for line in ask.log] == ["unreachable"]
    assert reported == [UNREACHABLE]
    assert ask().json["written"]


def test_concurrent_equal_questions_are_answered_once(base: Engine) -> None:
    gate = threading.Event()
    ask = asking(
        base, replace(USUAL, in_flight=1), answerer=Paid(before=lambda: gate.wait(PATIENCE))
    )
    followers = [Looking() for _ in range(7)]
    with ThreadPoolExecutor(8) as pool:
        waiting = [pool.submit(ask)]
        until(lambda: len(ask.answerer.questions) == 1)
        waiting += [pool.submit(ask.service.handle, question_request(), call) for call in followers]
        assert all(call.looked.wait(PATIENCE) for call in followers)
        gate.set()
        bodies = [answer.result(PATIENCE).json for answer in waiting]
    assert len({body.pop("request_id") for body in bodies}) == 8
    assert all(body == bodies[0] for body in bodies)
    assert ask.answerer.questions == [QUESTION]
    outcomes = sorted(line["cache"] for line in ask.log)
    assert outcomes == ["miss", *["shared"] * 7]


@contextmanager
def under_way(ask: Asking, gate: threading.Event, count: int) -> Iterator[list[int]]:
    """So many questions that wait for a gate; their statuses when it has opened."""
    statuses: list[int] = []
    threads = [
        threading.Thread(target=lambda n=n: statuses.append(ask(f"Rope {n}?").status))
        for n in range(count)
    ]
    for thread in threads:
        thread.start()
    until(lambda: len(ask.answerer.questions) == count)
    try:
        yield statuses
    finally:
        gate.set()
        for thread in threads:
            thread.join(PATIENCE)


def test_asker_slots_leave_room_for_another_asker(
    base: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protections, "_BURST_SECONDS", 0.05)
    gate = threading.Event()
    policy = replace(USUAL, in_flight=3, in_flight_per_asker=2)
    ask = asking(base, policy, answerer=Paid(before=lambda: gate.wait(PATIENCE)))
    with under_way(ask, gate, 2) as statuses, ThreadPoolExecutor(1) as pool:
        for response in (ask("A third?"), ask.get("search", "q=rope")):
            assert code(response) == "busy"
            assert header(response, "Retry-After") == "2"
        other = pool.submit(ask, "A third?", asker="192.0.2.2")
        until(lambda: len(ask.answerer.questions) == 3)
        # Nor does the share of one admit more than there are slots.
        assert code(ask("A fourth?", asker="192.0.2.3")) == "busy"
        gate.set()
        assert other.result(PATIENCE).status == 200
    assert statuses == [200, 200]
    assert ask("A fifth?").status == 200
    assert len(ask.service.protections.guarded_engine.asker_slots) == 0


def test_reservations_of_others_are_busy_and_not_capped(
    base: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protections, "_BURST_SECONDS", 0.2)
    gate = threading.Event()
    paid = Paid(max_question_tokens=75_000, cost=60, before=lambda: gate.wait(PATIENCE))
    ask = asking(base, replace(USUAL, tokens_per_day=200_000), answerer=paid)
    with under_way(ask, gate, 2) as statuses:
        refused = [ask(f"Wind {n}?") for n in range(3)]
        assert [code(response) for response in refused] == ["busy"] * 3
        waits = [int(header(response, "Retry-After") or "") for response in refused]
        assert all(1 <= seconds <= 10 for seconds in waits)
    assert statuses == [200, 200]
    assert [ask(f"Wind {n}?").status for n in range(3)] == [200] * 3


def test_capped_answers_retry_at_midnight_and_search_still_works(base: Engine) -> None:
    ask = asking(base, replace(USUAL, tokens_per_day=99))
    response = ask()
    assert code(response) == "capped"
    assert 1 <= int(header(response, "Retry-After") or "") <= 86_400
    assert ask.get("search", "q=rope").status == 200
    assert ask.answerer.questions == []


@pytest.mark.parametrize(
    ("answerer", "embedder", "expected"),
    [
        # What is counted is spent, and only the rest of what was reserved is given back.
        (Paid(), None, [200] * 3 + [503] * 2),
        (Paid(cost=None), None, [200] + [503] * 4),
        (Paid(max_question_tokens=0, cost=0), None, [200] * 5),
        # What fails before a call has cost nothing.
        (Paid(), Failing(faults=[UNREACHABLE] * 4), [503] * 4 + [200]),
    ],
)
def test_a_question_spends_what_its_calls_have_cost(
    base: Engine, answerer: Paid, embedder: Failing | None, expected: list[int]
) -> None:
    policy = replace(USUAL, tokens_per_day=175)
    ask = asking(base, policy, answerer=answerer, embedder=embedder or base.embedder)
    responses = [ask(f"Rope {n}?") for n in range(5)]
    assert [response.status for response in responses] == expected
    codes = {code(response) for response in responses if response.status == 503}
    assert codes <= {"unavailable" if embedder else "capped"}
    assert len(answerer.questions) == expected.count(200)


def test_racing_questions_never_exceed_cap(base: Engine) -> None:
    ask = asking(
        base,
        replace(USUAL, tokens_per_day=550, in_flight=99),
        answerer=Paid(cost=None, before=lambda: time.sleep(0.01)),
    )
    with ThreadPoolExecutor(16) as pool:
        statuses = [
            response.status for response in pool.map(ask, (f"Rope {n}?" for n in range(60)))
        ]
    assert sorted(statuses) == [200] * 5 + [503] * 55
    assert len(ask.answerer.questions) == 5


@pytest.mark.parametrize("streams", [False, True])
def test_late_answer_is_timeout(base: Engine, streams: bool) -> None:
    ask = asking(base, replace(USUAL, deadline=PATIENCE), embedder=Slow())
    response = ask(streams=streams, headers={"accept": EVENT_STREAM_TYPE})
    if response.events:
        stream_events = events(b"".join(response.events).decode())
        assert [name for name, _ in stream_events] == ["stage", "problem"]
        assert stream_events[-1][1]["code"] == "timeout"
    else:
        assert code(response) == "timeout"
    assert ask.answerer.questions == []
    assert [line["status"] for line in ask.log] == [504]


class Patient(RequestContext):
    """A call without an end."""

    def begin(self, seconds: float, listener: Callable[[RequestStage], None] | None = None) -> None:
        del seconds
        super().begin(float("inf"), listener)


def test_waiting_for_shared_answer_ends_at_deadline(base: Engine) -> None:
    gate = threading.Event()
    ask = asking(
        base, replace(USUAL, deadline=1.0), answerer=Paid(before=lambda: gate.wait(PATIENCE))
    )
    call = Patient()
    with ThreadPoolExecutor(1) as pool:
        leader = pool.submit(ask.service.handle, question_request(), call)
        until(lambda: len(ask.answerer.questions) == 1)
        assert code(ask()) == "timeout"
        # Nor is there time for a reply without the model.
        call.ends = time.monotonic() - PATIENCE
        gate.set()
        assert code(leader.result(PATIENCE)) == "timeout"


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        (ProviderError("upstream words"), "unavailable"),
        (ProviderError("upstream words", cause="timeout"), "timeout"),
        (TimeoutError("upstream words"), "timeout"),
        (OSError("upstream words"), "internal"),
        (ValueError("upstream words"), "internal"),
        (RecursionError("upstream words"), "internal"),
    ],
)
@pytest.mark.parametrize("streams", [False, True])
def test_internal_error_is_fixed_text(
    base: Engine, fault: Exception, expected: str, streams: bool
) -> None:
    ask = asking(base, embedder=Failing(faults=[fault]))
    response = ask(streams=streams, headers={"accept": EVENT_STREAM_TYPE})
    body = b"".join(response.events) if response.events else response.body
    assert f'"code": "{expected}"'.encode() in body
    assert b"upstream" not in body
    assert b"upstream" not in b"".join(ask.lines)
    assert ask.get("health").status == 200
