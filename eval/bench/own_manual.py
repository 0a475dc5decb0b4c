"""This repository's own manual as a published function, and what it is asked."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
# Who wrote the manual, as `mkdocs.yml` has it.
_AUTHOR = "The answerable authors"


def build(folder: Path) -> Path:
    """Build the manual in a folder of its own; the folder of its function."""
    for name in ("docs", "notebook", "overrides"):
        shutil.copytree(ROOT / name, folder / name)
    shutil.copy(ROOT / "mkdocs.yml", folder / "mkdocs.yml")
    command = [sys.executable, "-m", "mkdocs", "--quiet", "build"]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(done.stderr)
    return folder / "function"


def questions() -> list[str]:
    """The questions of the manual's gold set, in its order."""
    gold = yaml.safe_load((ROOT / "eval" / "gold.yaml").read_text(encoding="utf-8"))
    return [row["query"].replace("{{author}}", _AUTHOR) for row in gold["queries"]]
