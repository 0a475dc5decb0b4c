"""Test the process pool: results keep their order, and none is lost with a dying process."""

import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from answerable.engine.errors import SiteError
from answerable.indexing import caches
from answerable.indexing.caches import ProcessPool
from support.sites import put

pytestmark = pytest.mark.deep


@pytest.fixture(autouse=True)
def _guarded(monkeypatch: pytest.MonkeyPatch) -> None:
    """However the tests are run, their own program may be."""
    monkeypatch.setattr(caches, "_can_spawn", lambda: True)


def double(number: int) -> int:
    return 2 * number


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


def test_results_are_in_order() -> None:
    with closing(ProcessPool(min_size=1)) as shared:
        assert list(shared.map(double, range(50), 100)) == [2 * n for n in range(50)]


def test_a_process_that_dies_loses_nothing() -> None:
    with closing(ProcessPool(min_size=1)) as shared:
        tasks = [(number, os.getpid()) for number in range(10)]
        assert list(shared.map(die_elsewhere, tasks, 100)) == list(range(10))
        # And the next work finds living processes, or none.
        assert list(shared.map(die_elsewhere, tasks, 100)) == list(range(10))
        assert list(shared.map(double, range(9), 100)) == [2 * n for n in range(9)]


def test_an_error_is_the_one_that_was_raised() -> None:
    with (
        closing(ProcessPool(min_size=1)) as shared,
        pytest.raises(SiteError, match="page 3: flatten it"),
    ):
        list(shared.map(fail, range(10), 100))


def test_a_script_that_knows_nothing_of_processes_is_not_run_again(tmp_path: Path) -> None:
    script = (
        "from contextlib import closing\n"
        "from answerable.indexing.caches import ProcessPool\n"
        "print('run')\n"
        "with closing(ProcessPool(min_size=1)) as shared:\n"
        "    print(sorted(shared.map(abs, [-2, -1], 9)))\n"
    )
    for name in ("build.py", "tool/__main__.py"):
        put(tmp_path / name, script)
        line = [sys.executable, str(tmp_path / name)]
        done = subprocess.run(line, capture_output=True, text=True, check=False)
        assert (done.stdout, done.returncode) == ("run\n[1, 2]\n", 0), done.stderr
