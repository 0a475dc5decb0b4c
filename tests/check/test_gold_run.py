"""A gold run over servers that fail: verdicts with causes, their order, interruption."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from answerable.check.report import read_report
from support import sites
from support.deadlines import PATIENCE, until
from support.eval_reports import run
from support.honest_model import ParsedPrompt, honest_model
from support.openai_stub import OpenAIStub
from support.server_processes import started
from support.stub_fixtures import QuestionFaultStub, find_question

# Each fault of a server, and the cause by which a report names it.
FAULTS = {
    "400": "request",
    "403": "key",
    "429": "limit",
    "500": "unreachable",
    "garbage": "reply",
    "drop": "unreachable",
}
CHAIN = "How thick is the chain of a mooring"


def gold(queries: Sequence[tuple[str, str]]) -> str:
    """Write a gold set whose queries, an id and a question each, require an answer of a page."""
    rows = [
        {
            "id": name,
            "query": question,
            "expectAnswerMode": "partial",
            "expectSources": ["mooring"],
        }
        for name, question in queries
    ]
    return yaml.safe_dump({"queries": rows}, sort_keys=False)


# Words that a page lacks would lower its scores, so only the marks at the end differ.
def question(number: int) -> str:
    return CHAIN + "?" * (number + 1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    site = sites.write_site(tmp_path_factory.mktemp("site"), notes=sites.NOTES)
    sites.build_here(site)
    return site


def point(folder: Path, server: OpenAIStub, **settings: Any) -> None:
    """Let a site's function ask a server for its answers, whatever it was built with."""
    values = {"answers": "openai", "model": "honest", "base_url": server.base_url, **settings}
    sites.put(folder / "function" / "settings.json", json.dumps(values))


def evaluate(folder: Path, *arguments: str, key: str = "test") -> tuple[int, dict[str, Any]]:
    """Run the full tier; the exit status and the report that it has printed."""
    done = run(folder, "eval", "--full", "--json", *arguments, OPENAI_API_KEY=key)
    return done.exit_code, json.loads(done.stdout)


def test_faults_in_one_run_are_errors_with_their_causes(folder: Path) -> None:
    names = ["sound-1", *FAULTS, "sound-2"]
    questions = {name: question(number) for number, name in enumerate(names)}
    sites.put(folder / "eval" / "gold.yaml", gold(list(questions.items())))
    with QuestionFaultStub({questions[fault]: fault for fault in FAULTS}) as server:
        point(folder, server)
        status, report = evaluate(folder)
        assert server.failures == []
    verdicts = {verdict["id"]: verdict for verdict in report["verdicts"]}
    assert list(verdicts) == names
    assert {name: verdicts[name]["status"] for name in names} == {
        "sound-1": "pass",
        **dict.fromkeys(FAULTS, "error"),
        "sound-2": "pass",
    }
    for name, cause in FAULTS.items():
        (issue,) = verdicts[name]["issues"]
        assert issue.endswith(f"({cause})")
    # What was retrieved is in the report all the same.
    assert all(verdicts[name]["top"].startswith("mooring") for name in FAULTS)
    assert (status, report["holds"]) == (1, False)


def test_exit_status_is_2_only_where_nothing_could_be_judged(folder: Path) -> None:
    sites.put(folder / "eval" / "gold.yaml", gold([("a", question(0)), ("b", question(1))]))
    with OpenAIStub() as server:
        point(folder, server)
        server.fault = "403"
        status, report = evaluate(folder)
        assert (status, {row["status"] for row in report["verdicts"]}) == (2, {"error"})
        done = run(folder, "eval", "--full", OPENAI_API_KEY="test")
        assert done.exit_code == 2
        assert "0 of 2 passed (full tier), 2 not judged, because a call failed" in done.stdout
        assert "ERROR a: answer: OPENAI_API_KEY is not set" in done.stdout
        server.fault = None
        status, report = evaluate(folder, "--from-report", "latest")
        assert (status, report["holds"]) == (0, True)
    # A run without a key is errors too, and no crash.
    settings = {"answers": "openai", "model": "honest"}
    sites.put(folder / "function" / "settings.json", json.dumps(settings))
    status, report = evaluate(folder, key="")
    assert (status, {row["status"] for row in report["verdicts"]}) == (2, {"error"})
    assert all(row["issues"][0].endswith("(key)") for row in report["verdicts"])


def test_verdicts_are_in_the_order_of_the_file_whoever_ends_first(folder: Path) -> None:
    names = [f"q{number}" for number in range(8)]
    sites.put(
        folder / "eval" / "gold.yaml",
        gold([(name, question(number)) for number, name in enumerate(names)]),
    )
    both = threading.Barrier(2, timeout=PATIENCE)

    def wait_for_another(prompt: ParsedPrompt) -> str:
        both.wait()
        return honest_model(prompt)

    # Nobody answers until a second call is there.
    with OpenAIStub(models={"honest": wait_for_another}) as server:
        point(folder, server)
        status, report = evaluate(folder)
    assert status == 0
    assert [verdict["id"] for verdict in report["verdicts"]] == names


def test_interrupted_run_reports_what_was_judged(folder: Path) -> None:
    names = ["hangs", "judged-1", "judged-2", *(f"hangs-{n}" for n in range(4)), "never-asked"]
    questions = {name: question(number) for number, name in enumerate(names)}
    sites.put(folder / "eval" / "gold.yaml", gold(list(questions.items())))
    with QuestionFaultStub(dict.fromkeys(map(question, (0, 3, 4, 5, 6)), "hang")) as server:
        point(folder, server, timeout=600.0)
        command = [
            sys.executable, "-c", "from answerable.cli import main; main()",
            "eval", "--full", "--report", "out.json",
        ]  # fmt: skip
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        environment = {**os.environ, "OPENAI_API_KEY": "test"}
        with started(command, cwd=folder, env=environment, **pipes) as process:
            # One worker hangs in the first query; the others have judged two before they hang too.
            hanging = set(map(question, (0, 3, 4, 5)))
            until(lambda: hanging <= set(map(find_question, server.requests)))
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1, errors
    assert "Interrupted" in errors
    assert "Traceback" not in errors
    report = read_report(folder / "out.json")
    assert [verdict.id for verdict in report.verdicts] == ["judged-1", "judged-2"]
    assert report.is_aborted


def test_fail_fast_stops_at_the_first_error(folder: Path) -> None:
    queries = [(f"q{number}", question(number)) for number in range(30)]
    sites.put(folder / "eval" / "gold.yaml", gold(queries))
    with OpenAIStub() as server:
        point(folder, server)
        server.fault = "403"
        status, report = evaluate(folder, "--fail-fast")
        assert server.answer_calls < 20
    # The queries after it might have been judged.
    assert (status, len(report["verdicts"])) == (1, 1)
