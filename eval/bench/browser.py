"""Measure what an answer in the reader's browser costs: bytes, requests, time, memory, files.

``first``: a question in a page whose browser has nothing in its caches, with the engine and all
that it fetches; ``later``: the next question of the same page. ``kB`` are bodies as a static host
sends them, scripts and JSON with gzip, in units of 1,000 bytes. ``files`` and ``disk_kB``: what the
site holds for it. ``engine_gzip``: the modules that a first question loads. ``cached_p95_ms``: of
answers whose files are all in the page. ``typed_kB``: a question in such a first page that lists
places at the end of each of its words and is then asked; ``x_typed``: of asking it alone.
``key_p95_ms``: of listing places for a question up to each of its letters, with all files in the
page. ``heap_mb``: of the page after all questions, with its
typed arrays. ``task_ms``: the processor time of the longest task of a page's main thread, slowed
four times, while its ask box answers what it has answered before; ``task_without_ms``: where no
worker is to be had. ``seconds``: from the import of the engine to the answer, over a throttled
link.
``material_kB``: the search index and worker of Material; ``pagefind_kB``: of a first search by
Pagefind with the first five results, which its interface shows.
"""

import json
import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from counting_server import Traffic, serve_counted
from playwright.sync_api import Browser, Page
from questions import build_site, required
from site_searches import Site, measure_in_browser, measure_searches, open_page
from tables import DataError, Results, Row, main, read_lines

# Mbit/s and the milliseconds before a response begins: of a slow and a usual phone, of a cable.
LINKS: Mapping[str, tuple[float, int]] = {
    "1.6 Mbit/s, 150 ms": (1.6, 150),
    "9 Mbit/s, 85 ms": (9, 85),
    "30 Mbit/s, 20 ms": (30, 20),
}
_TIMED_QUESTIONS = 5
_ASSETS = Path("assets", "answerable")

_OPEN = """async ([engine, home, index]) => {
  const { openSiteIndex } = await import(engine);
  globalThis.engine = await openSiteIndex(JSON.parse(index), home);
}"""
_ASK = """async (question) => {
  const started = performance.now();
  const { mode } = await globalThis.engine.answer(question, { requestId: "" });
  return { mode, ms: performance.now() - started };
}"""
_TYPE = """async (texts) => {
  const times = [];
  for (const text of texts) {
    const started = performance.now();
    await globalThis.engine.suggest(text);
    times.push(performance.now() - started);
  }
  return times;
}"""
_SLOWED_TIMES = 4
_ROUNDS = 3
_TASKS = "disabled-by-default-devtools.timeline"
_ADD_BOX = """async () => {
  await import("/assets/answerable/ask-box.js");
  globalThis.box = document.body.appendChild(document.createElement("answerable-ask"));
}"""
# Until what was drawn is painted.
_ASK_BOX = """(question) => new Promise((resolve, reject) => {
  box.addEventListener("answerable:problem", ({ detail }) => reject(detail.code), { once: true });
  box.addEventListener(
    "answerable:answer",
    () => requestAnimationFrame(() => setTimeout(resolve)),
    { once: true },
  );
  box.ask(question);
})"""


@dataclass(frozen=True, slots=True)
class Asked:
    """Hold the bytes in kB and the requests of a page's first question, or of a later one."""

    kilobytes: float
    requests: int


def measure(data: Path) -> Results:
    """Measure every ``questions/NAME.jsonl`` on its ``sites/NAME``."""
    return measure_in_browser(data, lambda path, browser: _row(path, data, browser))


def _row(path: Path, data: Path, browser: Browser) -> Row:
    questions = [row["question"] for row in read_lines(path, required)]
    source = data / "sites" / path.stem
    if not questions or not (source / "mkdocs.yml").is_file():
        raise DataError(f"{path} holds no question, or {source / 'mkdocs.yml'} is missing")
    with tempfile.TemporaryDirectory() as work:
        copy = shutil.copytree(source, Path(work, "site"))
        build_site(copy)
        return measure_site(copy / "site", path.stem, questions, browser)


def measure_site(folder: Path, name: str, questions: Sequence[str], browser: Browser) -> Row:
    """Measure a site that was built; it is written to. DataError if no browser can answer on it."""
    settings = json.loads((folder / _ASSETS / "site.json").read_text("utf-8"))
    if "index" not in settings:
        raise DataError("its readers' browsers do not answer: see the messages of its build")
    (folder / "blank.html").write_text("<!doctype html><title>Blank</title>", encoding="utf-8")
    files = [file for file in (folder / _ASSETS).rglob("*") if _is_counted(file, folder)]
    with serve_counted(folder) as traffic:
        home = f"{traffic.origin}/{_ASSETS.as_posix()}/"
        opening = [home + settings["engine"][0], home, json.dumps(settings["index"])]
        site = Site(folder, traffic, opening)
        first, later, engine_gzip = _count_questions(site, questions, browser)
        typed = [_count_typed(site, question, browser) for question in questions]
        ratios = [own / once.kilobytes for own, once in zip(typed, first, strict=True)]
        row: Row = {
            "name": name,
            "questions": len(questions),
            **_spread("first_kB", [each.kilobytes for each in first]),
            **_spread("first_requests", [each.requests for each in first]),
            **_spread("later_kB", [each.kilobytes for each in later]),
            **_spread("later_requests", [each.requests for each in later]),
            **_spread("typed_kB", typed),
            **_spread("x_typed", ratios),
            "engine_gzip": engine_gzip,
            "files": len(files),
            "disk_kB": sum(file.stat().st_size for file in files) / 1000,
            **_measure_cached(site, questions, browser),
            "task_ms": _measure_tasks(site, questions, browser),
            "task_without_ms": _measure_tasks(site, questions, browser, "delete window.Worker"),
            **measure_searches(site, questions, browser),
            "seconds": [_time_link(site, link, questions, browser) for link in LINKS],
        }
    for other in ("material", "pagefind"):
        if f"{other}_kB" in row:
            row[f"x_{other}"] = row["first_kB"] / row[f"{other}_kB"]
    return row


def _is_counted(file: Path, folder: Path) -> bool:
    """Test whether a file is of what an answer in the browser needs, and not of the widget."""
    parts = file.relative_to(folder / _ASSETS).parts
    return file.is_file() and parts[0] in ("engine", "index", "model")


def _spread(name: str, values: Sequence[float]) -> Row:
    """Return the median under a name, and the 90th percentile and the maximum."""
    return {
        name: median(values),
        f"{name}_p90": _percentile(values, 90),
        f"{name}_max": max(values),
    }


def _percentile(values: Sequence[float], percent: int) -> float:
    return (
        quantiles(values, n=100, method="inclusive")[percent - 1] if len(values) > 1 else values[0]
    )


def _count_questions(
    site: Site, questions: Sequence[str], browser: Browser
) -> tuple[list[Asked], list[Asked], int]:
    """Count each question as a first one and as a later one, and the bytes of the modules."""
    first, later = [], []
    engine_gzip = 0
    for question, following in zip(questions, [*questions[1:], questions[0]], strict=True):
        page = open_page(site, browser)
        page.evaluate(_OPEN, site.modules)
        page.evaluate(_ASK, question)
        first.append(_take(site.traffic))
        engine_gzip = max(engine_gzip, _sum_modules(site.traffic.responses))
        site.traffic.reset()
        page.evaluate(_ASK, following)
        later.append(_take(site.traffic))
        page.context.close()
    return first, later, engine_gzip


def _count_typed(site: Site, question: str, browser: Browser) -> float:
    """Count the kilobytes of a first question for whose words places are listed while typing."""
    words = question.split()
    page = open_page(site, browser)
    page.evaluate(_OPEN, site.modules)
    page.evaluate(_TYPE, [" ".join(words[: place + 1]) for place in range(len(words))])
    page.evaluate(_ASK, question)
    kilobytes = site.traffic.kilobytes
    page.context.close()
    return kilobytes


def _take(traffic: Traffic) -> Asked:
    return Asked(traffic.kilobytes, len(traffic.responses))


def _sum_modules(responses: Iterable[tuple[str, int]]) -> int:
    return sum(size for path, size in responses if path.endswith(".js"))


def _measure_cached(site: Site, questions: Sequence[str], browser: Browser) -> Row:
    """Ask all questions twice in one page: the second time, nothing is fetched."""
    page = open_page(site, browser)
    session = page.context.new_cdp_session(page)
    before = _read_heap(session)
    page.evaluate(_OPEN, site.modules)
    for question in questions:
        page.evaluate(_ASK, question)
    heap = _read_heap(session) - before
    times = [page.evaluate(_ASK, question)["ms"] for question in questions]
    texts = [text[:end] for text in map(str.strip, questions) for end in range(1, len(text) + 1)]
    page.evaluate(_TYPE, texts)
    keys = page.evaluate(_TYPE, texts)
    page.context.close()
    return {
        "cached_ms": median(times),
        "cached_p95_ms": _percentile(times, 95),
        "key_ms": median(keys),
        "key_p95_ms": _percentile(keys, 95),
        "heap_mb": heap / 1e6,
    }


def _measure_tasks(
    site: Site, questions: Sequence[str], browser: Browser, script: str = ""
) -> float:
    """Measure the longest task of a slowed page whose box answers from what it has."""
    page = browser.new_context().new_page()
    page.set_default_timeout(120_000)
    page.add_init_script(script)
    page.goto(f"{site.traffic.origin}/blank.html")
    page.evaluate(_ADD_BOX)
    for question in questions:
        page.evaluate(_ASK_BOX, question)
    session = page.context.new_cdp_session(page)
    session.send("Emulation.setCPUThrottlingRate", {"rate": _SLOWED_TIMES})
    # The least of some rounds, since a busy machine adds to what a task takes.
    longest = min(_trace_questions(questions, page, browser) for _ in range(_ROUNDS))
    page.context.close()
    return longest


def _trace_questions(questions: Sequence[str], page: Page, browser: Browser) -> float:
    """Ask the questions, and return the processor time of the longest task in milliseconds."""
    browser.start_tracing(page=page, categories=[_TASKS, "__metadata"])
    for question in questions:
        page.evaluate(_ASK_BOX, question)
    events = json.loads(browser.stop_tracing())["traceEvents"]
    threads = {
        (event["pid"], event["tid"])
        for event in events
        if event["name"] == "thread_name" and event["args"]["name"] == "CrRendererMain"
    }
    return max(
        float(event.get("tdur", 0)) / 1000
        for event in events
        if event["name"] == "RunTask" and (event["pid"], event["tid"]) in threads
    )


def _read_heap(session: Any) -> float:
    session.send("HeapProfiler.collectGarbage")
    usage = session.send("Runtime.getHeapUsage")
    return float(usage["usedSize"] + usage.get("backingStorageSize", 0))


def _time_link(site: Site, link: str, questions: Sequence[str], browser: Browser) -> Row:
    """Time first answers over a throttled link, with empty caches, in seconds."""
    megabits, latency = LINKS[link]
    step = max(1, len(questions) // _TIMED_QUESTIONS)
    times = []
    for question in questions[::step][:_TIMED_QUESTIONS]:
        page = open_page(site, browser)
        session = page.context.new_cdp_session(page)
        session.send("Network.enable")
        speed = megabits * 1e6 / 8
        session.send(
            "Network.emulateNetworkConditions",
            {
                "offline": False,
                "latency": latency,
                "downloadThroughput": speed,
                "uploadThroughput": speed,
            },
        )
        started = page.evaluate("performance.now()")
        page.evaluate(_OPEN, site.modules)
        page.evaluate(_ASK, question)
        times.append((page.evaluate("performance.now()") - started) / 1000)
        page.context.close()
    return {"name": link, "median_s": median(times), "max_s": max(times)}


if __name__ == "__main__":
    main("Answers in the reader's browser", measure)
