"""Measure what the searches of Material and Pagefind fetch for a question on a served site."""

import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from counting_server import Traffic, read_packed
from playwright.sync_api import Browser, Page, sync_playwright
from tables import Results, Row, measure_each

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from support.browser import CHROMIUM_ARGS, executable

PAGEFIND = Path(__file__).parent / "searches" / "node_modules" / ".bin" / "pagefind"
NO_PAGEFIND = "Pagefind: skipped, run `npm ci` in eval/bench/searches"
_MISSING = "no file questions/NAME.jsonl with its site in sites/NAME"
# So many its interface shows at once.
_PAGEFIND_RESULTS = 5

_SEARCH = """async ([question, count]) => {
  const pagefind = await import("/pagefind/pagefind.js");
  const { results } = await pagefind.search(question);
  await Promise.all(results.slice(0, count).map((result) => result.data()));
}"""


@dataclass(frozen=True, slots=True)
class Site:
    """Hold a served site: its folder, its traffic, and the addresses of its engine and index."""

    folder: Path
    traffic: Traffic
    modules: Sequence[str]


def measure_in_browser(data: Path, measure_site: Callable[[Path, Browser], Row]) -> Results:
    """Measure every ``questions/NAME.jsonl`` of a data folder in one browser.

    measure_site: measures the ``sites/NAME`` of such a file.
    """
    chromium = executable()
    if chromium is None:
        return Results((), ("skipped, there is no Chromium",))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=CHROMIUM_ARGS)
        paths = sorted((data / "questions").glob("*.jsonl"))
        results = measure_each(
            paths, lambda path: measure_site(path, browser), f"{_MISSING} in {data}"
        )
        browser.close()
    return Results(results.rows, [*results.skipped, *([] if PAGEFIND.exists() else [NO_PAGEFIND])])


def open_page(site: Site, browser: Browser) -> Page:
    """Open a page of a browser that has nothing of the site in its caches."""
    page = browser.new_context().new_page()
    page.set_default_timeout(120_000)
    page.goto(f"{site.traffic.origin}/blank.html")
    site.traffic.reset()
    return page


def measure_searches(site: Site, questions: Sequence[str], browser: Browser) -> Row:
    """Measure the searches of Material and Pagefind on the same site."""
    row: Row = {}
    index = site.folder / "search" / "search_index.json"
    workers = [*(site.folder / "assets" / "javascripts" / "workers").glob("search*.js")]
    if index.is_file() and workers:
        row["material_kB"] = sum(len(read_packed(file)) for file in (index, *workers)) / 1000
    if PAGEFIND.exists():
        command = [str(PAGEFIND), "--site", str(site.folder), "--silent"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        sizes = []
        for question in questions:
            page = open_page(site, browser)
            page.evaluate(_SEARCH, [question, _PAGEFIND_RESULTS])
            sizes.append(site.traffic.kilobytes)
            page.context.close()
        row["pagefind_kB"] = median(sizes)
    return row
