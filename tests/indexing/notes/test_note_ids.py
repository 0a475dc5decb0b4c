"""Ids of notes: keyed, so that nobody can test guesses of a file's name, and stable."""

import hashlib
import hmac
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from click.testing import CliRunner

from answerable.cli import main
from answerable.engine.bundle import open_bundle
from answerable.engine.errors import NotebookError
from answerable.indexing.notes.note_key import NOTE_KEY_FILE
from answerable.indexing.notes.notebook import read_notebook
from support.sites import NOTES, build_here, put, write_site

NOTE = NOTES["winch.md"]
KEY = "0123456789abcdef" * 4


def written(folder: Path, *names: str, key: str | None = None) -> Path:
    for name in names:
        put(folder / name, NOTE)
    if key is not None:
        put(folder / NOTE_KEY_FILE, key)
    return folder


def ids(folder: Path) -> dict[str, str]:
    return read_notebook(folder, writes_key=True).ids


def refused(folder: Path, *, writes_key: bool = True) -> str:
    with pytest.raises(NotebookError) as caught:
        list(read_notebook(folder, writes_key=writes_key).notes)
    return str(caught.value)


def test_an_id_is_the_hmac_of_the_path(tmp_path: Path) -> None:
    id_by_path = ids(written(tmp_path, "a/winch.md", key=KEY))
    digest = hmac.new(bytes.fromhex(KEY), b"a/winch.md", hashlib.sha256).hexdigest()
    assert id_by_path == {"a/winch.md": f"note:{digest[:10]}"}


def test_a_key_is_written_once_for_its_owner_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        first = ids(written(tmp_path, "winch.md"))
    finally:
        os.umask(before)
    key = tmp_path / NOTE_KEY_FILE
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert len(bytes.fromhex(key.read_text("ascii"))) == 32
    text = key.read_bytes()
    assert ids(tmp_path) == first
    assert key.read_bytes() == text
    assert sorted(path.name for path in tmp_path.iterdir()) == [NOTE_KEY_FILE, "winch.md"]


def test_first_readings_at_once_use_one_key(tmp_path: Path) -> None:
    for folder in (written(tmp_path / str(n), "winch.md", "crane.md") for n in range(20)):
        with ThreadPoolExecutor(4) as pool:
            every = list(pool.map(lambda _, folder=folder: ids(folder), range(4)))
        assert all(each == every[0] for each in every)


def test_notes_with_ids_of_their_own_need_no_key(tmp_path: Path) -> None:
    put(tmp_path / "winch.md", NOTE.replace("label", "id: w-1\nlabel", 1))
    put(tmp_path / "draft.md", "---\ndraft: true\n---\nNot yet.\n")
    assert ids(tmp_path) == {"winch.md": "w-1"}
    assert not (tmp_path / NOTE_KEY_FILE).exists()


@pytest.mark.parametrize("key", ["", "secret words", KEY + "0", KEY * 900])
def test_a_malformed_key_is_refused_with_the_remedy_and_not_repeated(
    tmp_path: Path, key: str
) -> None:
    error = refused(written(tmp_path, "winch.md", key=key))
    assert error == (
        f"notebook: {tmp_path / NOTE_KEY_FILE} is not a file of 64 hexadecimal digits; "
        "restore it from "
        "a backup, or delete it and build again, which gives the notes new ids"
    )


def test_a_command_that_only_reads_writes_no_key(tmp_path: Path) -> None:
    error = refused(written(tmp_path, "winch.md"), writes_key=False)
    assert error == (
        f"notebook: {tmp_path / NOTE_KEY_FILE} is missing, so the ids of notes are unknown; "
        "build the "
        "site, or restore that file"
    )
    assert not (tmp_path / NOTE_KEY_FILE).exists()


GOLD = """
queries:
  - id: gearbox
    query: Where was the gearbox of the electric winch taken from?
    expectSources: [winch.md]
"""


def test_a_build_writes_the_key_and_publishes_it_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    site = write_site(tmp_path, notes=NOTES)
    monkeypatch.chdir(site)
    put(site / "eval" / "gold.yaml", GOLD)
    caplog.set_level("DEBUG")
    build_here(site)
    key = site / "notebook" / NOTE_KEY_FILE
    assert f"{Path('notebook') / NOTE_KEY_FILE} is new; keep it private" in caplog.text
    (hint,) = open_bundle(site / "function" / "bundle").hints
    assert hint.id == ids(site / "notebook")["winch.md"]

    digits = key.read_bytes().strip()
    keys = [
        path
        for folder in ("site", "function", ".cache", "docs")
        for path in (site / folder).rglob("*")
        if path.is_file()
        and any(each in path.read_bytes() for each in (digits, bytes.fromhex(digits.decode())))
    ]
    assert keys == []
    assert digits.decode() not in caplog.text

    manifest = (site / "function" / "bundle" / "manifest.json").read_bytes()
    caplog.clear()
    build_here(site)
    assert NOTE_KEY_FILE not in caplog.text
    assert (site / "function" / "bundle" / "manifest.json").read_bytes() == manifest

    key.unlink()
    done = CliRunner().invoke(main, ["eval"])
    assert done.exit_code == 1
    assert "is missing, so the ids of notes are unknown; build the site" in done.output
    assert not key.exists()
