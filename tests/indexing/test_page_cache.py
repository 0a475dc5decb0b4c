"""Test the page cache: a page is indexed again only if something that decides how has changed."""

import sqlite3
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from answerable.indexing.caches import CACHE_FILE
from answerable.indexing.pages import cache
from answerable.indexing.pages.cache import start_indexing_pages
from answerable.indexing.pages.page_index import (
    CuttingRules,
    PageIndex,
    index_record,
    parse_record,
)
from answerable.indexing.pages.records import PageMetadata, PageSource


def source(name: str, text: str = "Moor the boat.", **fields: str) -> PageSource:
    html = f'<h1 id="top">{name}</h1><p>{text}</p><h2 id="more">More</h2><p>{text} Again.</p>'
    return PageSource(id=name, url=f"/{name}/", title=name.title(), html=html, **fields)  # type: ignore[arg-type]


SITE = [source("mooring"), source("storms", "Double the ropes."), source("ナ", "係留索は長い。")]


@pytest.fixture
def cut(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The ids of the pages that were really cut."""
    done: list[str] = []

    def index_cached(source: PageSource) -> object:
        done.append(source.id)
        return parse_record(source)

    monkeypatch.setattr(cache, "parse_record", index_cached)
    return done


def index_cached(
    folder: Path, sources: Iterable[PageSource], rules: CuttingRules | None = None
) -> list[PageIndex]:
    return list(start_indexing_pages(sources, rules or CuttingRules(), folder)())


def test_a_page_from_the_cache_is_the_page_that_was_cut(tmp_path: Path, cut: list[str]) -> None:
    fresh = [index_record(parse_record(each), CuttingRules()) for each in SITE]
    cut.clear()
    assert index_cached(tmp_path, SITE) == fresh
    assert cut == ["mooring", "storms", "ナ"]
    assert index_cached(tmp_path, SITE) == fresh
    assert len(cut) == 3


@pytest.mark.parametrize(
    "changed",
    [
        source("mooring", "Moor the ship."),
        replace(SITE[0], title="Other"),
        replace(SITE[0], language="de"),
        replace(SITE[0], metadata=PageMetadata(excluded=True)),
    ],
)
def test_a_page_that_has_changed_is_cut_again_alone(
    tmp_path: Path, cut: list[str], changed: PageSource
) -> None:
    index_cached(tmp_path, SITE)
    cut.clear()
    pages = index_cached(tmp_path, [changed, *SITE[1:]])
    assert cut == ["mooring"]
    assert pages[0] == index_record(parse_record(changed), CuttingRules())


def test_a_page_whose_entry_is_damaged_is_cut_again(tmp_path: Path, cut: list[str]) -> None:
    pages = index_cached(tmp_path, SITE)
    with sqlite3.connect(tmp_path / CACHE_FILE) as database:
        # Its hash is whole, and what is compressed behind it ends too early.
        database.execute("UPDATE pages SET value = substr(value, 1, 60)")
    cut.clear()
    assert index_cached(tmp_path, SITE) == pages
    assert cut == ["mooring", "storms", "ナ"]


def test_a_page_that_was_not_rendered_is_the_last_one_that_was(tmp_path: Path) -> None:
    dirty = [replace(each, html=None) for each in SITE]
    index_cached(tmp_path, SITE)
    assert index_cached(tmp_path, dirty) == index_cached(tmp_path, SITE)
    newer = source("mooring", "Moor the ship.")
    after = index_cached(tmp_path, [newer, *dirty[1:]])
    assert index_cached(tmp_path, dirty) == after
    # And back again.
    before = index_cached(tmp_path, SITE)
    assert index_cached(tmp_path, dirty) == before != after
