"""The workflow that the manual offers, run step by step in a clone of a tiny site."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from support import manual, sites
from support.action_steps import ActionRun, run_action
from support.deadlines import PATIENCE

# Where the manual's workflow finds this repository.
OWN = "mkdocs-answerable/mkdocs-answerable/"
GOLD = """
queries:
  - id: chain
    query: How thick is the chain of a mooring?
    topSource: mooring#chains
"""


def workflow() -> dict[str, Any]:
    text = (sites.ROOT / "docs" / "evaluate.md").read_text("utf-8")
    blocks = re.findall(r"^```yaml\n(.*?)^```$", text, re.M | re.S)
    (document,) = [yaml.safe_load(block) for block in blocks if "runs-on" in block]
    assert isinstance(document, dict)
    return document


def run(folder: Path, *command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=folder, env={**os.environ, **environment}, capture_output=True, text=True,
        timeout=PATIENCE, check=False,
    )  # fmt: skip


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    origin = sites.write_site(tmp_path / "origin")
    sites.put(origin / "eval" / "gold.yaml", GOLD)
    sites.put(origin / "requirements.txt", "mkdocs-answerable\n")
    who = ("-c", "user.name=Test", "-c", "user.email=test@example.org")
    for command in (("init", "-q"), ("add", "-A"), (*who, "commit", "-q", "-m", "A site")):
        assert run(origin, "git", *command).returncode == 0
    sites.put(origin / "docs" / "pilots.md", "# Pilots\n\nA pilot boards beyond the buoy.\n")
    for command in (("add", "-A"), (*who, "commit", "-q", "-m", "A page")):
        assert run(origin, "git", *command).returncode == 0
    assert run(tmp_path, "git", "clone", "-q", str(origin), "clone").returncode == 0
    return tmp_path / "clone"


def run_job(clone: Path) -> ActionRun:
    """Run what a runner would fetch nothing for; the outcome of this repository's action."""
    (job,) = workflow()["jobs"].values()
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for step in job["steps"]:
        if "run" in step:
            # What a runner would fetch is installed here already.
            done = run(clone, "bash", "-e", "-c", step["run"], PATH=path, PIP_NO_INDEX="1")
            assert done.returncode == 0, step["run"] + done.stdout + done.stderr
    (used,) = (s for s in job["steps"] if s.get("uses", "").startswith(OWN))
    action = sites.ROOT / used["uses"].removeprefix(OWN).partition("@")[0]
    scratch = clone.parent / "scratch"
    scratch.mkdir()
    return run_action(action, clone, scratch, used.get("with", {}), {"event_name": "push"}, {})


def test_workflow_of_the_manual_runs_and_uploads_a_report(clone: Path) -> None:
    outcome = run_job(clone)
    assert outcome.status == 0, [step.output for step in outcome.steps]
    assert outcome.outputs == {"status": "0", "changed": "0"}
    uploaded = clone / outcome.step("Upload the reports").values["path"]
    for name in ("report.json", "diff.json"):
        assert (uploaded / name).stat().st_size > 100
    # One sentence each: every query passes, and no answer has changed.
    assert "passed" in (uploaded / "eval.md").read_text("utf-8")
    assert (uploaded / "diff.md").read_text("utf-8").strip()
    (job,) = workflow()["jobs"].values()
    cached = next(s["with"]["path"] for s in job["steps"] if "actions/cache@" in s.get("uses", ""))
    assert list((clone / cached).rglob("*.json"))


def test_workflow_of_the_manual_fails_on_a_failing_query(clone: Path) -> None:
    sites.put(clone / "eval" / "gold.yaml", GOLD.replace("mooring#chains", "storms"))
    outcome = run_job(clone)
    assert outcome.status == 1
    assert "top source is not 'storms'" in outcome.step("Run the gold set").output
    assert (clone / "answerable-report" / "report.json").is_file()


def test_the_manual_has_every_input_and_output_of_the_action() -> None:
    action = sites.ROOT / ".github" / "actions" / "gold-set" / "action.yml"
    fields = yaml.safe_load(action.read_text("utf-8"))
    rows = {row[0].strip("`"): row[1] for row in manual.rows("evaluate.md", "input of the action")}
    defaults = {name: option["default"] for name, option in fields["inputs"].items()}
    assert rows == {
        name: "the token of the run" if "github.token" in default else f"`{default}`"
        for name, default in defaults.items()
    }
    outputs = [row[0].strip("`") for row in manual.rows("evaluate.md", "output of the action")]
    assert outputs == [*fields["outputs"]]
