"""A canary sentence in a note: only the embedding host may ever hear it."""

import io
import json
import logging
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from answerable.indexing.notes.note_lint import find_shared_run
from answerable.serve.http.messages import Request
from answerable.serve.providers import open_function
from indexing.leak_audit.test_published_privacy import readings
from support import server_processes, sites
from support.doubles import handle
from support.openai_stub import OpenAIStub

SYLLABLES = ("ba", "ke", "li", "mo", "nu", "pra", "sto", "tri", "ve", "zu")
RUN = 8
ASKED = ("What does the keel note say?", "Where is the keel?", "How thick is the mooring chain?")


@pytest.fixture(scope="module")
def canary() -> str:
    generator = random.Random(7)
    return " ".join("".join(generator.choices(SYLLABLES, k=3)) for _ in range(16))


@pytest.fixture(scope="module")
def server() -> Iterator[OpenAIStub]:
    with OpenAIStub() as stub:
        yield stub


@pytest.fixture(scope="module", params=["keyless", "openai"])
def site(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    server: OpenAIStub,
    canary: str,
) -> Path:
    """A built site whose note holds the canary, for each pair of providers."""
    folder = tmp_path_factory.mktemp(request.param)
    note = f"---\nlabel: Keel\nlocator: third shelf\nabout: storms.md\n---\n\nKeel: {canary}.\n"
    remote = {"provider": "openai", "base_url": server.base_url}
    options = (
        {"embedding": {**remote, "dimensions": 64}, "answers": {**remote, "model": "hostile-echo"}}
        if request.param == "openai"
        else {}
    )
    sites.write_site(folder, notes={**sites.NOTES, "keel.md": note}, options=options)
    done = sites.build(folder, "-v", OPENAI_API_KEY="test")
    assert done.returncode == 0, done.stderr
    sites.put(folder / "output" / "build.txt", done.stdout + done.stderr)
    sites.put(
        folder / "eval" / "gold.yaml",
        "- {id: keel, query: Where is the keel?, forbidAnswerPatterns: [zebra]}",
    )
    return folder


def silent(text: str, canary: str) -> bool:
    return find_shared_run(text, canary, RUN) is None


def command(folder: Path, *args: str) -> str:
    done = sites.command(folder, *args, OPENAI_API_KEY="test")
    return done.stdout + done.stderr


def test_the_canary_is_in_no_written_file(site: Path, canary: str) -> None:
    written = [
        path
        for folder in ("site", "function", "output")
        for path in (site / folder).rglob("*")
        if path.is_file() and "model" not in path.parts
    ]
    assert len(written) > 20
    leaks = [p for p in written if not all(silent(text, canary) for text in readings(p))]
    assert leaks == []


def test_the_canary_is_in_no_answer_search_or_problem(
    site: Path, canary: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "test")
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    logging.getLogger().addHandler(handler)
    monkeypatch.setattr(logging.getLogger(), "level", logging.DEBUG)
    try:
        engine = open_function(site / "function")
        bodies = []
        for question in ASKED:
            body = json.dumps({"question": question}).encode()
            headers = {"content-type": "application/json"}
            for request in (
                Request("POST", "answer", headers=headers, body=body),
                Request("GET", "search", query=f"q={question}"),
                Request("POST", "answer", headers=headers, body=body + b"}"),
            ):
                bodies.append(handle(engine, request).body.decode())
    finally:
        logging.getLogger().removeHandler(handler)
    assert all(silent(body, canary) for body in bodies)
    assert silent(stream.getvalue(), canary)


def test_no_command_prints_the_canary(site: Path, canary: str) -> None:
    outputs = [
        command(site, "ask", "Where is the keel?"),
        command(site, "ask", "--json", "Where is the keel?"),
        command(site, "search", "--near", "--json", "Where is the keel?"),
        command(site, "eval", "--full", "--json"),
    ]
    assert all(outputs)
    assert all(silent(output, canary) for output in outputs)


def test_the_dev_server_does_not_return_the_canary(
    site: Path, canary: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "test")
    with server_processes.mkdocs(site, "-v") as server:
        responses = [server.request("POST", "/_answerable/answer", {"question": q}) for q in ASKED]
    assert {status for status, _ in responses} == {200}
    assert silent(server.output + "".join(body for _, body in responses), canary)


def test_only_the_embedding_host_receives_the_canary(server: OpenAIStub, canary: str) -> None:
    """Runs last: by now every other test has asked through the server."""
    heard = {r.endpoint for r in server.requests if not silent(r.body.decode(), canary)}
    endpoints = {r.endpoint for r in server.requests}
    assert "/v1/chat/completions" in endpoints
    assert heard == {"/v1/embeddings"}
