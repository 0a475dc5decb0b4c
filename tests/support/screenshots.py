"""Screenshots of every state of the ask box: light and dark, on a desktop and on a phone.

``PYTHONPATH=tests python -m support.screenshots FOLDER``
builds this repository's docs and writes the pictures.
"""

import shutil
import sys
import tempfile
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from mkdocs.commands.build import build
from mkdocs.config import load_config
from playwright.sync_api import Browser, Page, sync_playwright

from support import browser as chromium
from support import sites, static_server

ROOT = Path(__file__).parents[2]
# A page with a box in each state, its script and the answers that it shows.
GALLERY = Path(__file__).parent / "gallery"
DEVICES = {"desktop": (1100, 800), "phone": (360, 740)}
COMPARED = "How do I hide a page?"
SCHEMES = ("light", "dark")
# The states that are worth a picture of the dialog too.
IN_DIALOG = ("empty", "partial", "supported", "not-found", "long")
READY = "document.documentElement.dataset.gallery === 'ready'"


@contextmanager
def built_manual(*, in_browser: bool = False, with_gallery: bool = False) -> Iterator[Path]:
    """Build this repository's docs, under their own path, and their function in a folder.

    in_browser: without the notebook, so that the reader's browser answers. with_gallery: with the
    page of all states.
    """
    with tempfile.TemporaryDirectory() as folder:
        docs, site = Path(folder, "docs"), Path(folder, "mkdocs-answerable")
        shutil.copytree(ROOT / "docs", docs)
        scripts = []
        if with_gallery:
            shutil.copytree(GALLERY, docs, dirs_exist_ok=True)
            scripts.append("gallery.js")
        config = load_config(
            str(ROOT / "mkdocs.yml"),
            docs_dir=str(docs),
            site_dir=str(site),
            extra_javascript=scripts,
        )
        options = config.plugins["answerable"].config
        options.function, options.cache = str(Path(folder, "function")), str(Path(folder, "cache"))
        if in_browser:
            options.notebook, options.answers_in = None, "browser"
        build(config)
        yield Path(folder)


@contextmanager
def gallery() -> Iterator[str]:
    """The address of this repository's docs with the gallery."""
    with built_manual(with_gallery=True) as folder, static_server.serving(folder) as address:
        yield f"{address}/mkdocs-answerable"


def opened(browser: Browser, address: str, device: str, scheme: str) -> Page:
    """The gallery with all of its boxes drawn."""
    width, height = DEVICES[device]
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme="dark" if scheme == "dark" else "light",
        reduced_motion="reduce",
    )
    page = context.new_page()
    page.goto(f"{address}/gallery/")
    page.wait_for_function(READY)
    return page


def shoot(browser: Browser, address: str, folder: Path) -> None:
    """Write a picture of every state into a folder."""
    for device in DEVICES:
        for scheme in SCHEMES:
            page = opened(browser, address, device, scheme)
            name = f"{device}-{scheme}"
            # What sticks to the window would stand in every picture.
            page.add_style_tag(content=".md-header { position: static !important }")
            boxes = page.locator("answerable-ask[placement=inline]")
            for box in boxes.all():
                state = box.get_attribute("data-recorded") or "empty"
                box.screenshot(path=folder / f"{name}-{state}.png", animations="disabled")
            for state in IN_DIALOG:
                _open(page, state)
                page.screenshot(path=folder / f"{name}-dialog-{state}.png", animations="disabled")
            page.context.close()


def _open(page: Page, state: str) -> None:
    """Show a state in the dialog of the header's box."""
    page.evaluate(
        """async (state) => {
          const box = document.querySelector("answerable-ask[placement=header]");
          box.close();
          if (state === "empty") return box.open();
          const recorded = document.querySelector(`[data-recorded="${state}"]`);
          box.fetch = recorded.fetch;
          const { question } = (await (await fetch("../widget-states.json")).json())[state];
          const drawn = new Promise((done) => {
            box.addEventListener("answerable:answer", done, { once: true });
          });
          box.ask(question);
          await drawn;
        }""",
        state,
    )


def shoot_placements(browser: Browser, folder: Path) -> None:
    """Write a picture of each place of the ask box on a page of Material."""
    theme = {"name": "material", "font": False}
    text = "# Tides\n\nThe harbour gate opens two hours before high water.\n"
    for placement in ("floating", "header", "inline"):
        # Where the element stands in the page, its own attribute places it.
        element = "\n<answerable-ask placement='inline'></answerable-ask>\n"
        pages = {**sites.PAGES, "tides.md": text + element * (placement == "inline")}
        options = {"widget": {"placement": "button" if placement == "floating" else "header"}}
        with tempfile.TemporaryDirectory() as work:
            project = sites.write_site(Path(work), pages, theme=theme, options=options)
            sites.build_here(project)
            with static_server.serving(project / "site") as address:
                page = browser.new_page(viewport={"width": 980, "height": 460})
                page.goto(f"{address}/tides/")
                page.locator("answerable-ask button").first.wait_for()
                page.screenshot(path=folder / f"placement-{placement}.png", animations="disabled")
                page.close()


def shoot_comparison(browser: Browser, folder: Path) -> None:
    """Write a picture of a question in the theme's own search and in the ask box."""
    with built_manual(in_browser=True) as work, static_server.serving(work) as address:
        page = browser.new_page(viewport={"width": 1100, "height": 800}, color_scheme="light")
        home = f"{address}/mkdocs-answerable/get-started/"
        page.goto(f"{home}?q={quote(COMPARED)}")
        page.locator(".md-search-result__item").nth(2).wait_for()
        # What is compared is the search as it is without the plugin.
        page.add_style_tag(content=".answerable-search-row { display: none !important }")
        searched = page.locator(".md-search__inner").bounding_box()
        assert searched
        searched["height"] = 620
        search = page.screenshot(clip=searched, animations="disabled")
        page.goto(home)
        page.locator("answerable-ask .trigger").first.click()
        page.keyboard.type(COMPARED)
        page.keyboard.press("Enter")
        page.locator("answerable-ask .card").first.wait_for()
        answer = page.locator("answerable-ask dialog").screenshot(animations="disabled")
        columns = "".join(
            f"<figure><figcaption>{caption}</figcaption>"
            f"<img src='data:image/png;base64,{b64encode(picture).decode()}'></figure>"
            for caption, picture in (("The theme's search", search), ("The ask box", answer))
        )
        page.set_viewport_size({"width": 1320, "height": 720})
        page.set_content(
            "<style>body { display: flex; gap: 24px; margin: 24px; background: #f3f4f6; "
            "font: 600 18px system-ui } figure { flex: 1; margin: 0 } "
            "figcaption { margin-bottom: 12px } img { width: 100%; border-radius: 14px }"
            f"</style>{columns}"
        )
        page.screenshot(path=folder / "comparison.png")
        page.close()


def main() -> None:
    """Write all pictures into the folder that is named."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    with gallery() as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium.executable(), args=chromium.CHROMIUM_ARGS
        )
        shoot(browser, address, folder)
        shoot_placements(browser, folder)
        shoot_comparison(browser, folder)
        browser.close()


if __name__ == "__main__":
    main()
