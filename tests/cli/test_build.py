"""`answerable build`: a site of MkDocs, one that another command builds, and one built already."""

import sys
from pathlib import Path

from answerable.indexing.generators import find_config_file
from support import sites
from support.server_processes import free_port, run
from support.sites import command, put

QUESTION = "How thick is the chain of a mooring?"
PAGE = (
    "<title>Mooring</title><body><h1>Mooring</h1><p>The chain is twelve millimetres thick.</body>"
)


def test_first_file_that_names_the_plugin_configures_a_site(tmp_path: Path) -> None:
    assert find_config_file(tmp_path) == tmp_path / "mkdocs.yml"
    for name in ("docs/conf.py", "mkdocs.yml", "zensical.toml"):
        put(tmp_path / name, "")
        assert find_config_file(tmp_path) == tmp_path / name
    put(tmp_path / "mkdocs.yml", "plugins: [answerable]\n")
    assert find_config_file(tmp_path) == tmp_path / "mkdocs.yml"
    put(tmp_path / "answerable.yml", "command: make\n")
    assert find_config_file(tmp_path) == tmp_path / "answerable.yml"


def test_any_command_builds_a_site(tmp_path: Path) -> None:
    put(tmp_path / "page.html", PAGE)
    put(tmp_path / "answerable.yml", "command: mkdir -p public; cp page.html public/index.html\n")
    with (tmp_path / "answerable.yml").open("a") as file:
        file.write("site_dir: public\n")
    assert "no index" in command(tmp_path, "doctor").stdout
    done = command(tmp_path, "build")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "ask-box.js" in (tmp_path / "public" / "index.html").read_text("utf-8")
    assert "twelve millimetres" in command(tmp_path, "ask", "How thick is the chain?").stdout
    # A generator that runs alone takes the ask box out of its pages.
    put(tmp_path / "public" / "index.html", PAGE)
    assert "index.html has no ask box" in command(tmp_path, "doctor").stdout
    done = command(tmp_path, "build", "--command", "false")
    assert "Error: `false` has failed with the exit status 1" in done.stderr
    # A site that nothing builds here is indexed as it is.
    put(tmp_path / "answerable.yml", "site_dir: public\n")
    assert command(tmp_path, "build").returncode == 0


def test_site_of_mkdocs_is_handed_to_mkdocs(tmp_path: Path) -> None:
    sites.write_site(tmp_path, options={"function": None})
    port = free_port()
    code = "from answerable.cli import main; main()"
    line = [sys.executable, "-u", "-c", code, "serve", f"--port={port}"]
    with run(line, tmp_path, lambda running: "Serving on" in running.output, port) as server:
        assert "twelve" in server.ask("/_answerable/answer", QUESTION)["answer"]
    assert command(tmp_path, "build").returncode == 0
    done = command(tmp_path, "build", "--strict")
    assert done.returncode == 0, done.stderr
    assert "twelve" in command(tmp_path, "ask", QUESTION).stdout
    put(tmp_path / "mkdocs.yml", "site_name: Harbour\n")
    assert "`answerable` is not among them; add it" in command(tmp_path, "build").stderr
