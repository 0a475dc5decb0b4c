"""The published function by itself: no package, no notebook, no network, and no loose word."""

import json
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import venv
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from answerable.engine.settings import SETTINGS_FILE, read_settings
from answerable.function.exchange import EVENT_STREAM_TYPE
from answerable.function.requests import MAX_BODY_BYTES
from support.deadlines import PATIENCE, until
from support.openai_stub import UPSTREAM_WORDS, OpenAIStub
from support.published_functions import KEY, build_function, serving
from support.server_processes import Running, run

QUESTION = "How thick is the chain of a mooring?"
WINCH = "Where was the gearbox of the electric winch taken from?"
# A word that no page has, asked wherever something can be asked.
WORD = "zanzibar"
TOKEN, PASSWORD = "token-of-the-pilot", "word-for-the-store"
# Words of the note, which is private, and of pages, which an answer quotes.
PRIVATE = ("gearbox", "tractor", "scrapped", "spring")
PUBLIC = ("mooring", "chain", "winch", "millimetres", "shelf")
ADDRESSES = ("192.0.2.77", "127.0.0.1")
FAULTS = ("401", "429", "500", "html", "garbage", "cut", "refusal", "incomplete")
# A .pyc has a magic number of four bytes, then flags: 1 is a hash that is not checked.
UNCHECKED = 1


@pytest.fixture(scope="module")
def function(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A built function folder, moved away from its site."""
    built = build_function(tmp_path_factory.mktemp("site"))
    away = tmp_path_factory.mktemp("away") / "function"
    shutil.move(built, away)
    shutil.rmtree(built.parent)
    return away


def copied(function: Path, folder: Path, **settings: Any) -> Path:
    """A copy of a function, with other settings. Its big files are links."""
    copy = Path(shutil.copytree(function, folder / "function", copy_function=os.link))
    changed = replace(read_settings(function), **settings)
    (copy / SETTINGS_FILE).unlink()
    (copy / SETTINGS_FILE).write_bytes(changed.as_json())
    return copy


def start_failing(function: Path, **environment: str) -> str:
    """Start a function that cannot start, and return the one line that says why."""
    done = subprocess.run(
        [sys.executable, "-I", str(function / "main.py")],
        env={"PORT": "0", **environment}, capture_output=True, text=True, timeout=PATIENCE,
        check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (1, "")
    [line] = done.stderr.splitlines()
    return line


def list_files(folder: Path) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


def test_cold_function_answers_refuses_routes_and_ends_with_status_0(function: Path) -> None:
    before = list_files(function)
    with serving(function) as running:
        body = running.ask("/answer", QUESTION)
        assert (
            body["claims"][0]["markdown"] == "The chain of a mooring is twelve millimetres thick."
        )
        assert body["citations"][0]["url"] == "/mooring/#chains"
        body = running.ask("/answer", "Who wrote the tragedy of Hamlet?")
        assert (body["mode"], body["citations"]) == ("not-found", [])
        body = running.ask("/answer", WINCH)
        assert body["mode"] == "related-material"
        assert body["routes"][0]["text"] == "Related material: Plans for the winch (second shelf)."
        assert not any(word in json.dumps(body) for word in PRIVATE if word != "gearbox")
        assert "storms#lanterns" in json.loads(running.request("GET", "/search?q=lantern")[1])
        status, _, headers = running.respond("GET", "/health")
        assert status == 200
        assert "server" not in headers
        running.process.send_signal(signal.SIGTERM)
        assert running.process.wait(PATIENCE) == 0
    # It may be read-only.
    assert list_files(function) == before


@pytest.mark.deep
def test_function_needs_its_requirements_and_a_server_only(function: Path, tmp_path: Path) -> None:
    venv.create(tmp_path, with_pip=False, symlinks=True)
    python = tmp_path / "bin" / "python"
    install = ["install", "--quiet", "--disable-pip-version-check", "--no-compile", "-r"]
    requirements = [str(function / "requirements.txt"), "uvicorn"]
    pip = [sys.executable, "-m", "pip", "--python", str(python), *install, *requirements]
    subprocess.run(pip, check=True, timeout=PATIENCE)
    code = "import importlib.util; print(importlib.util.find_spec('answerable'))"
    assert subprocess.check_output([python, "-I", "-c", code], text=True) == "None\n"

    def is_serving(running: Running) -> bool:
        address = re.search(r"http://127\.0\.0\.1:(\d+)/answer", running.output)
        running.port = int(address[1]) if address else 0
        return bool(address)

    command = ["env", "-i", "PORT=0", str(python), "-I", str(function / "main.py")]
    with run(command, function.parent, is_serving) as running:
        assert running.ask("/answer", QUESTION)["mode"] == "partial"


def test_function_holds_serving_code_a_license_and_pinned_requirements(function: Path) -> None:
    package = function / "answerable"
    assert {path.name for path in package.iterdir() if path.name != "__pycache__"} == {
        "__init__.py", "function", "engine"
    }  # fmt: skip
    assert "MIT" in (function / "model" / "LICENSE").read_text("utf-8")
    lines = (function / "requirements.txt").read_text("utf-8").splitlines()
    assert lines
    assert all(re.fullmatch(r"[a-z]+==[\w.]+", line) for line in lines)


def test_every_module_has_bytecode_that_no_build_path_and_no_time_makes_stale(
    function: Path,
) -> None:
    package = function / "answerable"
    compiled = {path: path.read_bytes() for path in package.rglob("*.pyc")}
    assert len(compiled) == len(list(package.rglob("*.py"))) > 30
    assert {path.name.split(".")[1] for path in compiled} == {sys.implementation.cache_tag}
    assert {int.from_bytes(data[4:8], "little") for data in compiled.values()} == {UNCHECKED}
    assert not any(b".tmp" in data or b"/pytest-" in data for data in compiled.values())


def test_first_ranked_result_imports_few_modules(function: Path) -> None:
    code = f"""
import sys
sys.path.insert(0, {str(function)!r})
from pathlib import Path
from answerable.engine import providers
assert providers.open_function(Path({str(function)!r})).retrieve({QUESTION!r}).passages
print(*sys.modules, sys.modules["answerable"].__file__)
"""
    printed = subprocess.check_output([sys.executable, "-I", "-c", code], text=True)
    *modules, package = printed.split()
    assert package.startswith(str(function))
    assert not {"numpy.ma", "openai", "jinja2", "mkdocs", "redis"} & set(modules)
    assert not any("stemmer" in name or "snowball" in name for name in modules)


def test_damaged_function_does_not_start_and_names_the_remedy(
    function: Path, tmp_path: Path
) -> None:
    copy = copied(function, tmp_path)
    next((copy / "bundle").glob("codes-*")).unlink()
    assert "is missing: run `answerable build` again" in start_failing(copy)


def test_wrong_variable_is_reported_in_one_line_without_its_value(function: Path) -> None:
    environment = {"ANSWERABLE_SECRET": "a secret of the harbour"}
    url = f"redis://:{PASSWORD}@127.0.0.1:pilot/0"
    for name, value in (("ANSWERABLE_BEARER", TOKEN), ("ANSWERABLE_REDIS_URL", url)):
        line = start_failing(function, **{**environment, name: value})
        assert line.startswith(f"{name}: ")
        assert not any(word in line for word in (TOKEN, PASSWORD, "pilot"))


def read_rows(running: Running, event: str = "request") -> list[dict[str, Any]]:
    rows = [json.loads(line) for line in list(running.lines) if line.startswith("{")]
    return [row for row in rows if row["event"] == event]


def test_function_without_a_key_is_not_ready_and_says_so(function: Path, tmp_path: Path) -> None:
    with serving(copied(function, tmp_path, answers="openai"), OPENAI_API_KEY="") as running:
        status, _ = running.request("GET", "/ready")
        assert running.request("GET", "/health")[0] == 200
        until(lambda: len(read_rows(running)) == 2)
        warning = "OPENAI_API_KEY is not set: no model is called until it is; set it where the "
        until(lambda: warning in running.output)
        row = read_rows(running)[0]
    outcome = (status, row["status"], row["reason"], row["cause"])
    assert outcome == (503, 503, "unavailable", "key")


def misuse(port: int) -> None:
    """Send what is no HTTP or no whole request, and hang up, also with a reset."""
    head = "POST /answer HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    for data in (
        f"{WORD}\r\n\r\n",
        f"GET /{WORD} {WORD} {WORD} HTTP/9.9\r\n\r\n",
        f"GET /{WORD * 9000} HTTP/1.1\r\n\r\n",
        f"GET / HTTP/1.1\r\nHost: h\r\n{WORD} : 1\r\n\r\n",
        f"{head}Content-Length: -{WORD}\r\n\r\n{WORD}",
        f"{head}Transfer-Encoding: {WORD}\r\n\r\n",
        f"{head}Content-Length: 4000\r\n\r\n{WORD}",
        "",
    ):
        for is_reset in (False, True):
            with socket.create_connection(("127.0.0.1", port), PATIENCE) as client:
                client.sendall(data.encode())
                if is_reset:
                    linger = struct.pack("ii", 1, 0)
                    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)


def bother(running: Running, stub: OpenAIStub) -> int:
    """Send everything that can go right or wrong, and count the requests."""
    questions: Sequence[str] = (QUESTION, WINCH, f"Who sang at the {WORD} opera?", "?!", "\ud800")
    stream = {"Accept": EVENT_STREAM_TYPE}
    sent: list[tuple[str, str, object, dict[str, str]]] = [
        ("POST", "/answer", {"question": question}, headers)
        for question in (*questions, f"{WORD} " * 50)
        for headers in ({}, stream)
    ]
    sent += [
        ("POST", "/answer", {"question": WORD * 99}, {}),
        ("POST", "/answer", {"question": WORD}, {"Content_Type": WORD}),
        ("POST", "/answer", [WORD, "x" * MAX_BODY_BYTES], {}),
        ("POST", "/answer", {"question": QUESTION}, {"Origin": f"https://{WORD}.example"}),
        (WORD.upper(), "/answer", None, {}),
        *(
            ("GET", path, None, {"Authorization": f"Bearer {TOKEN}", "Cookie": WORD})
            for path in ("/ready", f"/{WORD}?q={WORD}", f"/search?q={WORD}", f"/search?{WORD}")
        ),
    ]
    for method, path, body, headers in sent:
        running.request(method, path, body, X_Forwarded_For=ADDRESSES[0], **headers)
    for fault in FAULTS:
        stub.fault = fault
        asked = {"question": f"{QUESTION} {fault}", "more": WORD}
        status, text = running.request("POST", "/answer", asked)
        # Where only the model fails, a reader gets the keyless answer.
        assert status == 200
        assert json.loads(text)["fallback"] == (fault != "refusal")
    stub.fault = None
    return len(sent) + len(FAULTS)


def test_output_holds_no_question_key_or_note(function: Path, tmp_path: Path) -> None:
    environment = {
        "ANSWERABLE_SECRET": f"{PASSWORD} of the harbour",
        "ANSWERABLE_ALLOWED_ORIGINS": "https://harbour.example",
    }
    with OpenAIStub() as stub:
        stub.retry_after = 0.05
        settings = {"answers": "openai", "base_url": stub.base_url, "log_refusals": "hashed"}
        with serving(copied(function, tmp_path, **settings), **environment) as running:
            count = bother(running, stub)
            misuse(running.port)
            assert running.request("GET", "/health")[0] == 200
            until(lambda: len(read_rows(running)) > count)
            output = "".join(running.lines[1:])
        assert stub.failures == []
    requests, refusals = read_rows(running), read_rows(running, "refusal")
    assert refusals
    # Which pages are cited, and which section comes nearest, is told by ids, which are public.
    pages = {page for row in requests for page in row["cited"]}
    pages |= {str(row.get("near")).partition("#")[0] for row in refusals}
    assert "mooring" in pages <= {"index", "mooring", "storms", "None"}
    for name in pages:
        output = re.sub(rf'"{name}(#\w+)?"', '""', output)
    assert "Traceback" not in output
    assert not any(words in output for words in UPSTREAM_WORDS)
    words = (WORD, KEY, TOKEN, PASSWORD, *PRIVATE, *PUBLIC, *ADDRESSES)
    assert [word for word in words if word in output.lower()] == []
    assert {200, 400, 403, 404, 405, 413, 415} <= {row["status"] for row in requests}
    assert {"key", "limit", "unreachable"} <= {row.get("cause") for row in requests}
    assert not any("question" in row for row in requests)
    assert not any("text" in row for row in refusals)


def test_refusals_are_appended_to_a_file_of_the_owner(function: Path, tmp_path: Path) -> None:
    log = tmp_path / "refusals.jsonl"
    copy = copied(function, tmp_path, log_refusals="text")
    question = f"Does {WORD} sell wombats?"
    for _ in range(2):
        environment = {"ANSWERABLE_SECRET": f"{PASSWORD} of the harbour"}
        with serving(copy, ANSWERABLE_REFUSALS=str(log), **environment) as running:
            assert running.ask("/answer", question)["mode"] == "not-found"
            assert running.ask("/answer", QUESTION)["mode"] == "partial"
            assert WORD not in running.output
    first, second = (json.loads(line) for line in log.read_text("utf-8").splitlines())
    assert first["text"] == second["text"] == question
    # The secret outlives the process, so that a question that comes again is known.
    assert first["question"] == second["question"]
    assert not any(word in log.read_text("utf-8") for word in (PASSWORD, *ADDRESSES))
