"""``answerable ask --file``: many questions in one process, JSON lines in and JSON lines out."""

import json
from pathlib import Path

import pytest

from answerable.check.question_file import parse_questions
from answerable.engine.errors import GoldError
from support.sites import build, command, write_site

CHAIN = "How thick is the chain of a mooring?"
UNKNOWN = "Who won the football world cup?"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = write_site(tmp_path_factory.mktemp("ask_file"))
    assert build(folder).returncode == 0
    return folder


def write_lines(folder: Path, *lines: str) -> str:
    (folder / "questions.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    return "questions.jsonl"


def test_ask_file_answers_each_line_in_order_as_one_line_of_json(folder: Path) -> None:
    name = write_lines(
        folder,
        json.dumps({"question": f"  {CHAIN} ", "id": {"row": 7}}),
        "",
        "# Readers asked",
        UNKNOWN,
    )
    done = command(folder, "ask", "--file", name, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    first, second = (json.loads(line) for line in done.stdout.splitlines())
    assert (first["line"], first["id"], first["question"]) == (1, {"row": 7}, CHAIN)
    assert (second["line"], second["id"], second["question"]) == (4, None, UNKNOWN)
    assert first["reply"]["mode"] == "partial"
    assert "twelve" in first["reply"]["answer"]
    shown = command(folder, "ask", "--file", name).stdout
    assert shown.index(CHAIN) < shown.index("twelve") < shown.index(UNKNOWN)
    assert (second["reply"]["mode"], second["reply"]["answer"]) == ("not-found", "")


def test_ask_file_names_every_bad_line_and_asks_nothing(folder: Path) -> None:
    name = write_lines(folder, json.dumps(CHAIN), "{", '{"query": "a"}', '""')
    done = command(folder, "ask", "--file", name, "--json")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("Error: questions.jsonl: line 2: not JSON; line 3: not an object")
    assert "; line 4: " in done.stderr
    assert done.stderr.endswith("; correct the file, nothing was asked\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", 'f holds no question: write one on each line, or lines {"question": "…"}'),
        ('{"question": 7}', 'f: line 1: not an object with a text "question"'),
        ('{"question": "a b", "language": "x!"}', 'f: line 1: "language" is not a tag'),
        ("[\n" * 9, "line 5: not JSON; and 4 more; correct the file"),
    ],
)
def test_a_line_that_is_not_a_question_is_named_by_its_number(text: str, message: str) -> None:
    with pytest.raises(GoldError) as caught:
        parse_questions(text, "f")
    assert message in str(caught.value)


def test_ask_answers_without_a_model_that_fails_and_names_the_failure(tmp_path: Path) -> None:
    folder = write_site(tmp_path, options={"answers": {"provider": "openai"}})
    assert build(folder).returncode == 0
    name = write_lines(folder, json.dumps(UNKNOWN), json.dumps(CHAIN), json.dumps(UNKNOWN))
    done = command(folder, "ask", "--file", name, "--json", OPENAI_API_KEY="")
    assert done.returncode == 0
    replies = [json.loads(line)["reply"] for line in done.stdout.splitlines()]
    # Nothing is asked of a model for a question without evidence.
    assert [reply["fallback"] for reply in replies] == [False, True, False]
    assert [reply["reason"] for reply in replies] == ["no-evidence", None, "no-evidence"]
    (warning,) = done.stderr.splitlines()
    assert warning.startswith("Answered without the model: OPENAI_API_KEY is not set, or")
    done = command(folder, "ask", CHAIN, OPENAI_API_KEY="")
    assert done.stdout.startswith("From this site\n\nThe chain of a mooring")
    assert done.stderr == f"{warning}\n"
