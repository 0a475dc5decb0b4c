"""Place of the widget in real pages of MkDocs' themes, where it changes no text."""

import json
import logging
from pathlib import Path
from typing import Any

import pytest
from selectolax.lexbor import LexborHTMLParser, LexborNode

from answerable.indexing.widget import injection
from support.sites import PAGES, build_here, opened, put, write_site

THEMES = ("material", "mkdocs", "readthedocs")
# What holds the button in each theme's header.
HEADER = {
    "material": "header.md-header > nav.md-header__inner",
    "mkdocs": "div.navbar ul.ms-md-auto > li.nav-item",
    "readthedocs": "div.wy-side-nav-search",
}
CONTENT = {
    "material": "article.md-content__inner",
    "mkdocs": "div[role=main]",
    "readthedocs": "div.section[itemprop=articleBody]",
}
TAG = "answerable-ask"
OWN = '\n\n<answerable-ask placement="header" endpoint="/own/"></answerable-ask>\n'
# The first page holds the time of its build in two of the themes.
NAMES = ("mooring/index.html", "storms/index.html")


def elements(html: str) -> list[LexborNode]:
    return LexborHTMLParser(html).css(TAG)


def built(folder: Path, theme: object, placement: str, **config: Any) -> Path:
    """A site in this process, its last page with an element of its author's."""
    widget = {"placement": placement, **config.pop("widget", {})}
    pages = {**PAGES, "storms.md": PAGES["storms.md"] + OWN}
    options = {"plugins": ["search", {"answerable": {"widget": widget}}], **config}
    write_site(folder, pages, theme=theme, repo_url="https://github.com/h/h", **options)
    build_here(folder)
    return folder


def read_page(folder: Path, name: str) -> str:
    return (folder / "site" / name).read_text(encoding="utf-8")


@pytest.fixture(scope="module", params=THEMES)
def theme(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def sites(theme: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The same site of a theme with every placement."""
    folder = tmp_path_factory.mktemp(theme)
    return {
        each: built(folder / each, theme, each) for each in ("button", "header", "inline", "none")
    }


def test_the_header_of_every_page_holds_one_button(theme: str, sites: dict[str, Path]) -> None:
    for name in ("index.html", "mooring/index.html", "404.html"):
        (element,) = elements(read_page(sites["header"], name))
        assert element.attributes == {"placement": "header"}
        parsed = LexborHTMLParser(read_page(sites["header"], name))
        (in_header,) = parsed.css(f"{HEADER[theme]} > {TAG}")
        # After the search, which is a nav or a form of its own; in Material the source follows.
        node = in_header if theme != "mkdocs" else in_header.parent
        assert node is not None
        followers = []
        while (node := node.next) is not None:
            if node.tag == "-text":
                assert not node.text().strip()
            else:
                followers.append(node.attributes.get("class"))
        assert followers == (["md-header__source"] if theme == "material" else [])


def test_a_page_ends_with_the_box_and_a_page_of_the_theme_has_none(
    theme: str, sites: dict[str, Path]
) -> None:
    for name in ("index.html", "mooring/index.html"):
        html = read_page(sites["inline"], name)
        (element,) = elements(html)
        assert element.attributes == {"placement": "inline"}
        (content,) = LexborHTMLParser(html).css(CONTENT[theme])
        assert len(content.css(TAG)) == 1
        before = html[: html.index(f"<{TAG}")]
        assert before.count("<p>") >= 1
        assert before.rstrip().endswith(("</p>", "</article>"))
    assert f"<{TAG}" not in read_page(sites["inline"], "404.html")
    assert injection.WIDGET_SCRIPT in read_page(sites["inline"], "404.html")


@pytest.mark.parametrize("placement", ["button", "header", "inline", "none"])
def test_an_author_s_own_element_is_the_only_one(sites: dict[str, Path], placement: str) -> None:
    (element,) = elements(read_page(sites[placement], "storms/index.html"))
    assert element.attributes["endpoint"] == "/own/"


def test_no_placement_changes_what_is_searched_or_answered(sites: dict[str, Path]) -> None:
    texts = []
    for folder in sites.values():
        bundle = opened(folder)
        rows = range(bundle.manifest.counts["passages"])
        search = json.loads(read_page(folder, "search/search_index.json"))
        texts.append((bundle.manifest.id, [bundle.passage(row) for row in rows], search))
    assert len(texts[0][1]) >= 5
    assert all(text == texts[0] for text in texts)
    assert TAG not in json.dumps(texts[0][2])


def test_placement_changes_no_other_bytes_of_a_page(sites: dict[str, Path]) -> None:
    for name in NAMES:
        plain = read_page(sites["none"], name)
        for placement in ("button", "header", "inline"):
            html = read_page(sites[placement], name)
            for added in (
                '<li class="nav-item d-flex align-items-center">'
                f'<{TAG} placement="header"></{TAG}></li>\n',
                f'<{TAG} placement="header"></{TAG}>\n',
                f'\n<{TAG} placement="inline"></{TAG}>\n',
                f"<{TAG}></{TAG}>\n",
            ):
                html = html.replace(added, "")
            assert html == plain, (name, placement)


def test_a_theme_without_a_known_header_warns_once_and_gets_the_floating_button(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("main.html", "404.html"):
        put(
            tmp_path / "plain" / name,
            "<!doctype html><html><head><title>x</title></head><body><header></header>"
            "{% if page %}{{ page.content }}{% endif %}</body></html>",
        )
    theme = {"name": None, "custom_dir": "plain", "static_templates": ["404.html"]}
    with caplog.at_level(logging.WARNING, "mkdocs"):
        built(tmp_path, theme, "header")
    (warning,) = [each for each in caplog.messages if "widget.placement" in each]
    assert "placement: button" in warning
    for name in ("index.html", "404.html"):
        (element,) = elements(read_page(tmp_path, name))
        assert element.attributes == {}


def test_configured_shortcut_is_an_attribute_of_the_element(tmp_path: Path) -> None:
    built(tmp_path, "mkdocs", "button", widget={"shortcut": " shift + ALT+k"})
    (element,) = elements(read_page(tmp_path, "index.html"))
    assert element.attributes == {"shortcut": "Alt+Shift+K"}
