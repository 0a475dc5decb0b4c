"""The same small site as real generators build it."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from support.deadlines import PATIENCE
from support.sites import ROOT

SOURCES = ROOT / "tests" / "generators"
BASE = "/docs/"

CHAINS = (
    "The chain of a mooring is twelve millimetres thick.\n\n"
    'rope = "wet"\nboat.moor(rope)\n\nMind the rope\n\nThe rope is wet.'
)
NOTE = "Measured at the quay."
# By heading path: what each page says, whatever has built it.
HARBOUR = {"Harbour": "Harbour keeps small boats in order."}
STORMS = {
    "Storms": "Before a storm the crew doubles every rope.",
    "Storms › Lanterns": "A red lantern warns of wind above thirty knots.",
}
MOORING = {"Mooring": "A mooring needs a buoy of forty litres."}


def build(generator: str, folder: Path) -> Path:
    """Build the site of a generator in a folder; the site's own. Skips what is not installed."""
    return _BUILDERS[generator](folder)


def _run(folder: Path, *command: str, **environment: str) -> None:
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1", **environment},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def _tool(name: str) -> str:
    """A command that is installed beside this Python, or on the path."""
    beside = Path(sys.executable).parent / name
    program = str(beside) if beside.is_file() else shutil.which(name)
    if program is None:
        pytest.skip(f"{name} is not installed")
    return program


def _mkdocs(theme: str) -> Callable[[Path], Path]:
    def build(folder: Path) -> Path:
        shutil.copytree(SOURCES / "mkdocs", folder, dirs_exist_ok=True)
        config = folder / "mkdocs.yml"
        text = config.read_text(encoding="utf-8")
        if theme != "material":
            lines = [
                line
                for line in text.splitlines()
                if "features:" not in line and "font:" not in line
            ]
            text = "\n".join(lines).replace("name: material", f"name: {theme}")
            # These themes' search finds every page, so the page must not be there to be found.
            text += "\nexclude_docs: hidden.md\n"
            text = text.replace("  - hidden.md\n", "")
            config.write_text(text, encoding="utf-8")
        _run(folder, sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict")
        return folder / "site"

    return build


def _zensical(folder: Path) -> Path:
    tool = _tool("zensical")
    shutil.copytree(SOURCES / "mkdocs", folder, dirs_exist_ok=True)
    _run(folder, tool, "build")
    return folder / "site"


def _sphinx(theme: str, builder: str = "html") -> Callable[[Path], Path]:
    def build(folder: Path) -> Path:
        pytest.importorskip("sphinx")
        site = folder / "site"
        site.mkdir(parents=True)
        doctrees = ("-d", str(folder / "doctrees"))
        options = ("-q", "-W", "-b", builder, "-D", f"html_theme={theme}", *doctrees)
        _run(folder, sys.executable, "-m", "sphinx", *options, str(SOURCES / "sphinx"), str(site))
        return site

    return build


def _hugo(folder: Path) -> Path:
    tool = _tool("hugo")
    shutil.copytree(SOURCES / "hugo", folder, dirs_exist_ok=True)
    _run(folder, tool, "--quiet", "--minify", "--destination", "site")
    return folder / "site"


def _docusaurus(folder: Path) -> Path:
    source = SOURCES / "docusaurus"
    if not (source / "node_modules" / ".bin" / "docusaurus").exists():
        pytest.skip("Docusaurus is not installed: run `npm ci` in tests/generators/docusaurus")
    site = folder / "site"
    command = ("npx", "--no-install", "docusaurus", "build", "--out-dir", str(site))
    _run(source, *command, DOCUSAURUS_IGNORE_UPDATE_NOTIFIER="1", npm_config_offline="true")
    return site


_BUILDERS: Mapping[str, Callable[[Path], Path]] = {
    "material": _mkdocs("material"),
    "mkdocs": _mkdocs("mkdocs"),
    "readthedocs": _mkdocs("readthedocs"),
    "zensical": _zensical,
    "alabaster": _sphinx("alabaster"),
    "furo": _sphinx("furo"),
    "furo-folders": _sphinx("furo", "dirhtml"),
    "hugo": _hugo,
    "docusaurus": _docusaurus,
}
GENERATORS = tuple(_BUILDERS)
