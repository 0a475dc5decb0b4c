"""Packages that register providers, as an installer leaves them in a folder, and who finds them."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from support import sites
from support.deadlines import PATIENCE


def install(
    folder: Path,
    name: str,
    code: str,
    group: str,
    points: Mapping[str, str],
    version: str = "1.0",
) -> None:
    """Install a module and the entry points of its package in place of another version.

    group: `embedders` or `answerers`. points: from a provider's name to `module:PROVIDER`.
    """
    for module in {point.partition(":")[0] for point in points.values()}:
        sites.put(folder / f"{module}.py", code)
    write_metadata(folder, name, version, {f"answerable.{group}": points})


def write_metadata(
    folder: Path, name: str, version: str, groups: Mapping[str, Mapping[str, str]]
) -> None:
    """Write what an installer records of a package, and forget other versions of it."""
    stem = name.replace("-", "_")
    for old in folder.glob(f"{stem}-*.dist-info"):
        for path in old.iterdir():
            path.unlink()
        old.rmdir()
    info = folder / f"{stem}-{version}.dist-info"
    sites.put(info / "METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    lines = [
        line
        for group, points in groups.items()
        for line in (f"[{group}]", *(f"{key} = {value}" for key, value in points.items()))
    ]
    sites.put(info / "entry_points.txt", "\n".join(lines) + "\n")


def run(folder: Path, packages: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python in a process that finds the packages of a folder."""
    # Bytecode is told from its source by seconds and size, and a test changes it faster.
    path = os.pathsep.join((str(packages), str(sites.ROOT / "plugin")))
    variables = {"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", "COLUMNS": "500"}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder, env={**os.environ, **variables},
        capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip


def build(folder: Path, packages: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Build a site with the packages of a folder."""
    return run(folder, packages, "-m", "mkdocs", "build", *arguments)


def command(folder: Path, packages: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `answerable` with the packages of a folder."""
    return run(folder, packages, "-c", "from answerable.cli import main; main()", *arguments)
