"""Measure what the searches of Material and Pagefind fetch for a question on a served site."""

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from counting_server import Traffic, read_packed
from playwright.sync_api import Browser, Page
from tables import Row

PAGEFIND = Path(__file__).parent / "searches" / "node_modules" / ".bin" / "pagefind"
NO_PAGEFIND = "Pagefind: skipped, run `npm ci` in eval/bench/searches"
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
