"""Place of the ask box in real pages of MkDocs' themes, where its script puts it."""

import re
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from support import static_server
from support.browser import browsing
from support.sites import PAGES, build_here, put, write_site

THEMES = ("material", "mkdocs", "readthedocs")
# What holds the box in each theme's header, and in its page.
HEADER = {
    "material": "header.md-header > nav.md-header__inner > answerable-ask",
    "mkdocs": "div.navbar ul.ms-md-auto > li.nav-item:last-child > answerable-ask",
    "readthedocs": "div.wy-side-nav-search > answerable-ask:last-child",
}
CONTENT = {
    "material": "article.md-content__inner > answerable-ask:last-child",
    "mkdocs": "div[role=main] > answerable-ask:last-child",
    "readthedocs": "div[itemprop=articleBody] > answerable-ask:last-child",
}
FLOATING = "body > answerable-ask:not([placement])"
PLACEMENTS = (None, "button", "header", "inline", "none")
OWN = '\n\n<answerable-ask placement="header" endpoint="/own/"></answerable-ask>\n'
TAGS = re.compile(r"<script[^>]+assets/answerable/[^>]+></script>\n")


def built(folder: Path, theme: Any, placement: str | None, **widget: Any) -> Path:
    """A site in this process, its last page with an element of its author's."""
    pages = {**PAGES, "storms.md": PAGES["storms.md"] + OWN}
    plugins = ["search", {"answerable": {"widget": {"placement": placement, **widget}}}]
    write_site(folder, pages, theme=theme, plugins=plugins, repo_url="https://github.com/h/h")
    build_here(folder)
    return folder / "site"


@pytest.fixture(scope="module", params=THEMES)
def theme(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def sites(theme: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str | None, Path]:
    """The same site of a theme with every placement."""
    folder = tmp_path_factory.mktemp(theme)
    options = {"name": theme, "font": False} if theme == "material" else {"name": theme}
    return {each: built(folder / str(each), options, each) for each in PLACEMENTS}


@pytest.fixture(scope="module")
def origins(sites: dict[str | None, Path]) -> Iterator[dict[str | None, str]]:
    with ExitStack() as stack:
        yield {
            placement: stack.enter_context(static_server.serving(site))
            for placement, site in sites.items()
        }


@pytest.mark.parametrize("placement", PLACEMENTS, ids=str)
def test_box_stands_where_the_option_says(
    browser: Browser, theme: str, origins: dict[str | None, str], placement: str | None
) -> None:
    place = {
        None: HEADER[theme] if theme == "material" else FLOATING,
        "button": FLOATING,
        "header": HEADER[theme],
        "inline": CONTENT[theme],
        "none": None,
    }[placement]
    # The theme's highlighter comes from another host, and its scripts fail without it.
    with browsing(browser) as page:
        box = page.locator("answerable-ask")
        for name in ("", "mooring/", "404.html"):
            page.goto(f"{origins[placement]}/{name}")
            page.evaluate("customElements.whenDefined('answerable-ask').then(() => 0)")
            # A page of the theme has nothing that a box could end.
            is_placed = place and not (placement == "inline" and name == "404.html")
            expect(box).to_have_count(1 if is_placed else 0)
            if is_placed:
                expect(page.locator(str(place))).to_have_count(1)
        # An author's own element is the only one.
        page.goto(f"{origins[placement]}/storms/")
        page.evaluate("customElements.whenDefined('answerable-ask').then(() => 0)")
        expect(box).to_have_attribute("endpoint", "/own/")


def test_placement_changes_nothing_but_the_tag_of_the_script(
    sites: dict[str | None, Path],
) -> None:
    for name in ("mooring/index.html", "storms/index.html", "search/search_index.json"):
        texts = {TAGS.sub("", (site / name).read_text("utf-8")) for site in sites.values()}
        assert len(texts) == 1


def test_box_floats_in_a_theme_without_a_known_header(page: Page, tmp_path: Path) -> None:
    html = (
        "<!doctype html><html><head><title>x</title></head><body><header></header>"
        "{% if page %}{{ page.content }}{% endif %}</body></html>"
    )
    put(tmp_path / "plain" / "main.html", html)
    theme = {"name": None, "custom_dir": "plain"}
    site = built(tmp_path, theme, "header", shortcut=" shift + ALT+k")
    with static_server.serving(site) as origin:
        page.goto(f"{origin}/")
        expect(page.locator(FLOATING)).to_have_attribute("shortcut", "Alt+Shift+K")
