"""A real `answerable serve`: pages with the ask box, live answers, another build after edits."""

import json
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from answerable.cli.serve import SitePreview
from support.deadlines import PATIENCE, until
from support.server_processes import Running, answerable_serve
from support.sites import NOTES, command, put

QUESTION = "How thick is the chain of a mooring?"
ASK = "/docs/_answerable/answer"
MOORING = (
    "<!doctype html><html lang='en'><head><title>Mooring - Harbour</title>"
    "<link rel='answerable' href='https://elsewhere.example/'></head><body><main>"
    "<h1>Mooring</h1><p>A mooring needs a buoy of forty litres.</p><h2 id='chains'>Chains</h2>"
    "<p>The chain of a mooring is twelve millimetres thick.</p></main></body></html>"
)
INDEX = (
    "<!doctype html><html><head><title>Home - Harbour</title>"
    "<link rel='canonical' href='https://harbour.example/docs/'></head>"
    "<body><main><h1>Home</h1><p>Harbour keeps small boats in order.</p></main></body></html>"
)


def write_site_folder(folder: Path, **options: object) -> Path:
    put(folder / "answerable.yml", json.dumps({"site_dir": "site", **options}))
    put(folder / "site" / "index.html", INDEX)
    put(folder / "site" / "mooring" / "index.html", MOORING)
    put(folder / "site" / "flat.html", INDEX.replace("Home", "Flat"))
    put(folder / "site" / "404.html", "<!doctype html><body><p>Lost?</p></body>")
    put(folder / "notebook" / "winch.md", NOTES["winch.md"])
    put(folder / "site" / ".git" / "config", "secret")
    put(folder / "secret.txt", "secret")
    (folder / "site" / "link.txt").symlink_to(folder / "secret.txt")
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_site_folder(tmp_path_factory.mktemp("serve"), notebook="notebook")


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Running]:
    with answerable_serve(folder, "site") as running:
        yield running


def test_serve_answers_under_the_path_of_the_site(server: Running) -> None:
    body = server.ask(ASK, QUESTION)
    assert "twelve millimetres" in body["answer"]
    assert body["citations"][0]["url"] == "/docs/mooring/#chains"
    body = server.ask(ASK, "Where was the gearbox of the electric winch taken from?")
    assert body["mode"] == "related-material"
    assert f"Serving on http://127.0.0.1:{server.port}/docs/" in server.output
    route = f"http://127.0.0.1:{server.port}/docs/_answerable/mcp"
    assert f"claude mcp add --transport http draft {route}" in server.output
    origin = {"Origin": "https://evil.example"}
    assert server.request("POST", ASK, {"question": QUESTION}, **origin)[0] == 403
    settings = json.loads(server.request("GET", "/docs/assets/answerable/site.json")[1])
    assert (settings["bundle"], settings["index"]) == (body["bundle"], None)


def test_pages_have_the_box_and_the_files_of_the_site_stay(server: Running, folder: Path) -> None:
    status, html = server.request("GET", "/docs/mooring/")
    assert status == 200
    assert html.count("/ask-box.js") == 1
    # The last one counts, whatever the page has of its own.
    assert html.index("elsewhere.example") < html.index('"answerable" href="/docs/_answerable/">')
    assert (folder / "site" / "mooring" / "index.html").read_text() == MOORING
    assert not (folder / "site" / "assets" / "answerable").exists()
    assert not (folder / "function").exists()
    assert "Flat" in server.request("GET", "/docs/flat")[1]
    for path in ("/docs/.git/config", "/docs/link.txt", "/docs/../secret.txt", "/docs/gone"):
        status, body = server.request("GET", path)
        assert (status, "Lost?" in body, "secret" in body) == (404, True, False)


def test_browser_answers_where_the_option_says_so(tmp_path: Path) -> None:
    write_site_folder(tmp_path, answers_in="browser")
    with answerable_serve(tmp_path) as server:
        body = json.loads(server.request("GET", "/docs/assets/answerable/site.json")[1])
        index = body["index"]
        assert server.request("HEAD", f"/docs/assets/answerable/{index['manifest']}")[0] == 200
        assert "_answerable/" not in server.request("GET", "/docs/mooring/")[1]
    put(tmp_path / "answerable.yml", '{"answers_in": "browser", "notebook": "notebook"}')
    done = command(tmp_path, "serve")
    assert "answers_in: browser is impossible, since `notebook` needs" in done.stderr


def test_edits_are_indexed_again_and_an_error_leaves_the_last_index(tmp_path: Path) -> None:
    folder = write_site_folder(tmp_path, notebook="notebook")
    put(folder / "notebook" / "winch.md", "no front matter")
    with answerable_serve(folder, "site") as server:
        assert "(no answers yet)" in server.output
        assert server.request("POST", ASK, {"question": QUESTION})[0] == 503
        assert server.request("GET", "/docs/mooring/")[0] == 200
        put(folder / "notebook" / "winch.md", NOTES["winch.md"])
        until(lambda: server.request("POST", ASK, {"question": QUESTION})[0] == 200)
        put(folder / "site" / "mooring" / "index.html", MOORING.replace("twelve", "ninety"))
        until(lambda: "ninety" in server.ask(ASK, QUESTION)["answer"])
        put(folder / "notebook" / "winch.md", "no front matter")
        until(lambda: "(answers come from the last good index)" in server.output)
        assert "ninety" in server.ask(ASK, QUESTION)["answer"]
        server.process.send_signal(signal.SIGINT)
        assert server.process.wait(PATIENCE) == 0
    assert "Traceback" not in server.output


def test_unexpected_error_prints_its_type_and_not_its_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(_: SitePreview) -> None:
        raise ValueError("words of a note")

    monkeypatch.setattr(SitePreview, "build", fail)
    SitePreview(tmp_path / "answerable.yml", None, None, is_built_here=False).rebuild()
    printed = capsys.readouterr().err
    assert printed.startswith("the site could not be indexed: ValueError;")
    assert "words" not in printed


def test_sources_are_watched_without_what_is_built_among_them(tmp_path: Path) -> None:
    put(tmp_path / "answerable.yml", '{"site_dir": "public", "command": "./build.sh"}')
    for name in ("content/a.md", "static/a.css", "node_modules/x.js", ".git/config", "env/x.py"):
        put(tmp_path / name, "")
    put(tmp_path / "env" / "pyvenv.cfg", "")
    put(
        tmp_path / "build.sh",
        f"#!/bin/sh\nmkdir -p public && printf '%s' \"{INDEX}\" > public/index.html\n",
    )
    (tmp_path / "build.sh").chmod(0o755)
    preview = SitePreview(tmp_path / "answerable.yml", None, None, is_built_here=True)
    assert preview.build() == "/docs/"
    watched = {path.name for path in preview.list_watched() if path.exists()}
    assert watched == {"answerable.yml", "build.sh", "content", "static"}


def test_port_in_use_is_one_sentence(tmp_path: Path) -> None:
    write_site_folder(tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        done: subprocess.CompletedProcess[str] = command(
            tmp_path, "serve", "site", f"--port={port}"
        )
    assert done.returncode == 1
    assert f"Error: --port: 127.0.0.1:{port} cannot be listened on" in done.stderr
