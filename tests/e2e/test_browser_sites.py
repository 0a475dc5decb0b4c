"""Sites whose readers' browsers answer, as people publish them: two lines, versions, languages."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from support.browser import browsing
from support.browser_site import ask, hosted, visit, write_plain_site
from support.sites import PAGES, build, command, index, put

CHAIN = "How thick is the chain of a mooring?"
WIDGET = Path("assets", "answerable")


def built(folder: Path, *args: str, **environment: str) -> Path:
    done = build(folder, *args, **environment)
    assert done.returncode == 0, done.stderr
    return folder / "site"


def test_two_lines_answer_on_any_host(browser: Browser, tmp_path: Path) -> None:
    for name, text in PAGES.items():
        put(tmp_path / "docs" / name, text)
    put(tmp_path / "mkdocs.yml", "site_name: Harbour\nplugins: [search, answerable]\n")
    # Published below a path, which the build does not know.
    shutil.copytree(built(tmp_path), tmp_path / "host" / "team" / "docs")
    # The theme's highlighter comes from another host, and its scripts fail without it.
    with browsing(browser) as page, hosted(tmp_path / "host") as host:
        box = visit(page, f"{host.origin}/team/docs/storms/")
        ask(box, CHAIN)
        expect(box.locator(".card")).to_contain_text("twelve millimetres thick")
        address = f"{host.origin}/team/docs/mooring/#chains"
        href = box.locator("a[href*='/mooring/']").first.get_attribute("href")
        assert href is not None
        assert href.startswith(address)


@pytest.mark.deep
def test_each_version_answers_from_its_own_index(page: Page, tmp_path: Path) -> None:
    write_plain_site(tmp_path / "docs-of-two-versions")
    folder = tmp_path / "docs-of-two-versions"
    for version, thickness in (("1.0", "twelve"), ("2.0", "thirty")):
        text = PAGES["mooring.md"].replace("twelve", thickness)
        put(folder / "docs" / "mooring.md", text)
        site = built(folder, MIKE_DOCS_VERSION=version)
        shutil.copytree(site, tmp_path / "host" / version)
    with hosted(tmp_path / "host") as host:
        for version, thickness in (("1.0", "twelve"), ("2.0", "thirty")):
            box = visit(page, f"{host.origin}/{version}/")
            ask(box, CHAIN)
            expect(box.locator(".card")).to_contain_text(f"{thickness} millimetres thick")
        # By its referrer, since what the page before had begun to load may end after it is left.
        for version in ("1.0", "2.0"):
            read = [
                line
                for referrer, line in host.referred
                if referrer.startswith(f"/{version}/") and "/assets/answerable/" in line
            ]
            assert [line for line in read if "/index/" in line]
            assert not [line for line in read if not line.startswith(f"GET /{version}/")]


def test_build_injects_a_box_that_answers_in_the_browser(page: Page, tmp_path: Path) -> None:
    html = (
        "<!doctype html><html lang='en'><head><title>Mooring</title></head><body><main>"
        "<h1>Mooring</h1><p>A mooring needs a buoy of forty litres.</p><h2 id='chains'>Chains</h2>"
        "<p>The chain of a mooring is twelve millimetres thick.</p></main></body></html>"
    )
    site = tmp_path / "site"
    put(site / "index.html", html)
    done = index(tmp_path)
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "function").exists()
    assert "twelve" in command(tmp_path, "ask", CHAIN).stdout
    with hosted(site) as host:
        box = visit(page, host.origin)
        ask(box, CHAIN)
        expect(box.locator(".card")).to_contain_text("twelve millimetres thick")
