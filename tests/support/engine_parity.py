"""Compare the whole replies of the browser's engine with Python's, question by question."""

import difflib
import json
import subprocess
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
from playwright.sync_api import Page

from answerable.evaluate.gold import load_gold_queries
from answerable.indexing.widget.scripts import ENTRY_MODULE
from answerable.serve.answers.wire import add_absolute_url, serialize_answer, serialize_section
from answerable.serve.engine import Engine
from answerable.serve.http.protections import serialize_places
from answerable.serve.providers import make_engine
from answerable.serve.retrieval.question import (
    clean_question,
    drop_unknown_words,
    find_question_problem,
)
from answerable.serve.retrieval.retrieve import TOP_K, retrieve
from answerable.serve.retrieval.sections import POOL_SIZE
from answerable.serve.stores.bundle import Bundle
from answerable.serve.types import Passage, Place
from support import sites, static_server
from support.engine_process import ENGINE, node_command
from support.hard_questions import HardQuestion

ASKER = Path(__file__).with_name("engine_asker.mjs")
ASSETS = "assets/answerable"
# So many questions go to a process or page at once, so that a failure tells where.
_BATCH = 50
_SHOWN_DIFFERENCES = 5
_SHOWN_LINES = 40

# What came of a question: {"reply": the body, "places": of the search, "typed": of the search by
# words alone, "sections": that it cites}, {"problem": a code} or {"error": a stack}.
Result = dict[str, Any]
Ask = Callable[[Sequence[HardQuestion]], list[Result]]


@dataclass(frozen=True, slots=True)
class BrowserSite:
    """Hold the folder and origin of a site that answers in the browser, and Python's engine."""

    folder: Path
    origin: str
    engine: Engine[Bundle]

    def list_passages(self) -> list[Passage]:
        """List all passages of the site."""
        return list(self.engine.store.passages())

    @property
    def home(self) -> str:
        """The address that the paths of its configuration are relative to."""
        return f"{self.origin}/{ASSETS}/"

    def read_setting(self, name: str) -> Any:
        """Read what its configuration says of the engine's scripts or of the index."""
        return json.loads((self.folder / ASSETS / "site.json").read_text("utf-8"))[name]


@dataclass(frozen=True, slots=True)
class Difference:
    """Hold a question that was answered in two ways."""

    question: HardQuestion
    expected: Result
    actual: Result

    def describe(self) -> str:
        """Describe the question and the first lines of a unified diff."""
        if "error" in self.actual:
            lines = self.actual["error"].splitlines()
        else:
            before, after = (
                _format_json(each).splitlines() for each in (self.expected, self.actual)
            )
            lines = [*difflib.unified_diff(before, after, "Python", "JavaScript", lineterm="", n=1)]
        return "\n".join([repr(self.question), *lines[:_SHOWN_LINES]])


@contextmanager
def serving_site(folder: Path) -> Iterator[BrowserSite]:
    """Serve the site of a built project, beside the module that asks its engine.

    folder: of the project; it is written to.
    """
    site = folder / "site"
    (site / ASKER.name).write_bytes(ASKER.read_bytes())
    with static_server.serving(site) as origin:
        yield BrowserSite(site, origin, make_engine(sites.opened(folder), sites.local()))


def list_gold_questions() -> list[HardQuestion]:
    """List the questions of this repository's gold set."""
    queries = load_gold_queries(sites.ROOT / "eval" / "gold.yaml", "The answerable authors")
    return [HardQuestion("gold", query.query) for query in queries]


def expect_result(engine: Engine[Bundle], question: HardQuestion) -> Result:
    """Answer by Python's engine, as the HTTP service does."""
    text = clean_question(question.text)
    if find_question_problem(text):
        return {"problem": "bad-request"}
    pool = engine.retrieve(text, POOL_SIZE, question.language)
    reply = engine.answer_from(pool)
    body = serialize_answer(reply, engine.store, "", pool.reading.remarks)
    sections = [serialize_section(engine.store, each["id"]) for each in body["citations"]]
    result = {
        "reply": body,
        "places": _list_places(engine, engine.search(text, question.language)),
        "typed": _list_places(engine, _search_words(engine, text, question.language)),
        "sections": sections,
    }
    return cast("Result", json.loads(json.dumps(result)))


def _search_words(engine: Engine[Bundle], text: str, language: str | None) -> tuple[Place, ...]:
    """Search as ``Engine.search`` does, with a vector of zeros and without a floor of near misses.

    Siblings are among the near misses already.
    """
    count = len(engine.store.passage_records)
    nothing = np.zeros(engine.store.manifest.identity.dimensions, dtype=np.float32)
    reading = drop_unknown_words(engine.store, engine.parse_question(text))
    ranked = retrieve(engine.store, reading, nothing, count, language, count)
    return engine.list_places(replace(ranked.truncate(POOL_SIZE * TOP_K), siblings=()), 0)


def _list_places(engine: Engine[Bundle], places: tuple[Place, ...]) -> list[Any]:
    fields = ("url", "title", "line", "href")
    return [
        [name, add_absolute_url({f: row[f] for f in fields}, engine.store.site.url)]
        for name, row in serialize_places(places).items()
    ]


@contextmanager
def asking_in_node(site: BrowserSite) -> Iterator[Ask]:
    """Open the engine's modules, as they are in the source, in a process of Node."""
    with subprocess.Popen(
        [*node_command(), str(ASKER), "--lines"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    ) as process:

        def ask(questions: Sequence[HardQuestion]) -> list[Result]:
            assert process.stdin
            assert process.stdout
            message = {
                "engine": (ENGINE / ENTRY_MODULE).as_uri(),
                "home": site.home,
                "index": site.read_setting("index"),
                "questions": _to_json(questions),
            }
            # Escaped: a lone surrogate survives.
            process.stdin.write(json.dumps(message) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
            assert line, "Node has ended: its error is above"
            results: list[Result] = json.loads(line)
            return results

        yield ask


def asking_in_page(site: BrowserSite, page: Page) -> Ask:
    """Open the engine's modules, as they are published, in a page of the site."""
    page.goto(f"{site.origin}/index.html")
    modules = [f"/{ASKER.name}", site.home + site.read_setting("engine")[0], site.home]

    def ask(questions: Sequence[HardQuestion]) -> list[Result]:
        # As text: a lone surrogate would not survive the way to the page.
        answered = page.evaluate(
            """async ([asker, engine, home, index, questions]) => {
              const { askAll } = await import(asker);
              const results = await askAll(engine, home, index, JSON.parse(questions));
              return JSON.stringify(results);
            }""",
            [*modules, site.read_setting("index"), json.dumps(_to_json(questions))],
        )
        results: list[Result] = json.loads(answered)
        return results

    return ask


def find_differences(
    questions: Sequence[HardQuestion], expected: Sequence[Result], ask: Ask
) -> list[Difference]:
    """Ask the browser's engine each question and return those whose results differ."""
    differences = []
    for start in range(0, len(questions), _BATCH):
        batch = questions[start : start + _BATCH]
        results = zip(batch, expected[start : start + _BATCH], ask(batch), strict=True)
        differences += [Difference(*result) for result in results if result[1] != result[2]]
    return differences


def describe_differences(differences: Sequence[Difference]) -> str:
    """Describe how many questions differ, and the first of them."""
    parts = [each.describe() for each in differences[:_SHOWN_DIFFERENCES]]
    return "\n\n".join([f"{len(differences)} replies differ", *parts])


def _to_json(questions: Iterable[HardQuestion]) -> list[dict[str, str | None]]:
    return [{"text": each.text, "language": each.language} for each in questions]


def _format_json(value: object) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False, sort_keys=True)
