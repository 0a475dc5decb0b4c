"""ProperDocs runs the plugin as it is."""

import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from support import server_processes
from support.citation_check import assert_in_articles, assert_resolves, records
from support.sites import NOTES, ask, command, opened, write_site

EXECUTABLE = shutil.which("properdocs") or shutil.which(
    "properdocs", path=str(Path(sys.executable).parent)
)
pytestmark = [
    pytest.mark.deep,
    pytest.mark.skipif(EXECUTABLE is None, reason="without ProperDocs"),
]

QUESTION = "How thick is the chain of a mooring?"


def site(folder: Path) -> Path:
    theme = {"name": "material", "font": False}
    options = {"answers_in": "function"}
    url = "https://harbour.example/docs/"
    write_site(folder, notes=NOTES, options=options, theme=theme, site_url=url)
    (folder / "mkdocs.yml").rename(folder / "properdocs.yml")
    return folder


def line(*args: str) -> Sequence[str]:
    assert EXECUTABLE
    return [EXECUTABLE, *args]


def test_a_strict_build_publishes_every_page(tmp_path: Path) -> None:
    done = subprocess.run(
        line("build", "--strict"), cwd=site(tmp_path), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "3 pages" in done.stderr
    assert_resolves(tmp_path)
    assert_in_articles(tmp_path)
    assert records(tmp_path)["mooring"] == ("/docs/mooring/", "Mooring")
    assert [hint.url for hint in opened(tmp_path).hints] == ["/docs/mooring/#chains"]
    assert ask(opened(tmp_path), QUESTION).answer.mode == "partial"
    assert "ask-box.js" in (tmp_path / "site" / "index.html").read_text("utf-8")
    done = command(tmp_path, "ask", QUESTION)
    assert done.returncode == 0, done.stderr
    assert "twelve millimetres" in done.stdout


def test_its_dev_server_answers_and_publishes_nothing(tmp_path: Path) -> None:
    port = server_processes.free_port()
    serve = line("serve", "-a", f"127.0.0.1:{port}", "--clean")
    with server_processes.run(
        serve, site(tmp_path), lambda run: "Serving on" in run.output, port
    ) as server:
        answer = server.ask("/docs/_answerable/answer", QUESTION)
        assert "twelve millimetres" in answer["answer"]
        assert server.request("GET", "/docs/mooring/")[0] == 200
    assert not (tmp_path / "function").exists()
