"""Sites whose readers' browsers answer, as people publish them: two lines, versions, languages."""

from __future__ import annotations

import json
import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from support.browser_site import ask, hosted, visit, write_plain_site
from support.sites import PAGES, build, command, index, put, write_site

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
    page = browser.new_page()
    with hosted(tmp_path / "host") as host:
        box = visit(page, f"{host.origin}/team/docs/storms/")
        ask(box, CHAIN)
        expect(box.locator(".card")).to_contain_text("twelve millimetres thick")
        address = f"{host.origin}/team/docs/mooring/#chains"
        href = box.locator("a[href*='/mooring/']").first.get_attribute("href")
        assert href is not None
        assert href.startswith(address)
    page.close()


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


@pytest.mark.deep
@pytest.mark.skipif(find_spec("mkdocs_static_i18n") is None, reason="without mkdocs-static-i18n")
def test_each_language_apart_answers_from_its_own_index(page: Page, tmp_path: Path) -> None:
    languages: list[dict[str, Any]] = [
        {"locale": "en", "name": "English", "default": True},
        {"locale": "fr", "name": "Français"},
    ]
    french = "# Mouillage\n\nLa chaîne du mouillage est épaisse de douze millimètres.\n"
    i18n = {"i18n": {"docs_structure": "suffix", "languages": languages}}
    write_site(
        tmp_path,
        {**PAGES, "mooring.fr.md": french},
        theme={"name": "material", "font": False},
        plugins=["search", i18n, {"answerable": {"languages": "apart"}}],
    )
    site = built(tmp_path)
    config = json.loads((site / WIDGET / "site.json").read_bytes())
    assert list(config["index"]) == ["en", "fr"]
    with hosted(site) as host:
        box = visit(page, f"{host.origin}/fr/")
        box.locator(".trigger").click()
        ask(box, "Quelle est l'épaisseur de la chaîne du mouillage ?")
        expect(box.locator(".card")).to_contain_text("douze millimètres")
        reads = [line for line in host.requests if "/index/" in line]
        assert reads
        assert all("/index/fr/" in line for line in reads)
        box = visit(page, host.origin)
        ask(box, CHAIN)
        expect(box.locator(".card")).to_contain_text("twelve millimetres thick")


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
