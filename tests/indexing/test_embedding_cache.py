"""The embedding cache: only what has changed is embedded, and damage is survived."""

import random
import sqlite3
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from answerable.indexing import caches, local_model
from answerable.indexing.caches import (
    STAGE_CACHE_FILE,
    SqliteCache,
    embed_cached,
    keep_stage,
    prepare_cache_folder,
)
from answerable.serve.embedders.embedder import Vectors
from answerable.serve.errors import EmbedderError, SiteError
from support.doubles import TINY, CountingEmbedder
from support.scripted import LetterEmbedder
from support.sites import NOTES, PAGES, ask, build_here, local, opened, put, write_site

WHOLE = TINY.dimensions


@pytest.fixture
def counter(monkeypatch: pytest.MonkeyPatch) -> CountingEmbedder:
    """The local embedder of every build in this test, counting."""
    counting = CountingEmbedder(local())
    monkeypatch.setattr(local_model, "open_local_embedder", lambda: counting)
    return counting


def built(site: Path, counter: CountingEmbedder) -> list[str]:
    counter.texts.clear()
    build_here(site)
    return list(counter.texts)


def test_a_second_build_embeds_what_has_changed_and_no_more(
    tmp_path: Path, counter: CountingEmbedder
) -> None:
    other = NOTES["winch.md"].replace("winch", "crane")
    site = write_site(tmp_path, notes={**NOTES, "crane.md": other})
    assert len(built(site, counter)) == 7
    assert built(site, counter) == []

    chains = PAGES["mooring.md"].replace("twelve", "thirteen")
    put(site / "docs" / "mooring.md", chains)
    (text,) = built(site, counter)
    assert "thirteen millimetres" in text
    assert "buoy" not in text
    claim = ask(opened(site), "How thick is the chain of a mooring?").answer.claims[0]
    assert "thirteen" in claim.text

    put(site / "notebook" / "winch.md", NOTES["winch.md"].replace("tractor", "bus"))
    (text,) = built(site, counter)
    assert "scrapped bus" in text

    put(site / "notebook" / "winch.md", NOTES["winch.md"])
    assert built(site, counter) == []


@pytest.mark.parametrize("place", [0, 4096, -3000])
def test_a_damaged_cache_is_made_again(
    tmp_path: Path, counter: CountingEmbedder, place: int
) -> None:
    texts = [f"text {n}" for n in range(40)]
    embed_cached(texts, counter, tmp_path)
    path = tmp_path / "embeddings.sqlite3"
    data = bytearray(path.read_bytes())
    place %= len(data)
    end = min(place + 2000, len(data))
    data[place:end] = random.Random(place).randbytes(end - place)
    path.write_bytes(data)
    vectors, _ = embed_cached(texts, counter, tmp_path)
    assert np.isfinite(vectors).all()
    assert embed_cached(texts, counter, tmp_path)[1] == 0


def test_what_no_build_asks_for_is_forgotten_after_a_while(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counter = CountingEmbedder(LetterEmbedder())
    embed_cached(["old", "used"], counter, tmp_path)
    now = time.time()
    for days in (20, caches.CACHE_DAYS + 2):
        monkeypatch.setattr(time, "time", lambda days=days: now + days * 86_400)
        assert embed_cached(["used"], counter, tmp_path)[1] == 0
    assert embed_cached(["old"], counter, tmp_path)[1] == 1


class Failing(LetterEmbedder):
    def __init__(self, after: int) -> None:
        self.left = after

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.left -= 1
        if self.left < 0:
            raise EmbedderError("unreachable")
        return super().embed(texts)


def test_a_stage_is_made_again_for_another_key_and_where_it_is_damaged(tmp_path: Path) -> None:
    keys: list[str] = []

    def stage(key: str) -> dict[str, bytes]:
        def make() -> dict[str, bytes]:
            keys.append(key)
            return {"texts.bin": key.encode()}

        contents = keep_stage(tmp_path, "bundle", key.encode(), dict[str, bytes], make)
        assert contents == {"texts.bin": key.encode()}
        return contents

    for key in ("one", "one", "other", "one"):
        stage(key)
    assert keys == ["one", "other", "one"]
    with closing(sqlite3.connect(tmp_path / STAGE_CACHE_FILE)) as database, database:
        (value,) = database.execute("SELECT value FROM entries").fetchone()
        database.execute("UPDATE entries SET value = ?", (value.replace(b"texts", b"tests"),))
    stage("one")
    assert keys == ["one", "other", "one", "one"]


def test_a_failure_loses_no_batch_that_was_done(tmp_path: Path) -> None:
    texts = [f"text {n}" for n in range(1200)]
    with pytest.raises(EmbedderError, match="unreachable"):
        embed_cached(texts, Failing(after=2), tmp_path)
    assert embed_cached(texts, LetterEmbedder(), tmp_path)[1] == 1200 - 2 * 512


class Wrong(LetterEmbedder):
    def __init__(self, vectors: Vectors) -> None:
        self.vectors = vectors

    def embed(self, texts: Sequence[str]) -> Vectors:
        del texts
        return self.vectors


@pytest.mark.parametrize(
    ("vectors", "problem"),
    [
        (np.ones((1, 4), dtype=np.float32), "check its model"),
        (np.ones((2, 8), dtype=np.float32), "check its model"),
        (np.full((1, 8), np.nan, dtype=np.float32), "not finite"),
        ([[0.0] * 8, [0.0]], "returned a list that is not a table of numbers"),
    ],
)
def test_vectors_of_another_shape_are_refused(tmp_path: Path, vectors: Any, problem: str) -> None:
    with pytest.raises(EmbedderError, match=problem):
        embed_cached(["a"], Wrong(vectors), tmp_path)


def test_the_cache_keeps_itself_out_of_version_control(tmp_path: Path) -> None:
    prepare_cache_folder(tmp_path / "a" / "b")
    assert (tmp_path / "a" / "b" / ".gitignore").read_text(encoding="utf-8") == "*\n"


@pytest.mark.parametrize(
    ("code", "remedy"),
    [
        (sqlite3.SQLITE_FULL, "free space"),
        (sqlite3.SQLITE_IOERR_WRITE, "check the disk"),
        (sqlite3.SQLITE_BUSY, "wait for the other build"),
        (sqlite3.SQLITE_CANTOPEN, "make it writable"),
    ],
)
def test_a_cache_that_cannot_be_used_says_what_to_do_and_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, remedy: str
) -> None:
    path = tmp_path / "cache.sqlite"
    path.touch()

    def refuse(*_: object, **__: object) -> None:
        error = sqlite3.OperationalError("refused")
        error.sqlite_errorcode = code
        raise error

    monkeypatch.setattr(sqlite3, "connect", refuse)
    with pytest.raises(SiteError, match=remedy):
        SqliteCache(path)
    assert path.is_file()
