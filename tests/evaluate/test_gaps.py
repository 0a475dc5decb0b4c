"""Refused questions, read from any log, grouped and made into gold queries to paste."""

import json
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import yaml

from answerable.evaluate.gaps import (
    Gap,
    Wording,
    format_proposals,
    group_refusals,
    parse_refusals,
    propose_gold_queries,
)
from answerable.evaluate.gold import GoldQuery, load_gold_queries
from answerable.serve.engine import Engine
from answerable.serve.http import logs
from answerable.serve.http.logs import LoggedRefusal, NearestRecord, Nearness
from answerable.serve.providers import make_engine
from answerable.serve.stores.bundle import Bundle
from answerable.serve.types import Reason
from support.doubles import CountingEmbedder
from support.sites import DATA, NOTES, PAGES, build, command, local, opened, put, write_site

PAGES_MORE = {
    **PAGES,
    "winter.md": "# Winter\n\nIn winter the boats stand on land under covers of cloth.\n",
    "fees.md": "# Fees\n\nThe harbour office collects the fees of guests on Fridays.\n",
}
# Three questions on what no page has, two on what a page has in other words, and one from nowhere.
FUEL = (
    "Where can I buy diesel fuel in the harbour?",
    "Is there a diesel fuel pump for boats?",
    "diesel fuel price",
)
PARCELS = "Does the office collect parcels on weekends?"
CHESS = "Who won the chess olympiad?"
HOSTILE = "<script>document.title='owned'</script>\"&'"


def refusal(
    text: str | None = None,
    *,
    day: int = 1,
    asker: str = "a",
    question: str = "q",
    near: str | None = "storms",
    score: Nearness = "low",
    reason: Reason = "no-evidence",
    clear: bool | None = None,
) -> LoggedRefusal:
    is_clear = score in ("above", "close") if clear is None else clear
    nearest = NearestRecord(near, score, is_clear) if near else None
    return LoggedRefusal(f"2024-05-{day:02}T12:00Z", reason, "b", asker, question, nearest, text)


def parse_refusal_log(text: str) -> tuple[LoggedRefusal, ...]:
    return parse_refusals([text])[0]


def line(**changes: Any) -> str:
    return refusal(**changes).to_line().decode()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = write_site(tmp_path_factory.mktemp("gaps"), PAGES_MORE, NOTES)
    done = build(folder)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def engine(site: Path) -> Engine[Bundle]:
    return make_engine(opened(site), local())


def grouped(
    refusals: Iterable[LoggedRefusal], engine: Engine[Bundle] | None = None
) -> tuple[Gap, ...]:
    return group_refusals(refusals, engine)[0]


def test_refusal_log_round_trips() -> None:
    refusals = (refusal(), refusal("Où?", near=None), refusal("a\u2028b", reason="declined"))
    log = b"".join(each.to_line() for each in refusals).decode()
    parsed = parse_refusal_log(log)
    assert parsed[:2] == refusals[:2]
    assert parsed[2].text == "a b"


@pytest.mark.parametrize("wrap", ["stdout F {}", '{{"log": {}}}', "[{}]"])
def test_line_of_another_program_around_ours_is_skipped(wrap: str) -> None:
    assert parse_refusal_log(wrap.format(line(text="Where is it?").strip())) == ()


def test_foreign_and_damaged_log_lines_are_skipped() -> None:
    good = json.loads(line())
    bad = [
        {**good, "event": "request"},
        {**good, "reason": "bored"},
        {**good, "time": "yesterday"},
        {**good, "asker": 7},
        {**good, "text": ""},
        {**good, "text": 7},
        {**good, "text": "x" * 501},
        {**good, "near": "storms", "score": "huge"},
        {**good, "clear": "yes"},
    ]
    others = [
        "",
        "plain words of a refusal",
        "{",
        '{"event": "refusal"',
        "[" * 9000,
        "\x00refusal{",
    ]
    log = "\n".join([*others, *map(json.dumps, bad), json.dumps(good)])
    # Another program's line is none of ours, and ours that is cut off is damaged.
    assert parse_refusals([log]) == ((refusal(),), len(bad))


def test_control_characters_of_logged_text_are_stripped() -> None:
    (parsed,) = parse_refusal_log(line(text="red \x1b[31m alert\u202e"))
    assert parsed.text == "red [31m alert"


def test_hashed_refusals_are_grouped_by_page_and_counted() -> None:
    refusals = [
        refusal(question="1", near="fees", score="close", day=3, asker="a"),
        refusal(question="1", near="fees", score="close", day=1, asker="b"),
        refusal(question="2", near="fees", asker="b"),
        refusal(question="3", near="winter"),
        refusal(question="4", near="winter", score="far", asker=""),
        refusal(question="4", near="winter", score="far", asker=""),
        refusal(question="5", near=None),
    ]
    first, second, *off = grouped(refusals)
    assert (first.near, first.action, first.asked, first.questions) == ("fees", "extend", 3, 2)
    assert (first.askers, first.first, first.last) == (2, "2024-05-01", "2024-05-03")
    assert (first.title, first.wordings) == ("", ())
    assert (second.near, second.action, second.asked) == ("winter", "write", 1)
    assert [(gap.action, gap.asked, gap.askers) for gap in off] == [
        ("off-topic", 2, 0), ("off-topic", 1, 1),
    ]  # fmt: skip


def test_page_is_to_be_extended_only_where_it_is_clearly_nearest() -> None:
    refusals = [
        refusal(question="1", near="fees", score="close", clear=False),
        refusal(question="2", near="winter", score="low", clear=True),
        refusal(question="3", near="rope", score="close"),
        refusal(question="4", near="rope", score="close", clear=False),
        refusal(question="5", near="rope", score="above", clear=False),
    ]
    gaps = {gap.near: gap.action for gap in grouped(refusals)}
    assert gaps == {"fees": "write", "winter": "write", "rope": "write"}
    (gap,) = grouped(refusals[2:4])
    assert (gap.near, gap.action, gap.asked) == ("rope", "extend", 2)


def test_refusal_logged_without_lead_is_not_clearly_near_a_page() -> None:
    row = json.loads(line(near="fees", score="close"))
    assert parse_refusal_log(json.dumps(row))[0].near == NearestRecord("fees", "close", True)
    (parsed,) = parse_refusal_log(json.dumps({**row, "clear": None}))
    assert parsed.near == NearestRecord("fees", "close", False)
    del row["clear"]
    (parsed,) = parse_refusal_log(json.dumps(row))
    assert parsed.near == NearestRecord("fees", "close", False)


def test_question_between_two_pages_asks_for_a_page_of_its_own(engine: Engine[Bundle]) -> None:
    """Two pages are about as near: neither is clearly the one to extend."""
    (gap,) = grouped([refusal("Which cloth covers a lantern?")], engine)
    assert (gap.action, gap.score, gap.near) == ("write", "close", "winter")
    (gap,) = grouped([refusal("Are the fees of guests higher in winter?")], engine)
    assert (gap.action, gap.near) == ("extend", "fees")


def test_name_that_all_questions_share_merges_none(engine: Engine[Bundle]) -> None:
    questions = [
        "Does Zephyr have a calendar with holidays?",
        "Zephyr invoice number on letters",
        "How do I uninstall Zephyr from a laptop?",
        "Zephyr crashes when the battery is low",
        "Where does Zephyr keep old photographs?",
    ]
    assert len(grouped(map(refusal, questions), engine)) == len(questions)
    again = [*questions, "uninstall Zephyr on my laptop completely"]
    merged = [gap for gap in grouped(map(refusal, again), engine) if gap.questions > 1]
    assert [{each.text for each in gap.wordings} for gap in merged] == [{questions[2], again[-1]}]


def test_neighbors_in_a_chain_are_not_one_gap(engine: Engine[Bundle]) -> None:
    """Each is like the next one, and the first is unlike the last."""
    chain = ["diesel price", "diesel pump", "pump handle", "handle paint"]
    gaps = grouped(map(refusal, chain), engine)
    assert all(gap.questions <= 2 for gap in gaps)
    assert len(gaps) >= 2


@pytest.mark.skipif(
    not (DATA / "sites" / "httpx").is_dir(), reason="needs the real data of ANSWERABLE_DATA"
)
def test_real_refusals_are_merged_by_subject_and_extended_by_a_margin(tmp_path: Path) -> None:
    site = tmp_path / "httpx"
    shutil.copytree(DATA / "sites" / "httpx", site)
    config = (site / "mkdocs.yml").read_text("utf-8")
    put(site / "mkdocs.yml", config.replace("  - search\n", "  - search\n  - answerable\n"))
    assert build(site).returncode == 0
    rows = (DATA / "questions" / "httpx.jsonl").read_text("utf-8").splitlines()
    questions = [json.loads(row)["question"] for row in rows]
    gaps = grouped(map(refusal, questions), make_engine(opened(site), local()))
    merged = [sorted(each.text[:20] for each in gap.wordings) for gap in gaps if gap.questions > 1]
    assert merged == [['"uv sync -U" update ', "How does one update ", "I am looking for som"]]
    extended = {gap.wordings[0].text[:20]: gap.near for gap in gaps if gap.action == "extend"}
    assert extended.items() >= {
        ("Allow Multipart Requ", "advanced/clients"),
        ("what is the recommen", "advanced/clients"),
        ("Would it be possible", "advanced/transports"),
    }
    # By the nearest page alone, 14 of the 20 gaps were to extend a page.
    assert len(extended) <= len(gaps) / 3


def test_similar_questions_are_one_gap(engine: Engine[Bundle]) -> None:
    refusals = [refusal(text, asker=text) for text in FUEL]
    refusals += [refusal(FUEL[1].upper(), asker="again"), refusal(CHESS), refusal(PARCELS)]
    gaps = grouped(refusals, engine)
    fuel = next(gap for gap in gaps if gap.asked == 4)
    assert set(fuel.wordings[1:]) == {Wording(FUEL[0], 1), Wording(FUEL[2], 1)}
    assert fuel.wordings[0].text.lower() == FUEL[1].lower()
    assert fuel.wordings[0].asked == 2
    assert (fuel.questions, fuel.askers) == (3, 4)
    assert fuel.title.lower() == "diesel fuel"
    parcels = next(gap for gap in gaps if Wording(PARCELS, 1) in gap.wordings)
    assert (parcels.action, parcels.near, parcels.asked) == ("extend", "fees", 1)
    assert (gaps[-1].action, gaps[-1].wordings) == ("off-topic", (Wording(CHESS, 1),))


def test_question_answered_by_now_is_no_gap(engine: Engine[Bundle]) -> None:
    refusals = [refusal("How thick is the chain of a mooring?"), refusal(FUEL[0])]
    gaps, answered_count = group_refusals(refusals, engine)
    assert answered_count == 1
    assert [gap.wordings for gap in gaps] == [(Wording(FUEL[0], 1),)]


def test_nearest_page_is_of_current_site(engine: Engine[Bundle]) -> None:
    (gap_found,) = grouped([refusal(PARCELS, near="a/page/that/went", score="close")], engine)
    assert gap_found.near == "fees"


def test_group_refusals_embeds_in_one_call(engine: Engine[Bundle]) -> None:
    class Once(CountingEmbedder):
        calls = 0

        def embed(self, texts: Any) -> Any:
            self.calls += 1
            return super().embed(texts)

    counting = Once(local())
    refusals = [refusal(text) for text in (*FUEL, CHESS, PARCELS)]
    grouped([*refusals, *refusals], Engine(engine.store, counting, engine.answerer))
    # The question as it is asked of the site, and the words of it that it is grouped by.
    assert (counting.calls, len(counting.texts)) == (1, 2 * len(refusals))


def test_group_refusals_calls_no_answer_model(engine: Engine[Bundle]) -> None:
    class Paid:
        label = "paid"
        max_question_tokens = 1
        max_evidence_characters = 24_000

        def draft(self, *args: object) -> object:
            raise AssertionError(f"a call that costs money: {args}")

    paid = Engine(engine.store, engine.embedder, Paid())
    chain = "How thick is the chain of a mooring?"
    refusals = [refusal(chain), refusal(FUEL[0]), refusal(chain + " Tell me", reason="declined")]
    gaps, answered_count = group_refusals(refusals, paid)
    assert answered_count == 1
    assert {gap.reason for gap in gaps} == {"no-evidence", "declined"}


def test_no_refusal_gives_no_gap(engine: Engine[Bundle]) -> None:
    assert group_refusals([], engine) == ((), 0)


def gap(question: str, **changes: Any) -> Gap:
    fields = {
        "action": "write", "near": "fees", "score": "low", "reason": "no-evidence", "asked": 2,
        "questions": 1, "askers": 1, "first": "2024-05-01", "last": "2024-05-02",
        "wordings": (Wording(question, 2),), **changes,
    }  # fmt: skip
    return Gap(**fields)


def test_proposed_queries_load_as_gold_set(tmp_path: Path) -> None:
    odd = ['Is "it" on: [here] # or #not?', "- yes: no", "¿Dónde está «eso»?", "C:\\ | true", "?!"]
    proposals = propose_gold_queries(
        [gap(FUEL[0]), gap(PARCELS, action="extend"), *map(gap, odd), gap(FUEL[0] + " diesel")], ()
    )
    put(tmp_path / "gold.yaml", "queries:\n" + format_proposals(proposals))
    loaded = load_gold_queries(tmp_path / "gold.yaml", None)
    assert [query.query for query in loaded] == [FUEL[0], PARCELS, *odd, FUEL[0] + " diesel"]
    assert {query.expect_answer_mode for query in loaded} == {"not-found"}
    assert {query.tags for query in loaded} == {("gap",)}
    assert (loaded[0].id, loaded[-1].id) == (
        "gap-buy-diesel-fuel-harbour", "gap-buy-diesel-fuel-harbour-diesel"
    )  # fmt: skip
    assert "once a page answers it" in loaded[0].note
    assert "expectSources to [fees]" in loaded[1].note


def test_known_or_unusable_question_is_not_proposed() -> None:
    gold = [GoldQuery("gap-buy-diesel", "where can I buy DIESEL fuel in the harbour")]
    assert propose_gold_queries([gap(FUEL[0])], gold) == []
    (proposal,) = propose_gold_queries([gap("buy diesel?")], gold)
    assert proposal["id"] == "gap-buy-diesel-2"
    dropped = [
        gap("Who is {{author}}?"),
        gap("Where?", action="off-topic"),
        gap("Where?", reason="contract"),
        gap("", wordings=()),
    ]
    assert propose_gold_queries(dropped, ()) == []
    assert format_proposals([]) == ""


def write_log(site: Path, *refusals: LoggedRefusal) -> Path:
    path = site / ".cache" / "plugin" / "answerable" / logs.REFUSAL_LOG_FILE
    put(path, "".join(each.to_line().decode() for each in refusals))
    return path


def test_gaps_reads_dev_server_log_and_its_proposals_pass_eval(site: Path) -> None:
    log = write_log(site, *[refusal(text, asker=text) for text in FUEL], refusal(CHESS))
    done = command(site, "gaps")
    log.unlink()
    assert done.returncode == 0, done.stderr
    assert '1. Likely a missing page: "Diesel fuel"' in done.stdout
    assert "asked 3 times by 3 askers in 3 wordings, 2024-05-01" in done.stdout
    assert f"Probably off-topic: 1 question\n   - {CHESS}\n" in done.stdout
    pasted = done.stdout.partition("To paste under `queries:` of gold.yaml:\n")[2]
    put(site / "eval" / "gold.yaml", "queries:\n" + pasted)
    judged = command(site, "eval", "--full")
    (site / "eval" / "gold.yaml").unlink()
    assert judged.returncode == 0, judged.stdout + judged.stderr
    assert "1 of 1 passed (full tier)" in judged.stdout


def test_gaps_shows_some_wordings_and_keeps_all_in_json(site: Path) -> None:
    questions = [*FUEL, "diesel fuel in a can", "Is diesel fuel sold here?", FUEL[2].upper()]
    log = "".join(line(text=text) for text in questions)
    shown = command(site, "gaps", "-", typed=log).stdout
    assert "   - DIESEL FUEL PRICE (2 times)\n" in shown
    assert "   - and 2 more wordings, which --json prints\n" in shown
    (row,) = json.loads(command(site, "gaps", "--json", "-", typed=log).stdout)["gaps"]
    assert row["questions"] == len(row["wordings"]) == 5
    assert row["wordings"][0] == {"text": "DIESEL FUEL PRICE", "asked": 2}
    assert {each["text"] for each in row["wordings"][1:]} == {*FUEL[:2], *questions[3:5]}


def test_gaps_reads_standard_input_and_prints_json(site: Path) -> None:
    log = line(text=FUEL[0]) + "GET /answer 200\n" + line(question="h", near="fees", score="close")
    done = command(site, "gaps", "--json", "-", typed=log)
    assert done.returncode == 0, done.stderr
    body = json.loads(done.stdout)
    assert set(body) == {"refusals", "answered_since", "damaged", "gaps", "gold"}
    assert (body["refusals"], body["answered_since"], len(body["gaps"])) == (2, 0, 2)
    assert [entry["query"] for entry in body["gold"]] == [FUEL[0]]
    assert {row["near"] for row in body["gaps"]} >= {"fees"}


def test_gaps_of_hashed_log_needs_no_site_or_bundle(tmp_path: Path) -> None:
    put(tmp_path / "one.log", line(near="fees", score="close") * 2)
    put(
        tmp_path / "two.log",
        line(question="r", near="fees", asker="z") + line(question="s", near=None),
    )
    done = command(tmp_path, "gaps", "one.log", "two.log")
    assert done.returncode == 0, done.stderr
    assert done.stdout == (
        "4 refused questions in the logs\n\n"
        "Pages to write or to extend\n\n"
        "1. Extend fees: say it there in the words of the readers\n"
        "   asked 3 times by 2 askers in 2 wordings, 2024-05-01\n\n"
        "Probably off-topic: 1 question\n"
        "   - the logs hold no text of them\n"
    )


def test_gaps_says_that_log_holds_no_refusal(tmp_path: Path) -> None:
    put(tmp_path / "log", "GET /\n")
    done = command(tmp_path, "gaps", "log")
    assert (done.returncode, done.stdout) == (
        0, "No question was refused: the logs hold no refusal.\n"
    )  # fmt: skip
    put(tmp_path / "log", line()[:-9])
    assert command(tmp_path, "gaps", "log").stdout.endswith("\n\n1 damaged line skipped\n")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ((), "refusals.jsonl: set `log_refusals` in mkdocs.yml"),
        (("missing.log",), "missing.log cannot be read (No such file or directory)"),
        ((".",), ". cannot be read (Is a directory)"),
    ],
)
def test_gaps_names_missing_log(site: Path, args: tuple[str, ...], message: str) -> None:
    done = command(site, "gaps", *args)
    assert done.returncode == 1
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_gaps_prints_count_of_omitted_entries(site: Path) -> None:
    on_topic = (
        "chain blacksmith, buoy painter, lantern glass, rope shop, fees refund, boats insurance, "
        "storm radio, winter heating, cloth colour, knots speed, litres tank, Fridays closed, "
        "millimetres ruler, land lease, guests showers"
    ).split(", ")
    off_topic = "anvil basil cactus donut ember flute grape".split()
    refusals = [refusal(text) for text in (*on_topic, *off_topic)]
    refusals += [refusal(question=str(n), near=f"page{n}") for n in range(20)]
    done = command(site, "gaps", "-", typed="".join(each.to_line().decode() for each in refusals))
    assert done.returncode == 0, done.stderr
    omissions = [
        line for line in done.stdout.splitlines() if line.endswith("more, which --json prints")
    ]
    assert [line[:4] for line in omissions] == ["and ", "   -", "  # "]
    pasted = done.stdout.partition("To paste under `queries:` of gold.yaml:\n")[2]
    assert len(yaml.safe_load(pasted)) == 10
