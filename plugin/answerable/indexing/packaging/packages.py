"""Resolve and unpack a function's packages for another machine by uv; slim and compile them."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import unquote

from packaging.requirements import InvalidRequirement, Requirement
from packaging.tags import compatible_tags, cpython_tags
from packaging.utils import canonicalize_name, parse_wheel_filename

from ...serve.errors import SiteError
from .platforms import Machine

# By the extras of mkdocs-answerable: what a function may need beside its providers.
PACKAGE_EXTRAS = {
    "redis": "redis>=5,<8",
    "metrics": "prometheus-client>=0.22",
}

# The function uses nothing newer than this, and an older machine has only older wheels.
_FLEXIBLE_PINS = {"numpy": ">=2.0"}
_UV_SECONDS = 900
_COMPILE_SECONDS = 600
# What pip is told by its environment counts for uv too, unless that has its own.
_PIP_VARIABLES = {
    "PIP_INDEX_URL": "UV_DEFAULT_INDEX",
    "PIP_EXTRA_INDEX_URL": "UV_INDEX",
    "PIP_FIND_LINKS": "UV_FIND_LINKS",
    "PIP_CERT": "SSL_CERT_FILE",
}
_NO_WHEEL = re.compile(
    r"(?:Because|and) (?:only )?(\S+) (?:has no (?:usable )?wheels|was not found|can be found)"
)
_UNREACHABLE = re.compile(r"Failed to fetch|error sending request|dns error|timed out", re.I)

# Types, headers and libraries to link with: for who develops against a package.
_UNUSED_SUFFIXES = frozenset({".a", ".h", ".pyi", ".pyx", ".pxd", ".c", ".cpp", ".f90"})
_UNUSED_FOLDERS = frozenset({"__pycache__", "tests"})
# The records tell how uv was called.
_RECORDS = frozenset({"RECORD", "INSTALLER", "REQUESTED", "direct_url.json", "uv_cache.json"})
_PRINT_VERSION = "import sys; print(sys.implementation.name, '%d.%d' % sys.version_info[:2])"


@dataclass(frozen=True, slots=True)
class PinnedPackage:
    """One package of a lock. sha256: of the one wheel that fits the machine best."""

    name: str
    version: str
    sha256: str


def resolve_packages(requirements: Sequence[str], machine: Machine) -> tuple[PinnedPackage, ...]:
    """Resolve the packages that requirements need on a machine, sorted by name.

    SiteError if there is no wheel for one of them.
    """
    with TemporaryDirectory() as folder:
        path = Path(folder, "requirements.in")
        path.write_text("".join(f"{_loosen_pin(text)}\n" for text in requirements), "utf-8")
        # Alone in its folder: no project's settings count.
        lock = _run_uv(machine, "compile", "--format", "pylock.toml", "--no-header", str(path))
    python, platforms = machine.python, machine.platforms
    # Best first.
    fitting = (
        cpython_tags(python, platforms=platforms),
        compatible_tags(python, platforms=platforms),
    )
    ranks = {tag: rank for rank, tag in enumerate(chain(*fitting))}

    def choose_wheel(package: dict[str, Any]) -> PinnedPackage:
        def rank_wheel(wheel: dict[str, Any]) -> int:
            tags = parse_wheel_filename(Path(unquote(wheel["url"])).name)[3]
            return min(ranks.get(tag, len(ranks)) for tag in tags)

        wheel = min(package["wheels"], key=rank_wheel)
        return PinnedPackage(package["name"], package["version"], wheel["hashes"]["sha256"])

    return tuple(map(choose_wheel, tomllib.loads(lock).get("packages", ())))


def format_lock(pins: Iterable[PinnedPackage]) -> bytes:
    """Format a requirements file with hashes."""
    lines = (f"{pin.name}=={pin.version} --hash=sha256:{pin.sha256}\n" for pin in pins)
    return "".join(lines).encode()


def find_older_versions(
    requirements: Iterable[str], pins: Iterable[PinnedPackage]
) -> tuple[tuple[str, str, str], ...]:
    """List the pins that have no wheel for the machine, as (name, pinned, locked version)."""
    locked = {pin.name: pin.version for pin in pins}
    older: list[tuple[str, str, str]] = []
    for requirement in map(_parse_requirement, requirements):
        name, specifier = canonicalize_name(requirement.name), str(requirement.specifier)
        pinned = specifier.removeprefix("==")
        if specifier.startswith("==") and locked.get(name, pinned) != pinned:
            older.append((name, pinned, locked[name]))
    return tuple(older)


def install_wheels(lock: Path, machine: Machine, folder: Path) -> None:
    """Unpack the wheels of a lock file into a folder; SiteError if one has changed."""
    options = ("--require-hashes", "--no-deps", "--link-mode", "copy", "--refresh")
    _run_uv(machine, "install", "--target", str(folder), *options, "--requirement", str(lock))


def slim_packages(folder: Path) -> None:
    """Remove from unpacked packages what a function never uses; their licenses stay."""
    # Scripts name this machine's Python.
    shutil.rmtree(folder / "bin", ignore_errors=True)
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


def _parse_requirement(text: str) -> Requirement:
    try:
        return Requirement(text)
    except InvalidRequirement:
        raise SiteError(
            f"requirements.txt: {text!r:.80} is not a requirement: run `answerable build` again"
        ) from None


def _loosen_pin(text: str) -> Requirement:
    """Turn a pin into a ceiling, where the machine may have wheels of older versions only."""
    requirement = _parse_requirement(text)
    floor = _FLEXIBLE_PINS.get(canonicalize_name(requirement.name))
    pins = [part.version for part in requirement.specifier if part.operator == "=="]
    if not (floor and pins):
        return requirement
    return Requirement(f"{requirement.name}{floor},<={pins[0]}")


def _is_unused(path: Path) -> bool:
    if path.parts[0].endswith(".dist-info"):
        return path.name in _RECORDS
    folders = _UNUSED_FOLDERS.intersection(path.parts[1:-1])
    return bool(folders) or path.suffix in _UNUSED_SUFFIXES


def _run_uv(machine: Machine, action: str, *options: str) -> str:
    """Run ``uv pip`` as for another machine. Its configuration, such as an index, counts."""
    try:
        from uv import find_uv_bin

        uv = find_uv_bin()
    except (ImportError, FileNotFoundError):
        raise SiteError(
            "uv, which finds the packages, is not installed: run "
            "`pip install mkdocs-answerable[package]`"
        ) from None
    variables = {uv_name: os.environ.get(name) for name, uv_name in _PIP_VARIABLES.items()}
    command = [
        *(uv, "pip", action, "--python", sys.executable, "--no-python-downloads"),
        *("--python-version", machine.version, "--python-platform", machine.uv_platform),
        *("--only-binary", ":all:", "--quiet"),
        *(("--no-index",) if os.environ.get("PIP_NO_INDEX") else ()),
    ]
    try:
        result = subprocess.run(
            [*command, *options],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_UV_SECONDS,
            check=False,
            env={**{name: v for name, v in variables.items() if v}, **os.environ},
        )
    except subprocess.TimeoutExpired:
        raise SiteError(
            f"uv has not ended within {_UV_SECONDS} seconds; check the network and try again"
        ) from None
    if result.returncode:
        raise SiteError(_explain_failure(result.stderr, machine))
    return result.stdout


def _explain_failure(stderr: str, machine: Machine) -> str:
    """Explain why uv failed in a sentence of our own.

    Its messages may hold the address of an index and its password.
    """
    if "Hash mismatch" in stderr:
        return "a package is not the one that was resolved: check the package index and try again"
    if _UNREACHABLE.search(stderr):
        return "uv cannot reach the package index; check the network and try again"
    where = f"Python {machine.version} on Linux {machine.machine} with glibc 2.{machine.glibc}"
    if match := _NO_WHEEL.search(stderr):
        return (
            f"uv finds no wheel of {match[1]} for {where}; choose another --python or --arch, or "
            "check that the package index is the right one"
        )
    if "No solution found" in stderr:
        return f"the packages that the function needs conflict for {where}"
    return f"uv cannot find the packages of the function for {where}; run uv by hand to see why"


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
