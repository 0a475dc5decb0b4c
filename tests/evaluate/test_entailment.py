"""A judge model says of each claim whether its quotes support it: honest, lying, failing."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from answerable.evaluate.judge import EntailmentJudge
from answerable.evaluate.report import read_latest_report
from support import sites
from support.deadlines import PATIENCE
from support.honest_model import ParsedPrompt, honest_model, write_honest_draft
from support.openai_stub import OpenAIStub

GOLD = """
queries:
  - id: chain
    query: How thick is the chain of a mooring?
    expectSources: [mooring]
"""
QUOTE = "The chain of a mooring is twelve millimetres thick."
CHAT = "/v1/chat/completions"


def embellishing_model(prompt: ParsedPrompt) -> str:
    """Write claims that say more than their quotes, in words that the contract lets through."""
    draft = write_honest_draft(prompt)
    for claim in draft["claims"]:
        claim["text"] = claim["text"].rstrip(".") + ", and divers love it."
    return json.dumps(draft)


@pytest.fixture(autouse=True)
def api_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "test")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    site = sites.write_site(tmp_path_factory.mktemp("site"), notes=sites.NOTES)
    sites.put(site / "eval" / "gold.yaml", GOLD)
    done = sites.build(site, "-q")
    assert done.returncode == 0, done.stderr
    return site


@pytest.fixture
def server() -> Iterator[OpenAIStub]:
    models = {"honest": honest_model, "embellishing": embellishing_model}
    with OpenAIStub(models=models) as running:
        running.retry_after = 0.05
        yield running
    assert running.failures == []


def evaluate(
    folder: Path, server: OpenAIStub, answers: str, **judge: Any
) -> tuple[int, dict[str, Any], str]:
    """Judge the answers of a model: the exit status, the report and what is printed."""
    settings = {"answers": "openai", "model": answers, "base_url": server.base_url}
    sites.put(folder / "function" / "settings.json", json.dumps(settings))
    data = yaml.safe_load((folder / "mkdocs.yml").read_text("utf-8"))
    options = {"base_url": server.base_url, **judge}
    data["plugins"][0]["answerable"]["evaluate"] = {"judge": options}
    sites.put(folder / "mkdocs.yml", yaml.safe_dump(data))
    files = ("--report", "out.json", "--html", "out.html")
    done = sites.command(folder, "eval", "--full", *files, OPENAI_API_KEY="test")
    assert "Traceback" not in done.stderr
    assert read_latest_report(folder / ".cache/plugin/answerable/eval").judge == judge["model"]
    return done.returncode, json.loads((folder / "out.json").read_text("utf-8")), done.stdout


@pytest.mark.parametrize(
    ("answers", "judge", "support"),
    [
        ("honest", "honest-judge", "yes"),
        ("embellishing", "honest-judge", "unclear"),
        # A column shows what a judge says, true or not.
        ("embellishing", "lying-judge", "yes"),
    ],
)
@pytest.mark.parametrize("required", [False, True])
def test_column_shows_what_the_judge_says(
    built: Path, server: OpenAIStub, answers: str, judge: str, support: str, required: bool
) -> None:
    status, report, output = evaluate(built, server, answers, model=judge, required=required)
    (verdict,) = report["verdicts"]
    supports = [each["support"] for each in verdict["supports"]]
    assert supports == [support] * verdict["claims"] != []
    share = f"{supports.count('yes')} of {len(supports)}"
    assert share in output
    assert f"{share} claims supported" in (built / "out.html").read_text("utf-8")
    fails = required and support != "yes"
    assert (status, verdict["status"]) == ((1, "fail") if fails else (0, "pass"))
    assert verdict["judge_usage"]["input_tokens"] > 0
    assert ("the judge does not find claim 1 supported" in output) == fails


@pytest.mark.parametrize("required", [False, True])
def test_failing_judge_is_an_error_only_where_it_is_required(
    built: Path, server: OpenAIStub, required: bool
) -> None:
    status, report, _ = evaluate(
        built, server, "honest", model="honest-judge-fault-403", required=required
    )
    (verdict,) = report["verdicts"]
    assert {each["support"] for each in verdict["supports"]} == {"error"}
    assert {each["cause"] for each in verdict["supports"]} == {"key-refused"}
    if required:
        assert (status, verdict["status"], verdict["cause"]) == (2, "error", "key-refused")
    else:
        assert (status, verdict["status"], verdict["cause"]) == (0, "pass", None)


def test_judge_receives_claim_and_quotes_and_nothing_else() -> None:
    with OpenAIStub() as server:
        judge = EntailmentJudge("honest-judge", server.base_url, deadline=PATIENCE)
        assert judge.judge_claim(QUOTE, [QUOTE]).support == "yes"
        (request,) = server.requests
    assert request.endpoint == CHAT
    system, user = request.json["messages"]
    assert [json.loads(line) for line in user["content"].splitlines()] == [
        {"kind": "quote", "text": QUOTE},
        {"kind": "claim", "text": QUOTE},
    ]
    assert "Harbour" not in system["content"]
    assert request.json["response_format"]["json_schema"]["strict"] is True


def test_honest_judge_says_no_to_a_denial() -> None:
    with OpenAIStub() as server:
        judge = EntailmentJudge("honest-judge", server.base_url, deadline=PATIENCE)
        assert judge.judge_claim(f"It is not true that {QUOTE}", [QUOTE]).support == "no"
        assert judge.judge_claim("A rope is green.", [QUOTE]).support == "unclear"


@pytest.mark.parametrize(
    ("fault", "cause"), [("garbage", "not-json"), ("empty", "not-json"), ("500", "status")]
)
def test_broken_judgment_is_an_error_with_its_cause(fault: str, cause: str) -> None:
    with OpenAIStub() as server:
        server.retry_after = 0.05
        judge = EntailmentJudge(f"honest-judge-fault-{fault}", server.base_url, deadline=PATIENCE)
        support = judge.judge_claim(QUOTE, [QUOTE])
    assert (support.support, support.cause) == ("error", cause)
