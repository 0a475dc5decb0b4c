"""Output of a function: one line for each request, and no words of askers, notes or keys."""

import json
import re
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from answerable.serve.http.messages import EVENT_STREAM_TYPE, MAX_BODY_BYTES
from support import published_functions
from support.deadlines import PATIENCE, until
from support.openai_stub import FAULTS, OpenAIStub
from support.published_functions import KEY
from support.server_processes import Running
from support.sites import NOTES

TOKEN = "token-of-the-pilot"
PASSWORD = "word-for-the-store"
# A word that no page has, asked wherever something can be asked.
WORD = "zanzibar"
CHAIN = "How thick is the chain of a mooring?"
WINCH = "Where was the gearbox of the electric winch taken from?"
QUESTIONS = (CHAIN, WINCH, f"Who sang at the {WORD} opera?", "?!", f"{WORD} " * 50, "", "\ud800")
# Words of the note, which is private, and of pages, which an answer quotes.
PRIVATE = ("gearbox", "tractor", "scrapped", "spring")
PUBLIC = ("mooring", "chain", "winch", "millimetres", "shelf")
ADDRESSES = ("192.0.2.77", "127.0.0.1")
FAULTY = ("401", "429", "500", "html", "garbage", "cut", "truncated", "refusal", "incomplete")


@pytest.fixture(scope="module")
def stub() -> Iterator[OpenAIStub]:
    with OpenAIStub() as stub:
        stub.retry_after = 0.05
        yield stub
        assert stub.failures == []


@pytest.fixture(scope="module")
def function(tmp_path_factory: pytest.TempPathFactory, stub: OpenAIStub) -> Path:
    return published_functions.build_function(
        tmp_path_factory.mktemp("site"), stub, log_refusals="hashed"
    )


def bother(running: Running, stub: OpenAIStub) -> int:
    """Everything that can go right or wrong; how many requests were HTTP."""
    sent = 0

    def send(method: str, path: str, body: object = None, **headers: str) -> None:
        nonlocal sent
        running.request(method, path, body, X_Forwarded_For=ADDRESSES[0], **headers)
        sent += 1

    for question in QUESTIONS:
        send("POST", "/answer", {"question": question, "language": "en"})
        send("POST", "/answer", {"question": question}, Accept=EVENT_STREAM_TYPE)
    for fault in FAULTY:
        stub.fault = fault
        send("POST", "/answer", {"question": f"{CHAIN} {fault}", "more": WORD})
        send("POST", "/answer", {"question": f"{CHAIN} {fault}?"}, Accept=EVENT_STREAM_TYPE)
        stub.fault = None
    send("POST", "/answer", {"question": WORD * 99})
    send("POST", "/answer", {"question": WORD}, Content_Type=WORD)
    send("POST", "/answer", [WORD, "x" * MAX_BODY_BYTES])
    send("POST", "/answer", {"question": WORD, "language": f"en {WORD}"})
    for path in ("/health", "/ready", "/openapi.json", "/metrics", f"/{WORD}?q={WORD}",
                 f"/answer/{WORD}", f"/search?q={WORD}", f"/search?{WORD}"):  # fmt: skip
        send("GET", path, Authorization=f"Bearer {TOKEN}", Cookie=WORD, User_Agent=WORD)
    send(WORD.upper(), "/answer")
    send("OPTIONS", "/answer", Origin=f"https://{WORD}.example")
    send("POST", "/answer", {"question": CHAIN}, Origin=f"https://{WORD}.example")
    return sent


def misuse(port: int) -> None:
    """Send what is not HTTP, or ends in the middle of it."""
    head = f"POST /answer HTTP/1.1\r\nHost: {WORD}\r\nContent-Type: application/json\r\n"
    for data in (
        f"{WORD}\r\n\r\n",
        f"GET /{WORD} {WORD} {WORD} HTTP/9.9\r\n\r\n",
        f"GET /{WORD * 9000} HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\n" + f"X: {WORD}\r\n" * 200 + "\r\n",
        f"{head}Content-Length: -{WORD}\r\n\r\n{WORD}",
        f"{head}Content-Length: {'9' * 5000}\r\n\r\n{WORD}",
        f"{head}Content-Length: 4000\r\n\r\n{WORD}",
        f"{head}Content-Length: 20\r\n\r\n" + json.dumps({"question": CHAIN}),
        head,
        "",
    ):
        for is_reset in (False, True):
            with socket.create_connection(("127.0.0.1", port), PATIENCE) as client:
                client.sendall(data.encode())
                if is_reset:
                    # Closed with a reset, as by a client that has crashed.
                    linger = struct.pack("ii", 1, 0)
                    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)


def lines(running: Running, least: int) -> list[dict[str, Any]]:
    """Parse the lines after the address, once there are so many."""
    until(lambda: len(running.lines) > least)
    return [json.loads(line) for line in running.lines if line.startswith("{")]


def check_silent(output: str, words: tuple[str, ...]) -> None:
    leaked = [word for word in words if word.lower() in output.lower()]
    assert leaked == []


@pytest.mark.parametrize("key", ["", KEY])
def test_function_without_a_key_is_not_ready_and_says_so(function: Path, key: str) -> None:
    with published_functions.serving(function, OPENAI_API_KEY=key) as running:
        status, _ = running.request("GET", "/ready")
        assert running.request("GET", "/health")[0] == 200
        row = next(row for row in lines(running, 2 if key else 3) if row["path"] == "ready")
    warning = (
        "OPENAI_API_KEY is not set: no model is called until it is; set it where the function runs"
    )
    assert (warning in running.output) == (not key)
    outcome = (status, row["status"], row["reason"], row.get("cause"))
    assert outcome == ((200, 200, None, None) if key else (503, 503, "unavailable", "no-key"))


def test_output_holds_no_question_key_or_note(function: Path, stub: OpenAIStub) -> None:
    environment = {
        "ANSWERABLE_DEADLINE": "5",
        "ANSWERABLE_TOKENS_PER_DAY": "1000000000",
        "ANSWERABLE_SECRET": f"{PASSWORD} of the harbour",
        "ANSWERABLE_ALLOWED_ORIGINS": "https://harbour.example",
    }
    with published_functions.serving(function, **environment) as running:
        sent = bother(running, stub)
        misuse(running.port)
        assert running.request("GET", "/health")[0] == 200
        # Lines of refusals stand among those of requests, and the last one is of the health.
        until(lambda: sum('"event": "request"' in line for line in running.lines) > sent)
        rows = lines(running, sent)
    # The section that comes nearest to a refused question is told by its id, which is public.
    near = {row.pop("near") for row in rows if row["event"] == "refusal"}
    assert {name and name.partition("#")[0] for name in near} <= {
        "index",
        "mooring",
        "storms",
        None,
    }
    # So are the pages that an answer cites; a note that it routes to is not among them.
    cited = {page for row in rows if row["event"] == "request" for page in row.pop("cited")}
    assert "mooring" in cited <= {"index", "mooring", "storms"}
    check_silent(json.dumps(rows), (WORD, KEY, TOKEN, PASSWORD, *PRIVATE, *PUBLIC, *ADDRESSES))
    assert {row["event"] for row in rows} == {"request", "refusal"}
    requests = [row for row in rows if row["event"] == "request"]
    assert len(requests) > sent
    assert {200, 400, 403, 404, 405, 413, 415} <= {row["status"] for row in requests}
    assert {"key-refused", "rate-limit", "status"} <= {row.get("cause") for row in requests}
    assert {row["path"] for row in requests} <= {"answer", "search", "health", "ready",
                                             "openapi.json", "metrics", "other"}  # fmt: skip
    assert not any("question" in row for row in requests)
    # A refusal's question is a hash; no more of it is printed than of the request.
    assert all("text" not in row for row in rows)


def test_unreachable_redis_is_reported_without_password(function: Path) -> None:
    environment = {
        "ANSWERABLE_REDIS_URL": f"redis://:{PASSWORD}@127.0.0.1:1/0",
        "ANSWERABLE_SECRET": f"{PASSWORD} of the harbour",
    }
    with published_functions.serving(function, **environment) as running:
        assert running.request("POST", "/answer", {"question": CHAIN})[0] == 503
        assert running.request("GET", "/ready")[0] == 503
        rows = lines(running, 2)
    assert [row["reason"] for row in rows] == ["unavailable", "unavailable"]
    check_silent("".join(running.lines[1:]), (PASSWORD, *PUBLIC, *ADDRESSES))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("ANSWERABLE_BEARER", TOKEN),
        ("ANSWERABLE_METRICS_TOKEN", TOKEN),
        ("ANSWERABLE_SECRET", "pilot"),
        ("ANSWERABLE_REDIS_URL", f"http://:{TOKEN}@127.0.0.1/0"),
        ("ANSWERABLE_REDIS_URL", f"redis://:{TOKEN}@127.0.0.1:pilot/0"),
    ],
)
def test_misplaced_secret_is_reported_without_its_value(
    function: Path, name: str, text: str
) -> None:
    environment = {"ANSWERABLE_SECRET": "a secret of the harbour", name: text, "PORT": "0"}
    command = [sys.executable, "-I", str(function / "main.py")]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 1
    assert done.stdout == ""
    assert re.fullmatch(rf"{name}: [^\n]+\n", done.stderr), done.stderr
    assert "pilot" not in done.stderr


def test_leak_check_words_are_in_the_note() -> None:
    """The note has its private words; nothing here would pass by being misspelt."""
    (note,) = NOTES.values()
    assert all(word in note for word in PRIVATE)
    assert set(FAULTY) <= set(FAULTS)
