"""One suite through real runtimes, all of which answer alike.

They are uvicorn, AWS's awslambdaric behind a function URL, the published folder's own server, and
`mkdocs serve`. A body in chunks is read by uvicorn only, and not asked here.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from support import runtimes
from support.deadlines import until
from support.runtime_requests import CASES, GOOD, KNOWN, PRIVATE, UNKNOWN, Case
from support.runtimes import Reply, Runtime

# What says how a response may be used; every other header is the server's own.
TOLD = (
    "content-type", "cache-control", "allow", "retry-after", "www-authenticate", "vary",
    "access-control-allow-methods", "access-control-allow-headers", "access-control-max-age",
)  # fmt: skip


@pytest.fixture(scope="module")
def function(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return runtimes.built(tmp_path_factory.mktemp("site"))


@pytest.fixture(scope="module")
def running(function: Path) -> Iterator[Sequence[Runtime]]:
    starting = (
        runtimes.on_uvicorn(function),
        *([runtimes.on_lambda(function)] if runtimes.HAS_LAMBDA else []),
        runtimes.on_loopback(function),
        runtimes.on_mkdocs(function.parent),
    )
    with ExitStack() as stack, ThreadPoolExecutor(len(starting)) as pool:
        yield tuple(pool.map(stack.enter_context, starting))


def sent(runtime: Runtime, case: Case) -> Reply:
    """Send a case to a runtime."""
    origin = runtime.origin if case.origin == "own" else case.origin
    own = (("Content-Type", case.kind), ("Origin", None if origin == "none" else origin))
    headers = tuple((name, value) for name, value in own if value is not None)
    return runtime.request(case.method, case.path, case.body, (*headers, *case.headers))


def describe_reply(runtime: Runtime, reply: Reply) -> dict[str, Any]:
    """Describe a reply without what differs by design: ids, and where it is served.

    The address of a site is a part of its bundle, and so of the bundle's id.
    """
    described: dict[str, Any] = {name: reply.headers.get(name) for name in TOLD}
    described |= {"status": reply.status, "body": reply.body}
    if reply.body:
        body = described["body"] = reply.json
        if "request_id" in body:
            assert body.pop("request_id").startswith("req_")
        site = "https://harbour.example/" if runtime.is_deployed else f"{runtime.origin}/"
        if "site_url" in body:
            assert body.pop("site_url") == site
        citations = body.get("citations", [])
        # Those of a search are the rows themselves, by id.
        for row in (*citations, *(each for each in body.values() if isinstance(each, dict))):
            if "text" in row or row in citations:
                assert row.pop("absolute_url") == site + row["url"].removeprefix("/")
        if "bundle" in body:
            assert len(body.pop("bundle")) == 64
        if "servers" in body:
            assert body.pop("servers") == [{"url": runtime.base.rstrip("/") or "/"}]
    return described


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_all_runtimes_answer_alike(running: Sequence[Runtime], case: Case) -> None:
    replies = {runtime.name: (runtime, sent(runtime, case)) for runtime in running}
    described = {name: describe_reply(*each) for name, each in replies.items()}
    first = described["uvicorn"]
    assert first["status"] == case.status
    for name, each in described.items():
        assert each == first, name
    if case.expected is not None:
        body = first["body"]
        assert body["code" if case.status >= 400 else "mode"] == case.expected
    for runtime, reply in replies.values():
        check_shares(runtime, case, reply)


def check_shares(runtime: Runtime, case: Case, reply: Reply) -> None:
    """Check that CORS headers name the page that may ask, and no other."""
    assert reply.headers["vary"] == "Origin"
    own = case.origin == "own" and "Origin" not in dict(case.headers)
    # To a dev server its own page is of the same origin, which no header is needed for.
    shared = runtime.origin if own and runtime.is_deployed else None
    assert reply.headers.get("access-control-allow-origin") == shared
    assert "access-control-allow-credentials" not in reply.headers


def test_case_names_are_unique() -> None:
    assert len(CASES) == len({case.name for case in CASES})
    assert len(CASES) >= 40


def test_deployed_runtimes_serve_same_bundle(running: Sequence[Runtime]) -> None:
    bundles = [runtime.request("GET", "health").json["bundle"] for runtime in running]
    *deployed, preview = bundles
    assert len(set(deployed)) == 1
    assert preview not in deployed


def test_concurrent_questions_are_answered_like_single_ones(running: Sequence[Runtime]) -> None:
    same = [KNOWN] * 8
    others = [PRIVATE, UNKNOWN, "red lantern", "double rope", "buoy", "storm", "harbour", "?"]
    alone = [describe_reply(running[0], running[0].post({"question": q})) for q in same + others]
    for runtime in running:

        def ask(question: str, runtime: Runtime = runtime) -> dict[str, Any]:
            return describe_reply(runtime, runtime.post({"question": question}))

        # MkDocs' own listener keeps five waiting; a system may hang up on the sixth.
        with ThreadPoolExecutor(16 if runtime.is_deployed else 5) as pool:
            assert list(pool.map(ask, same + others)) == alone, runtime.name


def test_chunked_body_is_read_up_to_limit(running: Sequence[Runtime]) -> None:
    runtime = next(each for each in running if each.name == "uvicorn")
    headers = runtime.headers(("Transfer-Encoding", "chunked"))
    chunks = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in (GOOD[:9], GOOD[9:]))
    with runtime.send("POST", "answer", chunks + b"0\r\n\r\n", headers) as response:
        assert (response.status, json.load(response)["mode"]) == (200, "partial")
    endless = b"ffff\r\n" + b" " * 0xFFFF + b"\r\n"
    with runtime.send("POST", "answer", endless * 4 + b"0\r\n\r\n", headers) as response:
        assert (response.status, json.load(response)["code"]) == (413, "too-large")


def test_published_code_answers_instead_of_installed_package(function: Path) -> None:
    code = "import main; print(sys.modules['answerable'].__file__)"
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; {code}"],
        cwd=function, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.strip().startswith(str(function))


def test_each_request_is_one_log_line_without_question(running: Sequence[Runtime]) -> None:
    for runtime in running[:-1]:
        reply = runtime.post({"question": KNOWN})
        row = runtimes.logged(runtime, reply.json["request_id"])
        assert (row["path"], row["status"], row["mode"]) == ("answer", 200, "partial")
        assert "chain" not in runtime.output
        assert "gearbox" not in runtime.output


_STARTER = """
import os, sys
from pathlib import Path

from support import bound_processes

command = [sys.executable, "-c", "import os, time; print(os.getpid(), flush=True); time.sleep(99)"]
is_started = lambda running: bool(running.lines)
with bound_processes.run(command, Path.cwd(), is_started, 0, {}) as running:
    print(running.output, flush=True)
    os._exit(1)
"""


def test_server_processes_end_with_tests() -> None:
    here = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", _STARTER], cwd=here, capture_output=True, text=True, check=False
    )
    until(lambda: not is_alive(int(done.stdout)))


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True
