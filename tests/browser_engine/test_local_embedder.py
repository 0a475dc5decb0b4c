"""The embedder in the browser gives the vectors of the one in Python, bit by bit."""

import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answerable.engine.embedders.local_embedder import (
    FIRST_MERGED,
    SPACE,
    UNICODE_VOCABULARY_FILE,
    VOCABULARY_FILE,
)
from answerable.indexing.browser_files import MODEL_FOLDER
from answerable.indexing.local_model import PACKAGED_MODEL
from hatch_build import read_pieces
from support import sites
from support.engine_parity import read_questions
from support.engine_process import OPENER, engine
from support.frozen_site import SOURCE
from support.fuzz_settings import DEEP, fuzzed
from support.static_server import Quiet, serving

EMBEDDER = "embedder"
RANDOM_TEXTS = 3_000 if DEEP else 60

requested: list[str] = []


class Listing(Quiet):
    """Serve files and list the paths that were asked for."""

    def do_GET(self) -> None:  # noqa: N802
        requested.append(self.path)
        super().do_GET()


@pytest.fixture(scope="module", autouse=True)
def _opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    folder = tmp_path_factory.mktemp("site")
    shutil.copytree(PACKAGED_MODEL, folder / MODEL_FOLDER)
    with serving(folder, Listing) as origin:
        engine().call(OPENER, "openFiles", f"{origin}/", save="files")
        files = {"$": "files"}
        engine().call("local_embedder", "openLocalEmbedder", files, MODEL_FOLDER, save=EMBEDDER)
        assert [Path(path).name for path in requested] == [VOCABULARY_FILE]
        assert embed_in_browser("What is low water?") == embed("What is low water?")
        assert not any(UNICODE_VOCABULARY_FILE in path for path in requested)
        yield


def embed(text: str) -> list[float]:
    vector: list[float] = sites.local().embed([text])[0].tolist()
    return vector


def embed_in_browser(text: str) -> list[float]:
    vector: list[float] = engine().use(EMBEDDER, "embed", text)
    return vector


def test_parts_of_real_texts_have_the_same_vectors() -> None:
    paths = sorted(SOURCE.glob("docs/**/*.md"))
    for text in (path.read_text("utf-8")[:400] for path in paths):
        assert embed_in_browser(text) == embed(text), text
    texts = [question.text for question in read_questions()]
    for text in texts if DEEP else texts[::8]:
        assert embed_in_browser(text) == embed(text), text


def test_random_pieces_in_a_row_have_the_same_vectors() -> None:
    chance = random.Random(5)
    pieces = [piece.replace(SPACE, " ") for piece in read_pieces()]
    for _ in range(RANDOM_TEXTS):
        text = "".join(chance.choices(pieces, k=chance.randrange(1, 40)))
        assert embed_in_browser(text) == embed(text), text


SPECIAL = ["<s>", "</s>", "<unk>", "<s", "<0x0A>", "\u2581", " ", "\n", "\t", "\x00", "\ud83d"]


@fuzzed(few=60, many=2_000)
@given(st.lists(st.text() | st.sampled_from(SPECIAL), max_size=6))
def test_any_text_has_the_same_vector(parts: list[str]) -> None:
    text = "".join(parts)
    assert embed_in_browser(text) == embed(text)


def test_words_have_the_same_ranks() -> None:
    engine().use(EMBEDDER, "loadPieces", "é")
    pieces = [piece.lstrip(SPACE).lower() for piece in read_pieces()[FIRST_MERGED:]]
    words = [*random.Random(2).sample(pieces, 20_000 if DEEP else 300), "ß", "straße", "", "xyzzyq"]
    for word in words:
        assert engine().use(EMBEDDER, "wordRank", word) == sites.local().word_rank(word), word
