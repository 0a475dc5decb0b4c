"""Run the steps of a composite GitHub Action in bash, and evaluate its expressions.

It is a run for a pull request whose other conditions hold, so that of them only ``always()`` is
read. A step with ``uses:`` is recorded, not run.
"""

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import yaml

_EXPRESSION = re.compile(r"\$\{\{\s*(.+?)\s*\}\}")


@dataclass
class StepRun:
    """The outcome of a step: its output and exit status, None for one that was skipped."""

    name: str
    status: int | None = None
    output: str = ""
    uses: str | None = None
    values: dict[str, str] = field(default_factory=dict)


@dataclass
class ActionRun:
    """The outcome of an action: its steps, the status of the first that failed, the summary."""

    steps: list[StepRun]
    status: int
    summary: str
    outputs: dict[str, str]

    def step(self, name: str) -> StepRun:
        """The step of a name."""
        return next(step for step in self.steps if step.name == name)


def run_action(
    action: Path,
    workspace: Path,
    scratch: Path,
    github: Mapping[str, str],
    environment: Mapping[str, str],
) -> ActionRun:
    """Run an action. github: values of the context, such as ``token``; scratch: for files."""
    data = yaml.safe_load((action / "action.yml").read_text("utf-8"))
    contexts = {f"github.{name}": value for name, value in github.items()}
    for name, option in data["inputs"].items():
        contexts[f"inputs.{name}"] = _substitute(option.get("default", ""), contexts)
    summary = scratch / "summary.md"
    runner = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "GITHUB_ACTIONS": "true",
        "GITHUB_ACTION_PATH": str(action),
        "GITHUB_STEP_SUMMARY": str(summary),
        "GITHUB_WORKSPACE": str(workspace),
        **environment,
    }
    steps: list[StepRun] = []
    failed_status = 0
    for step in data["runs"]["steps"]:
        outcome = StepRun(step["name"], uses=step.get("uses"))
        steps.append(outcome)
        if failed_status and "always()" not in step.get("if", ""):
            continue
        if outcome.uses:
            outcome.status = 0
            outcome.values = {
                name: _substitute(str(value), contexts) for name, value in step["with"].items()
            }
            continue
        # An expression within a script would run what a stranger has written.
        assert "${{" not in step["run"]
        script, output = scratch / "step.sh", scratch / "output"
        script.write_text(step["run"], "utf-8")
        output.write_text("", "utf-8")
        own = {name: _substitute(value, contexts) for name, value in step.get("env", {}).items()}
        process = subprocess.run(
            ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", str(script)],
            cwd=workspace,
            env={**runner, **own, "GITHUB_OUTPUT": str(output)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            check=False,
        )
        outcome.status, outcome.output = process.returncode, process.stdout
        outcome.values = dict(
            line.split("=", 1) for line in output.read_text("utf-8").splitlines() if line
        )
        for name, value in outcome.values.items():
            contexts[f"steps.{step['id']}.outputs.{name}"] = value
        failed_status = failed_status or outcome.status or 0
    outputs = {
        name: _substitute(option["value"], contexts) for name, option in data["outputs"].items()
    }
    text = summary.read_text("utf-8") if summary.exists() else ""
    return ActionRun(steps, failed_status, text, outputs)


def _substitute(text: str, contexts: Mapping[str, str]) -> str:
    return _EXPRESSION.sub(lambda match: contexts.get(match[1], ""), text)
