"""The file of questions: what it may hold, what a build makes of it, and how it answers."""

import json
import shutil
from pathlib import Path

import pytest

from answerable.engine.bundle import Bundle
from answerable.engine.retrieval.question import read_question
from answerable.engine.types import Passage
from answerable.indexing.questions import (
    SectionPassages,
    SectionQuestions,
    check_questions,
    find_question_fault,
    mark_answered,
)
from support.known_questions import write_known_questions
from support.sites import ask, build_here, failure, local, opened, put, write_site

# A reader's words: neither "anchored boat" nor "galvanised" stands on a page.
ANCHOR = "what holds an anchored boat to the galvanised ground tackle"
WIND = "which signal tells sailors about dangerous gusts"
LINES = {"mooring#chains": (ANCHOR,), "storms#lanterns": (WIND, "what does the red lamp mean")}


def section_of(text: str, title: str = "Mooring › Chains") -> SectionPassages:
    return SectionPassages(
        0, (Passage("mooring#chains", "mooring", "/mooring/#chains", title, text),)
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site with known questions, in a file of another name."""
    options = {"questions": "asked.jsonl"}
    folder = write_site(tmp_path_factory.mktemp("questions"), options=options)
    build_here(folder)
    # An address is refused, so that question is not published.
    write_known_questions(
        folder, {**LINES, "mooring#mooring": ("ask me@harbour.example about it",)}
    )
    (folder / "eval" / "questions.jsonl").rename(folder / "asked.jsonl")
    build_here(folder)
    return folder


@pytest.fixture(scope="module")
def bundle(site: Path) -> Bundle:
    return opened(site)


def test_a_known_question_is_answered_by_its_section_whatever_its_floor(bundle: Bundle) -> None:
    assert bundle.manifest.counts["questions"] == 3
    for question, section in ((ANCHOR, "mooring#chains"), (WIND, "storms#lanterns")):
        reply = ask(bundle, f"{question.capitalize()}?")
        assert [citation.id for citation in reply.answer.citations][:1] == [section]
    assert all(
        mark_answered(bundle, local(), [*LINES["mooring#chains"], *LINES["storms#lanterns"]])
    )


def test_another_word_makes_another_question_that_is_like_it(bundle: Bundle) -> None:
    for question in (ANCHOR.replace("holds", "never holds"), f"after {ANCHOR}"):
        reply = ask(bundle, question)
        assert [citation.id for citation in reply.answer.citations] == ["mooring#chains"], question
        assert reply.confidence == "low"
    assert ask(bundle, f"{ANCHOR.upper()}?").confidence == "medium"


def test_only_a_question_like_a_known_one_gets_its_section(bundle: Bundle) -> None:
    like = ask(bundle, "what holds a galvanised ground tackle and an anchored ship")
    assert [citation.id for citation in like.answer.citations] == ["mooring#chains"]
    assert like.confidence == "low"
    other = ask(bundle, "is galvanised paint poisonous to an anchored crab")
    assert other.answer.mode == "not-found"


def test_a_changed_section_keeps_its_questions_and_their_floor(site: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(site, tmp_path / "changed")
    page = folder / "docs" / "mooring.md"
    put(page, page.read_text("utf-8").replace("twelve", "thirteen"))
    build_here(folder)
    assert opened(folder).index.question_keys.tolist()[0] == 0
    for question in (ANCHOR, f"after {ANCHOR}"):
        assert ask(opened(folder), question).answer.mode == "not-found"
    assert ask(opened(folder), WIND).answer.mode == "partial"


def test_a_word_of_a_known_question_is_neither_unknown_nor_corrected(bundle: Bundle) -> None:
    assert not read_question(bundle, "galvanised tackle").remarks
    assert [remark.word for remark in read_question(bundle, "chromed tackle").remarks] == [
        "chromed"
    ]


def test_every_bad_line_is_named_and_nothing_is_built(tmp_path: Path) -> None:
    folder = write_site(tmp_path)
    row = {"id": "mooring#chains", "hash": "0", "questions": ["is it thick enough"]}
    lines = ["{", json.dumps(row), json.dumps(row), '{"id": "x", "hash": "", "question": []}']
    put(folder / "eval" / "questions.jsonl", "\n".join(lines))
    message = failure(folder)
    assert "questions.jsonl: line 1: " in message
    assert "line 3: mooring#chains has a line already; join the two" in message
    assert "line 4: " in message
    assert '{"id": "…", "hash": "…", "questions": ["…"]}' in message


@pytest.mark.parametrize(
    ("question", "fault"),
    [
        ("how thick is the chain", None),
        ("what does --strict do here", None),
        ("why does `max_size` fail", None),
        ("is there a way to do that", "names nothing; say what it asks about"),
        ("too short", "has 2 words; write 3 to 20"),
        ("write to me@harbour.example about it", "holds an e-mail address; leave it out"),
        ("is https://harbour.example/a the page", "holds a URL; leave it out"),
        ("is sk-abcdefgh12345678 a good key", "holds what looks like a secret; leave it out"),
        ("why does `min_size` fail", "holds min_size, which its section does not"),
        ("a question\nof two lines", "holds a line break or invisible characters"),
    ],
)
def test_lint_of_a_question(question: str, fault: str | None) -> None:
    problem = find_question_fault(question, "The chain: `--strict`, `max_size`.")
    assert (problem is None) == (fault is None)
    assert fault is None or (problem or "").startswith(fault)


def test_check_names_stale_orphaned_doubled_and_refused_lines() -> None:
    section, other = section_of("Twelve millimetres."), section_of("Forty litres.")
    moved = SectionPassages(
        1, (Passage("storms#b", "storms", "/storms/", "Storms › B", "A rope."),)
    )
    assert section.hash != other.hash
    lines = {
        "mooring#chains": SectionQuestions("mooring#chains", other.hash, ("how thick is it",)),
        "storms#b": SectionQuestions(
            "storms#b", moved.hash, ("thick is it", "no", "how thick is a rope")
        ),
        "gone#x": SectionQuestions("gone#x", "0", ("what is gone now",)),
    }
    faults = check_questions(lines, [section, moved])
    assert [fault.section for fault in faults] == [
        "mooring#chains", "storms#b", "storms#b", "gone#x", "storms#b",
    ]  # fmt: skip
    problems = [fault.problem for fault in faults]
    assert problems[1] == "“thick is it” asks what a question of mooring#chains asks; keep one"
    assert problems[2].startswith("“no” has 1 words")
    assert problems[3] == "the site has no such section; drop the line"
    assert problems[4] == (
        "“how thick is a rope” without “rope” is “how thick is it” of mooring#chains; ask it "
        "otherwise"
    )
