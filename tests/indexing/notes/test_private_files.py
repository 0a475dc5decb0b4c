"""Vectors of notes are for their owner alone, whatever umask a build runs with."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner

from answerable import cli
from support.sites import NOTES, build_here, put, write_site

GOLD = """
queries:
  - id: gearbox
    query: Where was the gearbox of the electric winch taken from?
    expectSources: [winch.md]
"""
PLACES = ("function", ".cache/plugin/answerable")


@contextmanager
def umask(mask: int) -> Iterator[None]:
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


def modes(*folders: Path) -> dict[str, set[str]]:
    """The modes of folders and of files, those given and all that is in them."""
    modes_by_kind: dict[str, set[str]] = {"folders": set(), "files": set()}
    for path in (path for folder in folders for path in (folder, *folder.rglob("*"))):
        mode = f"{stat.S_IMODE(path.stat().st_mode):o}"
        modes_by_kind["folders" if path.is_dir() else "files"].add(mode)
    return modes_by_kind


OWN = {"folders": {"700"}, "files": {"600"}}


def test_a_build_writes_vectors_for_their_owner_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = {"bundle": {"dimensions": 128}, "gate": True}
    site = write_site(tmp_path, notes=NOTES, options=options)
    put(site / "eval" / "gold.yaml", GOLD)
    with umask(0):
        build_here(site)
        monkeypatch.chdir(site)
        assert CliRunner().invoke(cli.main, ["eval"]).exit_code == 0
    modes_by_kind = modes(*(site / place for place in PLACES))
    assert modes_by_kind == OWN
    # What is published is read by a web server.
    page = stat.S_IMODE((site / "site" / "assets" / "answerable" / "site.json").stat().st_mode)
    assert page == 0o666


def test_a_build_restricts_files_that_an_earlier_one_left_readable(tmp_path: Path) -> None:
    site = write_site(tmp_path, notes=NOTES)
    build_here(site)
    folders = [site / place for place in PLACES]
    for path in (path for folder in folders for path in (folder, *folder.rglob("*"))):
        path.chmod(0o755 if path.is_dir() else 0o644)
    build_here(site)
    vectors = [site / "function" / "bundle", *(site / PLACES[1]).glob("*.sqlite3")]
    assert modes(*vectors) == OWN
    assert [f"{stat.S_IMODE(folder.stat().st_mode):o}" for folder in folders] == ["700", "700"]
