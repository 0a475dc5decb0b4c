"""Publishing: the manifest commits, builds take turns, and nobody's files are touched."""

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from answerable.engine.bundle import open_bundle
from answerable.engine.errors import SiteError
from answerable.engine.index.manifest import (
    LOCAL_PROFILE,
    MANIFEST_FILE,
    read_manifest,
)
from answerable.engine.settings import FunctionSettings
from answerable.indexing import files
from answerable.indexing.files import replace_folder
from answerable.indexing.publish import publish_function
from answerable.indexing.write import pack_index
from support.doubles import NOON, TINY, index_of, record
from support.sites import NOTES, PAGES, ask, build_here, opened, put, write_site

HEX = "0123456789abcdef" * 2
TESTS = Path(__file__).parents[1]
QUESTION = "How thick is the chain of a mooring?"


def publish(folder: Path, word: str = "rope") -> None:
    index = index_of(folder.parent / word, [record("p", f"<p>The {word} holds.</p>")])
    packed = pack_index(index, TINY, LOCAL_PROFILE, NOON)
    publish_function(folder, packed, FunctionSettings())


def test_the_manifest_is_the_commit_step_and_an_interrupted_build_is_taken_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build_here(write_site(tmp_path, notes=NOTES))
    put(tmp_path / "docs" / "mooring.md", PAGES["mooring.md"].replace("twelve", "fourteen"))
    replaced: list[str] = []
    replace = Path.replace

    def interrupt(path: Path, target: Path) -> Path:
        replaced.append(target.name)
        if target.name == MANIFEST_FILE:
            raise KeyboardInterrupt
        return replace(path, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", interrupt)
        with pytest.raises(KeyboardInterrupt):
            build_here(tmp_path)
    # Its other files are written before it, and none of them counts.
    assert len(replaced) > 3
    assert "site.json" not in replaced
    assert "twelve" in ask(opened(tmp_path), QUESTION).answer.claims[0].text
    bundle = tmp_path / "function" / "bundle"
    put(bundle / f".x.{HEX}.tmp", "half")
    put(tmp_path / "function" / f".answerable.{HEX}.tmp" / "engine" / "api.py", "half")
    build_here(tmp_path)
    assert "fourteen" in ask(opened(tmp_path), QUESTION).answer.claims[0].text
    stored = {pack.name for pack in read_manifest(bundle).packs}
    assert {p.name for p in bundle.iterdir()} - {files.LOCK_FILE} == stored | {MANIFEST_FILE}
    assert not list((tmp_path / "function").rglob("*.tmp"))


def test_a_refused_folder_keeps_every_file(tmp_path: Path) -> None:
    names = ["work.txt", ".notes.tmp", f".deep/er/.x.{HEX}.tmp", f".own.{HEX}.tmp"]
    for name in names:
        put(tmp_path / "function" / name, "mine")
    with pytest.raises(SiteError, match="holds files that no build has written"):
        publish(tmp_path / "function")
    paths = (p for p in (tmp_path / "function").rglob("*") if p.is_file())
    assert {p.relative_to(tmp_path / "function").as_posix() for p in paths} == set(names)


def test_a_build_removes_its_own_leftovers_and_nothing_else(tmp_path: Path) -> None:
    folder = tmp_path / "function"
    publish(folder)
    foreign = [".notes.tmp", f"mine/.x.{HEX}.tmp", "model/.notes.tmp", "bundle/.notes.tmp"]
    ours = [f".x.{HEX}.tmp", f"model/.x.{HEX}.tmp", f".answerable.{HEX}.tmp/engine/a.py",
            f"bundle/.manifest.json.{HEX}.tmp"]  # fmt: skip
    for name in foreign + ours:
        put(folder / name, "x")
    publish(folder)
    assert [name for name in foreign + ours if (folder / name).exists()] == foreign


# Publishes alternating contents while another process does the same.
RACER = f"""
import sys
from pathlib import Path
sys.path.insert(0, {str(TESTS)!r})
from indexing.test_publication import publish
print("ready", flush=True)
sys.stdin.readline()
for turn in range(4):
    publish(Path("function"), sys.argv[1] + "ab"[turn % 2])
"""


def test_two_builds_at_once_take_turns(tmp_path: Path) -> None:
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", RACER, word], cwd=tmp_path,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for word in ("rope", "chain")
    ]  # fmt: skip
    for racer in racers:
        assert racer.stdout
        assert racer.stdout.readline() == "ready\n"
    for racer in racers:
        assert racer.stdin
        racer.stdin.write("go\n")
        racer.stdin.flush()
    bundle = tmp_path / "function" / "bundle"
    while any(racer.poll() is None for racer in racers):
        if (bundle / MANIFEST_FILE).exists():
            assert open_bundle(bundle).passage(0).text.endswith("holds.")
    for racer in racers:
        _, errors = racer.communicate()
        assert racer.returncode == 0, errors
    assert open_bundle(bundle).passage(0).text.endswith("b holds.")


def test_a_folder_is_put_in_the_place_of_another_and_of_none(tmp_path: Path) -> None:
    put(tmp_path / "code" / "old.py", "old")
    for _ in range(2):
        put(tmp_path / "fresh" / "new.py", "new")
        replace_folder(tmp_path / "fresh", tmp_path / "code")
        names = [path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*")]
        assert names == ["code", "code/new.py"]
        shutil.rmtree(tmp_path / "code")


def test_a_site_without_the_plugin_is_as_it_was(tmp_path: Path) -> None:
    def names() -> list[str]:
        paths = (path for path in tmp_path.rglob("*") if path.is_file())
        return sorted(path.relative_to(tmp_path).as_posix() for path in paths)

    def build_with(*plugins: Any) -> None:
        build_here(write_site(tmp_path, plugins=list(plugins)))

    build_with("search")
    before = names()
    build_with({"answerable": {"function": "function"}})
    assert any("answerable" in name for name in names())
    shutil.rmtree(tmp_path / "function")
    shutil.rmtree(tmp_path / ".cache" / "plugin" / "answerable")
    build_with("search")
    assert names() == before
    assert "answerable" not in (tmp_path / "site" / "index.html").read_text("utf-8")
