"""A notebook in a published place, or linked into one, is refused through a real build."""

from collections.abc import Callable
from pathlib import Path

import pytest

from answerable.indexing.output.files import check_notebook_location
from support.sites import NOTES, build, build_here, failure, put, write_site

NOTE = NOTES["winch.md"]


def refusal(site: Path) -> str:
    error = failure(site)
    assert not (site / "function").exists()
    assert not (site / "site").exists()
    return error


@pytest.fixture
def site(tmp_path: Path) -> Path:
    return write_site(tmp_path / "harbour", notes=NOTES)


@pytest.mark.parametrize(
    ("notebook", "published"),
    [
        ("docs/private", "docs_dir"),
        ("docs", "docs_dir"),
        (".", "docs_dir"),
        ("site/notes", "site_dir"),
        ("function/notes", "the function folder"),
        ("theme/notes", "theme folder"),
    ],
)
def test_a_notebook_in_a_published_folder_is_refused(
    tmp_path: Path, notebook: str, published: str
) -> None:
    site = write_site(
        tmp_path,
        options={"notebook": notebook},
        theme={"name": "mkdocs", "custom_dir": "theme"},
    )
    put(tmp_path / "theme" / "main.html", '{% extends "base.html" %}')
    put(tmp_path / notebook / "winch.md", NOTE)
    error = failure(site)
    assert f" and {published} " in error
    assert f"notebook: {(tmp_path / notebook).resolve()}" in error


def into_folder(site: Path) -> tuple[Path, Path]:
    return site / "docs" / "linked", site / "notebook"


def into_file(site: Path) -> tuple[Path, Path]:
    return site / "docs" / "linked.md", site / "notebook" / "winch.md"


def into_a_folder_above(site: Path) -> tuple[Path, Path]:
    return site / "docs" / "all", site


@pytest.mark.parametrize("link", [into_folder, into_file, into_a_folder_above])
def test_a_link_from_the_docs_into_the_notebook_is_refused(
    site: Path, link: Callable[[Path], tuple[Path, Path]]
) -> None:
    path, target = link(site)
    path.symlink_to(target)
    error = refusal(site)
    assert str(path) in error
    assert str(site / "notebook") in error


def test_a_link_to_the_notebook_in_a_linked_folder_is_refused(site: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "deep").symlink_to(site / "notebook")
    (site / "docs" / "shared").symlink_to(elsewhere)
    assert str(site / "docs" / "shared" / "deep") in refusal(site)


@pytest.mark.parametrize(("name", "target"), [("pages", "docs"), ("page.md", "docs/index.md")])
def test_a_link_from_the_notebook_into_the_docs_is_refused(
    site: Path, name: str, target: str
) -> None:
    (site / "notebook" / name).symlink_to(site / target)
    error = refusal(site)
    assert str(site / "notebook" / name) in error
    assert str(site / "docs") in error


def test_the_notebook_itself_may_not_be_a_link_into_the_docs(tmp_path: Path) -> None:
    site = write_site(tmp_path, options={"notebook": "notebook"})
    put(site / "docs" / "private" / "winch.md", NOTE)
    (site / "notebook").symlink_to(site / "docs" / "private")
    assert "docs_dir" in refusal(site)


def test_links_outside_of_notebook_and_docs_are_accepted(site: Path, tmp_path: Path) -> None:
    put(tmp_path / "shared" / "tide.md", "# Tide\n\nThe tide turns twice a day.\n")
    (site / "docs" / "shared").symlink_to(tmp_path / "shared")
    build_here(site)
    assert (site / "function" / "bundle" / "manifest.json").is_file()


def test_links_in_a_circle_come_to_an_end(site: Path) -> None:
    (site / "docs" / "round").symlink_to(site / "docs")
    (site / "docs" / "self").symlink_to(site / "docs" / "self")
    check_notebook_location(site / "notebook", {"docs_dir": site / "docs"})


@pytest.mark.parametrize("option", ["function", "cache"])
@pytest.mark.parametrize("place", ["docs/x", "site", "site/x"])
def test_private_vectors_may_not_lie_in_a_published_folder(
    tmp_path: Path, option: str, place: str
) -> None:
    site = write_site(tmp_path, options={option: place})
    assert "which is published" in failure(site)


def test_the_command_fails_with_the_reason(site: Path) -> None:
    (site / "docs" / "linked").symlink_to(site / "notebook")
    done = build(site)
    assert done.returncode == 1
    assert "answerable: notebook: " in done.stderr
    assert "Traceback" not in done.stderr


def test_a_folder_that_cannot_be_written_is_refused_with_its_remedy(tmp_path: Path) -> None:
    site = write_site(tmp_path / "site", options={"cache": "taken/cache"})
    put(site / "taken", "a file where a folder should be\n")
    complaint = f"answerable: {site / 'taken'}"
    error = failure(site)
    assert complaint in error
    assert "cannot be read or written (Not a directory); correct the path" in error


def test_a_note_with_a_mistake_fails_the_build_naming_file_and_field(site: Path) -> None:
    put(site / "notebook" / "b.md", NOTE.replace("#chains", "#ropes"))
    assert "b.md: about: mooring.md has no anchor 'ropes'" in failure(site)
    assert not (site / "function" / "bundle").exists()


@pytest.mark.parametrize("name", ["notes.txt", "answerable/own.py"])
@pytest.mark.parametrize("mark", [None, "answerable/serve/http/adapters/main.py"])
def test_a_function_folder_with_somebody_elses_files_is_left_alone(
    tmp_path: Path, name: str, mark: str | None
) -> None:
    site = write_site(tmp_path, options={"function": "source"})
    put(site / "source" / name, "precious\n")
    if mark:
        put(site / "source" / mark, "also = 'precious'\n")
    if mark and name == "notes.txt":
        build_here(site)
    else:
        assert f"function: {site / 'source'}" in failure(site)
        assert not mark or (site / "source" / mark).is_file()
    assert (site / "source" / name).read_text(encoding="utf-8") == "precious\n"
