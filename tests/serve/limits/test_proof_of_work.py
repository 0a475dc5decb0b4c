"""A real challenge, solved by its library and by a browser, counts once and only in time."""

import base64
import json
import shutil
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import altcha
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from playwright.sync_api import Page, Route

from answerable.serve.errors import PolicyError, StorageError
from answerable.serve.limits import proof_of_work
from answerable.serve.limits.proof_of_work import (
    EXPIRED_MESSAGE,
    MISSING_MESSAGE,
    UNSOLVED_MESSAGE,
    USED_MESSAGE,
    MemoryUsedSolutions,
    ProofOfWork,
    UnsolvedError,
    create_proof_of_work,
)
from support.deadlines import PATIENCE
from support.server_processes import free_port, run

KEY = b"a key that only the harbour has"
DOCS = Path(__file__).parents[3] / "docs" / "observe.md"


def solved(issued: dict[str, Any]) -> dict[str, Any]:
    challenge = altcha.Challenge.from_dict(issued)
    solution = altcha.solve_challenge(challenge)
    assert solution
    return altcha.Payload(challenge, solution).to_dict()


def packed(payload: object) -> str:
    return base64.b64encode(json.dumps(payload).encode()).decode()


@pytest.fixture(scope="module")
def payload() -> dict[str, Any]:
    """A challenge and its solution; each test forgets that it was used."""
    return solved(create_proof_of_work(KEY, None).create_challenge())


def problem(challenge: ProofOfWork, payload: str | None) -> str | None:
    """Use a solution up; None, or why it does not count."""
    try:
        with challenge.use_solution(payload):
            return None
    except UnsolvedError as error:
        return str(error)


def fresh() -> ProofOfWork:
    return create_proof_of_work(KEY, None)


def test_challenge_has_cost_and_expiry() -> None:
    before = int(time.time())
    issued = json.loads(json.dumps(fresh().create_challenge()))
    parameters = issued["parameters"]
    assert parameters["algorithm"] == "PBKDF2/SHA-256"
    assert parameters["cost"] == 1000
    assert before + 300 <= parameters["expiresAt"] <= int(time.time()) + 300
    assert issued["signature"] != fresh().create_challenge()["signature"]


def test_challenge_work_is_bounded_and_not_revealed() -> None:
    proof_of_work = fresh()
    for _ in range(3):
        issued = proof_of_work.create_challenge()
        counter = solved(issued)["solution"]["counter"]
        assert 100 <= counter < 300
        assert str(counter) not in (str(value) for value in issued["parameters"].values())


def test_solution_counts_once(payload: dict[str, Any]) -> None:
    ours = fresh()
    assert problem(ours, packed(payload)) is None
    assert problem(ours, packed(payload)) == USED_MESSAGE


def test_reencoded_solution_is_used_too(payload: dict[str, Any]) -> None:
    ours = fresh()
    assert problem(ours, packed(payload)) is None
    turned = {"solution": payload["solution"] | {"time": 1}, "challenge": payload["challenge"]}
    assert problem(ours, packed(turned)) == USED_MESSAGE
    assert problem(ours, "\n" + packed(payload)) == USED_MESSAGE
    assert problem(ours, packed(payload | {"more": [1]})) == USED_MESSAGE


def test_concurrent_equal_solutions_count_once(payload: dict[str, Any]) -> None:
    ours = fresh()
    ready = threading.Barrier(8)

    def ask(_: int) -> str | None:
        ready.wait(PATIENCE)
        return problem(ours, packed(payload))

    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(ask, range(8)))
    assert sorted(map(str, results)) == sorted(["None", *[USED_MESSAGE] * 7])


def test_every_challenge_differs() -> None:
    ours = fresh()
    assert problem(ours, packed(solved(ours.create_challenge()))) is None
    assert problem(ours, packed(solved(ours.create_challenge()))) is None


def test_late_solution_is_rejected() -> None:
    # Made by a clock that is behind by a second more than a challenge lives.
    late = ProofOfWork(
        KEY, MemoryUsedSolutions(), lambda: time.time() - proof_of_work.LIFETIME_SECONDS - 1
    )
    assert problem(fresh(), packed(solved(late.create_challenge()))) == EXPIRED_MESSAGE


def test_expiry_cannot_be_changed() -> None:
    late = ProofOfWork(
        KEY, MemoryUsedSolutions(), lambda: time.time() - proof_of_work.LIFETIME_SECONDS - 1
    )
    brought = solved(late.create_challenge())
    brought["challenge"]["parameters"]["expiresAt"] += 3600
    assert problem(fresh(), packed(brought)) == UNSOLVED_MESSAGE
    del brought["challenge"]["parameters"]["expiresAt"]
    assert problem(fresh(), packed(brought)) == UNSOLVED_MESSAGE


@pytest.mark.parametrize("field", ["algorithm", "cost", "keyLength", "keyPrefix", "nonce", "salt"])
def test_changed_challenge_is_rejected(payload: dict[str, Any], field: str) -> None:
    changed = json.loads(json.dumps(payload))
    parameters = changed["challenge"]["parameters"]
    parameters[field] = parameters[field] + (1 if isinstance(parameters[field], int) else "00")
    assert problem(fresh(), packed(changed)) == UNSOLVED_MESSAGE


@pytest.mark.parametrize(
    "change",
    [
        lambda p: p["challenge"].pop("signature"),
        lambda p: p["challenge"].update(signature=None),
        lambda p: p["challenge"].update(signature=p["challenge"]["signature"].upper()),
        lambda p: p["solution"].update(counter=p["solution"]["counter"] + 1),
        lambda p: p["solution"].update(counter=-1),
        lambda p: p["solution"].update(counter=2**70),
        lambda p: p["solution"].update(counter=str(p["solution"]["counter"])),
        lambda p: p["solution"].update(derivedKey="00" * 32),
        lambda p: p["solution"].pop("derivedKey"),
        lambda p: p["challenge"]["parameters"].update(keySignature=None),
        lambda p: p["challenge"]["parameters"].update(cost=10**9),
        lambda p: p.pop("solution"),
        lambda p: p.update(challenge=[]),
    ],
)
def test_changed_solution_is_rejected(
    payload: dict[str, Any], change: Callable[[Any], object]
) -> None:
    changed = json.loads(json.dumps(payload))
    change(changed)
    assert problem(fresh(), packed(changed)) == UNSOLVED_MESSAGE


def test_wrong_solution_does_not_use_up_challenge(payload: dict[str, Any]) -> None:
    ours = fresh()
    wrong = payload | {"solution": payload["solution"] | {"counter": 1}}
    assert problem(ours, packed(wrong)) == UNSOLVED_MESSAGE
    assert problem(ours, packed(payload)) is None


def test_challenge_of_another_key_is_rejected() -> None:
    theirs = create_proof_of_work(b"a key of quite another harbour", None)
    assert problem(fresh(), packed(solved(theirs.create_challenge()))) == UNSOLVED_MESSAGE


def test_unsigned_challenge_is_rejected() -> None:
    own = altcha.create_challenge("PBKDF2/SHA-256", 1, counter=1, expires_at=2**40)
    assert problem(fresh(), packed(solved(own.to_dict()))) == UNSOLVED_MESSAGE


@pytest.mark.parametrize("nothing", [None, ""])
def test_missing_solution_is_rejected_with_instruction(nothing: str | None) -> None:
    assert problem(fresh(), nothing) == MISSING_MESSAGE


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)
SIGNED = ["algorithm", "cost", "data", "expiresAt", "keyPrefix", "keySignature", "nonce", "salt"]
NAMES = st.sampled_from([*SIGNED, "signature"])
SHAPES = st.fixed_dictionaries(
    {
        "challenge": JSON
        | st.fixed_dictionaries(
            {"parameters": JSON | st.dictionaries(NAMES, JSON), "signature": JSON}
        ),
        "solution": JSON | st.fixed_dictionaries({"counter": JSON, "derivedKey": JSON}),
    }
)


@settings(max_examples=300)
@given(st.text() | JSON.map(packed) | SHAPES.map(packed))
def test_malformed_payload_is_rejected_with_fixed_text(sent: str) -> None:
    assert problem(fresh(), sent) in (MISSING_MESSAGE, UNSOLVED_MESSAGE, EXPIRED_MESSAGE)


@settings(max_examples=200)
@given(NAMES, JSON)
def test_any_changed_value_in_challenge_is_rejected(
    payload: dict[str, Any], name: str, value: object
) -> None:
    changed = json.loads(json.dumps(payload))
    signed = changed["challenge"]["parameters"] if name in SIGNED else changed["challenge"]
    assume(signed.get(name) != value)
    signed[name] = value
    assert problem(fresh(), packed(changed)) in (UNSOLVED_MESSAGE, EXPIRED_MESSAGE)


def test_memory_of_used_solutions_expires_and_is_bounded() -> None:
    clock = [0.0]
    memory = MemoryUsedSolutions(limit=3, now=lambda: clock[0])
    assert [memory.set_once(key, 10) for key in "abacb"] == [True, True, False, True, False]
    # Full: what cannot be remembered does not count.
    assert not memory.set_once("d", 10)
    clock[0] = 9.9
    assert not memory.set_once("a", 10)
    clock[0] = 10.0
    assert memory.set_once("d", 10)
    assert memory.set_once("a", 10)


def test_used_solution_is_remembered_longer_than_lifetime(payload: dict[str, Any]) -> None:
    remembered: list[tuple[str, int]] = []

    class Notes:
        def set_once(self, key: str, seconds: int) -> bool:
            remembered.append((key, seconds))
            return True

        def forget(self, key: str) -> None:
            raise AssertionError(key)

    assert problem(ProofOfWork(KEY, Notes()), packed(payload)) is None
    assert remembered == [(f"challenge:{payload['challenge']['signature']}", 600)]


def test_missing_altcha_is_policy_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "altcha", None)
    with pytest.raises(PolicyError, match=r"ANSWERABLE_ALTCHA_KEY: .*pip install"):
        create_proof_of_work(KEY, None)


@pytest.mark.skipif(shutil.which("redis-server") is None, reason="no Redis on the path")
def test_instances_share_used_solutions_in_redis(payload: dict[str, Any], tmp_path: Path) -> None:
    port = free_port()
    command = ["redis-server", "--port", str(port), "--save", "", "--bind", "127.0.0.1"]
    url = f"redis://127.0.0.1:{port}/0"
    with run(command, tmp_path, lambda running: "Ready to accept" in running.output, port):
        one, other = create_proof_of_work(KEY, url), create_proof_of_work(KEY, url)
        assert problem(one, packed(payload)) is None
        assert problem(one, packed(payload)) == USED_MESSAGE
        assert problem(other, packed(payload)) == USED_MESSAGE
        assert problem(other, packed(solved(one.create_challenge()))) is None
        brought = packed(solved(one.create_challenge()))
    # Whether it was used cannot be told any more.
    with pytest.raises(StorageError):
        problem(one, brought)


def snippet() -> str:
    """The JavaScript of the manual."""
    text = DOCS.read_text()
    return text.partition("```js\n")[2].partition("```")[0]


def test_browser_solves_challenge_by_code_of_manual(page: Page) -> None:
    ours = fresh()

    def respond(route: Route) -> None:
        if route.request.url.endswith("/challenge"):
            route.fulfill(json=ours.create_challenge())
        else:
            route.fulfill(body="<!doctype html><title>Harbour</title>", content_type="text/html")

    page.route("http://localhost/**", respond)
    page.goto("http://localhost/")
    brought = page.evaluate(f"async () => {{ {snippet()}\nreturn solve('/challenge'); }}")
    assert problem(ours, brought) is None
    assert problem(ours, brought) == USED_MESSAGE
