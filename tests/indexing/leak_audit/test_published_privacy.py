"""No run of a private note's words is in anything that a build writes or an answer says."""

import html
import io
import json
import random
import re
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from answerable.indexing.notes.note_lint import find_shared_run, fold_words
from answerable.serve.http.messages import Request
from answerable.serve.providers import make_engine
from support.doubles import CountingEmbedder, handle
from support.sites import NOTES, ask, build, local, opened, write_site

SYLLABLES = ("ba", "ke", "li", "mo", "nu", "pra", "sto", "tri", "ve", "zu")
RUN = 8


@pytest.fixture(scope="module")
def sentence() -> str:
    random_choices = random.Random(2024)
    return " ".join("".join(random_choices.choices(SYLLABLES, k=4)) for _ in range(12))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, sentence: str) -> Path:
    """A site with a note that holds the sentence in its title, a heading and its body."""
    secret = (
        "---\nlabel: Keel\nlocator: third shelf\nabout: storms.md\n"
        f"title: {sentence}\n---\n\n# {sentence}\n\nWe say: {sentence}. Keels rust.\n"
    )
    folder = write_site(tmp_path_factory.mktemp("private"), notes={**NOTES, "keel.md": secret})
    done = build(folder, "-v")
    assert done.returncode == 0, done.stderr
    (folder / "log").mkdir()
    (folder / "log" / "build.txt").write_text(done.stdout + done.stderr, encoding="utf-8")
    return folder


def readings(path: Path) -> Iterator[str]:
    """Every way that a file could give words away."""
    data = path.read_bytes()
    yield data.decode("utf-8", "replace")
    yield data.decode("utf-16-le", "replace")
    text = data.decode("utf-8", "replace")
    yield html.unescape(re.sub(r"<[^>]*>", " ", text))
    if path.suffix == ".json":
        yield json.dumps(json.loads(data), ensure_ascii=False)
    if path.suffix == ".npy":
        yield bytes(np.load(io.BytesIO(data)).tobytes()).decode("utf-8", "replace")
    yield from inflated(data)


def inflated(data: bytes) -> Iterator[str]:
    """Every zlib stream in a file, wherever it begins."""
    for match in re.finditer(rb"\x78[\x01\x5e\x9c\xda]", data):
        try:
            content = zlib.decompressobj().decompress(data[match.start() :])
        except zlib.error:
            continue
        yield content.decode("utf-8", "replace")


def written(site: Path) -> list[Path]:
    return [
        path
        for folder in ("site", "function", "log")
        for path in sorted((site / folder).rglob("*"))
        if path.is_file() and "model" not in path.parts and path.suffix not in (".woff2", ".ttf")
    ]


def leaks(text: str, sentence: str) -> bool:
    return fold_words(sentence)[5] in text or find_shared_run(text, sentence, RUN) is not None


def test_the_run_detector_of_this_file_finds_a_planted_run(tmp_path: Path, sentence: str) -> None:
    plain = tmp_path / "a.txt"
    plain.write_text(f"x {sentence.upper()} y", encoding="utf-8")
    packed = tmp_path / "b.z"
    packed.write_bytes(b"head" + zlib.compress(sentence.encode(), 9))
    tagged = tmp_path / "c.html"
    tagged.write_text(sentence.replace(" ", "</b> <b>"), encoding="utf-8")
    for path in (plain, packed, tagged):
        assert any(leaks(text, sentence) for text in readings(path)), path


def test_nothing_written_holds_a_run_of_the_note(site: Path, sentence: str) -> None:
    paths = written(site)
    names = {path.name for path in paths}
    assert {"build.txt", "manifest.json", "index.html", "main.py"} <= names
    assert any(path.name.startswith("hints-") for path in paths)
    for path in paths:
        for text in readings(path):
            assert not leaks(text, sentence), path


def test_nothing_that_is_written_names_a_note_file(site: Path) -> None:
    for path in written(site):
        if "site" in path.parts or "function" in path.parts:
            assert all("keel.md" not in text for text in readings(path)), path


def test_the_note_is_found_and_an_answer_shows_its_public_surface_only(
    site: Path, sentence: str
) -> None:
    reply = ask(opened(site), f"{sentence}?")
    assert reply.answer.mode == "related-material"
    engine = make_engine(opened(site), local())
    body = json.dumps({"question": sentence}).encode()
    headers = {"content-type": "application/json"}
    answer = handle(engine, Request("POST", "answer", headers=headers, body=body))
    search = handle(engine, Request("GET", "search", "q=keels+rust+" + sentence.split()[0]))
    assert "third shelf" in answer.body.decode()
    # The notes of an answer name the words of the question that the site does not know.
    shown = json.dumps({**json.loads(answer.body), "notes": []})
    for text in (shown, search.body.decode()):
        assert not leaks(text, sentence)


def test_the_answerer_embeds_no_word_of_a_note(site: Path, sentence: str) -> None:
    embedder = CountingEmbedder(local())
    make_engine(opened(site), embedder).answer("Which lantern warns of keels that rust?")
    assert embedder.texts
    assert not any(leaks(text, sentence) for text in embedder.texts)


def test_no_word_of_a_note_is_a_term(site: Path, sentence: str) -> None:
    terms = opened(site).postings.terms
    assert not any(term in word for term in terms for word in fold_words(sentence) if len(term) > 4)


def test_the_cache_that_holds_private_vectors_is_not_in_version_control(site: Path) -> None:
    folder = site / ".cache" / "plugin" / "answerable"
    assert (folder / ".gitignore").read_text(encoding="utf-8") == "*\n"
