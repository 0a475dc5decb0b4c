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
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import quote

import gold_spans
import seen
from counting_server import serve_counted
from gold_spans import Gold
from playwright.sync_api import Browser, Page
from questions import build_site, required
from scoring import share
from site_searches import PAGEFIND, measure_in_browser
from tables import DataError, Results, Row, main, read_lines

from answerable.indexing.local_model import open_local_embedder
from answerable.serve.engine import Engine
from answerable.serve.providers import make_engine
from answerable.serve.stores.bundle import Bundle, open_bundle

_MINISEARCH = Path(__file__).parent / "searches" / "minisearch.mjs"
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
    """Hold what a search shows for a question: pages in their order, and text to read at once.

    ``text``: None where the search leaves its interface to whoever uses it. ``grade``: empty where
    nothing answers.
    """

    pages: Sequence[str]
    text: str | None
    grade: str


def measure(data: Path) -> Results:
    """Measure every ``questions/NAME.jsonl`` on its ``sites/NAME``."""
    results = measure_in_browser(data, lambda path, browser: _row(path, data, browser))
    lacks_ask = find_spec("mkdocs_ask") is None
    other = ["mkdocs-ask: skipped, run `pip install mkdocs-ask`"] if lacks_ask else []
    return Results(results.rows, [*results.skipped, *other])


def _row(path: Path, data: Path, browser: Browser) -> Row:
    rows = read_lines(path, required)
    site = data / "sites" / path.stem
    if not rows or not (site / "mkdocs.yml").is_file():
        raise DataError(f"{path} holds no question, or {site / 'mkdocs.yml'} is missing")
    gold_file = data / "gold" / path.name
    gold = gold_spans.read_gold(gold_file) if gold_file.is_file() else {}
    questions = [row["question"] for row in rows]
    with tempfile.TemporaryDirectory() as work:
        copy = shutil.copytree(site, Path(work, "site"))
        root = build_site(copy)
        engine = make_engine(open_bundle(copy / "function" / "bundle"), open_local_embedder())
        shown: dict[str, Sequence[ShownResults]] = {
            "mkdocs-answerable": [_ask_engine(engine, text, root) for text in questions]
        }
        # Both add to the search of Material, which is measured without them.
        plain = shutil.copytree(site, Path(work, "plain"))
        build_site(plain, {})
        shown |= _ask_searches(plain / "site", questions, browser)
        if find_spec("mkdocs_ask"):
            other = shutil.copytree(site, Path(work, "other"))
            build_site(other, {"ask": {"embedding": {"backend": "none"}}})
            shown["mkdocs-ask, words alone"] = _ask_page(
                other / "site", questions, browser, _ASK_MKDOCS_ASK
            )
    searches = [{"search": name, **_rate(lists, rows, gold)} for name, lists in shown.items()]
    return {"name": path.stem, "questions": len(rows), "searches": searches}


def _ask_engine(engine: Engine[Bundle], question: str, root: str) -> ShownResults:
    reply = seen.ask(engine, question)
    urls = [*(card.url for card in reply.cards), *(place.url for place in reply.places)]
    text = "\n".join(card.excerpt for card in reply.cards)
    return ShownResults(_list_pages(urls, root), text, reply.grade)


def _ask_searches(
    folder: Path, questions: Sequence[str], browser: Browser
) -> Mapping[str, Sequence[ShownResults]]:
    """Ask the searches that need nothing of the site but its files."""
    shown: dict[str, Sequence[ShownResults]] = {}
    if (folder / "search" / "search_index.json").is_file():
        shown["Material for MkDocs"] = _ask_material(folder, questions, browser)
        shown["MiniSearch"] = _ask_minisearch(folder, questions)
    if PAGEFIND.exists():
        command = [str(PAGEFIND), "--site", str(folder), "--silent"]
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
        page: Page = browser.new_context().new_page()
        page.set_default_timeout(120_000)
        page.goto(f"{traffic.origin}/blank.html")
        lists = page.evaluate(script, questions)
        page.context.close()
        return [_read_results(results, traffic.origin) for results in lists]


def _read_results(results: Sequence[Mapping[str, Any]], origin: str) -> ShownResults:
    texts = [_TAG.sub("", result["text"]) for result in results if "text" in result]
    pages = _list_pages([result["url"] for result in results], origin)
    text = "\n".join(texts) if len(texts) == len(results) else None
    return ShownResults(pages, text, "results" if results else "")


def _list_pages(urls: Sequence[str], prefix: str) -> Sequence[str]:
    """List the pages of addresses in their order, as the questions name them."""
    pages = (url.removeprefix(prefix).partition("#")[0].partition("?")[0] for url in urls)
    return list(dict.fromkeys(page.lstrip("/").removesuffix("index.html") for page in pages))


def _rate(shown: Sequence[ShownResults], rows: Sequence[Row], gold: Mapping[str, Gold]) -> Row:
    pairs = list(zip(shown, rows, strict=True))
    answerable = [(own, row) for own, row in pairs if row["answerable"]]
    others = [own for own, row in pairs if not row["answerable"]]

    def share_of_pages(count: int) -> float | None:
        return share(
            [not {*row["gold_urls"]}.isdisjoint(own.pages[:count]) for own, row in answerable]
        )

    return {
        "page_1": share_of_pages(1),
        "page_3": share_of_pages(3),
        "page_5": share_of_pages(5),
        "answer_shown": share(
            [
                gold[row["id"]].is_held(own.text)
                for own, row in pairs
                if row.get("id") in gold and own.text is not None
            ]
        ),
        "declined": share([not own.grade for own in others]),
        "warned": share([own.grade in ("", seen.UNSURE_GRADE) for own in others]),
    }


if __name__ == "__main__":
    main("Searches of a site side by side", measure)
