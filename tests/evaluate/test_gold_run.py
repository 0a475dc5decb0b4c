"""A gold run over servers that fail: verdicts with causes, their order, repeats, interruption."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from answerable.evaluate.report import read_latest_report, read_report
from answerable.evaluate.runner import merge_runs
from answerable.evaluate.verdict import CallUsage
from support import sites
from support.deadlines import PATIENCE, until
from support.eval_reports import row
from support.honest_model import ParsedPrompt, honest_model
from support.openai_stub import OpenAIStub
from support.server_processes import started
from support.stub_fixtures import QuestionFaultStub, find_question

# Each fault of a server, and the cause by which a report names it.
FAULTS = {
    "400": "bad-parameter",
    "403": "key-refused",
    "no-model": "no-model",
    "429": "rate-limit",
    "quota": "quota",
    "500": "status",
    "502": "status",
    "html": "not-json",
    "garbage": "not-json",
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
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    site = sites.write_site(tmp_path_factory.mktemp("site"), notes=sites.NOTES)
    done = sites.build(site, "-q")
    assert done.returncode == 0, done.stderr
    return site


@pytest.fixture
def folder(built: Path) -> Iterator[Path]:
    for old in (built / ".cache" / "plugin" / "answerable" / "eval").glob("*.json"):
        old.unlink()
    config = (built / "mkdocs.yml").read_text("utf-8")
    yield built
    sites.put(built / "mkdocs.yml", config)


def point(folder: Path, server: OpenAIStub, **settings: Any) -> None:
    """Let a site's function ask a server for its answers, whatever it was built with."""
    values = {"answers": "openai", "model": "honest", "base_url": server.base_url, **settings}
    sites.put(folder / "function" / "settings.json", json.dumps(values))


def configure(folder: Path, **options: Any) -> None:
    """Set options of the plugin under `evaluate`; the fixture takes them away."""
    data = yaml.safe_load((folder / "mkdocs.yml").read_text("utf-8"))
    data["plugins"][0]["answerable"]["evaluate"] = options
    sites.put(folder / "mkdocs.yml", yaml.safe_dump(data))


def evaluate(folder: Path, *arguments: str) -> tuple[int, dict[str, Any], str]:
    """Run the full tier; the exit status, the report that it has printed, and its errors."""
    done = sites.command(folder, "eval", "--full", "--json", *arguments, OPENAI_API_KEY="test")
    assert "Traceback" not in done.stderr
    return done.returncode, json.loads(done.stdout), done.stderr


def test_ten_faults_in_one_run_are_errors_with_their_causes(folder: Path) -> None:
    names = ["sound-1", *FAULTS, "sound-2"]
    questions = {name: question(number) for number, name in enumerate(names)}
    sites.put(folder / "eval" / "gold.yaml", gold(list(questions.items())))
    with QuestionFaultStub({questions[fault]: fault for fault in FAULTS}) as server:
        point(folder, server)
        status, report, _ = evaluate(folder)
        assert server.failures == []
    verdicts = {verdict["id"]: verdict for verdict in report["verdicts"]}
    assert list(verdicts) == names
    assert {name: verdicts[name]["status"] for name in names} == {
        "sound-1": "pass",
        **dict.fromkeys(FAULTS, "error"),
        "sound-2": "pass",
    }
    assert {name: verdicts[name]["cause"] for name in FAULTS} == FAULTS
    assert all(verdicts[name]["error"].startswith("answer: the provider") for name in FAULTS)
    # What was retrieved is in the report all the same.
    assert all(verdicts[name]["ranks"][0]["rank"] == 1 for name in FAULTS)
    assert (status, report["errors"], report["passed"], report["aborted"]) == (1, 10, 2, False)
    assert read_latest_report(folder / ".cache/plugin/answerable/eval").errors == tuple(FAULTS)
    # Errors say nothing of answers.
    assert report["metrics"]["answered"]["whole"] == 2


def test_exit_status_is_2_only_where_nothing_could_be_judged(folder: Path) -> None:
    sites.put(folder / "eval" / "gold.yaml", gold([("a", question(0)), ("b", question(1))]))
    with OpenAIStub() as server:
        point(folder, server)
        server.fault = "403"
        status, report, _ = evaluate(folder)
        assert (status, report["errors"], report["aborted"]) == (2, 2, False)
        done = sites.command(folder, "eval", "--full", OPENAI_API_KEY="test")
        assert done.returncode == 2
        assert "0 of 2 passed (full tier), 2 not judged, because a call failed" in done.stdout
        assert "ERROR a: answer: the provider refused the key: check OPENAI_API_KEY" in done.stdout
        server.fault = None
        status, report, _ = evaluate(folder, "--from-report", "latest")
        assert (status, report["passed"]) == (0, 2)


def test_run_without_a_key_is_errors_and_not_a_crash(folder: Path) -> None:
    sites.put(folder / "eval" / "gold.yaml", gold([("a", question(0))]))
    with OpenAIStub() as server:
        point(folder, server)
        done = sites.command(folder, "eval", "--full", "--json", OPENAI_API_KEY="")
    assert done.returncode == 2
    (verdict,) = json.loads(done.stdout)["verdicts"]
    assert (verdict["status"], verdict["cause"]) == ("error", "no-key")


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
        status, report, _ = evaluate(folder, "--jobs", "2")
    assert status == 0
    assert [verdict["id"] for verdict in report["verdicts"]] == names
    usages = [verdict["usage"] for verdict in report["verdicts"]]
    assert all(usage["input_tokens"] > usage["output_tokens"] > 0 for usage in usages)
    assert all(usage["seconds"] > 0 for usage in usages)


def test_interrupted_run_reports_what_was_judged(folder: Path) -> None:
    names = ["hangs", "judged-1", "judged-2", "hangs-too", "never-asked"]
    questions = {name: question(number) for number, name in enumerate(names)}
    sites.put(folder / "eval" / "gold.yaml", gold(list(questions.items())))
    with QuestionFaultStub(dict.fromkeys((question(0), question(3)), "hang")) as server:
        point(folder, server, timeout=600.0)
        command = [
            sys.executable, "-c", "from answerable.cli import main; main()",
            "eval", "--full", "--jobs", "2", "--report", "out.json",
        ]  # fmt: skip
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        environment = {**os.environ, "OPENAI_API_KEY": "test"}
        with started(command, cwd=folder, env=environment, **pipes) as process:
            # One worker hangs in the first query; the other has judged two before it hangs too.
            until(lambda: question(3) in map(find_question, server.requests))
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
        status, report, _ = evaluate(folder, "--fail-fast", "--jobs", "2")
        assert server.answer_calls < 10
    # The queries after it might have been judged.
    assert (status, len(report["verdicts"]), report["aborted"]) == (1, 1, True)


def every_other(model: Callable[[ParsedPrompt], str]) -> Callable[[ParsedPrompt], str]:
    """Decline every other draft that a model would write."""
    lock, count = threading.Lock(), 0

    def draft(prompt: ParsedPrompt) -> str:
        nonlocal count
        with lock:
            count += 1
            is_declined = count % 2 == 0
        return '{"claims": [], "routes": []}' if is_declined else model(prompt)

    return draft


def test_repeated_query_whose_verdicts_differ_is_flaky(folder: Path) -> None:
    sites.put(folder / "eval" / "gold.yaml", gold([("wavers", question(0))]))
    with OpenAIStub(models={"honest": every_other(honest_model)}) as server:
        point(folder, server)
        status, report, _ = evaluate(folder, "--repeat", "4")
        assert server.answer_calls == 4
    (verdict,) = report["verdicts"]
    assert (status, verdict["status"], report["flaky"], report["passed"]) == (1, "flaky", 1, 0)
    assert [run["mode"] for run in verdict["runs"]] == ["partial", "not-found"] * 2
    assert [bool(run["issues"]) for run in verdict["runs"]] == [False, True] * 2
    with OpenAIStub(models={"honest": honest_model}) as server:
        point(folder, server)
        once = evaluate(folder)[1]["verdicts"][0]["usage"]
        status, report, _ = evaluate(folder, "--repeat", "3")
    (verdict,) = report["verdicts"]
    assert (status, verdict["status"], len(verdict["runs"])) == (0, "pass", 3)
    assert verdict["usage"]["input_tokens"] == 3 * once["input_tokens"]


def test_tokens_are_priced_and_two_models_stand_side_by_side(folder: Path) -> None:
    queries = [("a", question(0)), ("b", question(1))]
    sites.put(folder / "eval" / "gold.yaml", gold(queries))
    configure(folder, prices={"honest": {"input": 1000, "output": 2000.5}})
    with OpenAIStub() as server:
        point(folder, server)
        models = ("--model", "honest", "--against-model", "hostile-silent")
        status, both, _ = evaluate(folder, *models)
        honest, hostile = both["models"]
        assert (status, honest["passed"], hostile["passed"]) == (0, 2, 0)
        assert (honest["answers"], hostile["answers"]) == ("honest", "hostile-silent")
        spent = [verdict["usage"] for verdict in honest["verdicts"]]
        tokens = [sum(usage[name] for usage in spent) for name in ("input_tokens", "output_tokens")]
        assert [honest["usage"][name] for name in ("input_tokens", "output_tokens")] == tokens
        assert honest["cost"] == pytest.approx((1000 * tokens[0] + 2000.5 * tokens[1]) / 1e6)
        assert hostile["cost"] is None
        done = sites.command(folder, "eval", "--full", *models, OPENAI_API_KEY="test")
    rows = [re.split(r"\s{2,}", line.strip()) for line in done.stdout.splitlines()]
    # An empty last cell leaves nothing to split.
    cells = {tuple([*cells, ""][:3]) for cells in rows}
    assert {("a", "pass", "FAIL"), ("passed", "2 of 2", "0 of 2")} <= cells
    assert ("cost", f"{honest['cost']:.4f}", "") in cells
    assert "Only honest passes: a, b" in done.stdout
    # A run is not held against that of another model.
    assert "Newly" not in done.stdout
    assert f"honest: {tokens[0]:,} tokens read, {tokens[1]:,} written, " in done.stdout
    assert f"cost {honest['cost']:.4f} by evaluate.prices" in done.stdout
    paths = sorted((folder / ".cache" / "plugin" / "answerable" / "eval").glob("*.json"))
    assert [read_report(path).answers for path in paths] == ["hostile-silent", "honest"] * 2


def test_model_can_be_compared_with_none_and_needs_the_full_tier(folder: Path) -> None:
    sites.put(folder / "eval" / "gold.yaml", gold([("a", question(0))]))
    with OpenAIStub() as server:
        point(folder, server)
        status, both, _ = evaluate(folder, "--against-model", "extractive")
    assert status == 0
    assert [report["answers"] for report in both["models"]] == ["honest", "extractive"]
    assert both["models"][1]["usage"] is None
    done = sites.command(folder, "eval", "--model", "honest")
    assert done.returncode == 2
    assert "--model and --against-model need answers: add --full" in done.stderr


@pytest.mark.parametrize("name", ["input", "output"])
def test_price_out_of_its_range_is_named(folder: Path, name: str) -> None:
    configure(folder, prices={"m": {"input": 1, "output": 1, name: -1}})
    done = sites.build(folder, "-q")
    assert f"evaluate.prices: m: {name}: -1 is not between 0 and 1000000" in done.stderr


def test_error_among_runs_leads_and_a_known_failure_may_waver() -> None:
    passes, fails = row("a"), row("a", "answer mode 'not-found'")
    error = row_with_error()
    assert merge_runs([passes]) is passes
    assert merge_runs([passes, passes]).status == "pass"
    assert merge_runs([passes, fails]).status == "flaky"
    assert merge_runs([passes, fails]).pass_count == 1
    assert merge_runs([passes, fails, error]).status == "error"
    assert "flaky, 1 of 2 runs passed: answer mode" in merge_runs([passes, fails]).outcome


def test_usage_of_runs_adds_up() -> None:
    runs = [replace(row("a"), usage=CallUsage(100, 10, 0.5)) for _ in range(3)]
    assert merge_runs(runs).usage == CallUsage(300, 30, 1.5)
    assert merge_runs([row("a"), row("a")]).usage is None


def row_with_error() -> Any:
    return replace(row("a"), error="answer: the provider did not answer", cause="timeout")
