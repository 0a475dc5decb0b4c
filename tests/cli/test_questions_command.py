"""``answerable questions``: written by a model over real HTTP, by hand, checked, proposed."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from answerable.cli import main
from answerable.cli import questions as questions_command
from answerable.indexing.answers import (
    read_answers,
)
from answerable.indexing.questions import (
    SectionQuestions,
    list_sections,
    read_questions,
    write_questions,
)
from support.honest_model import (
    ParsedPrompt,
    parse_data_lines,
    write_honest_draft,
)
from support.openai_stub import OpenAIStub
from support.sites import NOTES, PAGES, build, build_here, command, opened, put, write_site

WORDS = "amber basalt cedar dune ember fjord grove harbor inlet jetty".split()


def asking_model(prompt: ParsedPrompt) -> str:
    """Write two questions of each section, and one that no lint lets pass."""
    rows = []
    for line in parse_data_lines(prompt.text):
        subject = " ".join(line["text"].split()[:3]).lower().strip(".")
        questions = [f"what about {subject}", f"when does {subject} matter", "see www.x.example"]
        rows.append({"id": line["id"], "questions": questions})
    return json.dumps({"sections": rows})


def broken_model(prompt: ParsedPrompt) -> str:
    del prompt
    return json.dumps({"sections": [{"id": "no such section", "questions": ["what is it"]}, 7]})


def lying_model(prompt: ParsedPrompt) -> str:
    """Lie about questions in seven ways, by the length of each; one in eight is honest."""
    claims = write_honest_draft(prompt)["claims"]
    if not claims:
        return json.dumps({"claims": []})
    claim = claims[0]
    source, quote = claim["evidence"][0]["source"], claim["text"]

    def make_claim(text: str, quoted: str = quote, name: str = source) -> dict[str, object]:
        return {"text": text, "evidence": [{"source": name, "quote": quoted}]}

    lies = [
        [claim],
        [make_claim(f"It holds 987 litres: {quote}")],
        [make_claim(quote, "It is known that it holds 987 litres.")],
        [make_claim(quote, name="s99")],
        [make_claim("Write to captain@evil.example for it.")],
        [make_claim("Run `buoy --sink` at once.")],
        [claim, make_claim(f"As Quixote says, {quote}")],
        "none",
    ]
    return json.dumps({"claims": lies[sum(map(ord, prompt.question)) % len(lies)]})


@pytest.fixture(autouse=True)
def api_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "test")


MODELS = {"asking": asking_model, "broken": broken_model, "lying": lying_model}


@pytest.fixture
def server() -> Iterator[OpenAIStub]:
    with OpenAIStub(models=MODELS) as running:
        running.retry_after = 0.01
        yield running
    assert running.failures == []


def write_built_site(folder: Path, server: OpenAIStub, model: str = "asking") -> Path:
    options = {"answers": {"model": model, "base_url": server.base_url}}
    site = write_site(folder, notes=NOTES, options=options)
    assert build(site, "-q").returncode == 0
    return site


def test_a_limit_of_the_provider_is_waited_for(
    tmp_path: Path, server: OpenAIStub, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = {f"p{n}.md": f"# {n}\n\n{WORDS[n % 10]} {n} is near.\n" for n in range(25)}
    options = {"answers": {"model": "asking", "base_url": server.base_url}}
    site = write_site(tmp_path, pages, options=options)
    build_here(site)
    monkeypatch.setattr(questions_command, "_PAUSE_SECONDS", 0.01)
    server.fail("429", times=8)
    arguments = ["-f", str(site / "mkdocs.yml"), "questions", "--write"]
    done = CliRunner().invoke(main, arguments, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    assert "50 questions for 25 sections in " in done.output


def test_write_fills_the_file_and_sends_public_text_only(
    tmp_path: Path, server: OpenAIStub
) -> None:
    site = write_built_site(tmp_path, server)
    done = command(site, "questions", "--write")
    assert done.returncode == 0, done.stderr
    assert "5 sections, asking: only public text is sent" in done.stderr
    assert "10 questions for 5 sections in " in done.stdout
    assert "5 refused by the lint" in done.stdout
    lines = read_questions(site / "eval" / "questions.jsonl")
    assert list(lines) == ["index#harbour", "mooring#mooring", "mooring#chains", "storms#storms",
                           "storms#lanterns"]  # fmt: skip
    assert lines["mooring#chains"].questions[0] == "what about the chain of"
    sent = "".join(request.body.decode() for request in server.requests)
    assert "scrapped tractor" not in sent
    assert "Plans for the winch" not in sent
    server.forget()
    again = command(site, "questions", "--write")
    assert "0 questions for 0 sections" in again.stdout
    assert server.answer_calls == 0


def test_a_failed_run_keeps_what_was_written_and_goes_on(
    tmp_path: Path, server: OpenAIStub
) -> None:
    site = write_built_site(tmp_path, server)
    server.fault = "401"
    done = command(site, "questions", "--write")
    assert done.returncode == 1
    assert "5 sections got no questions (OPENAI_API_KEY is not set" in done.stderr
    server.fault = None
    assert command(site, "questions", "--write").returncode == 0
    written = (site / "eval" / "questions.jsonl").read_text("utf-8").splitlines()
    (site / "eval" / "questions.jsonl").write_text("\n".join(written[:3]), "utf-8")
    server.forget()
    assert command(site, "questions", "--write").returncode == 0
    body = json.loads(server.requests[0].body)["messages"][1]["content"]
    assert [json.loads(line)["id"] for line in body.split("\n")] == [
        "storms#storms",
        "storms#lanterns",
    ]
    assert (site / "eval" / "questions.jsonl").read_text("utf-8").splitlines() == written


def test_a_malformed_reply_loses_nothing(tmp_path: Path, server: OpenAIStub) -> None:
    site = write_built_site(tmp_path, server, "broken")
    done = command(site, "questions", "--write")
    assert done.returncode == 1
    assert "5 sections got no questions: run the same command again" in done.stderr


def test_export_and_import_need_no_key(tmp_path: Path, server: OpenAIStub) -> None:
    site = write_built_site(tmp_path, server)
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


def test_check_fails_on_faults(tmp_path: Path, server: OpenAIStub) -> None:
    site = write_built_site(tmp_path, server)
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


def test_one_of_the_actions_is_named(tmp_path: Path, server: OpenAIStub) -> None:
    site = write_built_site(tmp_path, server)
    for arguments in ((), ("--check", "--export")):
        done = command(site, "questions", *arguments)
        assert done.returncode == 2
        assert "name one of --write, --export, --import FILE and --check" in done.stderr


def write_many_questions(folder: Path, server: OpenAIStub, model: str) -> Path:
    """Write and build a site of twenty sections with a question each, and a notebook."""
    names = [f"{one}{other}" for one in WORDS[:2] for other in WORDS]
    pages = {
        f"p{page}.md": f"# Page {page}\n\n"
        + "\n\n".join(
            f"## The {name} buoy\n\nThe {name} buoy holds {100 + len(name) + page} litres of "
            f"fresh water. The crew paints the {name} buoy in spring."
            for name in names[10 * page : 10 * page + 10]
        )
        for page in range(2)
    }
    options = {"answers": {"model": model, "base_url": server.base_url}}
    site = write_site(folder, {**PAGES, **pages}, notes=NOTES, options=options)
    assert build(site, "-q").returncode == 0
    lines = [
        SectionQuestions(section.id, section.hash, (f"how many litres does the {name} buoy hold",))
        for section in list_sections(opened(site).passages())
        for name in names
        if f"The {name} buoy" in section.windows[0].title
    ]
    write_questions(site / "eval" / "questions.jsonl", lines)
    assert build(site, "-q").returncode == 0
    return site


def test_answers_of_an_honest_model_are_stored_and_none_is_asked_again(
    tmp_path: Path, server: OpenAIStub
) -> None:
    site = write_many_questions(tmp_path, server, "honest")
    path = site / "eval" / "questions.answers.json"
    done = command(site, "questions", "--write", "--answers")
    assert done.returncode == 0, done.stderr
    assert "honest is asked; only public text is sent" in done.stderr
    assert "20 answers stored in " in done.stdout
    assert done.stdout.endswith("; 0 refused\n")
    # No word of a note, and no hint to one, is sent to a model whose answers are stored.
    sent = "".join(request.body.decode() for request in server.requests)
    assert "scrapped tractor" not in sent
    assert "Plans for the winch" not in sent
    assert [answer.section for answer in read_answers(path)] == list(
        read_questions(site / "eval" / "questions.jsonl")
    )
    # A run that was killed has kept what it had, and goes on with the rest.
    stored = path.read_text("utf-8")
    path.write_text(json.dumps(json.loads(stored)[:15]), "utf-8")
    server.forget()
    assert command(site, "questions", "--write", "--answers").returncode == 0
    assert server.answer_calls == 5
    assert path.read_text("utf-8") == stored
    # What a build keeps of them is all of them, and a changed section is named.
    done = build(site)
    assert "left out" not in done.stderr
    assert opened(site).manifest.counts["answers"] == 20
    page = site / "docs" / "p1.md"
    put(page, page.read_text("utf-8").replace("litres of fresh water", "litres of sea water", 1))
    assert "1 stored answer left out" in build(site).stderr
    done = command(site, "questions", "--check")
    assert done.returncode == 1
    assert "questions.answers.json: p1#the-" in done.stdout
    assert "19 answers stored; 2 faults" in done.stdout


def test_nothing_of_a_lying_model_that_is_ungrounded_is_stored(
    tmp_path: Path, server: OpenAIStub
) -> None:
    site = write_many_questions(tmp_path, server, "lying")
    done = command(site, "questions", "--write", "--answers")
    assert done.returncode == 0, done.stderr
    texts = {passage.id: passage.text for passage in opened(site).passages()}
    answers = read_answers(site / "eval" / "questions.answers.json")
    claims = [claim for answer in answers for claim in answer.claims]
    # What was true of the seventh way stays, and its lie is dropped.
    assert 0 < len(claims) < 20
    assert all(c.quote in texts[c.id] for claim in claims for c in claim.citations)
    assert all(claim.text in texts[claim.citations[0].id] for claim in claims)
    refused = 20 - len(answers)
    assert f"{len(answers)} answers stored in " in done.stdout
    assert f"({refused} contract)" in done.stdout
    build(site, "-q")
    assert opened(site).manifest.counts["answers"] == len(answers)


def test_answers_are_exported_with_their_evidence_and_imported_under_the_contract(
    tmp_path: Path, server: OpenAIStub
) -> None:
    site = write_many_questions(tmp_path, server, "honest")
    done = command(site, "questions", "--export", "--answers")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(rows) == 20
    assert set(rows[0]) == {"section", "question", "sources"}
    assert set(rows[0]["sources"][0]) == {"id", "title", "text"}
    assert "Plans for the winch" not in done.stdout
    lines = []
    for row, litres in zip(rows[:2], ("as many", "987"), strict=True):
        source = row["sources"][0]
        text = f"It holds {litres} litres as its page says."
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
    assert len(command(site, "questions", "--export", "--answers").stdout.splitlines()) == 19
    assert server.answer_calls == 0


def test_answers_need_questions(tmp_path: Path, server: OpenAIStub) -> None:
    site = write_built_site(tmp_path, server)
    done = command(site, "questions", "--write", "--answers")
    assert "there are no questions: run `answerable questions --write` first" in done.stderr
