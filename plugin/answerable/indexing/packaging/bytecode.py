"""Bytecode for the Python that a package is for, where that version is installed here."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from ...serve.errors import SiteError
from .platforms import Machine

_TIMEOUT = 600
_ASKED = "import sys; print(sys.implementation.name, '%d.%d' % sys.version_info[:2])"


def compile_bytecode(folder: Path, root: Path, machine: Machine) -> bool:
    """Put bytecode beside all code below a folder; False where no such Python is installed.

    root: the folder that the code's names, as errors show them, begin in.

    It is not checked against its code: an archive keeps neither its time nor the right to write.
    SiteError if that Python fails.
    """
    python = _interpreter(machine)
    if python is None:
        return False
    # Without -P the folder's own modules could stand in for those of the standard library.
    compiling = ["-P", "-m", "compileall", "-q", "-j", "1", "--invalidation-mode", "unchecked-hash"]
    done = _run([python, *compiling, "-s", str(root), str(folder)])
    if done.returncode not in (0, 1):
        raise SiteError(f"{python} cannot compile the package: reinstall that Python")
    return True


def _interpreter(machine: Machine) -> str | None:
    """A Python of the machine's minor version: this one, else one of that name on the path."""
    if sys.version_info[:2] == machine.python and sys.implementation.name == "cpython":
        return sys.executable
    for folder in os.get_exec_path():
        named = shutil.which(f"python{machine.version}", path=folder)
        # A name on the path may be a signpost to a version that is not installed.
        if named and _run([named, "-I", "-c", _ASKED]).stdout == f"cpython {machine.version}\n":
            return named
    return None


def _run(command: list[str]) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=_TIMEOUT,
        check=False,
        # The order of a set of strings in bytecode would follow a seed of each process.
        env={**kept, "PYTHONHASHSEED": "0"},
    )
