"""The embedding cache: only what has changed is embedded, and damage is survived."""

import hashlib
import random
import sqlite3
import stat
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from answerable.engine.errors import EmbedderError, SiteError
from answerable.engine.vectors import Floats
from answerable.indexing import caches, local_model
from answerable.indexing.caches import CACHE_FILE, KEY_FILE, SqliteCache, embed_cached
from support.doubles import CountingEmbedder
from support.scripted import LetterEmbedder
from support.sites import NOTES, PAGES, ask, build_here, local, opened, put, write_site


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


def test_a_damaged_cache_is_made_again(tmp_path: Path, counter: CountingEmbedder) -> None:
    texts = [f"text {n}" for n in range(40)]
    embed_cached(texts, counter, tmp_path)
    path = tmp_path / CACHE_FILE
    data = bytearray(path.read_bytes())
    data[4096:6096] = random.Random(4).randbytes(2000)
    path.write_bytes(data)
    # What was read before the damage was met is embedded by the next build.
    for _ in range(2):
        vectors, _ = embed_cached(texts, counter, tmp_path)
        assert np.isfinite(vectors).all()
    assert embed_cached(texts, counter, tmp_path)[1] == 0


def test_a_damaged_entry_is_as_if_it_were_absent(tmp_path: Path) -> None:
    keys = [hashlib.sha256(bytes([n])).digest() for n in range(3)]
    with closing(SqliteCache(tmp_path, "pages")) as cache:
        cache.put(dict.fromkeys(keys, b"value of an entry"))
    for change in ("x'00'", "'a text'", "substr(value, 2)", "x'ff' || substr(value, 2)"):
        with closing(SqliteCache(tmp_path, "pages")) as cache:
            cache.put({keys[0]: b"value of an entry"})
        with sqlite3.connect(tmp_path / CACHE_FILE) as database:
            (kept,) = database.execute("SELECT min(key) FROM pages").fetchone()
            database.execute(f"UPDATE pages SET value = {change} WHERE key = ?", (kept,))
        with closing(SqliteCache(tmp_path, "pages")) as cache:
            values = [cache.get(key) for key in keys]
            assert sorted(map(str, values)) == ["None", *["b'value of an entry'"] * 2]
            cache.put({keys[values.index(None)]: b"value of an entry"})


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

    def embed(self, texts: Sequence[str]) -> Floats:
        self.left -= 1
        if self.left < 0:
            raise EmbedderError("unreachable")
        return super().embed(texts)


def test_a_failure_loses_no_batch_that_was_done(tmp_path: Path) -> None:
    texts = [f"text {n}" for n in range(1200)]
    with pytest.raises(EmbedderError, match="unreachable"):
        embed_cached(texts, Failing(after=2), tmp_path)
    assert embed_cached(texts, LetterEmbedder(), tmp_path)[1] == 1200 - 2 * 512


def test_the_cache_keeps_itself_out_of_version_control(tmp_path: Path) -> None:
    SqliteCache(tmp_path / "a" / "b", "pages").close()
    assert (tmp_path / "a" / "b" / ".gitignore").read_text(encoding="utf-8") == "*\n"


def test_a_cache_that_cannot_be_used_says_what_to_do_and_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / CACHE_FILE
    path.touch()

    def refuse(*_: object, **__: object) -> None:
        error = sqlite3.OperationalError("refused")
        error.sqlite_errorcode = sqlite3.SQLITE_FULL
        raise error

    monkeypatch.setattr(sqlite3, "connect", refuse)
    with pytest.raises(SiteError, match="make it writable, free space"):
        SqliteCache(tmp_path, "embeddings")
    assert path.is_file()


def test_no_file_but_the_key_tells_whether_a_text_is_in_the_cache(tmp_path: Path) -> None:
    key = hashlib.sha256(b"a guess").digest()
    for folder in (tmp_path / "one", tmp_path / "other"):
        with closing(SqliteCache(folder, "embeddings")) as cache:
            cache.put({key: b"value"})
            assert cache.get(key) == b"value"
        assert stat.S_IMODE((folder / KEY_FILE).stat().st_mode) == 0o600
        with closing(SqliteCache(folder, "pages")) as cache:
            assert cache.get(key) is None
    kept = [(tmp_path / name / CACHE_FILE).read_bytes() for name in ("one", "other")]
    assert kept[0] != kept[1]
    assert not any(key in data for data in kept)
    # Without its key a cache is as if it were empty.
    (tmp_path / "one" / KEY_FILE).unlink()
    with closing(SqliteCache(tmp_path / "one", "embeddings")) as cache:
        assert cache.get(key) is None
