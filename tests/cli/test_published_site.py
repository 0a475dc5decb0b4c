"""A static site that answers in the browser, asked by the commands: its index, fetched and read."""

import asyncio
import json
import sys
import unicodedata
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from socketserver import BaseRequestHandler, ThreadingTCPServer
from threading import Thread
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from answerable.cli import main, published_site
from answerable.cli.published_site import open_published_site
from answerable.engine.bundle import Bundle, load_index
from answerable.engine.errors import AnswerableError, BundleError, EmbedderError, SiteError
from answerable.engine.index.format import Container
from answerable.engine.index.manifest import WIRE_VERSION, parse_manifest
from answerable.indexing.answers import WrittenAnswer, WrittenCitation, WrittenClaim, write_answers
from answerable.indexing.browser_files import BrowserIndex, name_index
from answerable.indexing.widget.site_files import WIDGET_CONFIG_PATH
from support import sites, static_server
from support.browser_index import (
    change_files,
    change_manifest,
    list_names,
    read_containers,
    read_index,
    read_manifest,
    read_packs,
    write_index,
)
from support.known_questions import write_known_questions

QUESTIONS = (
    "How thick is the chain of a mooring?",
    "What is a lanturn?",
    "How many sails does the boat carry?",
    "Who wrote Hamlet?",
)
FLEET = (
    "---\ndate: 2026-02-03\naliases: [the flotilla]\ntags: [boats]\ndescription: Sails.\n---\n"
    "# Fleet 🚣\n\nEvery boat 🚤 carries seven sails. Its sails are white.\n\n"
    "## Crew\n\n- oar 🛶\n- `rope`\n"
)
ASSETS = "assets/answerable"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("published")
    sites.build_here(sites.write_site(folder, {**sites.PAGES, "fleet.md": FLEET}))
    return folder


@pytest.fixture(scope="module")
def files(built: Path) -> BrowserIndex:
    """Read the index that the build has published."""
    settings = json.loads((built / "site" / WIDGET_CONFIG_PATH).read_bytes())
    return read_index(built / "site" / ASSETS, settings["index"])


def publish(folder: Path, files: BrowserIndex, index: object = None) -> Path:
    """Put an index into a folder below the path ``docs``, and name it where the widget looks."""
    write_index(files, folder / "docs" / ASSETS)
    settings = {"bundle": "x", "index": name_index(files) if index is None else index}
    sites.put(folder / "docs" / WIDGET_CONFIG_PATH, json.dumps(settings))
    return folder


def read_store(files: BrowserIndex) -> Bundle:
    """Read an index from its files."""
    manifest = parse_manifest(read_manifest(files), "x", verify=False)
    packs = read_packs(files)
    store = Bundle(manifest, load_index(manifest, lambda pack: packs[pack.name], is_public=True))
    assert all(store.passages())
    return store


def ask_all(folder: Path, *options: str) -> list[dict[str, Any]]:
    """Ask all questions by the command, for replies without the id of a request."""
    lines = folder / "eval" / "questions.jsonl"
    lines.parent.mkdir(exist_ok=True)
    lines.write_text("".join(f"{json.dumps(question)}\n" for question in QUESTIONS))
    arguments = ["-f", str(folder / "mkdocs.yml"), "ask", "--json", "--file", str(lines), *options]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    replies = [json.loads(line)["reply"] for line in result.stdout.splitlines()]
    return [{**reply, "request_id": None} for reply in replies]


def test_replies_of_a_published_index_equal_those_of_the_bundle(
    built: Path, files: BrowserIndex, tmp_path: Path
) -> None:
    with static_server.serving(publish(tmp_path, files)) as origin:
        replies = ask_all(built, "--site", f"{origin}/docs")
    assert replies == ask_all(built)
    assert [reply["mode"] for reply in replies] == ["partial"] * 3 + ["not-found"]
    assert replies[1]["notes"]
    assert replies[2]["citations"][0]["date"] == "2026-02-03"


def test_a_published_index_has_the_stored_answers_of_all_its_files(tmp_path: Path) -> None:
    sections = [f"## Ropes {n}\n\nThe rope of berth {n} is {n} metres long.\n" for n in range(40)]
    sites.build_here(sites.write_site(tmp_path, {"ropes.md": "# Ropes\n\n" + "\n".join(sections)}))
    lines = {f"ropes#ropes-{n}": [f"how long is the cable of place {n}"] for n in range(40)}
    answers = []
    for section in write_known_questions(tmp_path, lines).values():
        if section.id in lines:
            passage = section.windows[0]
            citation = WrittenCitation(section.id, passage.text, section.hash)
            claim = WrittenClaim(f"As it says: {passage.text}", (citation,))
            answers.append(WrittenAnswer(lines[section.id][0], section.id, (claim,)))
    write_answers(tmp_path / "eval" / "questions.answers.json", answers, [])
    sites.build_here(tmp_path)
    settings = json.loads((tmp_path / "site" / WIDGET_CONFIG_PATH).read_bytes())
    index = read_index(tmp_path / "site" / ASSETS, settings["index"])
    assert len(read_containers(index, "answers")) == 5
    store = read_store(index)
    assert len(store.index.answers) == 40
    assert store.index.answers == sites.opened(tmp_path).index.answers


def test_an_agent_asks_a_static_site_over_stdio(tmp_path: Path, files: BrowserIndex) -> None:
    async def connect(url: str) -> None:
        program = Path(sys.executable).with_name("answerable")
        parameters = StdioServerParameters(command=str(program), args=["mcp", url])
        async with Client(stdio_client(parameters)) as client:
            await use(client)

    async def use(client: Any) -> None:
        assert "do not fill the gap" in (client.instructions or "")
        answer = await client.call_tool("ask", {"question": QUESTIONS[0]})
        assert "https://harbour.example/mooring/#chains" in answer.content[0].text
        refusal = await client.call_tool("ask", {"question": QUESTIONS[-1]})
        assert not refusal.is_error
        assert "do not fill the gap" in refusal.content[0].text
        page = await client.call_tool("read", {"page": "fleet"})
        assert "Every boat 🚤 carries seven sails." in page.content[0].text

    # The tests of browsers keep a loop in this thread.
    with (
        static_server.serving(publish(tmp_path, files)) as origin,
        ThreadPoolExecutor(1) as pool,
    ):
        pool.submit(asyncio.run, connect(f"{origin}/docs/")).result()


def test_a_refused_address_names_the_remedy() -> None:
    for url in ("http://docs.example.com/", "docs.example.com", "ftp://127.0.0.1/", "file:///x"):
        with pytest.raises(
            SiteError, match=r"is not the address of a site; name one such as https"
        ):
            open_published_site(url)
    for command in (["mcp", "https://docs.example.com/"], ["ask", "--site", "x", "A question"]):
        result = CliRunner().invoke(main, ["--bundle", "x", *command])
        assert result.exit_code == 2
        assert "leave one out" in result.output


def test_a_site_without_an_index_names_the_remedy(tmp_path: Path, files: BrowserIndex) -> None:
    with static_server.serving(tmp_path) as origin:
        with pytest.raises(
            SiteError, match=r"File not found\); name the start page of a site that answers in"
        ):
            open_published_site(origin)
        for index, problem in (
            (None, "publishes no index; name"),
            ("../../secret", "publishes no index; name"),
            ({**name_index(files), "manifest": "../../x"}, "publishes no index; name"),
        ):
            settings = json.dumps({"bundle": "x", "index": index})
            sites.put(tmp_path / "docs" / WIDGET_CONFIG_PATH, settings)
            with pytest.raises(SiteError, match=problem):
                open_published_site(f"{origin}/docs/")
        sites.put(tmp_path / "docs" / WIDGET_CONFIG_PATH, "<!doctype html>")
        with pytest.raises(SiteError, match=r"cannot be read .*; name"):
            open_published_site(f"{origin}/docs/")
    with pytest.raises(SiteError, match="Connection refused"):
        open_published_site(origin)


def test_another_version_s_index_is_refused(tmp_path: Path, files: BrowserIndex) -> None:
    model = {"provider": "local", "model": "other", "dimensions": 256}
    counts = read_manifest(files)["counts"]
    cases: tuple[tuple[type[AnswerableError], str, dict[str, object]], ...] = (
        (BundleError, rf"is not wire version {WIRE_VERSION} \(it says 99\)", {"wire": 99}),
        (EmbedderError, "was built with local/other@256", {"identity": model}),
        (BundleError, "is malformed", {"counts": {"passages": 10**9}}),
        (BundleError, "counts 1 terms instead of", {"counts": counts | {"terms": 1}}),
    )
    for number, (kind, problem, fields) in enumerate(cases):
        folder = publish(tmp_path / str(number), change_manifest(files, **fields))
        with static_server.serving(folder) as origin, pytest.raises(kind, match=problem):
            open_published_site(f"{origin}/docs/")


@pytest.mark.parametrize(
    ("kind", "damage", "problem"),
    [
        ("core", lambda path: path.write_bytes(b"x"), "is not the file that was built"),
        ("texts", lambda path: path.unlink(), "deploy the whole site again"),
        ("manifest", lambda path: path.write_text("[]"), "is not the file that was built"),
    ],
)
def test_a_partly_deployed_index_is_refused(
    tmp_path: Path,
    files: BrowserIndex,
    kind: str,
    damage: Callable[[Path], object],
    problem: str,
) -> None:
    is_first = kind in ("core", "manifest")
    name = files.manifest if is_first else list_names(files, kind)[0]
    damage(publish(tmp_path, files) / "docs" / ASSETS / files.folder / name)
    with (
        static_server.serving(tmp_path) as origin,
        pytest.raises(BundleError, match=problem),
    ):
        open_published_site(f"{origin}/docs/")


@pytest.mark.deep
@pytest.mark.parametrize(
    ("kind", "values", "arrays"),
    [
        ("core", {"passage_titles": [1.5] * 9}, {}),
        ("core", {"passage_ids": [[[]]] * 9}, {}),
        ("core", {"passage_urls": ["javascript:alert()"] * 9}, {}),
        ("core", {"names": {}}, {}),
        ("core", {}, {"passage_records": np.array([2**32 - 1], "<u4")}),
        ("terms", {}, {"postings.counts": np.zeros(1, "|u1")}),
        ("terms", {}, {"postings.gaps": np.full(3, 65_535, "<u2")}),
        ("texts", {"texts": [["text", [0, 99], [], []]] * 9}, {}),
        ("codes", {}, {"codes": np.zeros(7, "|i1")}),
        ("words", {"words": None}, {}),
    ],
)
def test_a_malformed_file_of_an_index_is_refused(
    files: BrowserIndex, kind: str, values: Mapping[str, Any], arrays: Mapping[str, Any]
) -> None:
    container = read_containers(files, kind)[0]
    hostile = Container({**container.values, **values}, {**container.arrays, **arrays})
    with pytest.raises(BundleError, match="is malformed"):
        read_store(change_files(files, kind, [hostile]))


def test_a_redirect_may_lead_to_https_or_loopback_only(tmp_path: Path, files: BrowserIndex) -> None:
    publish(tmp_path, files)
    targets = {"/moved/": "", "/away/": "http://docs.example.com"}

    class Redirecting(static_server.Quiet):
        def do_GET(self) -> None:  # noqa: N802 - its base class names it so
            for prefix, host in targets.items():
                if self.path.startswith(prefix):
                    self.send_response(301)
                    self.send_header("Location", host + self.path.replace(prefix, "/docs/"))
                    self.end_headers()
                    return
            super().do_GET()

    with static_server.serving(tmp_path, Redirecting) as origin:
        assert open_published_site(f"{origin}/moved/")[1] == f"{origin}/docs/"
        with pytest.raises(SiteError, match=r"it leads to http://docs\.example\.com/.* not https"):
            open_published_site(f"{origin}/away/")


def test_an_index_of_too_many_bytes_is_refused(
    tmp_path: Path, files: BrowserIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(tmp_path, files)
    with static_server.serving(tmp_path) as origin:
        monkeypatch.setattr(published_site, "_MAX_INDEX_BYTES", 1000)
        with pytest.raises(BundleError, match="has more than 1000 bytes"):
            open_published_site(f"{origin}/docs/")


CONTROLS = "\x1b[2J\x9b1m\u202e\r\n"


@pytest.mark.deep
@pytest.mark.parametrize(
    ("settings", "manifest"),
    [
        ({"index": {f"en{CONTROLS}": "x", "de": "y"}}, {}),
        ({}, {"wire": CONTROLS}),
        ({}, {"identity": {"provider": CONTROLS, "model": CONTROLS, "dimensions": 256}}),
        ({}, {"identity": {CONTROLS: 1}}),
        ({}, {"profile": {"floor": CONTROLS}}),
        ({}, {"counts": {"records": CONTROLS, "passages": 9, "terms": 9, "words": 9}}),
    ],
)
def test_no_error_holds_control_characters_of_a_site(
    tmp_path: Path,
    files: BrowserIndex,
    settings: Mapping[str, object],
    manifest: Mapping[str, object],
) -> None:
    hostile = change_manifest(files, **manifest)
    publish(tmp_path, hostile)
    content = {"index": name_index(hostile), **settings}
    sites.put(tmp_path / "docs" / WIDGET_CONFIG_PATH, json.dumps(content))
    with static_server.serving(tmp_path) as origin, pytest.raises(AnswerableError) as caught:
        open_published_site(f"{origin}/docs/")
    assert_plain(str(caught.value))


@pytest.mark.deep
@pytest.mark.parametrize(
    "head", [f"{CONTROLS} 200", f"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{CONTROLS}"]
)
def test_no_error_holds_control_characters_of_a_server(head: str) -> None:
    class Garbling(BaseRequestHandler):
        def handle(self) -> None:
            self.request.recv(65_536)
            self.request.sendall(head.encode())

    with ThreadingTCPServer(("127.0.0.1", 0), Garbling) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        with pytest.raises(SiteError) as caught:
            open_published_site(f"http://127.0.0.1:{server.server_address[1]}/")
        assert_plain(str(caught.value))
        server.shutdown()


def assert_plain(message: str) -> None:
    assert not [c for c in message if unicodedata.category(c) in ("Cc", "Cf")]
