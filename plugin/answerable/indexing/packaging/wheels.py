"""Pip, run for another machine than this one.

The packages of a lock, unpacked for a machine, without what never runs there.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ...serve.errors import SiteError
from .platforms import Machine

_TIMEOUT = 900
_NO_WHEEL = re.compile(r"No matching distribution found for ([^\s(;]+)")
_UNREACHABLE = re.compile(r"connection|Max retries|name resolution|SSLError|timed out", re.I)


def report_wheels(requirements: Iterable[str], machine: Machine) -> list[dict[str, Any]]:
    """What pip would install of these alone, without what they depend on: its report's entries.

    The newest wheel that fits the machine is chosen for each. SiteError if there is none.
    """
    with TemporaryDirectory() as folder:
        path = Path(folder, "report.json")
        options = ("--dry-run", "--ignore-installed", "--report", str(path))
        _run(["install", *options, *_target(machine, folder), *requirements], machine)
        found: list[dict[str, Any]] = json.loads(path.read_bytes())["install"]
        return found


def install_wheels(lock: Path, machine: Machine, folder: Path) -> None:
    """Unpack the wheels that a lock file names into a folder; SiteError if one has changed."""
    options = ("--require-hashes", "--no-compile", "--requirement", str(lock))
    _run(["install", *_target(machine, str(folder)), *options], machine)


def _target(machine: Machine, folder: str) -> list[str]:
    tags = [part for tag in machine.platforms for part in ("--platform", tag)]
    python = ("--implementation", "cp", "--python-version", machine.version)
    return ["--no-deps", "--only-binary=:all:", *python, *tags, "--target", folder]


def _run(args: list[str], machine: Machine) -> None:
    quiet = ("--quiet", "--no-input", "--disable-pip-version-check")
    # What is set for pip in general, such as an index, counts here too.
    command = [sys.executable, "-m", "pip", *args, *quiet]
    environment = {**os.environ, "PYTHONWARNINGS": "ignore", "LC_ALL": "C"}
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_TIMEOUT,
            check=False,
            env=environment,
        )
    except subprocess.TimeoutExpired:
        raise SiteError(
            f"pip has not ended within {_TIMEOUT} seconds; check the network and try again"
        ) from None
    if done.returncode:
        raise SiteError(_complaint(done.stderr, machine))


def _complaint(said: str, machine: Machine) -> str:
    """One sentence of our own: what pip says may hold the address of an index and its password."""
    if "No module named pip" in said:
        return f"{sys.executable} has no pip, which finds the packages: run `python -m ensurepip`"
    if "no such option: --report" in said:
        return "pip is too old to tell what it would install: run `pip install --upgrade pip`"
    if "DO NOT MATCH THE HASHES" in said:
        return "a package is not the one that was resolved: check the package index and try again"
    if _UNREACHABLE.search(said):
        return "pip cannot reach the package index; check the network and try again"
    where = f"Python {machine.version} on Linux {machine.machine} with glibc 2.{machine.glibc}"
    if found := _NO_WHEEL.search(said):
        return (
            f"pip finds no wheel of {found[1]} for {where}; choose another --python or --arch, or "
            "check that the package index is the right one"
        )
    if "ResolutionImpossible" in said or "conflicting dependencies" in said:
        return f"the packages that the function needs contradict one another for {where}"
    return f"pip cannot find the packages of the function for {where}; run pip by hand to see why"


# Types, headers and libraries to link with: for who develops against a package.
_UNUSED_SUFFIXES = frozenset({".a", ".h", ".pyi", ".pyx", ".pxd", ".c", ".cpp", ".f90"})
_UNUSED_FOLDERS = frozenset({"__pycache__", "tests"})
# Scripts of pip's making name this machine's Python; the others tell how pip was called.
_SCRIPTS = "bin"
_RECORDS = frozenset({"RECORD", "INSTALLER", "REQUESTED", "direct_url.json"})


def unpack_wheels(lock: Path, machine: Machine, folder: Path) -> None:
    """Install a lock's wheels into a new folder, as their platform would."""
    install_wheels(lock, machine, folder)


def slim_packages(folder: Path) -> None:
    """Remove what a function never uses from unpacked packages; their licences stay."""
    shutil.rmtree(folder / _SCRIPTS, ignore_errors=True)
    for path in sorted(folder.rglob("*"), reverse=True):
        if path.is_dir() and not any(path.iterdir()):
            path.rmdir()
        elif path.is_file() and _is_unused(path.relative_to(folder)):
            path.unlink()


def _is_unused(path: Path) -> bool:
    if path.parts[0].endswith(".dist-info"):
        return path.name in _RECORDS
    folders = _UNUSED_FOLDERS.intersection(path.parts[1:-1])
    return bool(folders) or path.suffix in _UNUSED_SUFFIXES
