"""Run pip and compileall for another machine: report wheels, unpack, slim and compile them."""

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

_PIP_SECONDS = 900
_COMPILE_SECONDS = 600
_NO_WHEEL = re.compile(r"No matching distribution found for ([^\s(;]+)")
_UNREACHABLE = re.compile(r"connection|Max retries|name resolution|SSLError|timed out", re.I)

# Types, headers and libraries to link with: for who develops against a package.
_UNUSED_SUFFIXES = frozenset({".a", ".h", ".pyi", ".pyx", ".pxd", ".c", ".cpp", ".f90"})
_UNUSED_FOLDERS = frozenset({"__pycache__", "tests"})
# Scripts made by pip name this machine's Python; the records tell how pip was called.
_SCRIPTS = "bin"
_RECORDS = frozenset({"RECORD", "INSTALLER", "REQUESTED", "direct_url.json"})
_PRINT_VERSION = "import sys; print(sys.implementation.name, '%d.%d' % sys.version_info[:2])"


def report_wheels(requirements: Iterable[str], machine: Machine) -> list[dict[str, Any]]:
    """Report what pip would install of these requirements, without their dependencies.

    Returns the entries of pip's installation report: of each the newest wheel that fits the
    machine. SiteError if there is none.
    """
    with TemporaryDirectory() as folder:
        path = Path(folder, "report.json")
        options = ("--dry-run", "--ignore-installed", "--report", str(path))
        _run_pip(machine, folder, *options, *requirements)
        entries: list[dict[str, Any]] = json.loads(path.read_bytes())["install"]
        return entries


def install_wheels(lock: Path, machine: Machine, folder: Path) -> None:
    """Unpack the wheels of a lock file into a folder; SiteError if one has changed."""
    _run_pip(machine, str(folder), "--require-hashes", "--no-compile", "--requirement", str(lock))


def slim_packages(folder: Path) -> None:
    """Remove from unpacked packages what a function never uses; their licenses stay."""
    shutil.rmtree(folder / _SCRIPTS, ignore_errors=True)
    for path in sorted(folder.rglob("*"), reverse=True):
        if path.is_dir() and not any(path.iterdir()):
            path.rmdir()
        elif path.is_file() and _is_unused(path.relative_to(folder)):
            path.unlink()


def compile_bytecode(folder: Path, root: Path, machine: Machine) -> bool:
    """Put bytecode beside all code below a folder; False where no such Python is installed.

    root: the folder that paths in tracebacks are relative to. The bytecode is not checked against
    its code: an archive keeps neither its time nor the right to write. SiteError if Python fails.
    """
    python = _find_interpreter(machine)
    if python is None:
        return False
    # Without -P the folder's own modules could stand in for those of the standard library.
    options = ["-P", "-m", "compileall", "-q", "-j", "1", "--invalidation-mode", "unchecked-hash"]
    result = _run_python([python, *options, "-s", str(root), str(folder)])
    if result.returncode not in (0, 1):
        raise SiteError(f"{python} cannot compile the package: reinstall that Python")
    return True


def _is_unused(path: Path) -> bool:
    if path.parts[0].endswith(".dist-info"):
        return path.name in _RECORDS
    folders = _UNUSED_FOLDERS.intersection(path.parts[1:-1])
    return bool(folders) or path.suffix in _UNUSED_SUFFIXES


def _run_pip(machine: Machine, folder: str, *options: str) -> None:
    """Run ``pip install`` as for another machine. Its configuration, such as an index, counts."""
    tags = [part for tag in machine.platforms for part in ("--platform", tag)]
    command = [
        *(sys.executable, "-m", "pip", "install", "--no-deps", "--only-binary=:all:"),
        *("--implementation", "cp", "--python-version", machine.version, *tags),
        *("--target", folder, *options),
        *("--quiet", "--no-input", "--disable-pip-version-check"),
    ]
    try:
        result = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_PIP_SECONDS,
            check=False,
            env={**os.environ, "PYTHONWARNINGS": "ignore", "LC_ALL": "C"},
        )
    except subprocess.TimeoutExpired:
        raise SiteError(
            f"pip has not ended within {_PIP_SECONDS} seconds; check the network and try again"
        ) from None
    if result.returncode:
        raise SiteError(_explain_failure(result.stderr, machine))


def _explain_failure(stderr: str, machine: Machine) -> str:
    """Explain why pip failed in a sentence of our own.

    Its messages may hold the address of an index and its password.
    """
    if "No module named pip" in stderr:
        return f"{sys.executable} has no pip, which finds the packages: run `python -m ensurepip`"
    if "no such option: --report" in stderr:
        return "pip is too old to tell what it would install: run `pip install --upgrade pip`"
    if "DO NOT MATCH THE HASHES" in stderr:
        return "a package is not the one that was resolved: check the package index and try again"
    if _UNREACHABLE.search(stderr):
        return "pip cannot reach the package index; check the network and try again"
    where = f"Python {machine.version} on Linux {machine.machine} with glibc 2.{machine.glibc}"
    if match := _NO_WHEEL.search(stderr):
        return (
            f"pip finds no wheel of {match[1]} for {where}; choose another --python or --arch, or "
            "check that the package index is the right one"
        )
    if "ResolutionImpossible" in stderr or "conflicting dependencies" in stderr:
        return f"the packages that the function needs conflict for {where}"
    return f"pip cannot find the packages of the function for {where}; run pip by hand to see why"


def _find_interpreter(machine: Machine) -> str | None:
    """Find a Python of the machine's minor version: this one, else one of that name on the path."""
    if sys.version_info[:2] == machine.python and sys.implementation.name == "cpython":
        return sys.executable
    expected = f"cpython {machine.version}\n"
    for folder in os.get_exec_path():
        path = shutil.which(f"python{machine.version}", path=folder)
        # The command may be a shim of a version manager for a version that is not installed.
        if path and _run_python([path, "-I", "-c", _PRINT_VERSION]).stdout == expected:
            return path
    return None


def _run_python(command: list[str]) -> subprocess.CompletedProcess[str]:
    environment = {name: v for name, v in os.environ.items() if not name.startswith("PYTHON")}
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=_COMPILE_SECONDS,
        check=False,
        # The order of a set of strings in bytecode would follow a seed of each process.
        env={**environment, "PYTHONHASHSEED": "0"},
    )
