"""Sites whose readers' browsers answer, as people publish them: two lines, versions, languages."""

from __future__ import annotations

import json
import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from playwright.sync_api import Browser, Page, expect

from support import server_processes
from support.browser_site import ask, hosted, visit, write_plain_site
from support.deadlines import PATIENCE
from support.sites import NOTES, PAGES, build, command, index, put, write_site

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
        href = box.locator(".card .title").get_attribute("href")
        assert href is not None
        assert href.startswith(address)
    page.close()


def test_instant_navigation_keeps_the_engine(page: Page, tmp_path: Path) -> None:
    theme = {"name": "material", "font": False, "features": ["navigation.instant"]}
    with hosted(tmp_path / "site") as host:
        # Material loads the pages itself of a site that is where its address says.
        write_site(tmp_path, theme=theme, plugins=["search", "answerable"], site_url=host.origin)
        built(tmp_path)
        page.set_viewport_size({"width": 1300, "height": 760})
        with page.expect_response("**/sitemap.xml") as sitemap:
            page.goto(host.origin)
        sitemap.value.finished()
        page.evaluate(
            "() => { window.same = true; return new Promise((done) => setTimeout(done, 100)); }"
        )
        box = page.locator("answerable-ask")
        ask(box, CHAIN)
        box.locator(".card .title").click()
        expect(page.locator("h1")).to_have_text("Mooring")
        words = page.get_by_role("article").get_by_text("twelve millimetres thick")
        expect(words).to_be_in_viewport()
        assert page.evaluate("window.same")
        before = len(host.requests)
        page.keyboard.press("Control+i")
        box.locator("textarea").fill(CHAIN)
        box.locator("textarea").press("Enter")
        expect(box.locator(".working")).to_have_count(0)
        expect(box.locator(".card")).to_contain_text("twelve millimetres thick")
        assert not [line for line in host.requests[before:] if "/assets/answerable/" in line]


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
    link = "<link rel='answerable' href='https://elsewhere.example/'>"
    html = (
        f"<!doctype html><html lang='en'><head><title>Mooring</title>{link}</head><body><main>"
        "<h1>Mooring</h1><p>A mooring needs a buoy of forty litres.</p><h2 id='chains'>Chains</h2>"
        "<p>The chain of a mooring is twelve millimetres thick.</p></main></body></html>"
    )
    site = tmp_path / "site"
    put(site / "index.html", html)
    done = index(tmp_path, widget={"endpoint": "/ask/"})
    assert done.returncode == 0, done.stderr
    assert "answers_in" not in done.stderr
    assert not (site / WIDGET / "index").exists()
    before = {path for path in site.rglob("*") if path.is_file()}
    shutil.rmtree(tmp_path / "function")
    done = index(tmp_path)
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "function").exists()
    assert "twelve" in command(tmp_path, "ask", CHAIN).stdout
    assert "rel=" not in (site / "index.html").read_text("utf-8")
    with hosted(site) as host:
        box = visit(page, host.origin)
        ask(box, CHAIN)
        expect(box.locator(".card")).to_contain_text("twelve millimetres thick")
    done = index(tmp_path, answers_in="function")
    assert done.returncode == 0, done.stderr
    assert {path for path in site.rglob("*") if path.is_file()} == before


def test_options_of_a_built_site_are_refused_with_what_needs_a_function(tmp_path: Path) -> None:
    put(tmp_path / "site" / "index.html", "<!doctype html><body><main><h1>A</h1><p>B c.</p></main>")
    put(tmp_path / "notes" / "a.md", NOTES["winch.md"].replace("mooring.md#chains", "index.html"))
    done = index(tmp_path, answers_in="browser", notebook="notes", widget={"endpoint": "/ask/"})
    assert done.returncode != 0
    assert (
        "answers_in: browser is impossible, since `notebook` needs a function (private notes stay "
        "on a server), and so does `widget.endpoint` (the ask box asks there); set answers_in to "
        "function, or remove `notebook` and remove `widget.endpoint`"
    ) in " ".join(done.stderr.split())
    done = index(tmp_path, notebook="notes")
    assert done.returncode == 0, done.stderr
    assert "deploy the function and set widget.endpoint, or remove `notebook`" in done.stderr


def test_preview_answers_in_the_browser_where_the_option_says_so(tmp_path: Path) -> None:
    write_plain_site(tmp_path, plugins=[{"answerable": {"answers_in": "browser"}}])
    with server_processes.mkdocs(tmp_path) as server:
        config = json.loads(server.request("GET", f"/{WIDGET.as_posix()}/site.json")[1])
        for path in (config["engine"][0], config["index"]["en"]["manifest"]):
            address = f"http://127.0.0.1:{server.port}/{WIDGET.as_posix()}/{path}"
            with urlopen(address, timeout=PATIENCE) as response:
                assert response.status == 200
