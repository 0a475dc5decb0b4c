"""Every url that a bundle cites, opened in a real browser under a real `mkdocs serve`."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page

from mkdocs_plugin.test_record_paths import ODD, built
from support import server_processes
from support.citation_check import passages
from support.sites import PAGES, write_site

pytestmark = pytest.mark.deep

LOCATED = "() => document.querySelector(':target') !== null"
EXTRA = {
    "guide/README.md": "# Guide\n\nHow it is done.\n\n## Größe & Länge\n\nIn metres.\n",
    "code.md": (
        "# Code\n\n## `moor(boat)` {#harbour.moor}\n\nMoors a boat.\n\n## 日本語\n\nSaid so.\n\n"
        "## 日本語\n\nAnd again.\n\n<a name='old place'></a>\n\n## 100%\n\nAll.\n"
    ),
    **{f"{name}.md": f"# Page {n}\n\nText {n}.\n" for n, name in enumerate(ODD)},
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = write_site(
        tmp_path_factory.mktemp("opened"),
        {**PAGES, **EXTRA},
        theme={"name": "material", "font": False, "features": ["navigation.instant"]},
        markdown_extensions=["attr_list", {"toc": {"permalink": True}}],
        site_url="https://harbour.example/docs/",
    )
    built(folder, "--strict")
    return folder


@pytest.fixture(scope="module")
def origin(site: Path) -> Iterator[str]:
    with server_processes.mkdocs(site) as server:
        yield f"http://127.0.0.1:{server.port}"


def test_every_url_opens_at_its_place(page: Page, site: Path, origin: str) -> None:
    cited = passages(site)
    assert len({passage.record for passage in cited}) == len({**PAGES, **EXTRA})
    for passage in cited:
        # A fragment alone is no request, and without one there is no response to look at.
        page.goto("about:blank")
        response = page.goto(f"{origin}{passage.url}", wait_until="domcontentloaded")
        assert response
        assert response.status == 200, passage.url
        if urlsplit(passage.url).fragment:
            assert page.evaluate(LOCATED), passage.url
        assert passage.text.splitlines()[0] in page.locator("article").inner_text(), passage.url
