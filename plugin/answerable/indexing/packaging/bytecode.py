"""Compile bytecode with the Python version that a package is for, where it is installed here."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from ...serve.errors import SiteError
from .platforms import Machine

_TIMEOUT_SECONDS = 600
_PRINT_VERSION = "import sys; print(sys.implementation.name, '%d.%d' % sys.version_info[:2])"


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
    result = _run([python, *options, "-s", str(root), str(folder)])
    if result.returncode not in (0, 1):
        raise SiteError(f"{python} cannot compile the package: reinstall that Python")
    return True


def _find_interpreter(machine: Machine) -> str | None:
    """Find a Python of the machine's minor version: this one, else one of that name on the path."""
    if sys.version_info[:2] == machine.python and sys.implementation.name == "cpython":
        return sys.executable
    expected = f"cpython {machine.version}\n"
    for folder in os.get_exec_path():
        path = shutil.which(f"python{machine.version}", path=folder)
        # The command may be a shim of a version manager for a version that is not installed.
        if path and _run([path, "-I", "-c", _PRINT_VERSION]).stdout == expected:
            return path
    return None


def _run(command: list[str]) -> subprocess.CompletedProcess[str]:
    environment = {name: v for name, v in os.environ.items() if not name.startswith("PYTHON")}
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=_TIMEOUT_SECONDS,
        check=False,
        # The order of a set of strings in bytecode would follow a seed of each process.
        env={**environment, "PYTHONHASHSEED": "0"},
    )
