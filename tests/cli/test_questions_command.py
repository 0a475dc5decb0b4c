"""``answerable questions``: exported, imported and checked."""

import json
from pathlib import Path

import pytest

from answerable.indexing.answers import read_answers
from answerable.indexing.questions import read_questions
from support.known_questions import write_known_questions
from support.sites import NOTES, PAGES, build, build_here, command, opened, put, write_site


@pytest.fixture
def site(tmp_path: Path) -> Path:
    written = write_site(tmp_path, notes=NOTES)
    build_here(written)
    return written


def test_export_and_import_need_no_key(site: Path) -> None:
    rows = [json.loads(line) for line in command(site, "questions", "--export").stdout.splitlines()]
    assert [row["id"] for row in rows][:2] == ["index#harbour", "mooring#mooring"]
    assert set(rows[0]) == {"id", "hash", "title", "text"}
    lines = [{"id": row["id"], "questions": [f"what is {row['title'].lower()}"]} for row in rows]
    typed = "\n".join(map(json.dumps, [*lines, {"id": "gone", "questions": []}]))
    done = command(site, "questions", "--import", "-", typed=typed)
    assert (done.returncode, done.stderr) == (0, "")
    assert "\ngone: ignored, since the site has no such section" in done.stdout
    assert command(site, "questions", "--export").stdout == ""
    # What is imported is added, also of two lines, and what may not stand there changes nothing.
    before = read_questions(site / "eval" / "questions.jsonl")["index#harbour"].questions
    texts = ("no", "is it a tidy place", "is it a quiet place")
    rows = [{"id": "index#harbour", "questions": [text]} for text in texts]
    done = command(site, "questions", "--import", "-", typed="\n".join(map(json.dumps, rows)))
    assert "2 questions for 1 section in" in done.stdout
    after = read_questions(site / "eval" / "questions.jsonl")["index#harbour"].questions
    assert after == (*before, *texts[1:])
    done = command(site, "questions", "--import", "-", typed=json.dumps(rows[0]))
    assert "0 questions for 0 sections in" in done.stdout
    (site / "wide.jsonl").write_text(json.dumps(rows[1]), "utf-16")
    for name, typed in (("wide.jsonl", ""), ("-", "{"), ("-", "7")):
        bad = command(site, "questions", "--import", name, typed=typed)
        assert "--import: line 1: " in bad.stderr


def test_check_fails_on_faults(site: Path) -> None:
    typed = json.dumps({"id": "mooring#chains", "questions": ["how heavy is the ground tackle"]})
    assert command(site, "questions", "--import", "-", typed=typed).returncode == 0
    done = command(site, "questions", "--check")
    assert (done.returncode, done.stdout) == (
        0, "1 question of 1 section; 0 answers stored; 0 faults\n",
    )  # fmt: skip
    chains = site / "docs" / "mooring.md"
    chains.write_text(chains.read_text("utf-8").replace("twelve", "thirteen"), "utf-8")
    assert build(site, "-q").returncode == 0
    done = command(site, "questions", "--check")
    assert done.returncode == 1
    assert "mooring#chains: its text has changed since its questions were written" in done.stdout
    # Questions to the new text take the place of those to the old one.
    assert command(site, "questions", "--import", "-", typed=typed).returncode == 0
    assert command(site, "questions", "--check").returncode == 0


def test_one_of_the_actions_is_named(site: Path) -> None:
    for arguments in ((), ("--check", "--export")):
        done = command(site, "questions", *arguments)
        assert done.returncode == 2
        assert "name one of --export, --import FILE and --check" in done.stderr


QUESTIONS = {
    "mooring#mooring": ["how many litres does the float hold"],
    "mooring#chains": ["how heavy is the ground tackle"],
    "storms#lanterns": ["which light tells of a gale"],
}


def test_answers_are_exported_with_their_evidence_and_imported_under_the_contract(
    site: Path,
) -> None:
    write_known_questions(site, QUESTIONS)
    build_here(site)
    done = command(site, "questions", "--export", "--answers")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["section"] for row in rows] == list(QUESTIONS)
    assert set(rows[0]) == {"section", "question", "sources"}
    assert set(rows[0]["sources"][0]) == {"id", "title", "text"}
    assert "Plans for the winch" not in done.stdout
    lines = []
    for row, measure in zip(rows[:2], ("as much", "987 times as much"), strict=True):
        source = row["sources"][0]
        text = f"It is {measure} as its page says."
        citations = [{"id": source["id"], "quote": source["text"].split(". ")[0]}]
        lines.append({**row, "claims": [{"text": text, "citations": citations}]})
    lines.append({"section": "gone", "question": "what is it", "claims": []})
    typed = "\n".join(map(json.dumps, lines))
    done = command(site, "questions", "--import", "-", "--answers", typed=typed)
    assert done.returncode == 0, done.stderr
    assert "claims what its quotes do not say (number)" in done.stdout
    assert "gone: the answer to “what is it” is of a section that the site does not" in done.stdout
    assert "1 answer stored in " in done.stdout
    assert done.stdout.endswith("; 2 refused\n")
    (answer,) = read_answers(site / "eval" / "questions.answers.json")
    assert answer.question == rows[0]["question"]
    assert len(command(site, "questions", "--export", "--answers").stdout.splitlines()) == 2
    # A build keeps it, as long as its section stays as it is.
    build_here(site)
    assert opened(site).manifest.counts["answers"] == 1
    put(site / "docs" / "mooring.md", PAGES["mooring.md"].replace("forty", "fifty"))
    assert "1 stored answer left out" in build(site).stderr
    done = command(site, "questions", "--check")
    assert done.returncode == 1
    assert "questions.answers.json: mooring#mooring: " in done.stdout
    assert "0 answers stored; 2 faults" in done.stdout
