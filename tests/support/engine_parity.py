"""Compare the whole replies of the browser's engine with Python's, question by question."""

import difflib
import json
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, cast

import msgspec
from playwright.sync_api import Page

from answerable.engine.answers.wire import (
    add_absolute_url,
    serialize_answer,
    serialize_places,
    serialize_section,
)
from answerable.engine.bundle import Bundle
from answerable.engine.engine import Engine
from answerable.engine.providers import make_engine
from answerable.engine.retrieval.question import (
    clean_question,
    find_question_problem,
)
from answerable.engine.retrieval.retrieve import POOL_SIZE
from answerable.engine.types import Place
from answerable.indexing.widget.injection import ENGINE_SCRIPT
from support import sites, static_server
from support.engine_process import ENGINE, node_command

QUESTIONS_FILE = Path(__file__).parents[1] / "browser_engine" / "questions.jsonl"
ASKER = Path(__file__).with_name("engine_asker.mjs")
# A failure tells by the number of differences where among so many questions at once it is.
_BATCH = 50

# What came of a question: {"reply": the body, "places": of the search, "sections": that it cites},
# {"problem": a code} or {"error": a stack}.
Result = dict[str, Any]
Ask = Callable[[Sequence["Question"]], list[Result]]


class Question(msgspec.Struct, frozen=True):
    """A question as it is typed, its kind, and the language that is asked for."""

    kind: str
    text: str
    language: str | None = None


def read_questions() -> list[Question]:
    """Read the frozen questions about the frozen site: real ones, and odd ones of many kinds.

    Unicode 14 knows all of their characters: of newer ones only one of the engines would know.
    """
    lines = QUESTIONS_FILE.read_text("ascii").splitlines()
    # A lone surrogate, which is one of the oddities, is no JSON to msgspec.
    return [Question(**json.loads(line)) for line in lines]


@dataclass(frozen=True, slots=True)
class BrowserSite:
    """A site that answers in the browser: its origin, its site.json, and Python's engine."""

    origin: str
    config: dict[str, Any]
    engine: Engine[Bundle]

    @property
    def home(self) -> str:
        """The address that the paths of its configuration are relative to."""
        return f"{self.origin}/assets/answerable/"


@contextmanager
def serving_site(folder: Path, engine: Engine[Bundle] | None = None) -> Iterator[BrowserSite]:
    """Serve the site of a built project."""
    config = json.loads((folder / "site/assets/answerable/site.json").read_text("utf-8"))
    with static_server.serving(folder / "site") as origin:
        yield BrowserSite(
            origin, config, engine or make_engine(sites.opened(folder), sites.local())
        )


def expect_result(engine: Engine[Bundle], question: Question) -> Result:
    """Answer by Python's engine, as the HTTP service does."""
    text = clean_question(question.text)
    if find_question_problem(text):
        return {"problem": "bad-request"}
    pool = engine.retrieve(text, POOL_SIZE, question.language)
    reply = engine.answer_from(pool)
    body = serialize_answer(reply, engine.store, pool.reading.remarks)
    sections = [serialize_section(engine.store, each["id"]) for each in body["citations"]]
    result = {
        "reply": body,
        "places": _list_places(engine, engine.search(text, question.language)),
        "sections": sections,
    }
    return cast("Result", json.loads(json.dumps(result)))


def _list_places(engine: Engine[Bundle], places: tuple[Place, ...]) -> list[Any]:
    fields = ("url", "title", "line", "href")
    return [
        [name, add_absolute_url({f: row[f] for f in fields}, engine.store.index.site.url)]
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

        def ask(questions: Sequence[Question]) -> list[Result]:
            assert process.stdin
            assert process.stdout
            modules = [(ENGINE / ENGINE_SCRIPT).as_uri(), site.home]
            process.stdin.write(_format_call(site, modules, questions) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
            assert line, "Node has ended: its error is above"
            results: list[Result] = json.loads(line)
            return results

        yield ask


def asking_in_page(site: BrowserSite, page: Page) -> Ask:
    """Open the engine's modules, as they are published, in a page of the site."""
    page.goto(f"{site.origin}/index.html")
    modules = [site.home + site.config["engine"], site.home]

    def ask(questions: Sequence[Question]) -> list[Result]:
        # As text: a lone surrogate would not survive the way to the page.
        answered = page.evaluate(
            """async ([asker, call]) => {
              const address = URL.createObjectURL(new Blob([asker], { type: "text/javascript" }));
              const { askAll } = await import(address);
              return JSON.stringify(await askAll(...JSON.parse(call)));
            }""",
            [ASKER.read_text("utf-8"), _format_call(site, modules, questions)],
        )
        results: list[Result] = json.loads(answered)
        return results

    return ask


def _format_call(site: BrowserSite, modules: list[str], questions: Sequence[Question]) -> str:
    """Format the arguments of ``askAll`` as ASCII."""
    asked = [{"text": question.text, "language": question.language} for question in questions]
    return json.dumps([*modules, site.config["index"], asked])


def describe_differences(questions: Sequence[Question], expected: list[Result], ask: Ask) -> str:
    """Ask the browser's engine each question; describe the first of the results that differ."""
    differences: list[str] = []
    for start in range(0, len(questions), _BATCH):
        batch = questions[start : start + _BATCH]
        actual = ask(batch)
        for question, *results in zip(batch, expected[start:], actual, strict=False):
            if results[0] != results[1]:
                lines = (json.dumps(result, indent=1, sort_keys=True) for result in results)
                before, after = (text.splitlines() for text in lines)
                diff = difflib.unified_diff(before, after, "Python", "JavaScript", lineterm="", n=1)
                differences.append("\n".join([repr(question), *islice(diff, 40)]))
    return "\n\n".join([f"{len(differences)} differ", *differences[:5]]) if differences else ""
