"""The local embedder's model, which is derived from the data files of wordllama."""

import shutil
from pathlib import Path

import numpy as np
import pytest

import hatch_build
from answerable.engine.embedders.local_embedder import (
    VOCABULARY_FILE,
    LocalEmbedder,
    load_local_embedder,
    name_pack,
    read_model_files,
)
from answerable.engine.errors import EmbedderError
from answerable.indexing.local_model import PACKAGED_MODEL
from support import sites

TEXTS = ("", "How do I splice a rope?", "<s>", "日本語 🙂 \x00", "rope " * 3000, " \n\t ")


def test_the_package_holds_the_files_that_are_derived_from_the_wheel() -> None:
    """Each file, byte by byte."""
    assert read_model_files(PACKAGED_MODEL) == hatch_build.derive_model_files()


def test_the_function_embeds_as_the_build_does(tmp_path: Path) -> None:
    loaded = load_local_embedder(shutil.copytree(PACKAGED_MODEL, tmp_path / "model"))
    assert np.array_equal(loaded.embed(TEXTS), sites.local().embed(TEXTS))
    assert loaded.word_rank("house") == sites.local().word_rank("house") == 3699
    assert loaded.word_rank("xyzzyqq") is None


@pytest.mark.parametrize("name", [VOCABULARY_FILE, name_pack(0)])
def test_an_altered_or_missing_file_of_a_function_is_refused(tmp_path: Path, name: str) -> None:
    copy = shutil.copytree(PACKAGED_MODEL, tmp_path / "model")
    data = (copy / name).read_bytes()
    (copy / name).write_bytes(data + b"\0")
    with pytest.raises(EmbedderError, match="model: not the files of the local embedder that this"):
        load_local_embedder(copy)
    (copy / name).write_bytes(b"\0" + data[1:])

    def embed() -> LocalEmbedder:
        embedder = load_local_embedder(copy, verify=False)
        embedder.table.read_rows(range(2000))
        return embedder

    with pytest.raises(EmbedderError, match=f"{name} does not decompress: run"):
        embed()
    (copy / name).unlink()
    with pytest.raises(EmbedderError, match=f"{name}: the local embedder's file is missing"):
        embed()
