"""A real `mkdocs serve`: it answers, it follows edits, and a mistake does not take it down."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.deadlines import until
from support.server_processes import Running, mkdocs
from support.sites import NOTES, PAGES, put, write_site

QUESTION = "How thick is the chain of a mooring?"
WINCH = "Where was the gearbox of the electric winch taken from?"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_site(tmp_path_factory.mktemp("serve"), notes=NOTES)


@pytest.fixture(scope="module")
def server(site: Path) -> Iterator[Running]:
    with mkdocs(site) as running:
        yield running


PATH = "/_answerable/answer"


def answer(server: Running, question: str) -> str:
    return str(server.ask(PATH, question)["answer"])


def test_the_dev_server_answers_under_the_site(server: Running) -> None:
    body = server.ask(PATH, QUESTION)
    assert "twelve millimetres" in body["answer"]
    assert body["citations"][0]["url"] == "/mooring/#chains"
    assert f"http://127.0.0.1:{server.port}{PATH}" in server.output
    status, page = server.request("GET", "/mooring/")
    assert status == 200
    assert (
        '<script type="module" src="../assets/answerable/ask-box.js" data-placement=""></script>'
        in page
    )
    assert server.request("GET", "/assets/answerable/ask-box.js")[0] == 200
    # The box knows that it is in a preview.
    assert json.loads(server.request("GET", "/assets/answerable/site.json")[1])["preview"] is True


def test_a_page_that_is_edited_changes_the_next_answer(server: Running, site: Path) -> None:
    put(site / "docs" / "mooring.md", PAGES["mooring.md"].replace("twelve", "forty"))
    until(lambda: "forty millimetres" in answer(server, QUESTION))
    until(lambda: "; 1 text embedded" in server.output)


def test_a_note_that_is_edited_changes_the_next_answer(server: Running, site: Path) -> None:
    text = NOTES["winch.md"].replace("second shelf", "attic").replace("Plans", "Drawings")
    put(site / "notebook" / "winch.md", text)
    until(lambda: "Drawings for the winch (attic)" in answer(server, WINCH))


def test_a_note_that_is_made_invalid_keeps_server_and_answers(server: Running, site: Path) -> None:
    before = answer(server, WINCH)
    put(site / "notebook" / "winch.md", NOTES["winch.md"].replace("label:", "name:"))
    until(lambda: "winch.md: label is missing" in server.output)
    assert "answers come from the last good index" in server.output
    assert "WARNING" in server.output
    assert answer(server, WINCH) == before
    assert server.request("GET", "/storms/")[0] == 200
    put(site / "notebook" / "winch.md", NOTES["winch.md"])
    until(lambda: "Plans for the winch (second shelf)" in answer(server, WINCH))


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Origin": "https://evil.example"},
        {"Origin": "http://127.0.0.1:1"},
    ],
)
def test_request_from_another_origin_is_forbidden(server: Running, headers: dict[str, str]) -> None:
    status, body = server.request("POST", PATH, {"question": QUESTION}, **headers)
    assert status == 403
    assert "millimetres" not in body


def test_a_request_from_its_own_page_is_answered(server: Running) -> None:
    for host in (f"127.0.0.1:{server.port}", f"localhost:{server.port}"):
        headers = {"Host": host, "Origin": f"http://{host}"}
        status, _ = server.request("POST", PATH, {"question": QUESTION}, **headers)
        assert status == 200


def test_server_that_starts_with_an_invalid_note_has_no_index(tmp_path: Path) -> None:
    site = write_site(tmp_path, notes={"bad.md": "no front matter"})
    with mkdocs(site, "--clean") as running:
        status, body = running.request("POST", PATH, {"question": QUESTION})
        assert status == 503
        assert json.loads(body)["status"] == 503
        put(site / "notebook" / "bad.md", NOTES["winch.md"])
        until(lambda: running.request("POST", PATH, {"question": QUESTION})[0] == 200)
        assert not (site / "function").exists()


def test_a_label_that_repeats_another_note_is_never_answered(tmp_path: Path) -> None:
    """A preview is read by somebody too."""
    secret = NOTES["winch.md"].split("---")[2].strip().rstrip(".")
    other = f"---\nlabel: {secret}\nabout: storms.md\n---\n\nLadders are kept dry.\n"
    site = write_site(tmp_path, notes={**NOTES, "ladder.md": other})
    with mkdocs(site) as running:
        status, body = running.request("POST", PATH, {"question": "Are ladders kept dry?"})
        assert (status, "tractor" in body) == (503, False)
        assert "winch.md: words" in running.output
        assert "tractor" not in running.output


def test_failing_answerer_is_logged_without_the_question(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    site = write_site(tmp_path, options={"answers": {"provider": "openai"}})
    with mkdocs(site) as running:
        status, body = running.request("POST", PATH, {"question": QUESTION})
        assert (status, '"fallback": true' in body, "OPENAI_API_KEY" in body) == (200, True, False)
        message = "answerable: A model could not be asked: OPENAI_API_KEY is not set, or the"
        until(lambda: message in running.output)
        assert QUESTION not in running.output
