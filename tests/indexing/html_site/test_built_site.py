"""Test the reading of a built site: its pages, their ids, urls, titles and link targets."""

import json
from pathlib import Path

import pytest

from answerable.engine.errors import NotebookError
from answerable.indexing.html_site.built_site import BuiltSite, read_built_site
from answerable.indexing.notes.note_places import make_about_resolver
from answerable.indexing.widget.injection import WIDGET_SCRIPT
from support.sites import index, put


def page(title: str = "", head: str = "", words: str = "Words.") -> str:
    return (
        f"<!doctype html><html><head><title>{title}</title>{head}</head>"
        f"<body><main><h1 id='top'>Heading</h1><p>{words}</p></main></body></html>"
    )


def write_files(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        put(folder / name, text)
    return folder


def read_site(folder: Path, files: dict[str, str], base_url: str | None = None) -> BuiltSite:
    return read_built_site(write_files(folder, files), base_url=base_url)


def test_ids_and_urls_come_from_the_files(tmp_path: Path) -> None:
    names = ("index.html", "a.html", "b/index.html", "b/c.html", "ü & x/d e.html")
    site = read_site(tmp_path, dict.fromkeys(names, page()))
    assert {source.id: source.url for source in site.sources} == {
        "index": "/",
        "a": "/a.html",
        "b": "/b/",
        "b/c": "/b/c.html",
        "ü & x/d e": "/%C3%BC%20%26%20x/d%20e.html",
    }


def test_without_a_search_index_what_is_no_page_is_left_out(tmp_path: Path) -> None:
    left_out = {
        "404.html": page(),
        "search.html": page(),
        ".git/doc.html": page(),
        "old.html": page(head="<meta http-equiv='refresh' content='0; url=/'>"),
        "secret.html": page(head="<meta name='robots' content='noindex'>"),
        "empty.html": "<html><body></body></html>",
        "section/index.html": "<main><h1>Guides</h1></main>",
        "index.json": '{"docs": []}',
        "search.json": '{"items": [1]}',
    }
    site = read_site(tmp_path, {"index.html": page(), **left_out})
    assert [source.id for source in site.sources] == ["index"]


MKDOCS = json.dumps(
    {
        "docs": [
            {"location": "", "title": "Home &amp; more", "text": ""},
            {"location": "a/", "title": "Of <code>a</code>", "text": ""},
            {"location": "a/#x", "title": "Section", "text": ""},
            {"location": "gone/", "title": "Gone", "text": ""},
        ]
    }
)
ZENSICAL = json.dumps(
    {
        "items": [
            {"location": "a/", "level": 1, "title": "A"},
            {"location": "", "level": 1, "title": "Home"},
        ]
    }
)
SPHINX = json.dumps(
    {"docnames": ["index", "a", "hidden"], "titles": ["Home", "<em>A</em>", ""]},
    separators=(",", ":"),
)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("search/search_index.json", MKDOCS),
        ("search.json", ZENSICAL),
        ("searchindex.js", f"Search.setIndex({SPHINX})"),
    ],
)
def test_the_site_s_own_search_says_what_is_read(tmp_path: Path, name: str, text: str) -> None:
    files = {"index.html": page(), "a/index.html": page(), "hidden/index.html": page()}
    site = read_site(tmp_path, {**files, name: text})
    assert {source.url for source in site.sources} == {"/", "/a/"}


@pytest.mark.parametrize(
    ("canonical", "base_url", "base", "url"),
    [
        ("", None, "/", None),
        ("/x/", None, "/", None),
        ("https://h.example/docs", None, "/docs/", "https://h.example/docs/"),
        ("https://h.example/docs/index.html", None, "/docs/", "https://h.example/docs/"),
        ("https://h.example/docs/", "/other", "/other/", None),
        ("", "https://h.example/a b/ü", "/a%20b/%C3%BC/", "https://h.example/a b/ü/"),
    ],
)
def test_the_address_is_told_or_canonical(
    tmp_path: Path, canonical: str, base_url: str | None, base: str, url: str | None
) -> None:
    head = f"<link rel='canonical' href='{canonical}'>" if canonical else ""
    site = read_site(tmp_path, {"index.html": page(head=head)}, base_url)
    assert (site.base, site.url, site.sources[0].url) == (base, url, base)


@pytest.mark.parametrize(
    ("about", "url"),
    [
        ("guide/deploy/index.html", "/docs/guide/deploy/"),
        ("guide/deploy/", "/docs/guide/deploy/"),
        ("guide/deploy.md#top", "/docs/guide/deploy/#top"),
        ("guide/flat.md", "/docs/guide/flat.html"),
        ("img/plan b.png", "/docs/img/plan%20b.png"),
        ("hidden.md#top", "/docs/hidden.html#top"),
        ("https://elsewhere.example/x#y", "https://elsewhere.example/x#y"),
    ],
)
def test_a_note_may_name_what_it_is_about_in_many_ways(
    tmp_path: Path, about: str, url: str
) -> None:
    names = ("index.html", "guide/deploy/index.html", "guide/flat.html")
    files = dict.fromkeys(names, page())
    files["hidden.html"] = page(head="<meta name='robots' content='noindex'>")
    files["img/plan b.png"] = ""
    site = read_site(tmp_path, files, "/docs/")
    assert make_about_resolver(site.targets)(about) == url


@pytest.mark.parametrize("about", ["gone.md", "index.md#gone", "../x"])
def test_what_the_site_does_not_have_is_no_target(tmp_path: Path, about: str) -> None:
    site = read_site(tmp_path, {"index.html": page()})
    with pytest.raises(NotebookError):
        make_about_resolver(site.targets)(about)


@pytest.mark.parametrize(
    ("site", "options", "complaint"),
    [
        ("gone", {}, "gone is not a folder; build the site first"),
        ("empty", {}, "empty holds no page with an article in it"),
        ("site", {"function": "site/f"}, "site/f and site_dir "),
        ("site", {"notebook": "site/n"}, "lie in one another"),
        ("site", {"widget": {"endpoint": "ask"}}, "neither an http(s) url nor a path"),
    ],
)
def test_a_mistake_is_one_sentence(
    tmp_path: Path, site: str, options: dict[str, object], complaint: str
) -> None:
    write_files(tmp_path / "site", {"index.html": page()})
    (tmp_path / "empty").mkdir()
    (tmp_path / "site" / "n").mkdir()
    done = index(tmp_path, site, **options)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("Error: ")
    assert complaint in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("source", "text", "aliases"),
    [
        ("a.md", "---\naliases: [quayside]\n---\nText", ("quayside",)),
        ("a/_index.md", '+++\naliases = ["quayside"]\n+++\nText', ("quayside",)),
        ("b.md", "---\naliases: [quayside]\n---\n", ()),
    ],
)
def test_front_matter_is_read_from_the_source_of_a_page(
    tmp_path: Path, source: str, text: str, aliases: tuple[str, ...]
) -> None:
    write_files(tmp_path / "site", {"a/index.html": page()})
    put(tmp_path / "docs" / source, text)
    [read] = read_built_site(tmp_path / "site", docs=tmp_path / "docs").sources
    assert read.metadata.aliases == aliases
    assert read.id == ("a" if source == "b.md" else source.removesuffix(".md"))


def test_links_and_rights_of_pages_are_kept(tmp_path: Path) -> None:
    folder = write_files(tmp_path / "site", {"index.html": page(), "a.html": page()})
    (folder / "a.html").chmod(0o664)
    (folder / "b.html").symlink_to("a.html")
    assert "; 2 files changed" in index(tmp_path).stdout
    assert (folder / "b.html").readlink() == Path("a.html")
    assert (folder / "a.html").stat().st_mode & 0o777 == 0o664
    assert (folder / "b.html").read_text().count(WIDGET_SCRIPT) == 1
