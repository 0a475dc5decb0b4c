"""No run of a private note's words is in anything that a build writes or an answer says."""

import html
import io
import json
import logging
import random
import re
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from answerable.cli import main
from answerable.engine.providers import open_function
from answerable.engine.types import RoutingHint
from answerable.indexing.word_runs import RunIndex, cut_runs, split_words
from support.app_requests import Request
from support.doubles import handle
from support.openai_stub import OpenAIStub
from support.sites import NOTES, ask, build_here, opened, put, write_site

QUESTION = "Where is the keel?"
ASKED = ("What does the keel note say?", QUESTION, "How thick is the mooring chain?")
HEADERS = {"content-type": "application/json"}
OUTPUTS = (
    *("pages", "search index", "files of the box", "bundle", "code and settings", "log of a build"),
    *("answers", "searches", "problems", "log of a function", "ask", "ask --json", "ask --places"),
    *("eval --full --json", "report of the gold set"),
)


def make_canary() -> str:
    """Make sixteen words that no dictionary has."""
    syllables = ("ba", "ke", "li", "mo", "nu", "pra", "sto", "tri", "ve", "zu")
    generator = random.Random(7)
    return " ".join("".join(generator.choices(syllables, k=3)) for _ in range(16))


CANARY = make_canary()
RUNS = RunIndex(run for _, run in cut_runs(split_words(CANARY), 24))


def holds_canary(text: str) -> bool:
    return any(RUNS.find(text)) or CANARY.split()[5] in text


def read_file(path: Path) -> Iterator[str]:
    """Every way that a file could give words away."""
    data = path.read_bytes()
    text = data.decode("utf-8", "replace")
    yield text
    yield data.decode("utf-16-le", "replace")
    yield html.unescape(re.sub(r"<[^>]*>", " ", text))
    if path.suffix == ".json":
        yield json.dumps(json.loads(data), ensure_ascii=False)
    for stream in re.finditer(rb"\x78[\x01\x5e\x9c\xda]", data):
        try:
            content = zlib.decompressobj().decompress(data[stream.start() :])
        except zlib.error:
            continue
        yield content.decode("utf-8", "replace")


def read_files(*paths: Path) -> list[str]:
    return [text for path in paths if path.is_file() for text in read_file(path)]


def record_log(work: Callable[[], object]) -> str:
    """Return all that is logged while some work is done."""
    handler = logging.StreamHandler(stream := io.StringIO())
    root = logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        work()
    finally:
        root.removeHandler(handler)
        root.setLevel(level)
    return stream.getvalue()


def write_private_site(folder: Path, stub: OpenAIStub | None) -> Path:
    """Write a site with a note that holds the canary in its title, a heading and its text."""
    note = (
        "---\nlabel: Keel\nlocator: third shelf\nabout: storms.md\n"
        f"title: {CANARY}\n---\n\n# {CANARY}\n\nKeel: {CANARY}. Keels rust.\n"
    )
    options: dict[str, object] = {"notebook": "notebook", "function": "function"}
    if stub:
        remote = {"provider": "openai", "base_url": stub.base_url}
        options["embedding"] = {**remote, "dimensions": 64}
        options["answers"] = {**remote, "model": "hostile-echo"}
    notes = {**NOTES, "keel.md": note}
    write_site(folder, notes=notes, plugins=["search", {"answerable": options}])
    query = {"id": "keel", "query": QUESTION, "forbidAnswerPatterns": ["zebra"]}
    put(folder / "eval" / "gold.yaml", json.dumps([query]))
    return folder


def list_outputs(folder: Path) -> dict[str, list[str]]:
    """Build the site, ask its function and run the commands; what each of them gives away."""
    texts = {"log of a build": [record_log(lambda: build_here(folder))]}
    site, function = folder / "site", folder / "function"
    texts["pages"] = read_files(*site.rglob("*.html"))
    texts["search index"] = read_files(*site.glob("search/*"))
    texts["files of the box"] = read_files(*site.glob("assets/**/*"))
    texts["bundle"] = read_files(*function.glob("bundle/**/*"))
    texts["code and settings"] = read_files(*function.glob("*"))
    engine = open_function(function)

    def send(answers: list[str], searches: list[str], problems: list[str]) -> None:
        for question in ASKED:
            body = json.dumps({"question": question}).encode()
            for request, replies in (
                (Request("POST", "answer", headers=HEADERS, body=body), answers),
                (Request("GET", "search", query=f"q={question}"), searches),
                (Request("POST", "answer", headers=HEADERS, body=body + b"}"), problems),
            ):
                replies.append(handle(engine, request).body.decode())

    replies = [texts.setdefault(name, []) for name in ("answers", "searches", "problems")]
    texts["log of a function"] = [record_log(lambda: send(*replies))]
    for name in ("ask", "ask --json", "ask --places"):
        texts[name] = [CliRunner().invoke(main, [*name.split(), QUESTION]).output]
    report = folder / "report.md"
    evaluate = ["eval", "--full", "--json", "--markdown", str(report)]
    texts["eval --full --json"] = [CliRunner().invoke(main, evaluate).output]
    texts["report of the gold set"] = read_files(report)
    return texts


@pytest.fixture(scope="module")
def stub() -> Iterator[OpenAIStub]:
    with OpenAIStub() as server:
        yield server


@pytest.fixture(scope="module", params=["keyless", "openai"])
def outputs(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, stub: OpenAIStub
) -> Iterator[dict[str, list[str]]]:
    folder = tmp_path_factory.mktemp(request.param)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", "test")
        patch.chdir(write_private_site(folder, stub if request.param == "openai" else None))
        yield list_outputs(folder)


@pytest.mark.parametrize("name", OUTPUTS)
def test_no_output_holds_a_run_of_the_note(outputs: dict[str, list[str]], name: str) -> None:
    assert set(outputs) == set(OUTPUTS)
    # A keyless function has nothing to log.
    assert any(outputs[name]) or name == "log of a function"
    assert not [text for text in outputs[name] if holds_canary(text)]


def test_no_output_names_the_file_of_a_note(outputs: dict[str, list[str]]) -> None:
    for name in OUTPUTS:
        assert "keel.md" not in "".join(outputs[name]), name


def test_a_note_is_found_by_its_words_none_of_which_is_a_term(tmp_path: Path) -> None:
    build_here(write_private_site(tmp_path, None))
    bundle = opened(tmp_path)
    (citation,) = ask(bundle, f"{CANARY}?").citations
    assert isinstance(citation, RoutingHint)
    assert (citation.label, citation.url) == ("Keel", "/storms/")
    long_terms = [term for term in bundle.postings_of(()).terms if len(term) > 4]
    assert long_terms
    assert not [term for term in long_terms if term in CANARY]


def test_only_the_embedding_host_hears_the_canary(stub: OpenAIStub) -> None:
    """Runs last: by now every other test has asked through the server."""
    assert "/v1/chat/completions" in {request.path for request in stub.requests}
    heard = {r.path for r in stub.requests if holds_canary(r.body.decode())}
    assert heard == {"/v1/embeddings"}


def test_the_reading_of_this_file_finds_a_planted_run(tmp_path: Path) -> None:
    for data in (
        f"x {CANARY.upper()} y".encode(),
        b"head" + zlib.compress(CANARY.encode(), 9),
        CANARY.replace(" ", "</b> <b>").encode(),
    ):
        (tmp_path / "a").write_bytes(data)
        assert any(holds_canary(text) for text in read_file(tmp_path / "a"))
