"""Behind the limits: the cache, what may be under way, what it may cost, and until when."""

import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from answerable.serve.answers.extractive import ExtractiveAnswerer
from answerable.serve.bundle_format.manifest import Profile
from answerable.serve.embedders.embedder import Vectors
from answerable.serve.engine import Engine
from answerable.serve.errors import BudgetError, ContractViolation, ProviderError
from answerable.serve.http import protections
from answerable.serve.http.messages import EVENT_STREAM_TYPE, Response
from answerable.serve.http.service import Service
from answerable.serve.limits.rate_limit import AskerSlots
from answerable.serve.request_context import current_context
from support.deadlines import PATIENCE, until
from support.doubles import bundle_of, index_of, record
from support.openapi_check import events
from support.scripted import LetterEmbedder
from support.server_processes import free_port
from support.service_requests import (
    NOWHERE,
    QUESTION,
    ROPE,
    USUAL,
    Asking,
    Looking,
    Paid,
    Patient,
    Slow,
    asking,
    code,
    header,
    letters,
    question_request,
    request,
)
from support.token_budget_checks import room


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    return letters(tmp_path_factory.mktemp("service"))


def test_repeated_question_is_answered_from_cache(base: Engine) -> None:
    ask = asking(base)
    first, second = ask().json, ask(asker="192.0.2.9").json
    assert first.pop("request_id") != second.pop("request_id")
    assert first == second
    assert ask.answerer.questions == [QUESTION]
    assert [line["cache"] for line in ask.log] == ["miss", "hit"]


def test_cache_key_ignores_spaces_and_unicode_forms(base: Engine) -> None:
    ask = asking(base)
    for question in (QUESTION, f"  {QUESTION}\n", QUESTION.replace("W", "\uff37")):
        assert ask(question).status == 200
    assert ask.answerer.questions == [QUESTION]


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


@dataclass
class Failing(LetterEmbedder):
    """An embedder that raises its faults, one a call, and then works."""

    faults: list[Exception] = field(default_factory=list)

    def embed(self, texts: Sequence[str]) -> Vectors:
        if self.faults:
            raise self.faults.pop(0)
        return super().embed(texts)


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
    assert first["claims"] == second["claims"]
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


def test_keyless_reply_is_that_of_site_without_model(base: Engine) -> None:
    free = replace(base, answerer=ExtractiveAnswerer(base.store, base.embedder))
    expected = Service(lambda: free, USUAL).handle(question_request()).json
    body = asking(base, answerer=failing(UNREACHABLE))().json
    for changed in ("fallback", "request_id"):
        assert body.pop(changed) != expected.pop(changed)
    assert body == expected


def test_failing_model_of_question_without_evidence_is_never_called(base: Engine) -> None:
    ask = asking(base, answerer=failing(UNREACHABLE))
    body = ask("Is it the what?").json
    assert (body["mode"], body["fallback"], ask.answerer.questions) == ("not-found", False, [])


def test_model_that_hangs_leaves_time_for_keyless_reply(base: Engine) -> None:
    slow = Paid(before=lambda: current_context().pause(PATIENCE))
    ask = asking(base, replace(USUAL, deadline=1.0), answerer=slow)
    assert ask().json["fallback"]
    assert [line["cause"] for line in ask.log] == ["timeout"]


def test_quotes_that_fail_twice_give_passages_that_draft_named(base: Engine) -> None:
    wrong = {"claims": [{"text": "No.", "evidence": [{"source": "s1", "quote": "No such words."}]}]}
    reported: list[Exception] = []
    answerer = Paid(drafts=[wrong, wrong, wrong, wrong])
    ask = asking(base, answerer=answerer, report_error=reported.append)
    body = ask().json
    assert (body["mode"], body["fallback"], body["confidence"]) == ("partial", True, "low")
    assert [claim["text"] for claim in body["claims"]] == [ROPE]
    assert [type(error) for error in reported] == [ContractViolation]
    assert ask().json["fallback"]
    assert len(answerer.questions) == 4


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


def test_zero_cache_seconds_answers_every_question(base: Engine) -> None:
    ask = asking(base, replace(USUAL, cache_seconds=0))
    assert [ask().status, ask().status] == [200, 200]
    assert len(ask.answerer.questions) == 2
    assert [line["cache"] for line in ask.log] == ["miss", "miss"]


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
        bodies = [each.result(PATIENCE).json for each in waiting]
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


def test_questions_over_in_flight_limit_are_busy(base: Engine) -> None:
    gate = threading.Event()
    ask = asking(
        base, replace(USUAL, in_flight=2), answerer=Paid(before=lambda: gate.wait(PATIENCE))
    )
    with under_way(ask, gate, 2) as statuses:
        for response in (ask("A third?"), ask.get("search", "q=rope")):
            assert code(response) == "busy"
            assert header(response, "Retry-After") == "2"
    assert statuses == [200, 200]
    assert ask("A third?").status == 200


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
        other = pool.submit(ask, "A third?", asker="192.0.2.2")
        until(lambda: len(ask.answerer.questions) == 3)
        # Nor does the share of one admit more than there are slots.
        assert code(ask("A fourth?", asker="192.0.2.3")) == "busy"
        gate.set()
        assert other.result(PATIENCE).status == 200
    assert statuses == [200, 200]
    assert ask("A fifth?").status == 200
    assert len(ask.service.protections.guarded_engine.asker_slots) == 0


def test_burst_of_one_asker_waits_for_its_slots() -> None:
    shares = AskerSlots(1)
    begun = threading.Event()

    def wait() -> bool:
        begun.set()
        with shares.hold_slot("pilot", PATIENCE) as is_held:
            return is_held

    with ThreadPoolExecutor(2) as pool:
        with shares.hold_slot("pilot", 0) as is_held:
            assert is_held
            with shares.hold_slot("pilot", 0) as is_held_twice:
                assert not is_held_twice
            waiting = [pool.submit(wait) for _ in range(2)]
            assert begun.wait(PATIENCE)
            assert not any(each.done() for each in waiting)
        assert [each.result(PATIENCE) for each in waiting] == [True, True]
    assert len(shares) == 0


def test_slot_is_released_after_error(base: Engine) -> None:
    embedder = Failing(faults=[UNREACHABLE] * 3)
    ask = asking(base, replace(USUAL, in_flight=1), embedder=embedder)
    assert [code(ask()) for _ in range(3)] == ["unavailable"] * 3
    assert ask().status == 200


def spent(ask: Asking, cap: int) -> int:
    """Measure what the budget has spent by what it still gives."""
    budget = ask.service.protections.guarded_engine.budget
    assert budget
    return cap - room(budget, cap)


def test_answer_costs_counted_tokens_within_cap(base: Engine) -> None:
    ask = asking(base, replace(USUAL, tokens_per_day=175))
    assert [ask(f"Rope {n}?").status for n in range(5)] == [200, 200, 200, 503, 503]
    assert len(ask.answerer.questions) == 3
    assert spent(ask, 175) == 3 * 30
    assert [line["tokens_in"] + line["tokens_out"] for line in ask.log] == [30, 30, 30, 0, 0]


def test_reservations_of_others_are_busy_and_not_capped(
    base: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The manual's example: a cap of 200,000 tokens, of which a question may take 75,000."""
    monkeypatch.setattr(protections, "_BURST_SECONDS", 0.2)
    gate = threading.Event()
    paid = Paid(max_question_tokens=75_000, cost=60, before=lambda: gate.wait(PATIENCE))
    ask = asking(base, replace(USUAL, tokens_per_day=200_000), answerer=paid)
    with under_way(ask, gate, 2) as statuses:
        refused = [ask(f"Wind {n}?") for n in range(3)]
        assert [code(each) for each in refused] == ["busy"] * 3
        assert all(1 <= int(header(each, "Retry-After") or "") <= 10 for each in refused)
    assert statuses == [200, 200]
    assert [ask(f"Wind {n}?").status for n in range(3)] == [200] * 3
    assert spent(ask, 200_000) == 5 * 60


def test_burst_waits_for_tokens_reserved_by_others(
    base: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protections, "_BURST_SECONDS", PATIENCE)
    paid = Paid(max_question_tokens=75_000, cost=60, before=lambda: time.sleep(0.05))
    policy = replace(USUAL, tokens_per_day=200_000, deadline=PATIENCE)
    ask = asking(base, policy, answerer=paid)
    with ThreadPoolExecutor(5) as pool:
        statuses = [each.status for each in pool.map(ask, (f"Rope {n}?" for n in range(5)))]
    assert statuses == [200] * 5


def test_capped_answers_retry_at_midnight_and_search_still_works(base: Engine) -> None:
    ask = asking(base, replace(USUAL, tokens_per_day=99))
    response = ask()
    assert code(response) == "capped"
    assert 1 <= int(header(response, "Retry-After") or "") <= 86_400
    assert ask.get("search", "q=rope").status == 200
    assert ask.answerer.questions == []


def test_uncounted_provider_call_stays_spent(base: Engine) -> None:
    ask = asking(base, replace(USUAL, tokens_per_day=250), answerer=Paid(cost=None))
    assert [ask(f"Rope {n}?").status for n in range(3)] == [200, 200, 503]
    assert spent(ask, 250) == 200


def test_error_before_provider_call_costs_nothing(base: Engine) -> None:
    embedder = Failing(faults=[UNREACHABLE] * 3)
    ask = asking(base, replace(USUAL, tokens_per_day=100), embedder=embedder)
    assert [code(ask()) for _ in range(3)] == ["unavailable"] * 3
    assert spent(ask, 100) == 0


def test_free_providers_are_not_capped(base: Engine) -> None:
    ask = asking(
        base, replace(USUAL, tokens_per_day=0), answerer=Paid(max_question_tokens=0, cost=0)
    )
    assert ask().status == 200


def test_racing_questions_never_exceed_cap(base: Engine) -> None:
    ask = asking(
        base,
        replace(USUAL, tokens_per_day=550, in_flight=99),
        answerer=Paid(cost=None, before=lambda: time.sleep(0.01)),
    )
    with ThreadPoolExecutor(16) as pool:
        statuses = [each.status for each in pool.map(ask, (f"Rope {n}?" for n in range(60)))]
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


def test_waiting_for_shared_answer_ends_at_deadline(
    base: Engine,
) -> None:
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


def test_function_without_index_is_unavailable(base: Engine) -> None:
    service = Service(lambda: None, USUAL)
    for sent in (question_request(), request("GET", "search", query="q=rope"),
                 request("GET", "ready"),
                 request("GET", "health")):  # fmt: skip
        response = service.handle(sent)
        assert (code(response), header(response, "Retry-After")) == ("unavailable", "5")
    assert base.store.manifest.id


def test_unreachable_redis_answers_503(base: Engine) -> None:
    ask = asking(base, replace(USUAL, redis_url=NOWHERE.format(port=free_port())))
    for response in (ask(), ask.get("search", "q=rope"), ask.get("ready")):
        assert code(response) == "unavailable"
        assert header(response, "Retry-After")
    assert ask.get("health").status == 200
    assert ask.answerer.questions == []
