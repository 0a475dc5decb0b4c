"""``answerable questions``: written by a model over real HTTP, by hand, checked, proposed."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from answerable.cli.questions import SECTIONS_PER_CALL, QuestionWriter, read_written_questions
from answerable.evaluate.gold import load_gold_queries
from answerable.indexing.answers import (
    WrittenAnswer,
    WrittenCitation,
    WrittenClaim,
    read_answers,
    write_answers,
)
from answerable.indexing.questions import (
    SectionPassages,
    SectionQuestions,
    list_sections,
    read_questions,
    write_questions,
)
from answerable.indexing.widget.site_files import WIDGET_CONFIG_PATH
from answerable.serve.stores.bundle import open_bundle
from answerable.serve.types import Passage
from answerable.testing.honest_model import (
    ParsedPrompt,
    parse_data_lines,
    write_honest_draft,
)
from support.openai_stub import OpenAIStub
from support.sites import NOTES, PAGES, build, command, opened, put, write_site

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
    """Lie about fifty questions in seven ways, by the length of each; one in eight is honest."""
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
    questions = {"model": model, "base_url": server.base_url}
    options = {"questions": questions}
    site = write_site(folder, notes=NOTES, options=options)
    assert build(site, "-q").returncode == 0
    return site


def sections_of(count: int) -> list[SectionPassages]:
    return [
        SectionPassages(
            n, (Passage(f"p#{n}", "p", f"/p/#{n}", f"P › {n}", f"{WORDS[n % 10]} {n} is near."),)
        )
        for n in range(count)
    ]


def test_five_hundred_sections_take_fifty_calls(server: OpenAIStub) -> None:
    sections = sections_of(500)
    writer = QuestionWriter("asking", server.base_url)
    results = list(writer.write_lines(sections))
    assert server.answer_calls == 500 / SECTIONS_PER_CALL == len(results)
    assert {line.id for result in results for line in result.lines} == {s.id for s in sections}
    assert sum(result.refused for result in results) == 500
    read = sum(result.tokens[0] for result in results)
    assert abs(writer.estimate_tokens(sections)[0] - read) <= read / 3


def test_limits_of_the_provider_are_waited_for(server: OpenAIStub) -> None:
    pauses: list[float] = []
    server.fail("429", times=6)
    results = list(
        QuestionWriter("asking", server.base_url, pauses.append).write_lines(sections_of(20))
    )
    assert [len(result.lines) for result in results] == [10, 10]
    assert len(pauses) >= 1


def test_write_fills_the_file_and_sends_public_text_only(
    tmp_path: Path, server: OpenAIStub
) -> None:
    site = write_built_site(tmp_path, server)
    done = command(site, "questions", "--write")
    assert done.returncode == 0, done.stderr
    assert "5 sections, asking: about " in done.stderr
    assert "; only public text is sent." in done.stderr
    assert "10 questions for 5 sections in " in done.stdout
    assert "5 refused by the lint" in done.stdout
    lines = read_questions(site / "questions.jsonl")
    assert list(lines) == ["index#harbour", "mooring#mooring", "mooring#chains", "storms#storms",
                           "storms#lanterns"]  # fmt: skip
    assert lines["mooring#chains"].questions[0] == "what about the chain of"
    sent = "".join(request.body.decode() for request in server.requests)
    assert "scrapped tractor" not in sent
    assert "Plans for the winch" not in sent
    server.forget()
    again = command(site, "questions", "--write")
    assert "has questions for every section" in again.stdout
    assert server.answer_calls == 0


def test_a_failed_run_keeps_what_was_written_and_goes_on(
    tmp_path: Path, server: OpenAIStub
) -> None:
    site = write_built_site(tmp_path, server)
    server.fault = "401"
    done = command(site, "questions", "--write")
    assert done.returncode == 1
    assert (
        "5 sections got no questions (the provider refused the key: check OPENAI_API_KEY): run"
        in (done.stderr)
    )
    server.fault = None
    assert command(site, "questions", "--write").returncode == 0
    written = (site / "questions.jsonl").read_text("utf-8").splitlines()
    (site / "questions.jsonl").write_text("\n".join(written[:3]), "utf-8")
    server.forget()
    assert command(site, "questions", "--write").returncode == 0
    body = json.loads(server.requests[0].body)["messages"][1]["content"]
    assert [json.loads(line)["id"] for line in body.split("\n")] == [
        "storms#storms",
        "storms#lanterns",
    ]
    assert (site / "questions.jsonl").read_text("utf-8").splitlines() == written


def test_a_malformed_reply_loses_nothing(tmp_path: Path, server: OpenAIStub) -> None:
    site = write_built_site(tmp_path, server, "broken")
    done = command(site, "questions", "--write")
    assert done.returncode == 1
    assert "5 sections got no questions: run the same command again" in done.stderr
    assert read_written_questions("prose", sections_of(2)) == ([], 0)


def test_export_and_import_need_no_key(tmp_path: Path, server: OpenAIStub) -> None:
    site = write_built_site(tmp_path, server)
    rows = [json.loads(line) for line in command(site, "questions", "--export").stdout.splitlines()]
    assert [row["id"] for row in rows][:2] == ["index#harbour", "mooring#mooring"]
    assert set(rows[0]) == {"id", "hash", "url", "title", "text"}
    lines = [{"id": row["id"], "questions": [f"what is {row['title'].lower()}"]} for row in rows]
    typed = "\n".join(map(json.dumps, [*lines, {"id": "gone", "questions": []}]))
    done = command(site, "questions", "--import", "-", typed=typed)
    assert (done.returncode, done.stderr) == (0, "")
    assert "; 1 line of no section" in done.stdout
    assert command(site, "questions", "--export").stdout == ""
    # Nothing that may stand there is no reason to drop what does, and two lines are joined.
    before = read_questions(site / "questions.jsonl")["index#harbour"]
    rows = [{"id": "index#harbour", "questions": [text]} for text in ("no", "is it a tidy place")]
    done = command(site, "questions", "--import", "-", typed="\n".join(map(json.dumps, rows)))
    assert "1 question for 1 section in" in done.stdout
    assert read_questions(site / "questions.jsonl")["index#harbour"] != before
    done = command(site, "questions", "--import", "-", typed=json.dumps(rows[0]))
    assert "0 questions for 0 sections in" in done.stdout
    (site / "wide.jsonl").write_text(json.dumps(rows[1]), "utf-16")
    assert "is not UTF-8" in command(site, "questions", "--import", "wide.jsonl").stderr
    bad = command(site, "questions", "--import", "-", typed="{")
    assert "--import: line 1 is not JSON" in bad.stderr


def test_check_fails_on_faults_and_strictly_on_unanswered_questions(
    tmp_path: Path, server: OpenAIStub
) -> None:
    site = write_built_site(tmp_path, server)
    typed = json.dumps({"id": "mooring#chains", "questions": ["how heavy is the ground tackle"]})
    assert command(site, "questions", "--import", "-", typed=typed).returncode == 0
    stale = command(site, "questions", "--check")
    assert "has changed since the last build: build the site, then run this again" in stale.stderr
    assert build(site, "-q").returncode == 0
    done = command(site, "questions", "--check", "--strict")
    assert (done.returncode, done.stdout) == (
        0, "1 question of 1 section: 1 answered by their section; 0 answers stored; "
        "0 faults\n",
    )  # fmt: skip
    chains = site / "docs" / "mooring.md"
    chains.write_text(chains.read_text("utf-8").replace("twelve", "thirteen"), "utf-8")
    assert build(site, "-q").returncode == 0
    done = command(site, "questions", "--check")
    assert done.returncode == 1
    assert "mooring#chains: its text has changed since its questions were written" in done.stdout


def test_a_line_is_orphaned_only_if_no_language_has_its_section(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs_static_i18n")
    languages = [
        {"locale": "en", "name": "English", "default": True},
        {"locale": "fr", "name": "Français"},
    ]
    french = "# Mouillage\n\nLa chaîne du mouillage est épaisse de douze millimètres.\n"
    i18n = {"i18n": {"docs_structure": "suffix", "languages": languages}}
    ours = {"answerable": {"languages": "apart", "function": "function"}}
    site = write_site(
        tmp_path, {**PAGES, "mooring.fr.md": french}, theme="mkdocs", plugins=[i18n, ours]
    )
    assert build(site, "-q").returncode == 0
    bundles = {tag: site / "function" / tag / "bundle" for tag in ("en", "fr")}
    texts = {
        "mooring#chains": "how heavy is the ground tackle",
        "mooring.fr#mouillage": "quel maillon tient le bateau",
        "storms#storms": "what do sailors do when gusts are near",
        "gone#gone": "where is the harbour master",
    }
    sections = {
        section.id: section
        for folder in bundles.values()
        for section in list_sections(open_bundle(folder).passages())
    }
    lines = [
        SectionQuestions(name, sections[name].hash if name in sections else "", (text,))
        for name, text in texts.items()
    ]
    write_questions(site / "questions.jsonl", lines)
    chains = sections["mooring#chains"].windows[0]
    citation = WrittenCitation(chains.id, chains.url, "twelve millimetres thick")
    claim = WrittenClaim("The chain is twelve millimetres thick.", (citation,))
    answers = [
        WrittenAnswer(texts[name], name, (claim,)) for name in ("mooring#chains", "gone#gone")
    ]
    write_answers(site / "questions.answers.json", answers, list(sections.values()))
    done = build(site)
    assert "1 stored answer left out (gone#gone" in done.stderr
    # A page proposes its own questions, and those of its language where it has none.
    box = json.loads((site / "site" / WIDGET_CONFIG_PATH).read_text("utf-8"))
    gusts = texts["storms#storms"]
    assert box["page_examples"] == {
        "/mooring/": [texts["mooring#chains"]], "/storms/": [gusts],
        "/fr/mooring/": [texts["mooring.fr#mouillage"]], "/fr/storms/": [gusts],
    }  # fmt: skip
    assert box["examples"]["fr"][0] == texts["mooring.fr#mouillage"]
    assert box["examples"]["en"] == [texts["mooring#chains"], gusts]
    for tag, own in (("en", 2), ("fr", 2)):
        flags = ("--bundle", str(bundles[tag]), "questions")
        done = command(site, *flags, "--check")
        assert done.returncode == 1
        listed = [line for line in done.stdout.splitlines() if "is not answered by" not in line]
        assert [line.split(": ")[1] for line in listed[:-1]] == ["gone#gone"] * 2, done.stdout
        assert listed[-1].startswith(f"{own} questions of 3 sections: ")
        assert listed[-1].endswith(
            f"{int(tag == 'en')} answer{'s' * (tag != 'en')} stored; 2 faults"
        )
        proposed = yaml.safe_load(command(site, *flags, "--gold", "9").stdout)["queries"]
        names = {name for query in proposed for name in query["expectCited"]}
        other = "mooring#chains" if tag == "fr" else "mooring.fr#mouillage"
        assert other not in names


def test_gold_queries_are_proposed_of_different_pages(tmp_path: Path, server: OpenAIStub) -> None:
    site = write_built_site(tmp_path, server)
    assert command(site, "questions", "--gold", "2").returncode == 1
    assert command(site, "questions", "--write").returncode == 0
    assert build(site, "-q").returncode == 0
    done = command(site, "questions", "--gold", "3")
    (site / "gold.yaml").write_text(done.stdout, "utf-8")
    queries = load_gold_queries(site / "gold.yaml", None)
    assert [query.expect_cited for query in queries] == [
        ("index#harbour",), ("mooring#mooring",), ("storms#storms",),
    ]  # fmt: skip
    assert yaml.safe_load(done.stdout)["queries"][0]["expectAnswerMode"] == ["partial", "supported"]


def test_one_of_the_actions_is_named(tmp_path: Path, server: OpenAIStub) -> None:
    site = write_built_site(tmp_path, server)
    for arguments in ((), ("--check", "--export")):
        done = command(site, "questions", *arguments)
        assert done.returncode == 2
        assert "name one of --write, --export, --import FILE, --check and --gold N" in done.stderr


def write_fifty_questions(folder: Path, server: OpenAIStub, model: str) -> Path:
    """Write and build a site of fifty sections with a question each, and a notebook."""
    names = [f"{one}{other}" for one in WORDS[:5] for other in WORDS]
    pages = {
        f"p{page}.md": f"# Page {page}\n\n"
        + "\n\n".join(
            f"## The {name} buoy\n\nThe {name} buoy holds {100 + len(name) + page} litres of "
            f"fresh water. The crew paints the {name} buoy in spring."
            for name in names[10 * page : 10 * page + 10]
        )
        for page in range(5)
    }
    options = {"questions": {"model": model, "base_url": server.base_url}}
    site = write_site(folder, {**PAGES, **pages}, notes=NOTES, options=options)
    assert build(site, "-q").returncode == 0
    lines = [
        SectionQuestions(section.id, section.hash, (f"how many litres does the {name} buoy hold",))
        for section in list_sections(opened(site).passages())
        for name in names
        if f"The {name} buoy" in section.windows[0].title
    ]
    assert len(lines) == 50
    write_questions(site / "questions.jsonl", lines)
    assert build(site, "-q").returncode == 0
    return site


def test_fifty_answers_of_an_honest_model_are_stored_and_none_is_asked_again(
    tmp_path: Path, server: OpenAIStub
) -> None:
    site = write_fifty_questions(tmp_path, server, "honest")
    path = site / "questions.answers.json"
    server.fail("429", times=3)
    done = command(site, "questions", "--write", "--answers")
    assert done.returncode == 0, done.stderr
    assert "50 questions, honest: about " in done.stderr
    assert "50 answers stored in " in done.stdout
    assert "; 0 refused; 0 claims dropped; " in done.stdout
    read, *_ = (int(word) for word in done.stdout.split() if word.isdigit() and int(word) > 1000)
    estimate = int(done.stderr.partition("about ")[2].split()[0])
    assert abs(estimate - read) <= read / 3
    # No word of a note, and no hint to one, is sent to a model whose answers are stored.
    sent = "".join(request.body.decode() for request in server.requests)
    assert "scrapped tractor" not in sent
    assert "Plans for the winch" not in sent
    assert [answer.section for answer in read_answers(path)] == list(
        read_questions(site / "questions.jsonl")
    )
    stored = path.read_text("utf-8")
    server.forget()
    again = command(site, "questions", "--write", "--answers")
    assert "has answers to every question" in again.stdout
    assert server.answer_calls == 0
    # A run that was killed has kept what it had, and goes on with the rest.
    path.write_text(json.dumps(json.loads(stored)[:30]), "utf-8")
    assert command(site, "questions", "--write", "--answers").returncode == 0
    assert server.answer_calls == 20
    assert path.read_text("utf-8") == stored
    # What a build keeps of them is all of them, and a changed section is named and asked again.
    done = build(site)
    assert "left out" not in done.stderr
    assert opened(site).manifest.counts["answers"] == 50
    page = site / "docs" / "p3.md"
    put(page, page.read_text("utf-8").replace("litres of fresh water", "litres of sea water", 1))
    assert "1 stored answer left out" in build(site).stderr
    done = command(site, "questions", "--check")
    assert done.returncode == 1
    assert "questions.answers.json: p3#the-" in done.stdout
    assert "49 answers stored; 2 faults" in done.stdout


def test_nothing_of_a_lying_model_that_is_ungrounded_is_stored(
    tmp_path: Path, server: OpenAIStub
) -> None:
    site = write_fifty_questions(tmp_path, server, "lying")
    done = command(site, "questions", "--write", "--answers")
    assert done.returncode == 0, done.stderr
    texts = {passage.id: passage.text for passage in opened(site).passages()}
    answers = read_answers(site / "questions.answers.json")
    claims = [claim for answer in answers for claim in answer.claims]
    # What was true of the seventh way stays, and its lie is dropped and counted.
    assert 10 <= len(claims) < 30
    assert all(c.quote in texts[c.id] for claim in claims for c in claim.citations)
    assert all(claim.text in texts[claim.citations[0].id] for claim in claims)
    refused = 50 - len(answers)
    assert f"{len(answers)} answers stored in " in done.stdout
    assert f"; {refused} refused (" in done.stdout
    assert " contract, " in done.stdout
    assert " declined); " in done.stdout
    build(site, "-q")
    assert opened(site).manifest.counts["answers"] == len(answers)


def test_answers_are_exported_with_their_evidence_and_imported_under_the_contract(
    tmp_path: Path, server: OpenAIStub
) -> None:
    site = write_fifty_questions(tmp_path, server, "honest")
    done = command(site, "questions", "--export", "--answers")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(rows) == 50
    assert set(rows[0]) == {"section", "question", "sources"}
    assert set(rows[0]["sources"][0]) == {"id", "title", "text"}
    assert "Plans for the winch" not in done.stdout
    lines = []
    for row, litres in zip(rows[:2], ("as many", "987"), strict=True):
        source = row["sources"][0]
        text = f"It holds {litres} litres as its page says."
        evidence = [{"source": source["id"], "quote": source["text"].split(". ")[0]}]
        lines.append({**row, "claims": [{"text": text, "evidence": evidence}]})
    lines.append({"section": "gone", "question": "what is it", "claims": []})
    typed = "\n".join(map(json.dumps, lines))
    done = command(site, "questions", "--import", "-", "--answers", typed=typed)
    assert done.returncode == 0, done.stderr
    assert "1 answer stored in " in done.stdout
    assert "1 refused (1 declined); 1 claim dropped; 1 line of no question" in done.stdout
    (answer,) = read_answers(site / "questions.answers.json")
    assert answer.question == rows[0]["question"]
    assert len(command(site, "questions", "--export", "--answers").stdout.splitlines()) == 49
    assert server.answer_calls == 0


def test_answers_need_questions_and_a_build_of_them(tmp_path: Path, server: OpenAIStub) -> None:
    site = write_built_site(tmp_path, server)
    done = command(site, "questions", "--write", "--answers")
    assert "there are no questions: run `answerable questions --write` first" in done.stderr
    assert command(site, "questions", "--write").returncode == 0
    done = command(site, "questions", "--write", "--answers")
    assert "has changed since the last build: build the site, then run this again" in done.stderr
    done = command(site, "questions", "--check", "--answers")
    assert (done.returncode, "--answers needs one of --write" in done.stderr) == (2, True)
