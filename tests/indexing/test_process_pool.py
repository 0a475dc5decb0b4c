"""Test the sharing of work: results keep their order, and none is lost with a dying process."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from answerable.engine.errors import SiteError
from answerable.indexing.pages.cache import share_work
from support.sites import put

pytestmark = pytest.mark.deep


def die_elsewhere(task: tuple[int, int]) -> int:
    """Takes its process down, unless that is the one that asks."""
    number, parent = task
    if number == 3 and os.getpid() != parent:
        os._exit(1)
    return number


def fail(number: int) -> int:
    if number == 3:
        raise SiteError("page 3: flatten it")
    return number


def test_a_process_that_dies_loses_nothing() -> None:
    tasks = [(number, os.getpid()) for number in range(10)]
    assert list(share_work(die_elsewhere, tasks)) == list(range(10))
    assert list(share_work(die_elsewhere, tasks[:3])) == [0, 1, 2]


def test_an_error_is_the_one_that_was_raised() -> None:
    with pytest.raises(SiteError, match="page 3: flatten it"):
        list(share_work(fail, range(10)))


def test_only_a_program_that_knows_of_processes_is_run_again(tmp_path: Path) -> None:
    script = "from answerable.indexing.pages.cache import can_spawn\nprint(can_spawn())\n"
    for name, may_spawn in (("build.py", False), ("tool/__main__.py", False), ("mkdocs", True)):
        put(tmp_path / name, script)
        line = [sys.executable, str(tmp_path / name)]
        done = subprocess.run(line, capture_output=True, text=True, check=False)
        assert (done.stdout, done.returncode) == (f"{may_spawn}\n", 0), done.stderr
