"""The engine's modules as a site publishes them: shorter, of its languages, and still modules."""

import shutil
import subprocess
from pathlib import Path

import pytest

from answerable.indexing.widget.scripts import ENTRY_MODULE, read_engine_files, shorten_script
from support.deadlines import PATIENCE

SOURCE = """/**
 * Say what it does.
 */
export function act(value) {
  // Why it does so.
  /** @type {string} */ const text = "// kept"; /* kept */
  return `${value}` + text;
}
"""


def test_own_line_comments_types_and_indentation_are_removed() -> None:
    assert shorten_script(SOURCE) == (
        "export function act(value) {\n"
        'const text = "// kept"; /* kept */\n'
        "return `${value}` + text;\n"
        "}\n"
    )


@pytest.mark.parametrize(
    "source",
    ["/* Copyright 2001, Ada.\nAll rights. */\nlet a;\n", "const text = `\n  // words\n`;\n"],
)
def test_license_and_text_over_several_lines_stay(source: str) -> None:
    assert shorten_script(source) == source


def test_published_modules_import_each_other(tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("no node on the path")
    engine = read_engine_files()
    for path, data in engine.files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(data)
    (tmp_path / "package.json").write_text('{"type": "module"}')
    code = f"await import('./{ENTRY_MODULE}')"
    done = subprocess.run(
        [node, "--input-type=module", "--eval", code],
        cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
