"""Replies of the engine in the browser equal Python's as a whole: a small site, in every run."""

import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page

from answerable.indexing.questions import read_questions
from answerable.serve.types import Passage
from support import engine_parity, sites
from support.engine_parity import BrowserSite, Result
from support.hard_questions import KINDS, HardQuestion, generate_questions

# Of this manual: prose, code, tables and lists, on few enough pages to be built at once.
PAGES = ("agents", "limits", "openai", "troubleshoot")
COUNT = 42


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserSite]:
    folder = sites.write_site(tmp_path_factory.mktemp("parity"), {}, theme={"name": "mkdocs"})
    (folder / "docs").mkdir()
    for name in PAGES:
        shutil.copy(sites.ROOT / "docs" / f"{name}.md", folder / "docs")
    shutil.copy(sites.ROOT / "questions.jsonl", folder)
    done = sites.build(folder, "-q")
    assert done.returncode == 0, done.stderr
    with engine_parity.serving_site(folder) as served:
        yield served


@pytest.fixture(scope="module")
def questions(site: BrowserSite) -> list[HardQuestion]:
    real = engine_parity.list_gold_questions()[::4]
    lines = read_questions(sites.ROOT / "questions.jsonl")
    verbatim = [
        HardQuestion("known", text)
        for name in PAGES
        for section, line in lines.items()
        if section.startswith(f"{name}#")
        for text in line.questions[:1]
    ]
    assert len(verbatim) > COUNT
    return [*real, *verbatim[::2], *generate_questions(site.list_passages(), COUNT)]


@pytest.fixture(scope="module")
def expected(site: BrowserSite, questions: list[HardQuestion]) -> list[Result]:
    results = [engine_parity.expect_result(site.engine, each) for each in questions]
    modes = [result["reply"]["mode"] for result in results if "reply" in result]
    # There is something to compare: answers, refusals, and questions that are none.
    assert modes.count("partial") >= 10
    assert modes.count("not-found") >= 5
    return results


def test_replies_in_node_equal_those_of_python(
    site: BrowserSite, questions: list[HardQuestion], expected: list[Result]
) -> None:
    with engine_parity.asking_in_node(site) as ask:
        differences = engine_parity.find_differences(questions, expected, ask)
    assert not differences, engine_parity.describe_differences(differences)


def test_replies_in_a_page_equal_those_of_python(
    site: BrowserSite, questions: list[HardQuestion], expected: list[Result], page: Page
) -> None:
    ask = engine_parity.asking_in_page(site, page)
    differences = engine_parity.find_differences(questions, expected, ask)
    assert not differences, engine_parity.describe_differences(differences)


def test_hard_questions_are_of_every_kind_and_the_same_each_time() -> None:
    passages = [Passage("a#b", "a", "/a/#b", "A › B", "Mind the rope.", ((0, 14),))]
    questions = list(generate_questions(passages, 2 * len(KINDS)))
    assert questions == list(generate_questions(passages, 2 * len(KINDS)))
    assert questions != list(generate_questions(passages, 2 * len(KINDS), seed=7))
    assert [each.kind for each in questions] == [*KINDS, *KINDS]


def test_difference_is_described_by_the_lines_that_differ() -> None:
    question = HardQuestion("title", "Why?")
    expected = {"reply": {"mode": "partial", "notes": []}}
    actual = {"reply": {"mode": "not-found", "notes": []}}
    differences = engine_parity.find_differences(
        [question, question], [expected, expected], lambda _: [expected, actual]
    )
    text = engine_parity.describe_differences(differences)
    assert text.startswith("1 replies differ\n\nHardQuestion(kind='title'")
    assert '-  "mode": "partial",\n+  "mode": "not-found",' in text
