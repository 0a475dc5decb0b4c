"""Measure what the widget costs a page before it is used: bytes, requests, work, first paint.

``gzip``: its bytes by ``gzip -9``; ``share``: of the limit. ``requests``: those that a page makes
because of it. Work is the processor time of the page's main thread in a trace of Chromium, as the
median of visits with and without the widget, which take turns. ``evaluate_ms``: its script and the
start of its element; ``compile_ms``: what of the script's compilation is not done aside,
and what keeps it for later; ``render_ms``: what style, layout and paint take more. ``page 1`` is
loaded by a new process with nothing in its caches, and the others after it in the same tab.
``button_ms``: the total of a script that does nothing but add a plain ``<button>``, which tells how
much of all this is the machine's and the browser's. ``paint_ms``: when the first paint was.
"""

import gzip
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright
from tables import Row, print_rows

from answerable.indexing.widget.injection import WIDGET_SCRIPT, read_widget_files

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from support import static_server
from support.browser import CHROMIUM_ARGS, executable

# Milliseconds by kind of work, and when the first paint was.
Load = Mapping[str, float]

LOADS = int(os.environ.get("ANSWERABLE_LOADS") or 15)
LIMIT = 20_000
# The script is compiled at the first, kept at the second and found at the third.
PAGES = 3

_CATEGORIES = ["devtools.timeline", "v8"]
_WORK = {
    "compile": {"v8.compileModule", "v8.produceModuleCache"},
    "evaluate": {"v8.evaluateModule", "RunMicrotasks", "FunctionCall"},
    "render": {"UpdateLayoutTree", "Layout", "PrePaint", "Paint", "Layerize", "Commit"},
}
# Long enough for the element's first frame.
_SETTLED_MS = 150
_PAGE = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>Docs</title>'
    "<style>body { font-family: sans-serif }</style><h1>Docs</h1>"
    + "<p>Deploy the function with care, and read what it tells.</p>"
    * 30
)
# What else stands in the page of each name.
_PAGES = {
    "widget": (
        "<answerable-ask></answerable-ask>"
        '<script type="module" src="assets/answerable/ask-box.js"></script>'
    ),
    "button": '<script type="module" src="button.js"></script>',
    "nothing": "",
}
_BUTTON = """
const button = document.createElement("button");
button.textContent = "Ask";
button.style.cssText = "position: fixed; bottom: 1em; right: 1em";
document.body.append(button);
"""
_PAINTED = "performance.getEntriesByName('first-paint')[0].startTime"


def rows() -> list[Row]:
    """Measure the script, and with it the loads where there is a browser."""
    script = read_widget_files()[WIDGET_SCRIPT].encode()
    packed = len(compress_script(script))
    row: Row = {
        "name": "ask-box.js",
        "bytes": len(script),
        "gzip": packed,
        "share": packed / LIMIT,
    }
    chromium = executable()
    if chromium is None:
        print("loads: skipped, there is no Chromium", file=sys.stderr)
        return [row]
    with _site() as origin, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=CHROMIUM_ARGS)
        counts = [_requests(browser, f"{origin}/{name}.html") for name in ("widget", "nothing")]
        row["requests"] = counts[0] - counts[1]
        row["before the first use"] = _loads(browser, origin)
        browser.close()
    return [row]


def _loads(browser: Browser, origin: str) -> list[Row]:
    """Measure one row for each kind of visit."""
    # The first of them brings files into memory and is not counted.
    visits = [
        {name: _visit(browser, f"{origin}/{name}.html") for name in _PAGES}
        for _ in range(LOADS + 1)
    ][1:]
    return [_row(place, visits) for place in range(PAGES)]


def _row(place: int, visits: Sequence[Mapping[str, Sequence[Load]]]) -> Row:
    def extra_ms(name: str, kind: str) -> float:
        """Subtract what pages take that hold nothing."""
        return median(visit[name][place][kind] - visit["nothing"][place][kind] for visit in visits)

    return {
        "name": f"page {place + 1}",
        **{f"{kind}_ms": extra_ms("widget", kind) for kind in (*_WORK, "total")},
        "button_ms": extra_ms("button", "total"),
        "paint_ms": median(visit["widget"][place]["paint"] for visit in visits),
        "paint_without_ms": median(visit["nothing"][place]["paint"] for visit in visits),
    }


def _visit(browser: Browser, url: str) -> list[Load]:
    """Time each page of a visit in a context of its own, in milliseconds by kind."""
    context = browser.new_context()
    page = context.new_page()
    loads = [_load(browser, page, f"{url}?{number}") for number in range(PAGES)]
    context.close()
    return loads


def _load(browser: Browser, page: Page, url: str) -> Load:
    browser.start_tracing(page=page, categories=_CATEGORIES)
    page.goto(url)
    page.wait_for_timeout(_SETTLED_MS)
    events = json.loads(browser.stop_tracing())["traceEvents"]
    (committed,) = (
        event
        for event in events
        if event["name"] == "CommitLoad" and event["args"]["data"]["url"] == url
    )
    thread = committed["pid"], committed["tid"]
    own = [event for event in events if (event["pid"], event["tid"]) == thread]
    work = {kind: _spent(own, names) for kind, names in _WORK.items()}
    return {**work, "total": sum(work.values()), "paint": page.evaluate(_PAINTED)}


def _spent(events: list[dict[str, Any]], names: set[str]) -> float:
    """Sum the processor time of events by name, in milliseconds, a nested one counted once."""
    complete_events = [
        event for event in events if event["name"] in names and event.get("ph") == "X"
    ]
    total, end = 0, 0
    for event in sorted(complete_events, key=lambda event: (event["ts"], -event["dur"])):
        if event["ts"] >= end:
            total += event.get("tdur", 0)
            end = event["ts"] + event["dur"]
    return total / 1000


def _requests(browser: Browser, url: str) -> int:
    """Count the requests that the load of a page makes."""
    requested: list[str] = []
    page = browser.new_page()
    page.on("request", lambda request: requested.append(request.url))
    page.goto(url)
    page.wait_for_timeout(_SETTLED_MS)
    page.close()
    return len(requested)


def compress_script(data: bytes) -> bytes:
    """Compress by ``gzip -9``, where there is one: libraries differ in what they find."""
    command = shutil.which("gzip")
    if command is None:
        return gzip.compress(data, 9, mtime=0)
    return subprocess.run([command, "-9c"], input=data, capture_output=True, check=True).stdout


@contextmanager
def _site() -> Iterator[str]:
    """Serve a site of one page in several kinds, and yield its origin."""
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work)
        for path, text in read_widget_files().items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, encoding="utf-8")
        (folder / "button.js").write_text(_BUTTON, encoding="utf-8")
        for name, body in _PAGES.items():
            (folder / f"{name}.html").write_text(_PAGE + body, encoding="utf-8")
        with static_server.serving(folder) as origin:
            yield origin


if __name__ == "__main__":
    print_rows(
        f"The widget before its first use, medians of {LOADS} visits",
        rows(),
        as_json="--json" in sys.argv[1:],
    )
