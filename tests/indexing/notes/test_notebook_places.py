"""A notebook in a published place, or linked into one, is refused through a real build."""

from collections.abc import Callable
from pathlib import Path

import pytest

from answerable.indexing.files import check_notebook_location
from support.sites import NOTES, failure, put, write_site

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
        ("site/notes", "site_dir"),
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


def into_file(site: Path) -> tuple[Path, Path]:
    return site / "docs" / "linked.md", site / "notebook" / "winch.md"


def into_a_folder_above(site: Path) -> tuple[Path, Path]:
    return site / "docs" / "all", site


@pytest.mark.parametrize("link", [into_file, into_a_folder_above])
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


def test_a_link_from_the_notebook_into_the_docs_is_refused(site: Path) -> None:
    (site / "notebook" / "page.md").symlink_to(site / "docs" / "index.md")
    error = refusal(site)
    assert str(site / "notebook" / "page.md") in error
    assert str(site / "docs") in error


def test_links_in_a_circle_come_to_an_end(site: Path) -> None:
    (site / "docs" / "round").symlink_to(site / "docs")
    (site / "docs" / "self").symlink_to(site / "docs" / "self")
    check_notebook_location(site / "notebook", {"docs_dir": site / "docs"})


@pytest.mark.parametrize(("option", "place"), [("function", "docs/x"), ("cache", "site")])
def test_private_vectors_may_not_lie_in_a_published_folder(
    tmp_path: Path, option: str, place: str
) -> None:
    site = write_site(tmp_path, options={option: place})
    assert "lie in one another" in failure(site)
