"""A site that answers in its readers' browsers gets an index of its pages, and never of notes."""

import dataclasses
import json
import os
import subprocess
import types
import typing
from pathlib import Path
from typing import Any

import pytest
from mkdocs.commands.build import build as mkdocs_build
from mkdocs.config import load_config

from answerable.engine.embedders.local_embedder import has_model_files
from answerable.engine.index.columns import COLUMNS, PRIVATE_KINDS, Index
from answerable.engine.types import RoutingHint
from answerable.indexing.browser_files import MODEL_FOLDER, remove_stale_files
from answerable.indexing.files import write_folder
from answerable.indexing.notes.notebook import Note, Notebook
from answerable.indexing.notes.routing_hints import EmbeddedHints
from answerable.indexing.widget.injection import ENGINE_SCRIPT
from support.browser_index import list_names, read_containers, read_index, read_manifest
from support.engine_process import ENGINE, WAVES, node_command
from support.sites import PAGES, build_here, forget_plugins, opened, put, write_site

FILES = Path("site", "assets", "answerable")
PRIVATE_TYPES = {Note, Notebook, RoutingHint, EmbeddedHints}


def read_files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def read_config(folder: Path) -> dict[str, Any]:
    config: dict[str, Any] = json.loads((folder / FILES / "site.json").read_bytes())
    return config


def list_index_files(folder: Path) -> set[str]:
    return {
        path.relative_to(folder / FILES).as_posix()
        for path in (folder / FILES).glob("index/**/*")
        if path.is_file()
    }


def ask_in_waves(folder: Path) -> list[set[str]]:
    """Ask a question in a new page, and return the waves of files that wait for one another."""
    entry = (ENGINE / ENGINE_SCRIPT).as_uri()
    done = subprocess.run(
        [*node_command(), str(WAVES), entry, str(folder / FILES)],
        input=json.dumps(["How thick is the chain of a mooring?"]),
        capture_output=True,
        text=True,
        check=True,
    )
    [report] = json.loads(done.stdout)
    assert report["mode"] == "partial"
    return [{file["path"] for file in wave} for wave in report["first"]]


def list_field_types(owner: Any) -> set[Any]:
    """List the types of all fields of a dataclass, of their fields, and of what they hold."""
    reached: set[Any] = set()
    unread = [owner]
    while unread:
        kind = unread.pop()
        if kind in reached:
            continue
        reached.add(kind)
        unread += typing.get_args(kind)
        if isinstance(kind, type | types.GenericAlias) and dataclasses.is_dataclass(kind):
            unread += typing.get_type_hints(kind).values()
    return reached


def test_keyless_site_without_notes_gets_an_index_of_its_bundle(tmp_path: Path) -> None:
    build_here(write_site(tmp_path))
    entry = read_config(tmp_path)["index"]
    index = read_index(tmp_path / FILES, entry)
    bundle = opened(tmp_path)
    assert read_manifest(index)["id"] == bundle.manifest.id
    assert read_manifest(index)["built_at"] == bundle.manifest.built_at
    # A name is the hash of what its file holds, so those that stay with the function are not named.
    names = {name for name, _ in read_manifest(index)["packs"]}
    # The core lies behind the manifest.
    core = set(list_names(index, "core"))
    assert names - core == index.files.keys() - {index.manifest}
    assert has_model_files(tmp_path / FILES / entry["model"])
    texts = [text for part in read_containers(index, "texts") for text in part.values["texts"]]
    assert texts == [passage.markdown for passage in bundle.passages()]


def test_equal_builds_write_equal_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1714564800")
    for name in ("first", "second"):
        build_here(write_site(tmp_path / name))
    first, second = (read_files(tmp_path / name / FILES) for name in ("first", "second"))
    assert {path.partition("/")[0] for path in first} > {"engine", "index", "model"}
    assert first == second


def test_an_edit_of_three_words_changes_few_files_and_none_of_the_model(tmp_path: Path) -> None:
    sections = "".join(f"## Part {n}\n\nThe {n}. boat has sails and a rope.\n" for n in range(150))
    pages = {**PAGES, "fleet.md": f"# Fleet\n\n{sections}"}
    build_here(write_site(tmp_path, pages))
    before = read_files(tmp_path / FILES)
    first = ask_in_waves(tmp_path)
    edited = sections.replace("The 30. boat has sails", "The 30. vessel keeps oars")
    put(tmp_path / "docs" / "fleet.md", f"# Fleet\n\n{edited}")
    build_here(tmp_path)
    after = read_files(tmp_path / FILES)
    changed = {path for path, data in after.items() if before.get(path) != data}
    # Three words are gone from a passage and three have come, and each has a file of its own.
    assert len(changed) < 16
    assert not [path for path in changed if path.startswith(("engine/", "model/"))]
    assert len(after) == len(before)
    # Whoever asks again reads the same files otherwise, which the browser has kept.
    again = {path for wave in ask_in_waves(tmp_path) for path in wave}
    assert again - {path for wave in first for path in wave} <= changed


def test_build_removes_the_files_of_the_last_one_even_without_cleaning(tmp_path: Path) -> None:
    build_here(write_site(tmp_path))
    before = list_index_files(tmp_path)
    page = tmp_path / "docs" / "storms.md"
    put(page, "# Storms\n\nNo storm has come since the spring.\n")
    # Newer than what the build has written, whatever the clock says.
    os.utime(page, (2**31, 2**31))
    forget_plugins()
    config = load_config(str(tmp_path / "mkdocs.yml"))
    config.plugins.on_startup(command="build", dirty=True)
    mkdocs_build(config, dirty=True)
    config.plugins.on_shutdown()
    after = list_index_files(tmp_path)
    assert not [name for name in before & after if "/texts-" in name or "/manifest-" in name]
    assert read_config(tmp_path)["index"]["manifest"] in after


def test_index_has_no_field_for_notes_and_publishes_none_for_hints() -> None:
    reached = list_field_types(Index)
    assert len(reached) > 20
    assert reached & PRIVATE_TYPES == set()
    assert {column.name for column in COLUMNS if column.private} == {
        "record_summaries", "record_themes", "hint_ids", "hint_labels", "hint_locators",
        "hint_urls", "hint_owners", "hint_codes", "label_terms",
    }  # fmt: skip
    # A file is published as a whole or not at all.
    assert not [c for c in COLUMNS if c.private != (c.file in PRIVATE_KINDS)]


def test_files_of_earlier_builds_are_removed_and_no_others(tmp_path: Path) -> None:
    current, stale = "index/en/core-0123456789abcdef.bin", "index/en/core-fedcba9876543210.bin"
    for path in (current, stale, f"{MODEL_FOLDER}/rows-000.bin", f"model/{'0' * 16}/rows-000.bin"):
        put(tmp_path / path, "x")
    put(tmp_path / "index" / "notes.txt", "an author's file")
    put(tmp_path / "strings" / ("0" * 16) / "en.json", "{}")
    put(tmp_path / "index" / "en" / f".core.{'a' * 32}.tmp", "left by a kill")
    remove_stale_files(tmp_path, [MODEL_FOLDER, current])
    assert set(read_files(tmp_path)) == {
        current,
        f"{MODEL_FOLDER}/rows-000.bin",
        "index/notes.txt",
        f"strings/{'0' * 16}/en.json",
    }
    remove_stale_files(tmp_path, [])
    assert not (tmp_path / "model").exists()
    assert not (tmp_path / "index" / "en").exists()


def test_written_folder_stays_and_a_damaged_one_is_repaired(tmp_path: Path) -> None:
    files = {"a/b.js": b"1", "c.js": b"2"}
    folder = tmp_path / "engine" / "0123456789abcdef"
    write_folder(folder, files)
    identity = folder.stat().st_ino
    write_folder(folder, files)
    assert folder.stat().st_ino == identity
    (folder / "c.js").write_bytes(b"damaged")
    put(folder / "a" / "d.js", "of nobody")
    write_folder(folder, files)
    assert read_files(folder) == files
    assert [path.name for path in folder.parent.iterdir()] == ["0123456789abcdef"]
