"""The scripts in `widget/dist`, which sites get: made of the modules beside them, as they are."""

import shutil
import subprocess
from pathlib import Path

import pytest

from support.deadlines import PATIENCE
from support.sites import ROOT

WIDGET = ROOT / "plugin" / "answerable" / "widget"
JAVASCRIPT = ROOT / "tests" / "javascript"


def read_scripts(widget: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (widget / "dist").iterdir()}


def test_bundled_scripts_are_those_of_the_modules(tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None or not (JAVASCRIPT / "node_modules" / "esbuild").is_dir():
        pytest.skip("esbuild is not installed: run `npm ci` in tests/javascript")
    sources = tmp_path / "widget"
    shutil.copytree(WIDGET, sources, ignore=shutil.ignore_patterns("dist"))
    (tmp_path / "engine").mkdir()
    shutil.copy(WIDGET.parent / "engine" / "rules.json", tmp_path / "engine")
    subprocess.run(
        [node, JAVASCRIPT / "bundle.js", sources],
        capture_output=True, text=True, timeout=PATIENCE, check=True,
    )  # fmt: skip
    bundled, committed = read_scripts(sources), read_scripts(WIDGET)
    names = {name + end for name in ("ask-box.js", "site_index.js") for end in ("", ".map")}
    assert bundled.keys() == committed.keys() == names
    stale = [name for name in bundled if bundled[name] != committed[name]]
    assert not stale, "run `make widget`, and commit what it writes"
