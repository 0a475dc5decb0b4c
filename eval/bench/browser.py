"""What an answer in the reader's browser costs: bytes, requests, time, memory, files.

``first``: a question in a page whose browser has nothing in its caches, with the engine and all
that it fetches; ``later``: the next question of the same page; ``typed``: a question in such a
first page that lists places at the end of each of its words and is then asked. ``kB`` are bodies as
a static host sends them, scripts and JSON with gzip, in units of 1,000 bytes. ``engine_kB``: the
modules that a first question loads. ``files`` and ``disk_kB``: what the site holds for it.
``cached``: answers whose files are all in the page. ``heap_mb``: of the page after all questions,
with its typed arrays. ``slow_s`` and ``usual_s``: from the import of the engine to the answer, over
the link of a slow and of a usual phone.
"""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from counting_server import Traffic, serve_counted
from playwright.sync_api import Browser, Page, sync_playwright
from real_sites import DataError, RealSite, build_site, make_parser, run_benchmark
from tables import Row, find_median, find_percentile

from support.browser import CHROMIUM_ARGS, executable

# Mbit/s and the milliseconds before a response begins.
LINKS: Mapping[str, tuple[float, int]] = {"slow": (1.6, 150), "usual": (9, 85)}
_TIMED_QUESTIONS = 5
_ASSETS = Path("assets", "answerable")

_OPEN = """async ([engine, home, index]) => {
  const { openSiteIndex } = await import(engine);
  globalThis.engine = await openSiteIndex(JSON.parse(index), home);
}"""
_ASK = """async (question) => {
  const started = performance.now();
  await globalThis.engine.answer(question, { requestId: "" });
  return performance.now() - started;
}"""
_TYPE = """async (texts) => {
  for (const text of texts) await globalThis.engine.suggest(text);
}"""


@contextmanager
def open_browser() -> Iterator[Browser]:
    """Open a Chromium without a window; the program ends where there is none."""
    chromium = executable()
    if chromium is None:
        sys.exit("skipped, there is no Chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=CHROMIUM_ARGS)
        yield browser
        browser.close()


class OpenSite:
    """A served site, and a browser that opens pages of it with empty caches."""

    def __init__(self, traffic: Traffic, opening: Sequence[str], browser: Browser) -> None:
        self.traffic = traffic
        self.opening = opening
        self._browser = browser

    def open_page(self) -> Page:
        """Open a page that has loaded nothing of the site yet."""
        page = self._browser.new_context().new_page()
        page.set_default_timeout(120_000)
        page.goto(f"{self.traffic.origin}/blank.html")
        self.traffic.reset()
        return page


def measure(site: RealSite, browser: Browser) -> list[Row]:
    """Build a site and ask all of its questions in a browser."""
    questions = [row["question"] for row in site.questions]
    with site.copy() as copy:
        build_site(copy)
        folder = copy / "site"
        settings = json.loads((folder / _ASSETS / "site.json").read_text("utf-8"))
        if "index" not in settings:
            raise DataError("its readers' browsers do not answer: see the messages of its build")
        (folder / "blank.html").write_text("<!doctype html><title>Blank</title>", encoding="utf-8")
        parts = ("engine", "index", "model")
        files = [path for part in parts for path in (folder / _ASSETS / part).rglob("*.*")]
        with serve_counted(folder) as traffic:
            home = f"{traffic.origin}/{_ASSETS.as_posix()}/"
            opening = [home + settings["engine"], home, json.dumps(settings["index"])]
            opened = OpenSite(traffic, opening, browser)
            return [
                {
                    "name": site.name,
                    "questions": len(questions),
                    **_count_questions(opened, questions),
                    "files": len(files),
                    "disk_kB": sum(file.stat().st_size for file in files) / 1000,
                    **_measure_cached(opened, questions),
                    **{f"{name}_s": _time_link(opened, name, questions) for name in LINKS},
                }
            ]


def _count_questions(site: OpenSite, questions: Sequence[str]) -> Row:
    """Count what each question fetches as a first one, as a later one, and while it is typed."""
    kilobytes: dict[str, list[float]] = {"first": [], "later": [], "typed": []}
    requests: list[int] = []
    engine = 0
    for question, following in zip(questions, [*questions[1:], questions[0]], strict=True):
        page = site.open_page()
        page.evaluate(_OPEN, site.opening)
        page.evaluate(_ASK, question)
        kilobytes["first"].append(site.traffic.kilobytes)
        requests.append(len(site.traffic.responses))
        scripts = (size for path, size in site.traffic.responses if path.endswith(".js"))
        engine = max(engine, sum(scripts))
        site.traffic.reset()
        page.evaluate(_ASK, following)
        kilobytes["later"].append(site.traffic.kilobytes)
        page.context.close()
        words = question.split()
        page = site.open_page()
        page.evaluate(_OPEN, site.opening)
        page.evaluate(_TYPE, [" ".join(words[: place + 1]) for place in range(len(words))])
        page.evaluate(_ASK, question)
        kilobytes["typed"].append(site.traffic.kilobytes)
        page.context.close()
    row: Row = {"requests": find_median(requests), "engine_kB": engine / 1000}
    for name, sizes in kilobytes.items():
        row |= {f"{name}_kB": find_median(sizes), f"{name}_kB_max": max(sizes)}
    return row


def _measure_cached(site: OpenSite, questions: Sequence[str]) -> Row:
    """Time answers in a page that has all files, and measure its memory."""
    page = site.open_page()
    session = page.context.new_cdp_session(page)
    before = _read_heap(session)
    page.evaluate(_OPEN, site.opening)
    for question in questions:
        page.evaluate(_ASK, question)
    heap = _read_heap(session) - before
    times = [float(page.evaluate(_ASK, question)) for question in questions]
    page.context.close()
    return {
        "cached_ms": find_median(times),
        "cached_p95_ms": find_percentile(times, 95),
        "heap_mb": heap / 1e6,
    }


def _read_heap(session: Any) -> float:
    session.send("HeapProfiler.collectGarbage")
    usage = session.send("Runtime.getHeapUsage")
    return float(usage["usedSize"] + usage.get("backingStorageSize", 0))


def _time_link(site: OpenSite, link: str, questions: Sequence[str]) -> float | None:
    """Time first answers over a throttled link, with empty caches, in seconds."""
    megabits, latency = LINKS[link]
    conditions = {
        "offline": False,
        "latency": latency,
        "downloadThroughput": megabits * 1e6 / 8,
        "uploadThroughput": megabits * 1e6 / 8,
    }
    step = max(1, len(questions) // _TIMED_QUESTIONS)
    times = []
    for question in questions[::step][:_TIMED_QUESTIONS]:
        page = site.open_page()
        session = page.context.new_cdp_session(page)
        session.send("Network.enable")
        session.send("Network.emulateNetworkConditions", conditions)
        started = page.evaluate("performance.now()")
        page.evaluate(_OPEN, site.opening)
        page.evaluate(_ASK, question)
        times.append((page.evaluate("performance.now()") - started) / 1000)
        page.context.close()
    return find_median(times)


if __name__ == "__main__":
    arguments = make_parser(__doc__).parse_args()
    with open_browser() as browser:
        title = "Answers in the reader's browser"
        run_benchmark(title, arguments, partial(measure, browser=browser))
