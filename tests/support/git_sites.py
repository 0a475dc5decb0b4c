"""Small sites in git repositories of their own, for what compares two states of a site."""

import os
import subprocess
from pathlib import Path

from support import sites

# Neither the user's nor the system's configuration, and nothing of a hook that runs the tests.
ENVIRONMENT = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@example.com",
    "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.com",
}

GOLD = """\
queries:
  - id: chain
    query: How thick is the chain of a mooring?
    expectAnswerMode: partial
    expectSources: [mooring]
  - id: lantern
    query: What does a red lantern warn of?
    expectAnswerMode: partial
    expectSources: [storms]
  - id: opera
    query: Who sang at the opera in Vienna?
    expectAnswerMode: not-found
"""


def run_git(folder: Path, *arguments: str) -> str:
    """Run git in a folder and return its output; CalledProcessError if it fails."""
    process = subprocess.run(
        ["git", "-C", str(folder), *arguments],
        env={**os.environ, **ENVIRONMENT},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    return process.stdout.strip()


def commit(folder: Path, message: str = "Change") -> str:
    """Commit all of a folder's files and return the hash."""
    run_git(folder, "add", "--all")
    run_git(folder, "commit", "--quiet", "--message", message)
    return run_git(folder, "rev-parse", "HEAD")


def init_repository(folder: Path) -> str:
    """Put a folder's files into a new repository on the branch `main`; the commit's hash."""
    sites.put(folder / ".gitignore", "/site/\n/function/\n.cache/\n")
    run_git(folder, "init", "--quiet", "--initial-branch", "main")
    return commit(folder, "Begin")


def write_site(folder: Path, gold: str = GOLD) -> Path:
    """Write the site of `sites.PAGES` with a gold set, commit and build it; its folder."""
    sites.write_site(folder)
    sites.put(folder / "eval" / "gold.yaml", gold)
    init_repository(folder)
    build(folder)
    return folder


def build(folder: Path) -> None:
    """Build a site; AssertionError with its log if that fails."""
    process = sites.build(folder, "-q")
    assert process.returncode == 0, process.stderr
