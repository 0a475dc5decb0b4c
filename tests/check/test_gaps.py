"""Questions that the site does not answer, read from any log and counted."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from answerable.check.gaps import Gap, list_gaps, parse_refusals
from answerable.engine.bundle import Bundle
from answerable.engine.engine import Engine
from answerable.engine.providers import make_engine
from answerable.function import logs
from answerable.function.logs import LoggedReason, RefusalLine
from support.eval_reports import run
from support.known_questions import write_known_questions
from support.sites import NOTES, PAGES, build_here, command, local, opened, put, write_site

PAGES_MORE = {
    **PAGES,
    "http2.md": (
        "# HTTP/2\n\nThe client supports HTTP/2 for all requests. HTTP/2 is off by default. "
        "Up to 3 HTTP requests are sent at once.\n"
    ),
}
FUEL = "Where can I buy diesel fuel in the harbour?"
KNOWN = "what holds an anchored boat to the galvanised ground tackle"


def refusal(
    text: str | None = None,
    *,
    day: int = 1,
    asker: str = "a",
    question: str = "q",
    near: str | None = "storms#storms",
    reason: LoggedReason = "no-evidence",
) -> RefusalLine:
    return RefusalLine(f"2024-05-{day:02}T12:00Z", reason, "b", asker, question, near, text)


def line(**changes: Any) -> str:
    return msgspec.json.encode(refusal(**changes)).decode() + "\n"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = write_site(tmp_path_factory.mktemp("gaps"), PAGES_MORE, NOTES)
    build_here(folder)
    write_known_questions(folder, {"mooring#chains": [KNOWN]})
    build_here(folder)
    return folder


@pytest.fixture(scope="module")
def engine(site: Path) -> Engine[Bundle]:
    return make_engine(opened(site), local())


def test_refusal_log_round_trips() -> None:
    refusals = [refusal(), refusal("Où?", near=None), refusal("a b", reason="nearest")]
    log = line() + line(text="Où?", near=None) + line(text="a\u2028b", reason="nearest")
    assert parse_refusals([log]) == (refusals, 0)


def test_foreign_and_damaged_log_lines_are_skipped() -> None:
    good = json.loads(line())
    bad = [
        {**good, "reason": "bored"},
        {**good, "time": "yesterday"},
        {**good, "text": "x" * 501},
        {"log": good},
    ]
    others = ["", "plain words of a refusal", "{", "[" * 9000, "\x00refusal{",
              json.dumps({**good, "event": "request"})]  # fmt: skip
    log = "\n".join([*others, '{"event": "refusal"', *map(json.dumps, bad), json.dumps(good)])
    # Another program's line is none of ours, and ours that is cut off or wrapped is damaged.
    assert parse_refusals([log]) == ([refusal()], len(bad) + 1)


def test_questions_that_readers_have_sent_count_beside_refusals(engine: Engine[Bundle]) -> None:
    sent = {"question": f"{FUEL} ", "mode": "partial", "confidence": "low", "page": "/", "at": 1}
    log = line(text=FUEL) + json.dumps(sent) + "\n" + json.dumps(sent | {"mode": "bored"})
    refusals, damaged = parse_refusals([log])
    assert damaged == 1
    assert list_gaps(refusals[1:], None)[0] == (Gap(FUEL, 1, 0, "", "nearest", None),)
    ((gap,), _) = list_gaps(refusals, engine)
    assert (gap.question, gap.asked, gap.last) == (FUEL, 2, "2024-05-01")


def test_hashed_questions_are_counted() -> None:
    refusals = [
        refusal(question="2"),
        refusal(question="1", near="fees", day=3, asker="a"),
        refusal(question="1", near="fees", day=1, asker="b"),
        refusal(question="3", near=None, asker="", reason="declined"),
    ]
    assert list_gaps(refusals, None) == (
        (
            Gap("1", 2, 2, "2024-05-03", "no-evidence", "fees"),
            Gap("2", 1, 1, "2024-05-01", "no-evidence", "storms#storms"),
            Gap("3", 1, 0, "2024-05-01", "declined", None),
        ),
        0,
    )


def test_a_question_in_other_spelling_is_the_same(engine: Engine[Bundle]) -> None:
    gaps, _ = list_gaps([refusal(FUEL), refusal(f"{FUEL.upper()}!")], engine)
    assert [(gap.question, gap.asked) for gap in gaps] == [(f"{FUEL.upper()}!", 2)]


@pytest.mark.parametrize(
    ("question", "reason", "near"),
    [
        ("How thick is the chain of a mooring?", None, None),
        (KNOWN, None, None),
        ("Who sang at the opera in Vienna?", "no-evidence", None),
        # What answers it is near, and is about something else.
        ("Is HTTP/3 supported?", "nearest", "http2#http2"),
        ("Are 3 HTTP requests supported?", None, None),
        ("Are HTTP/3 requests supported?", "nearest", "http2#http2"),
        ("Does the client support HTTP/2 in kayaks?", "nearest", "http2#http2"),
        ("Are HTTP/2 requests supported?", None, None),
    ],
)
def test_only_what_is_answered_by_now_is_no_gap(
    engine: Engine[Bundle], question: str, reason: str | None, near: str | None
) -> None:
    gaps, answered = list_gaps([refusal(question)], engine)
    assert [gap.reason for gap in gaps] == ([reason] if reason else [])
    assert answered == (reason is None)
    assert near is None or gaps[0].near == near


def test_gaps_calls_no_answer_model(engine: Engine[Bundle]) -> None:
    class Paid:
        label = "paid"
        max_question_tokens = 1
        max_evidence_characters = 24_000

        def draft(self, *args: object) -> object:
            raise AssertionError(f"a call that costs money: {args}")

    paid = Engine(engine.store, engine.embedder, Paid())
    chain = "How thick is the chain of a mooring?"
    refusals = [refusal(chain), refusal(FUEL), refusal(f"{chain} Tell me", reason="declined")]
    gaps, answered = list_gaps(refusals, paid)
    # A model that declines has read more than is near enough without one.
    assert [gap.reason for gap in gaps] == ["no-evidence", "declined"]
    assert answered == 1


def test_gaps_reads_the_dev_servers_log_and_standard_input(site: Path) -> None:
    log = site / ".cache" / "plugin" / "answerable" / logs.REFUSAL_LOG_FILE
    put(log, line(text=FUEL) * 2 + line(text="How thick is the chain of a mooring?"))
    done = run(site, "gaps")
    log.unlink()
    assert done.stdout.startswith("1 question not answered, 1 answered by now\n")
    assert f"    2  {FUEL}" in done.stdout
    typed = line(text=FUEL) + "GET /answer 200\n" + line(question="h", near="fees")
    body = json.loads(run(site, "gaps", "--json", "-", typed=typed).stdout)
    assert [gap["question"] for gap in body["gaps"]] == [FUEL, "h"]


def test_gaps_of_hashed_log_needs_no_site_or_bundle(tmp_path: Path) -> None:
    put(tmp_path / "one.log", line(near="fees#fees") * 2)
    put(tmp_path / "two.log", line(question="r", near=None) + line()[:-9])
    head, _, *rows = command(tmp_path, "gaps", "one.log", "two.log").stdout.splitlines()
    assert head == "2 questions not answered, 0 answered by now, 1 damaged line skipped"
    assert [row.split() for row in rows[:4]] == [
        ["2", "q"], ["no-evidence,", "fees#fees"], ["1", "r"], ["no-evidence"],
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ((), "refusals.jsonl: set `log_refusals` in mkdocs.yml"),
        (("missing.log",), "missing.log cannot be read (No such file or directory)"),
    ],
)
def test_gaps_names_missing_log(site: Path, args: tuple[str, ...], message: str) -> None:
    done = run(site, "gaps", *args)
    assert (done.exit_code, message in done.stderr) == (1, True)
