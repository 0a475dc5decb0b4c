"""The workflow that the manual offers, run step by step in a clone of a tiny site."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from support import sites

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
        timeout=120, check=False,
    )  # fmt: skip


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    origin = sites.write_site(tmp_path / "origin")
    sites.put(origin / "eval" / "gold.yaml", GOLD)
    sites.put(origin / "requirements.txt", "mkdocs-answerable\n")
    who = ("-c", "user.name=Test", "-c", "user.email=test@example.org")
    for command in (("init", "-q"), ("add", "-A"), (*who, "commit", "-q", "-m", "A site")):
        assert run(origin, "git", *command).returncode == 0
    assert run(tmp_path, "git", "clone", "-q", str(origin), "clone").returncode == 0
    return tmp_path / "clone"


def test_workflow_of_the_manual_runs_and_uploads_a_report(clone: Path) -> None:
    (job,) = workflow()["jobs"].values()
    steps = [step["run"] for step in job["steps"] if "run" in step]
    assert len(steps) == 3
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for step in steps:
        # What a runner would fetch is installed here already.
        done = run(clone, "bash", "-e", "-c", step, PATH=path, PIP_NO_INDEX="1", CI="true")
        assert done.returncode == 0, step + done.stdout + done.stderr
    uploaded = next(s["with"] for s in job["steps"] if "upload-artifact" in s.get("uses", ""))
    for name in uploaded["path"].split():
        assert (clone / name).stat().st_size > 100
    cached = next(s["with"]["path"] for s in job["steps"] if "actions/cache@" in s.get("uses", ""))
    assert list((clone / cached).rglob("*.json"))


def test_workflow_of_the_manual_fails_on_a_failing_query(clone: Path) -> None:
    sites.put(clone / "eval" / "gold.yaml", GOLD.replace("mooring#chains", "storms"))
    (job,) = workflow()["jobs"].values()
    script = "\n".join(step["run"] for step in job["steps"] if "run" in step)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = run(clone, "bash", "-e", "-c", script, PATH=path, PIP_NO_INDEX="1")
    assert done.returncode == 1
    assert "top source is not 'storms'" in done.stdout
    assert (clone / "eval-report.html").is_file()
