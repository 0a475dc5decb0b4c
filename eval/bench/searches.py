"""Real questions to Material's search, Pagefind, MiniSearch, mkdocs-ask and our ask box.

Each answers the same real questions on the same built site, as its own interface shows it: Material
by its page in Chromium, Pagefind by its module with the five results and three sections of each
that its interface draws, MiniSearch over the sections of Material's index with the options that
VitePress gives it, mkdocs-ask by its worker. ``page_1``, ``page_3``, ``page_5``: the share of the
answerable questions of which a right page is the first, or among the first three or five pages that
are shown, links of every kind included. ``answer_shown``: of the questions with gold spans, the
share whose spans stand in what is shown without following a link; MiniSearch leaves that to its
users. ``declined``: of the unanswerable questions, the share without a result; of ours, where the
reply is "not found". ``warned`` adds the replies that are headed as perhaps no answer.

The model of mkdocs-ask, 118 MB, comes from a host that a build without a network does not reach, so
its rows are of its words alone: with its model it finds more.
"""

import json
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import quote

from browser import open_browser
from counting_server import serve_counted
from playwright.sync_api import Browser
from questions import ask
from real_sites import RealSite, build_site, list_pages, make_parser, run_benchmark
from tables import Row, share

from answerable.engine.bundle import Bundle, open_bundle
from answerable.engine.engine import Engine
from answerable.engine.providers import make_engine
from answerable.indexing.local_model import open_local_embedder

_SEARCHES = Path(__file__).parent / "searches"
_MINISEARCH = _SEARCHES / "minisearch.mjs"
_PAGEFIND = _SEARCHES / "node_modules" / ".bin" / "pagefind"
_TAG = re.compile(r"<[^>]+>")

_READ_MATERIAL = """() => [...document.querySelectorAll(".md-search-result__item")].map((item) => ({
  url: item.querySelector("a").href, text: item.innerText,
}))"""
# Its heading says "Type to start searching" until a question is answered.
_IS_MATERIAL_DONE = """() => {
  const meta = document.querySelector(".md-search-result__meta");
  return meta && /\\d|no match/i.test(meta.textContent);
}"""
_ASK_PAGEFIND = """async (questions) => {
  const pagefind = await import("/pagefind/pagefind.js");
  const lists = [];
  for (const question of questions) {
    const { results } = await pagefind.search(question);
    const pages = await Promise.all(results.slice(0, 5).map((result) => result.data()));
    lists.push(pages.map(({ url, excerpt, sub_results }) => ({
      url, text: [excerpt, ...sub_results.slice(0, 3).map((each) => each.excerpt)].join("\\n"),
    })));
  }
  return lists;
}"""
_ASK_MKDOCS_ASK = """(questions) => new Promise((resolve, reject) => {
  const home = new URL("/assets/ask/", location);
  const worker = new Worker(new URL("worker.js", home), { type: "module" });
  const lists = [];
  worker.onmessage = ({ data }) => {
    if (data.type === "error") reject(data.message);
    if (data.type === "results") {
      lists.push(data.results.map(({ url, snippet }) => ({ url, text: snippet })));
    }
    if (data.type !== "ready" && data.type !== "results") return;
    if (lists.length === questions.length) return resolve(lists);
    worker.postMessage({ type: "search", id: lists.length, query: questions[lists.length] });
  };
  worker.postMessage({ type: "init", baseUrl: home.href });
})"""


@dataclass(frozen=True, slots=True)
class ShownResults:
    """What a search shows for a question: pages in their order, and text to read at once.

    ``text``: None where the search leaves its interface to whoever uses it.
    """

    pages: Sequence[str]
    text: str | None
    is_declined: bool
    is_unsure: bool = False


def measure(site: RealSite, browser: Browser) -> list[Row]:
    """Measure a row for each search of a site."""
    questions = [row["question"] for row in site.questions]
    with site.copy() as folder:
        root = build_site(folder)
        engine = make_engine(open_bundle(folder / "function" / "bundle"), open_local_embedder())
        shown: dict[str, Sequence[ShownResults]] = {
            "mkdocs-answerable": [_ask_engine(engine, text, root) for text in questions]
        }
    # Both add to the search of Material, which is measured without them.
    with site.copy() as folder:
        build_site(folder, {})
        shown |= _ask_searches(folder / "site", questions, browser)
    if find_spec("mkdocs_ask"):
        with site.copy() as folder:
            build_site(folder, {"ask": {"embedding": {"backend": "none"}}})
            shown["mkdocs-ask, words alone"] = _ask_page(
                folder / "site", questions, browser, _ASK_MKDOCS_ASK
            )
    return [
        {"site": site.name, "search": name, **_rate(results, site)}
        for name, results in shown.items()
    ]


def _ask_engine(engine: Engine[Bundle], question: str, root: str) -> ShownResults:
    reply = ask(engine, question, root)
    return ShownResults(reply.pages, "\n".join(reply.cards), not reply.cards, reply.is_unsure)


def _ask_searches(
    folder: Path, questions: Sequence[str], browser: Browser
) -> Mapping[str, Sequence[ShownResults]]:
    """Ask the searches that need nothing of the site but its files."""
    shown: dict[str, Sequence[ShownResults]] = {}
    if (folder / "search" / "search_index.json").is_file():
        shown["Material for MkDocs"] = _ask_material(folder, questions, browser)
    if _PAGEFIND.exists():
        shown["MiniSearch"] = _ask_minisearch(folder, questions)
        command = [str(_PAGEFIND), "--site", str(folder), "--silent"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        shown["Pagefind"] = _ask_page(folder, questions, browser, _ASK_PAGEFIND)
    return shown


def _ask_material(
    folder: Path, questions: Sequence[str], browser: Browser
) -> Sequence[ShownResults]:
    """Read the results of a page that is opened with the question in the field of its search."""
    shown = []
    with serve_counted(folder) as traffic:
        page = browser.new_context().new_page()
        page.set_default_timeout(120_000)
        for question in questions:
            page.goto("about:blank")
            page.goto(f"{traffic.origin}/index.html?q={quote(question)}")
            page.wait_for_function(_IS_MATERIAL_DONE)
            shown.append(_read_results(page.evaluate(_READ_MATERIAL), traffic.origin))
        page.context.close()
    return shown


def _ask_minisearch(folder: Path, questions: Sequence[str]) -> Sequence[ShownResults]:
    index = folder / "search" / "search_index.json"
    command = ["node", str(_MINISEARCH), str(index)]
    done = subprocess.run(
        command, check=True, input=json.dumps(questions), text=True, stdout=subprocess.PIPE
    )
    return [_read_results(results, "") for results in json.loads(done.stdout)]


def _ask_page(
    folder: Path, questions: Sequence[str], browser: Browser, script: str
) -> Sequence[ShownResults]:
    """Run a script that asks all questions on a blank page of the site."""
    (folder / "blank.html").write_text("<!doctype html><title>Blank</title>", encoding="utf-8")
    with serve_counted(folder) as traffic:
        page = browser.new_context().new_page()
        page.set_default_timeout(120_000)
        page.goto(f"{traffic.origin}/blank.html")
        lists = page.evaluate(script, questions)
        page.context.close()
        return [_read_results(results, traffic.origin) for results in lists]


def _read_results(results: Sequence[Mapping[str, Any]], origin: str) -> ShownResults:
    texts = [_TAG.sub("", result["text"]) for result in results if "text" in result]
    pages = list_pages([result["url"] for result in results], origin)
    text = "\n".join(texts) if len(texts) == len(results) else None
    return ShownResults(pages, text, is_declined=not results)


def _rate(shown: Sequence[ShownResults], site: RealSite) -> Row:
    pairs = list(zip(shown, site.questions, strict=True))
    answerable = [
        (result.pages, set(row["gold_urls"])) for result, row in pairs if row["answerable"]
    ]
    others = [result for result, row in pairs if not row["answerable"]]
    return {
        **{
            f"page_{count}": share(
                not right.isdisjoint(pages[:count]) for pages, right in answerable
            )
            for count in (1, 3, 5)
        },
        "answer_shown": share(
            site.gold[row["id"]].is_held(result.text)
            for result, row in pairs
            if row["id"] in site.gold and result.text is not None
        ),
        "declined": share(result.is_declined for result in others),
        "warned": share(result.is_declined or result.is_unsure for result in others),
    }


if __name__ == "__main__":
    arguments = make_parser(__doc__).parse_args()
    with open_browser() as browser:
        run_benchmark("Searches of a site", arguments, partial(measure, browser=browser))
    if not _PAGEFIND.exists():
        print("MiniSearch and Pagefind: skipped, run `npm ci` in eval/bench/searches")
    if not find_spec("mkdocs_ask"):
        print("mkdocs-ask: skipped, run `pip install mkdocs-ask`")
