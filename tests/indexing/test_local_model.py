"""The local embedder's model, derived from the data files of wordllama."""

import hashlib
import math
import shutil
from pathlib import Path

import numpy as np
import pytest

from answerable.indexing.local_model import (
    WEIGHTS_FILE,
    derive_model_files,
    find_wheel_file,
    open_local_embedder,
    read_pieces,
)
from answerable.serve.embedders.local_embedder import (
    LOCAL_IDENTITY,
    MODEL_FILE_DIGESTS,
    PIECES_FILE,
    TOKEN_TABLE_FILE,
    LocalEmbedder,
    load_local_embedder,
    map_safetensors,
)
from answerable.serve.errors import EmbedderError
from support import sites

TEXTS = ("", "How do I splice a rope?", "<s>", "日本語 🙂 \x00", "rope " * 3000, " \n\t ")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The model's files as a build writes them."""
    folder = tmp_path_factory.mktemp("model")
    for name, data in derive_model_files().items():
        (folder / name).write_bytes(data)
    return folder


def test_derived_files_have_the_hashes_that_a_function_checks(folder: Path) -> None:
    assert {path.name for path in folder.iterdir()} == set(MODEL_FILE_DIGESTS)
    for name, digest in MODEL_FILE_DIGESTS.items():
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest


def test_the_function_embeds_as_the_build_does(folder: Path) -> None:
    loaded = load_local_embedder(folder)
    assert np.array_equal(loaded.embed(TEXTS), sites.local().embed(TEXTS))
    assert loaded.word_rank("house") == sites.local().word_rank("house") == 3699
    assert loaded.word_rank("xyzzyqq") is None


def test_the_function_has_the_pieces_of_the_build(folder: Path) -> None:
    """Some end in a carriage return, which reading a text may take for a line's end."""
    pieces = read_pieces()
    assert any(piece.endswith("\r") for piece in pieces)
    loaded = load_local_embedder(folder).pieces
    assert [loaded.find_id(piece) for piece in pieces[300:]] == list(range(300, len(pieces)))


def test_a_vector_is_the_normalized_mean_of_its_dequantized_rows() -> None:
    embedder = sites.local()
    ids = embedder.pieces.encode(TEXTS[1])
    mean = [
        math.fsum(float(embedder.scales[n]) * int(embedder.codes[n, d]) for n in ids) / len(ids)
        for d in range(LOCAL_IDENTITY.dimensions)
    ]
    norm = math.sqrt(math.fsum(value * value for value in mean))
    vector = embedder.embed([TEXTS[1]])[0]
    assert vector.tolist() == pytest.approx([value / norm for value in mean], rel=1e-6)


def test_order_of_words_does_not_change_a_bit_of_a_vector() -> None:
    words = " ".join(path.read_text("utf-8") for path in sites.ROOT.glob("docs/*.md")).split()
    text, turned = " ".join(words[:4000]), " ".join(reversed(words[:4000]))
    embedder = sites.local()
    one, other = embedder.pieces.encode(text), embedder.pieces.encode(turned)
    assert sorted(one) == sorted(other) != one
    first, second = embedder.embed([text, turned])
    assert first.tobytes() == second.tobytes()


def test_each_row_is_within_half_a_step_of_the_weights() -> None:
    (weights,) = map_safetensors(find_wheel_file(WEIGHTS_FILE)).values()
    embedder = sites.local()
    assert embedder.codes.shape == weights.shape == (32_000, 256)
    assert int(np.abs(embedder.codes).max(axis=1).min()) == 127
    for start in range(0, len(weights), 4000):
        rows = slice(start, start + 4000)
        steps = weights[rows].astype(np.float64) / embedder.scales[rows, None].astype(np.float64)
        assert np.abs(steps - embedder.codes[rows]).max() < 0.5001


@pytest.mark.parametrize("name", [PIECES_FILE, TOKEN_TABLE_FILE])
def test_an_altered_or_missing_file_of_a_function_is_refused(
    folder: Path, tmp_path: Path, name: str
) -> None:
    copy = tmp_path / "model"
    shutil.copytree(folder, copy)
    data = bytearray((copy / name).read_bytes())
    data[-1] ^= 1
    (copy / name).write_bytes(data)
    with pytest.raises(EmbedderError, match=f"{name}: not the file that this version"):
        load_local_embedder(copy)
    assert isinstance(load_local_embedder(copy, verify=False), LocalEmbedder)
    (copy / name).unlink()
    with pytest.raises(EmbedderError, match=f"{name}: the local embedder's file is missing"):
        load_local_embedder(copy, verify=False)


def test_another_version_of_the_wheel_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "wordllama"
    shutil.copytree(find_wheel_file(WEIGHTS_FILE).parents[1], package)
    monkeypatch.syspath_prepend(tmp_path)
    with (package / WEIGHTS_FILE).open("ab") as file:
        file.write(b"\0")
    with pytest.raises(EmbedderError, match=r"not the file that wordllama 0.2.2.post0 ships"):
        open_local_embedder()
