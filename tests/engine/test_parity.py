"""Replies of the engine in the browser equal Python's as a whole: a small site, in every run."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page

from answerable.indexing.answers import WrittenAnswer, WrittenCitation, WrittenClaim, write_answers
from answerable.indexing.questions import SectionPassages, list_sections, read_questions
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
    (folder / "eval").mkdir()
    shutil.copy(sites.ROOT / "eval" / "questions.jsonl", folder / "eval")
    done = sites.build(folder, "-q")
    assert done.returncode == 0, done.stderr
    store_answers(folder)
    done = sites.build(folder, "-q")
    assert done.returncode == 0, done.stderr
    assert sites.opened(folder).manifest.counts["answers"] > COUNT
    with engine_parity.serving_site(folder) as served:
        yield served


def store_answers(folder: Path) -> None:
    """Store answers for the first questions of sections: verbatim, of two sources, and worded."""
    sections = {section.id: section for section in list_sections(sites.opened(folder).passages())}
    lines = read_questions(folder / "eval" / "questions.jsonl")
    current = [name for name, section in sections.items()
               if name in lines and lines[name].hash == section.hash]  # fmt: skip
    answers = []
    for name, other in zip(current, [*current[1:], current[0]], strict=True):
        quotes = [quote_of(sections[name]), quote_of(sections[other])]
        texts = quotes[0].quote, f"It says this here: {quotes[0].quote}"
        claims = tuple(WrittenClaim(text, (quotes[0],)) for text in texts)
        joined = f"{quotes[0].quote} {quotes[1].quote}"
        if name != other:
            claims = (*claims, WrittenClaim(joined, tuple(quotes)))
        answers.append(WrittenAnswer(lines[name].questions[0], name, claims))
    write_answers(folder / "eval" / "questions.answers.json", answers, list(sections.values()))


def quote_of(section: SectionPassages) -> WrittenCitation:
    passage = section.windows[0]
    start, end = next(
        (span for span in passage.sentences if len(passage.text[slice(*span)].split()) > 3),
        (0, len(passage.text)),
    )
    return WrittenCitation(passage.id, passage.text[start:end], section.hash)


@pytest.fixture(scope="module")
def questions(site: BrowserSite) -> list[HardQuestion]:
    real = engine_parity.list_gold_questions()[::4]
    lines = read_questions(sites.ROOT / "eval" / "questions.jsonl")
    verbatim = [
        HardQuestion("known", text)
        for name in PAGES
        for section, line in lines.items()
        if section.startswith(f"{name}#")
        for text in line.questions[:1]
    ]
    assert len(verbatim) > COUNT
    # The answer that is stored for a question is shown to one that is corrected to it too.
    texts = [re.sub(r"\b([a-z]{7,})([a-z])\b", r"\1q\2", question.text) for question in verbatim]
    misspelled = [HardQuestion("misspelled", text) for text in texts]
    return [
        *real,
        *verbatim[::2],
        *misspelled[::2],
        *generate_questions(site.list_passages(), COUNT),
    ]


@pytest.fixture(scope="module")
def expected(site: BrowserSite, questions: list[HardQuestion]) -> list[Result]:
    results = [engine_parity.expect_result(site.engine, each) for each in questions]
    # Of verbatim claims and of others.
    stored = [result["reply"] for result in results if result.get("reply", {}).get("stored")]
    assert len(stored) >= 10
    assert any(reply["notes"] for reply in stored)
    assert {"blocks" in claim for reply in stored for claim in reply["claims"]} == {True, False}
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


@pytest.mark.parametrize("text", ["OAuth2", "SigV4", "Is QUICv9 an XtoY7 of mkDocs3?"])
def test_a_first_question_in_mixed_case_loads_the_words_it_is_read_by(
    site: BrowserSite, text: str
) -> None:
    # An engine that has answered before may have them already.
    question = HardQuestion("mixed case", text)
    expected = [engine_parity.expect_result(site.engine, question)]
    with engine_parity.asking_in_node(site) as ask:
        differences = engine_parity.find_differences([question], expected, ask)
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
