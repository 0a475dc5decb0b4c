"""Statements of a passage, and their context."""

import pytest

from answerable.indexing.pages import statements
from answerable.serve.answers.statements import PassageStatements
from answerable.serve.structure import (
    BARE,
    DANGLING,
    DIAGRAM_LANGUAGE,
    NUMBERED,
    POINTER,
    RECORDING_LANGUAGE,
    Statement,
)
from answerable.serve.types import Passage
from support.passage_blocks import block, passage


def words(source: Passage, statement: Statement) -> str:
    return source.text[statement.start : statement.end]


def test_sentences_items_rows_and_code_are_statements() -> None:
    source = passage(
        block("text", "Tie the boat. Then rest:"),
        block("item", "Take a rope.", group=1),
        block("item", "Take a fender.", group=1),
        block("row", "Rope · Length", group=2, detail="header"),
        block("row", "Bow · 8 m", group=2),
        block("code", "tie()", detail="python"),
    )
    read = source.statements
    assert [(each.kind, words(source, each)) for each in read] == [
        ("sentence", "Tie the boat."),
        ("sentence", "Then rest:"),
        ("item", "Take a rope."),
        ("item", "Take a fender."),
        ("header", "Rope · Length"),
        ("row", "Bow · 8 m"),
        ("code", "tie()"),
    ]


@pytest.mark.parametrize("language", [DIAGRAM_LANGUAGE, RECORDING_LANGUAGE])
def test_diagrams_and_recordings_are_no_statements(language: str) -> None:
    source = passage(block("text", "Look at this."), block("code", "a --> b", detail=language))
    assert [each.kind for each in source.statements] == ["sentence"]


@pytest.mark.parametrize("detail", ["title", "file", "caption"])
def test_titles_file_names_and_captions_are_no_statements(detail: str) -> None:
    source = passage(block("label", "Warning", detail=detail), block("text", "Mind the winch."))
    assert [words(source, each) for each in source.statements] == ["Mind the winch."]


def test_a_long_item_is_read_as_its_sentences() -> None:
    sentence = "A rope is wet and long " + "and heavy " * 16 + "today."
    source = passage(block("item", f"{sentence} {sentence}", group=1))
    read = source.statements
    assert [each.kind for each in read] == ["sentence", "sentence"]
    assert {each.group for each in read} == {1}


def test_numbered_items_are_steps() -> None:
    source = passage(block("item", "Cast off.", group=1, detail="1"))
    (step,) = source.statements
    assert step.flags & NUMBERED


@pytest.mark.parametrize(
    "text",
    [
        "See the guide to knots.",
        "You can read more about it in the manual.",
        "For more details, see the section on ropes.",
        "Learn more about knots.",
        "Refer to the table of lengths.",
    ],
)
def test_sentences_that_lead_elsewhere_are_pointers(text: str) -> None:
    source = passage(block("text", text))
    (pointer,) = source.statements
    assert pointer.flags & POINTER
    assert pointer.flags & BARE


@pytest.mark.parametrize(
    "text", ["Seeing is believing at sea.", "Check valves open by themselves."]
)
def test_sentences_that_begin_alike_are_not_pointers(text: str) -> None:
    (statement,) = passage(block("text", text)).statements
    assert not statement.flags & POINTER


@pytest.mark.parametrize(
    ("text", "is_dangling"),
    [
        ("But the rope is wet.", True),
        ("This flag hides the winch.", True),
        ("In this case the chain is long.", True),
        ("It holds the boat.", True),
        ("The chain holds the boat.", False),
        ("Items hold names.", False),
        ("Soil is not water.", False),
    ],
)
def test_sentences_that_refer_back_are_dangling(text: str, *, is_dangling: bool) -> None:
    (statement,) = passage(block("text", text)).statements
    assert bool(statement.flags & DANGLING) is is_dangling


@pytest.mark.parametrize("text", ["How long is the rope?", "Rope here.", "Welche Leine？"])
def test_questions_and_fragments_are_not_quotable_alone(text: str) -> None:
    source = passage(block("text", text))
    (statement,) = source.statements
    assert statement.flags & BARE


def reading(source: Passage) -> PassageStatements:
    return PassageStatements(source.statements)


def test_code_follows_its_sentence() -> None:
    source = passage(
        block("text", "Cast off. Call this:"), block("code", "go()"), block("code", "stop()")
    )
    assert reading(source).find_code_after(1) == (2,)
    assert reading(source).find_code_after(0) == ()


def test_each_tab_has_code_of_its_own() -> None:
    source = passage(
        block("text", "Install it:"),
        block("label", "pip", group=1, detail="tab"),
        block("code", "pip install x", group=1, level=1),
        block("label", "uv", group=1, detail="tab"),
        block("code", "uv add x", group=1, level=1),
        block("text", "It is there now."),
    )
    read = reading(source)
    assert [words(source, read.statements[code]) for code in read.find_code_after(0)] == [
        "pip install x",
        "uv add x",
    ]
    assert [each.label for each in read.statements] == [-1, 1, 1, 3, 3, -1]


def test_a_list_with_code_in_it_is_one_group() -> None:
    source = passage(
        block("text", "Do these two things:"),
        block("item", "Call this one.", group=1, detail="1"),
        block("code", "go()", group=1, level=1),
        block("item", "Wait for it.", group=1, detail="2"),
        block("text", "Then rest a while."),
    )
    read = reading(source)
    assert read.find_list_after(0) == 1
    assert read.find_group(1) == read.find_group(3) == range(1, 4)
    assert read.find_lead_in(3) == 0
    assert read.find_group(4) == range(4, 5)


def test_a_term_labels_its_definition_only() -> None:
    source = passage(
        block("label", "Winch", group=1, detail="term"),
        block("text", "A winch pulls a rope.", group=1, level=1),
        block("text", "Everything else is done by hand."),
    )
    assert [each.label for each in reading(source).statements] == [0, 0, -1]


def test_the_length_limits_of_statements() -> None:
    assert (statements.MAX_ITEM_WORDS, statements.MIN_SENTENCE_WORDS) == (60, 4)
