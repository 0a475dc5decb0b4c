"""Everyday questions to a guide with tabs, steps, a table, terms and boxes, built for real."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from answerable.serve.answers.wire import serialize_answer
from answerable.serve.stores.bundle import Bundle
from support import sites

Json = dict[str, Any]

GUIDE = sites.ROOT / "tests" / "guide"
COLUMNS = ["Option", "Default", "Meaning"]


@pytest.fixture(scope="module")
def guide(tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    return build_copy(GUIDE, tmp_path_factory.mktemp("guide"))


def build_copy(site: Path, folder: Path) -> Bundle:
    """Build a copy of a site by `mkdocs build`, and open its bundle."""
    copy = shutil.copytree(site, folder / "site")
    done = sites.build(copy, "-q", "--strict")
    assert done.returncode == 0, done.stderr
    return sites.opened(copy)


def blocks(bundle: Bundle, question: str) -> list[Json]:
    """The blocks of the first excerpt, as the function sends them; no dots where it is whole."""
    reply = sites.ask(bundle, question)
    claims = serialize_answer(reply, bundle, "request")["claims"]
    assert claims, f"refused: {question}"
    drawn: list[Json] = claims[0]["blocks"]
    return drawn


def words(spans: list[Json]) -> str:
    return "".join(span["text"] for span in spans)


def texts(drawn: list[Json]) -> list[str]:
    return [words(block["spans"]) for block in drawn if block["kind"] == "text"]


@pytest.mark.parametrize(
    ("question", "system", "expected"),
    [
        (
            "How do I install Beacon on Windows?",
            "Windows",
            [
                "Download the installer and run it as an administrator:",
                "winget install Harbour.Beacon",
                "A restart is needed before the service runs.",
            ],
        ),
        (
            "How do I install it on macOS?",
            "macOS",
            ["Install it with Homebrew:", "brew install beacon\nbrew services start beacon"],
        ),
        (
            "How do I install Beacon on Linux?",
            "Linux",
            [
                "Add the package source and install the package:",
                "sudo beacon-source add stable\nsudo apt install beacon",
                "The service starts by itself.",
            ],
        ),
    ],
)
def test_a_tab_has_its_label_and_no_other_tab(
    guide: Bundle, question: str, system: str, expected: list[str]
) -> None:
    drawn = blocks(guide, question)
    labels = [block for block in drawn if block["kind"] == "label"]
    assert [(block["label"], words(block["spans"])) for block in labels] == [("tab", system)]
    after = drawn[drawn.index(labels[0]) + 1 :]
    assert [block.get("text") or words(block["spans"]) for block in after] == expected


def test_steps_are_in_order_from_the_first_with_their_code(guide: Bundle) -> None:
    lead_in, first, code, last, *others = blocks(guide, "How do I pair a lamp?")
    assert words(lead_in["spans"]).endswith("the computer:")
    assert code == {"kind": "code", "language": "bash", "text": "beacon pair --timeout 60"}
    steps = [(item["number"], words(item["spans"])) for item in first["items"] + last["items"]]
    assert steps == [
        ("1", "Hold the button of the lamp for five seconds, until it blinks blue."),
        ("2", "Open the pairing window:"),
        ("3", "Type the code that is printed on the bottom of the lamp."),
        ("4", "Wait until the lamp is green."),
    ]
    assert "gap" not in {block["kind"] for block in others}


def test_steps_without_code_are_one_list(guide: Bundle) -> None:
    lead_in, steps = blocks(guide, "How do I remove Beacon?")
    assert words(lead_in["spans"]) == "To remove Beacon and all that it has stored:"
    assert [item["number"] for item in steps["items"]] == ["1", "2", "3"]
    assert {"text": "beacon stop", "code": True} in steps["items"][0]["spans"]


@pytest.mark.parametrize(
    ("question", "row"),
    [
        (
            "What does radio.power mean?",
            ["radio.power", "20", "The power of the sender in milliwatts"],
        ),
        (
            "What is the default interval?",
            ["interval", "30", "Seconds between two questions to a lamp"],
        ),
    ],
)
def test_a_row_has_its_column_names(guide: Bundle, question: str, row: list[str]) -> None:
    (table,) = (block for block in blocks(guide, question) if block["kind"] == "table")
    assert [words(cell) for cell in table["columns"]] == COLUMNS
    assert row in [[words(cell) for cell in cells] for cells in table["rows"]]


@pytest.mark.parametrize(
    ("question", "term", "definition"),
    [
        (
            "What is the grace period?",
            "Grace period",
            "The time after a storm in which no alarm is sent. "
            "It is two hours unless the harbour master sets another one.",
        ),
        (
            "What is a quorum?",
            "Quorum",
            "The number of neighbours that have to confirm that a lamp is dark.",
        ),
    ],
)
def test_a_definition_has_its_term_and_no_other(
    guide: Bundle, question: str, term: str, definition: str
) -> None:
    label, text = blocks(guide, question)
    assert (label["kind"], label["label"], words(label["spans"])) == ("label", "term", term)
    assert words(text["spans"]) == definition


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        (
            "When does a lamp forget its pairing?",
            "A lamp forgets its pairing when its battery is out for more than a day.",
        ),
        (
            "How do I move the state without a network?",
            "The state fits on any memory stick, since it is smaller than one megabyte.",
        ),
    ],
)
def test_the_sentence_of_a_box_is_shown_without_its_title(
    guide: Bundle, question: str, sentence: str
) -> None:
    drawn = blocks(guide, question)
    assert sentence in texts(drawn)
    assert {block["kind"] for block in drawn} <= {"text", "list", "code"}
    shown = "\n".join(texts(drawn))
    assert "skip" not in shown
    assert "Without a network" not in shown


def test_code_is_whole_with_its_lead_in(guide: Bundle) -> None:
    drawn = blocks(guide, "How do I move Beacon to another computer?")
    kinds = [block["kind"] for block in drawn]
    place = kinds.index("code")
    assert drawn[place]["text"].splitlines() == [
        "beacon export state.tar",
        "scp state.tar new-office:",
        "ssh new-office beacon import state.tar",
    ]
    lead_in = "Copy the state and start the service on the new computer:"
    assert words(drawn[place - 1]["spans"]) == lead_in
    follow = blocks(guide, "How do I follow the log of one lamp?")
    code = {"kind": "code", "language": "bash", "text": "beacon log --lamp north-pier --follow"}
    assert code in follow
    assert texts(follow)[0].endswith("use --follow:")


def test_a_list_has_its_lead_in(guide: Bundle) -> None:
    lead_in, parts = blocks(guide, "What are the parts of a log line?")
    assert words(lead_in["spans"]) == "A line has these parts:"
    assert [item["number"] for item in parts["items"]] == ["", "", "", ""]


def test_what_the_guide_does_not_say_is_refused(guide: Bundle) -> None:
    for question in ("Which port does the web interface use?", "Can Beacon send an email?"):
        assert sites.ask(guide, question).answer.mode == "not-found"
