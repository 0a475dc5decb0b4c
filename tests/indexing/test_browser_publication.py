"""A site that answers in its readers' browsers gets an index of its pages, and never of notes."""

import dataclasses
import json
import types
import typing
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from answerable.indexing.browser_index.container import Container, pack_container, unpack_container
from answerable.indexing.browser_index.index_files import (
    PublicIndex,
    address_files,
    select_public_index,
)
from answerable.indexing.browser_index.staged_index import (
    remove_stale_folders,
    write_addressed_files,
)
from answerable.indexing.index import SiteIndex
from answerable.indexing.notes.notebook import Note, Notebook
from answerable.indexing.notes.routing_hints import EmbeddedHints
from answerable.serve.bundle_format.manifest import LOCAL_PROFILE
from answerable.serve.errors import SiteError
from answerable.serve.types import RoutingHint
from support.doubles import index_of, record
from support.sites import NOTES, build, build_here, failure, opened, put, write_site

FILES = Path("site", "assets", "answerable")
PRIVATE_TYPES = {Note, Notebook, RoutingHint, EmbeddedHints, SiteIndex}


def read_files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def list_indexes(folder: Path) -> list[Path]:
    return sorted((folder / FILES / "index").glob("*"))


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
    [folder] = list_indexes(tmp_path)
    bundle = opened(tmp_path)
    manifest = json.loads((folder / "manifest.json").read_bytes())
    assert (manifest["id"], manifest["built_at"]) == (bundle.manifest.id, bundle.manifest.built_at)
    assert (tmp_path / FILES / manifest["model"] / "vocabulary.bin").is_file()
    texts = [
        text
        for path in sorted(folder.glob("texts/*.bin"))
        for text, *_ in unpack_container(path.read_bytes(), path.name).values["passages"]
    ]
    assert texts == [passage.text for passage in bundle.passages()]


def test_equal_builds_write_equal_files(tmp_path: Path) -> None:
    for name in ("first", "second"):
        build_here(write_site(tmp_path / name))
    first, second = (read_files(tmp_path / name / FILES) for name in ("first", "second"))
    assert {path.partition("/")[0] for path in first} > {"engine", "index", "model"}
    assert first.keys() == second.keys()
    for path, data in first.items():
        # The manifest says when the site was built.
        if not path.endswith("/manifest.json"):
            assert data == second[path]


def test_build_removes_the_files_of_the_last_one_even_without_cleaning(tmp_path: Path) -> None:
    build_here(write_site(tmp_path))
    [before] = list_indexes(tmp_path)
    put(tmp_path / "docs" / "storms.md", "# Storms\n\nNo storm has come since the spring.\n")
    done = build(tmp_path, "--dirty")
    assert done.returncode == 0, done.stderr
    [after] = list_indexes(tmp_path)
    assert after != before
    config = json.loads((tmp_path / FILES / "site.json").read_bytes())
    assert config["index"] == f"index/{after.name}"
    write_site(tmp_path, notes=NOTES)
    done = build(tmp_path, "--dirty")
    assert done.returncode == 0, done.stderr
    assert list_indexes(tmp_path) == []


@pytest.mark.skipif(find_spec("mkdocs_static_i18n") is None, reason="without mkdocs-static-i18n")
def test_languages_apart_have_an_index_each(tmp_path: Path) -> None:
    pages = {
        "index.md": "# Hafen\n\nThe harbour keeps small boats in order.\n",
        "index.de.md": "# Hafen\n\nDer Hafen ordnet kleine Boote.\n",
    }
    i18n = {
        "i18n": {
            "docs_structure": "suffix",
            "languages": [
                {"locale": "en", "name": "English", "build": True, "default": True},
                {"locale": "de", "name": "Deutsch", "build": True},
            ],
        }
    }
    plugins = [i18n, {"answerable": {"languages": "apart"}}]
    done = build(write_site(tmp_path, pages, plugins=plugins))
    assert done.returncode == 0, done.stderr
    config = json.loads((tmp_path / FILES / "site.json").read_bytes())
    assert sorted(config["index"]) == ["de", "en"]
    published = {f"index/{folder.name}" for folder in list_indexes(tmp_path)}
    assert set(config["index"].values()) == published
    assert len(published) == 2
    # They share the model, which takes more space than they do.
    [model] = (tmp_path / FILES / "model").iterdir()
    for folder in list_indexes(tmp_path):
        manifest = json.loads((folder / "manifest.json").read_bytes())
        assert manifest["model"] == f"model/{model.name}"


def test_site_with_notes_gets_no_index(tmp_path: Path) -> None:
    build_here(write_site(tmp_path, notes=NOTES))
    assert list_indexes(tmp_path) == []


def test_index_for_browsers_has_no_field_for_notes() -> None:
    reached = list_field_types(PublicIndex)
    assert len(reached) > 20
    assert reached & PRIVATE_TYPES == set()
    assert RoutingHint in list_field_types(SiteIndex)


def test_index_with_hints_is_refused(tmp_path: Path) -> None:
    note = Note("winch.md", "note:1", "Plans", "shelf", "mooring.md", "", "Oil the winch.")
    index = index_of(tmp_path, [record("mooring", "<p>A mooring needs a buoy.</p>")], [note])
    assert index.hints
    with pytest.raises(SiteError, match="notebook: a site with private notes cannot answer in the"):
        select_public_index(index, LOCAL_PROFILE)


@pytest.mark.parametrize("cut", [False, True])
def test_note_in_a_browser_file_of_the_site_fails_the_build(tmp_path: Path, cut: bool) -> None:
    write_site(tmp_path, notes=NOTES)
    words = "The gearbox of the electric winch was taken from a scrapped tractor".split()
    texts = [" ".join(words[:6]), " ".join(words[6:])] if cut else [" ".join(words)]
    # Escapes and numbers stand between the words of a file that nobody can read as a text.
    data = pack_container(Container({"passages": [[f"“{text}”\n", [0, 9]] for text in texts]}))
    path = tmp_path / "docs" / "assets" / "answerable" / "index" / ("0" * 16) / "texts" / "000.bin"
    path.parent.mkdir(parents=True)
    path.write_bytes(data)
    message = failure(tmp_path)
    assert "winch.md" in message
    assert "texts/000.bin" in message
    assert "gearbox" not in message


def test_folders_of_earlier_builds_are_removed_and_no_others(tmp_path: Path) -> None:
    old, new = (address_files("index", {"a.bin": data}) for data in (b"1", b"2"))
    model = address_files("model", {"rows/000.bin": b"3"})
    stale = address_files("model", {"rows/000.bin": b"4"})
    manifest = json.dumps({"model": model.folder}).encode()
    new = dataclasses.replace(new, files={**new.files, "manifest.json": manifest})
    for files in (old, new, model, stale):
        write_addressed_files(files, tmp_path)
    put(tmp_path / "index" / "notes.txt", "an author's file")
    put(tmp_path / "strings" / ("0" * 16) / "en.json", "{}")
    put(tmp_path / "index" / f".{'0' * 16}.{'a' * 32}.tmp", "left by a kill")
    remove_stale_folders(tmp_path, [new.folder])
    assert set(read_files(tmp_path)) == {
        *(f"{new.folder}/{path}" for path in new.files),
        *(f"{model.folder}/{path}" for path in model.files),
        "index/notes.txt",
        f"strings/{'0' * 16}/en.json",
    }
    remove_stale_folders(tmp_path, [])
    assert not (tmp_path / "model").exists()


def test_written_folder_stays_and_a_damaged_one_is_repaired(tmp_path: Path) -> None:
    files = address_files("index", {"codes/000.bin": b"1", "core.bin": b"2"})
    folder = tmp_path / files.folder
    write_addressed_files(files, tmp_path)
    identity = folder.stat().st_ino
    write_addressed_files(files, tmp_path)
    assert folder.stat().st_ino == identity
    (folder / "core.bin").write_bytes(b"damaged")
    put(folder / "codes" / "001.bin", "of nobody")
    write_addressed_files(files, tmp_path)
    assert read_files(folder) == files.files
    assert [path.name for path in folder.parent.iterdir()] == [files.id]
