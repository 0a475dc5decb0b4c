"""The embedder in the browser gives the vectors of the one in Python, bit by bit."""

import random
import shutil
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from answerable.indexing.browser_index.staged_index import MODEL_FOLDER
from answerable.indexing.local_model import PACKAGED_MODEL
from answerable.serve.embedders.local_embedder import (
    FIRST_MERGED,
    SPACE,
    UNICODE_VOCABULARY_FILE,
    VOCABULARY_FILE,
    has_model_files,
)
from hatch_build import COMMON_PIECES_FILE, read_pieces
from support import sites
from support.engine_process import RECIPE, engine
from support.engine_questions import MODULE
from support.fuzz_settings import DEEP, fuzzed
from support.static_server import Quiet, serving

EMBEDDER = "embedder"
RANDOM_TEXTS = 3_000 if DEEP else 60
REAL_FILES = None if DEEP else 8

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
        engine().call(MODULE, "openFiles", f"{origin}/", save="files")
        files = {"$": "files"}
        engine().call(
            "local_embedder", "openLocalEmbedder", files, MODEL_FOLDER, RECIPE, save=EMBEDDER
        )
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


def real_texts() -> Iterator[str]:
    """Parts of the manual, of code and of the real sites, where they are."""
    patterns = ("docs/**/*.md", "plugin/**/*.py", "tests/serve/text/*.py")
    paths = [path for pattern in patterns for path in sorted(sites.ROOT.glob(pattern))]
    paths += sorted(sites.DATA.glob("sites/**/*.md"))
    for path in islice(paths, 0, None, 1 if REAL_FILES is None else len(paths) // REAL_FILES):
        text = path.read_text("utf-8")
        yield from (text[start : start + 400] for start in range(0, len(text), 400))


def test_parts_of_real_texts_have_the_same_vectors() -> None:
    for text in islice(real_texts(), 20_000 if DEEP else 60):
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


@pytest.mark.parametrize("text", ["", " ", "\ud800", "aaaa" * 100, "日本語のテキスト", "🛶"])
def test_odd_text_has_the_same_vector(text: str) -> None:
    assert embed_in_browser(text) == embed(text)


def test_words_have_the_same_ranks() -> None:
    engine().use(EMBEDDER, "loadPieces", "é")
    pieces = [piece.lstrip(SPACE).lower() for piece in read_pieces()[FIRST_MERGED:]]
    words = [*random.Random(2).sample(pieces, 20_000 if DEEP else 300), "ß", "straße", "", "xyzzyq"]
    for word in words:
        assert engine().use(EMBEDDER, "wordRank", word) == sites.local().word_rank(word), word


def test_the_model_has_fewer_files_than_a_site_ordered_its_own_in() -> None:
    assert has_model_files(PACKAGED_MODEL)
    assert len(list(PACKAGED_MODEL.iterdir())) < 386
    assert (PACKAGED_MODEL / VOCABULARY_FILE).stat().st_size < 98_000
    table = sites.local().table
    # The first rows are those of the most common pieces, which many questions ask for.
    sizes = [len(ids) for ids in table.shards[1:]]
    assert sizes[0] == min(sizes[:100]) == 4
    assert sorted(np.concatenate(table.shards).tolist()) == list(range(32_000))


def test_common_pieces_are_pieces_in_classes_and_none_is_in_two() -> None:
    classes = COMMON_PIECES_FILE.read_text("utf-8").rstrip("\n").split("\n\n")
    listed = [piece for part in classes for piece in part.split("\n")]
    assert [len(part.split("\n")) for part in classes] == [64, 64, *(1 << n for n in range(7, 13))]
    assert len(set(listed)) == len(listed)
    assert set(listed) <= set(read_pieces())
