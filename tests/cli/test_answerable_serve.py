"""A real `answerable serve`: files, the widget on the fly, live answers, and what is refused."""

import http.client
import json
import re
import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from answerable.cli import serve
from answerable.cli.serve import LiveIndex
from answerable.indexing.generators import Project
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
    put(folder / "site" / "assets" / "x.css", "a {}")
    put(folder / "site" / "assets" / "x.js", "1")
    put(folder / "site" / "assets" / "pic.svg", "<svg/>")
    put(folder / "notebook" / "winch.md", NOTES["winch.md"])
    for name in (".git/config", ".env", "assets/.hidden.txt", ".well-known/.hidden.txt"):
        put(folder / "site" / name, "secret")
    put(folder / "site" / ".well-known" / "security.txt", "Contact: harbour.example")
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


def get(server: Running, path: str, method: str = "GET") -> tuple[int, dict[str, str], str]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    connection.request(method, path)
    response = connection.getresponse()
    text = response.read().decode("utf-8", "replace")
    result = response.status, dict(response.getheaders()), text
    connection.close()
    return result


def test_serve_answers_under_the_path_of_the_site(server: Running) -> None:
    body = server.ask(ASK, QUESTION)
    assert "twelve millimetres" in body["answer"]
    assert body["citations"][0]["url"] == "/docs/mooring/#chains"
    body = server.ask(ASK, "Where was the gearbox of the electric winch taken from?")
    assert body["mode"] == "related-material"
    assert f"Serving at http://127.0.0.1:{server.port}/docs/ (Ctrl-C stops)" in server.output
    route = f"http://127.0.0.1:{server.port}/docs/_answerable/mcp"
    assert f"claude mcp add --transport http draft {route}" in server.output
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    status, reply = server.request("POST", "/docs/_answerable/mcp", ping)
    assert (status, json.loads(reply)) == (200, {"jsonrpc": "2.0", "id": 1, "result": {}})


def test_widget_config_names_the_bundle_that_answers(server: Running) -> None:
    body = json.loads(get(server, "/docs/assets/answerable/site.json")[2])
    assert body["bundle"] == server.ask(ASK, QUESTION)["bundle"]
    assert set(body) == {
        "bundle", "examples", "page_examples", "search", "authors", "feedback", "engine", "index"
    }  # fmt: skip
    assert body["index"] is None


def test_browser_answers_where_the_option_says_so(tmp_path: Path) -> None:
    write_site_folder(tmp_path, answers_in="browser")
    with answerable_serve(tmp_path) as server:
        body = json.loads(get(server, "/docs/assets/answerable/site.json")[2])
        assert body["bundle"] == server.ask(ASK, QUESTION)["bundle"]
        (index,) = body["index"].values()
        for path in (body["engine"][0], index["manifest"]):
            assert get(server, f"/docs/assets/answerable/{path}")[0] == 200
        assert get(server, "/docs/assets/answerable/strings/de.json")[0] == 200
        # The page's own link to an endpoint is not followed.
        assert "rel='answerable'" not in get(server, "/docs/mooring/")[2]
    assert not (tmp_path / "site" / "assets" / "answerable").exists()
    options = {"site_dir": "site", "answers_in": "browser", "notebook": "notebook"}
    put(tmp_path / "answerable.yml", json.dumps(options))
    done = command(tmp_path, "serve")
    assert "answers_in: browser is impossible, since `notebook` needs" in done.stderr


def test_widget_is_injected_into_responses_and_not_into_files(
    server: Running, folder: Path
) -> None:
    status, headers, html = get(server, "/docs/mooring/")
    assert (status, headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert html.count("<answerable-ask>") == 1
    assert '<script type="module" src="/docs/assets/answerable/ask-box.js"></script>' in html
    assert '<link rel="answerable" href="/docs/_answerable/">' in html
    assert "elsewhere.example" not in html
    assert (folder / "site" / "mooring" / "index.html").read_text() == MOORING
    assert not (folder / "site" / "assets" / "answerable").exists()
    assert not (folder / "function").exists()


@pytest.mark.parametrize(
    ("path", "status", "kind"),
    [
        ("/docs/", 200, "text/html; charset=utf-8"),
        ("/docs/index.html", 200, "text/html; charset=utf-8"),
        ("/docs/flat", 200, "text/html; charset=utf-8"),
        ("/docs/assets/x.css?v=1", 200, "text/css; charset=utf-8"),
        ("/docs/assets/x.js", 200, "text/javascript; charset=utf-8"),
        ("/docs/assets/answerable/ask-box.js", 200, "text/javascript; charset=utf-8"),
        ("/docs/assets/answerable/strings/en.json", 200, "application/json; charset=utf-8"),
        ("/docs/assets/answerable/site.json", 200, "application/json; charset=utf-8"),
        ("/docs/assets/answerable/strings/xx.json", 404, "text/html; charset=utf-8"),
        ("/docs/assets/pic.svg", 200, "image/svg+xml"),
        ("/docs/.well-known/security.txt", 200, "text/plain; charset=utf-8"),
        ("/docs/.git/config", 404, "text/html; charset=utf-8"),
        ("/docs/%2egit/config", 404, "text/html; charset=utf-8"),
        ("/docs/.env", 404, "text/html; charset=utf-8"),
        ("/docs/assets/.hidden.txt", 404, "text/html; charset=utf-8"),
        ("/docs/.well-known/.hidden.txt", 404, "text/html; charset=utf-8"),
        ("/docs/gone", 404, "text/html; charset=utf-8"),
        ("/docs/assets/", 404, "text/html; charset=utf-8"),
        ("/docs/assets", 404, "text/html; charset=utf-8"),
        ("/elsewhere", 404, "text/html; charset=utf-8"),
        ("/docs/../secret.txt", 404, "text/html; charset=utf-8"),
        ("/docs/%2e%2e/secret.txt", 404, "text/html; charset=utf-8"),
        ("/docs/..%2fsecret.txt", 404, "text/html; charset=utf-8"),
        ("/docs/%5c..%5csecret.txt", 404, "text/html; charset=utf-8"),
        ("/docs//etc/passwd", 404, "text/html; charset=utf-8"),
        ("/docs/%00", 404, "text/html; charset=utf-8"),
        ("/docs/link.txt", 404, "text/html; charset=utf-8"),
        ("/docs/mooring/index.html/", 404, "text/html; charset=utf-8"),
        (f"/docs/{'x' * 300}", 404, "text/html; charset=utf-8"),
    ],
)
def test_static_path_has_its_status_and_content_type(
    server: Running, path: str, status: int, kind: str
) -> None:
    answered, headers, body = get(server, path)
    assert (answered, headers["Content-Type"]) == (status, kind)
    assert int(headers["Content-Length"]) == len(body.encode())
    assert "secret" not in body
    assert ("Lost?" in body) == (status == 404)
    answered, others, body = get(server, path, "HEAD")
    assert (answered, others["Content-Length"], body) == (status, headers["Content-Length"], "")


@pytest.mark.parametrize(
    ("path", "location"),
    [
        ("/", "/docs/"),
        ("/docs", "/docs/"),
        ("/docs/mooring", "/docs/mooring/"),
        ("/docs/mooring?a=b", "/docs/mooring/?a=b"),
    ],
)
def test_folder_without_its_slash_is_redirected(server: Running, path: str, location: str) -> None:
    status, headers, _ = get(server, path)
    assert (status, headers["Location"]) == (301, location)


def test_post_to_a_static_file_is_not_allowed(server: Running) -> None:
    assert get(server, "/docs/", "POST")[0] == 405


def test_question_from_another_origin_is_forbidden(server: Running) -> None:
    headers = {"Origin": "https://evil.example"}
    assert server.request("POST", ASK, {"question": QUESTION}, **headers)[0] == 403


def test_a_reader_asks_in_a_browser(server: Running, page: Page) -> None:
    page.goto(f"http://127.0.0.1:{server.port}/docs/")
    page.get_by_role("button", name=re.compile("Ask")).first.click()
    page.get_by_role("textbox").fill(QUESTION)
    page.keyboard.press("Enter")
    expect(page.locator("answerable-ask")).to_contain_text("twelve millimetres")


def test_changed_pages_are_indexed_again(tmp_path: Path) -> None:
    folder = write_site_folder(tmp_path, notebook="notebook")
    with answerable_serve(folder, "site") as server:
        assert "twelve" in server.ask(ASK, QUESTION)["answer"]
        put(folder / "site" / "mooring" / "index.html", MOORING.replace("twelve", "ninety"))
        until(lambda: "ninety" in server.ask(ASK, QUESTION)["answer"])
        put(folder / "notebook" / "winch.md", "no front matter")
        until(lambda: "winch.md: label is missing" in server.output)
        assert "(answers come from the last good index)" in server.output
        assert "ninety" in server.ask(ASK, QUESTION)["answer"]
        put(folder / "notebook" / "winch.md", NOTES["winch.md"])
        until(lambda: server.output.count("index of") == 3)


def test_site_is_served_although_the_first_index_fails(tmp_path: Path) -> None:
    folder = write_site_folder(tmp_path, notebook="notebook")
    put(folder / "notebook" / "winch.md", "no front matter")
    with answerable_serve(folder) as server:
        until(lambda: "(no answers yet)" in server.output)
        assert server.request("POST", ASK, {"question": QUESTION})[0] == 503
        assert get(server, "/docs/mooring/")[0] == 200


def live_index(folder: Path) -> LiveIndex:
    project = Project("other", folder / "answerable.yml", folder, {"site_dir": "site"})
    return LiveIndex(project)


def test_unexpected_error_prints_its_type_and_not_its_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> None:
        raise ValueError("words of a note")

    monkeypatch.setattr(LiveIndex, "_rebuild", fail)
    live_index(tmp_path).rebuild()
    printed = capsys.readouterr().err
    assert printed.startswith("the site could not be indexed: ValueError;")
    assert "words" not in printed


def test_site_that_is_slow_to_scan_is_scanned_less_often(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[float] = []
    ended: list[float] = []

    def slow(_: LiveIndex) -> serve.FileStates:
        begun.append(time.monotonic())
        time.sleep(0.02)
        ended.append(time.monotonic())
        return ()

    monkeypatch.setattr(serve, "_SCAN_SECONDS", 0.01)
    monkeypatch.setattr(serve, "snapshot_files", slow)
    monkeypatch.setattr(LiveIndex, "_rebuild", lambda *_: None)
    with serve.rebuild_on_change(live_index(tmp_path), ()):
        until(lambda: len(begun) > 2)
    for earlier, later in ((0, 1), (1, 2)):
        pause = begun[later] - ended[earlier]
        assert pause >= serve._PAUSE_FACTOR * (ended[earlier] - begun[earlier]) * 0.9
        assert pause > 10 * serve._SCAN_SECONDS


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signal_stops_the_server_with_status_0(tmp_path: Path, number: signal.Signals) -> None:
    with (
        answerable_serve(write_site_folder(tmp_path), "site") as server,
        # Without a request, as browsers open them: it keeps nobody waiting.
        socket.create_connection(("127.0.0.1", server.port)),
    ):
        assert server.request("GET", "/docs/")[0] == 200
        server.process.send_signal(number)
        assert server.process.wait(PATIENCE) == 0
    assert "Traceback" not in server.output


def test_port_in_use_is_one_sentence(tmp_path: Path) -> None:
    write_site_folder(tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        done = command(tmp_path, "serve", "site", f"--port={port}")
    assert done.returncode == 1
    assert done.stderr.startswith(f"Error: --port: 127.0.0.1:{port} cannot be listened on")
