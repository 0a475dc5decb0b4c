"""Usage from the logs of a real function and of feedback: weeks, questions, pages and votes."""

import json
import re
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from hypothesis import given
from hypothesis import strategies as st
from playwright.sync_api import Browser

from answerable.evaluate.gaps import Gap, Wording, format_proposals, make_gaps_page
from answerable.evaluate.logs import LogEvents, RequestLine, parse_logs, summarize_usage
from answerable.evaluate.page import (
    PLOT_BOTTOM,
    PLOT_LEFT,
    PLOT_RIGHT,
    PLOT_TOP,
    Page,
    Plot,
    render_html_page,
)
from answerable.serve.http.logs import AccessLogEntry
from answerable.serve.settings import SETTINGS_FILE
from serve.test_function_folder import has_address
from support.server_processes import Running, run, until
from support.sites import NOTES, PAGES, build, command, put, write_site

CHAIN = "How thick is the chain of a mooring?"
LANTERN = "What does a red lantern warn of?"
FUEL = "Where can I buy diesel fuel in zanzibarquokka?"
HOSTILE = "<script>document.title='owned'</script>\"&'"


def entry(number: int = 1, **changes: Any) -> AccessLogEntry:
    fields: dict[str, Any] = {
        "method": "POST", "path": "answer", "status": 200, "mode": "partial",
        "hour": "2026-11-21T20:00Z", **changes,
    }  # fmt: skip
    return AccessLogEntry(request_id=f"req_{number}", **fields)


def line(number: int = 1, **changes: Any) -> str:
    return entry(number, **changes).to_line().decode()


def vote(number: int = 1, helpful: bool = False, **changes: Any) -> str:
    row = {
        "helpful": helpful, "reason": None if helpful else "wrong", "question": CHAIN,
        "mode": "partial", "bundle": "b", "request_id": f"req_{number}", **changes,
    }  # fmt: skip
    return json.dumps(row) + "\n"


def summarized(*lines: str) -> dict[str, Any]:
    return summarize_usage(parse_logs(["".join(lines)]))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = write_site(tmp_path_factory.mktemp("usage"), PAGES, NOTES)
    assert build(folder).returncode == 0
    return folder


@contextmanager
def serving(site: Path, **settings: Any) -> Iterator[Running]:
    """Run a site's function with some settings until the block ends."""
    path = site / "function" / SETTINGS_FILE
    put(path, json.dumps({**json.loads(path.read_text("utf-8")), **settings}))
    main = ["env", "-i", "PORT=0", sys.executable, "-I", str(site / "function" / "main.py")]
    with run(main, site, has_address) as running:
        yield running


@pytest.mark.slow
@pytest.mark.parametrize("has_text", [False, True])
def test_gaps_reads_what_a_function_and_a_feedback_server_log(site: Path, has_text: bool) -> None:
    """The function's standard output as it is, and the bodies that the widget has posted."""
    how = "text" if has_text else "hashed"
    with serving(site, log_questions=has_text, log_refusals=how) as running:
        replies = [running.ask("/answer", each) for each in (CHAIN, CHAIN, LANTERN, FUEL)]
        running.request("GET", "/search?q=rope")
        running.request("POST", "/answer", {"question": ""})
        until(lambda: running.output.count('"event": "request"') == 6)
        printed = running.output
    assert ("zanzibarquokka" in printed) == has_text
    put(site / "function.log", printed)
    voted = [
        {"helpful": False, "reason": "outdated", "question": CHAIN if has_text else "",
         "mode": reply["mode"], "bundle": reply["bundle"], "request_id": reply["request_id"]}
        for reply in replies[:2]
    ]  # fmt: skip
    put(site / "feedback.log", "".join(f"{json.dumps(row)}\n" for row in voted[: has_text * 2]))
    arguments = ("gaps", "function.log", "feedback.log", "--html", "gaps.html")
    done = command(site, *arguments, "--json")
    assert done.returncode == 0, done.stderr
    usage = json.loads(done.stdout)["usage"]
    days = (datetime.now(UTC) - timedelta(hours=1), datetime.now(UTC))
    weeks = {"{}-W{:02}".format(*day.isocalendar()[:2]) for day in days}
    assert {row["week"] for row in usage["weeks"]} <= weeks
    # A question that nobody can ask has failed.
    assert [sum(row[name] for row in usage["weeks"]) for name in ("answered", "refused")] == [3, 1]
    assert sum(row["failed"] for row in usage["weeks"]) == 1
    assert [(row["record"], row["answers"]) for row in usage["pages"]] == [
        ("mooring", 2), ("storms", 1)
    ]  # fmt: skip
    page = (site / "gaps.html").read_text("utf-8")
    # For its owner alone.
    assert stat.S_IMODE((site / "gaps.html").stat().st_mode) == 0o600
    for text in (done.stdout, page):
        assert ("zanzibarquokka" in text.lower()) == has_text
        assert "gearbox" not in text
    if not has_text:
        assert usage["questions"] == usage["voted_down"] == []
        return
    assert usage["questions"][0] == {"text": CHAIN, "answered": 2, "refused": 0}
    assert usage["pages"][0]["unhelpful"] == 2
    assert usage["voted_down"] == [
        {"text": CHAIN, "helpful": 0, "unhelpful": 2, "reasons": [["outdated", 2]],
         "pages": ["mooring"]}
    ]  # fmt: skip
    shown = command(site, *arguments).stdout
    assert "Pages that answers come from\n   - mooring: 2, 2 voted down\n   - storms: 1\n" in shown
    assert f"   - {CHAIN} (2 of 2 votes: outdated 2; cites mooring)\n" in shown


def test_iso_weeks_cross_the_end_of_a_year() -> None:
    days = ["2020-12-27", "2020-12-28", "2021-01-03", "2021-01-04", "2024-12-29", "2024-12-30"]
    lines = [line(number, hour=f"{day}T23:00Z") for number, day in enumerate(days)]
    weeks = {week["week"]: week for week in summarized(*reversed(lines))["weeks"]}
    counted = {name: week["answered"] for name, week in weeks.items() if week["answered"]}
    assert counted == {
        "2020-W52": 1, "2020-W53": 2, "2021-W01": 1, "2024-W52": 1, "2025-W01": 1
    }  # fmt: skip
    mondays = [weeks[name]["monday"] for name in ("2020-W53", "2021-W01")]
    assert mondays == ["2020-12-28", "2021-01-04"]
    # Weeks without a question are there too, each once and in order.
    dates = [date.fromisoformat(week["monday"]) for week in weeks.values()]
    assert {later - earlier for earlier, later in pairwise(dates)} == {timedelta(weeks=1)}
    assert weeks["2022-W30"]["refused_share"] is None


def test_wrong_clock_adds_no_thousand_empty_weeks() -> None:
    weeks = summarized(line(1, hour="0001-01-01T00:00Z"), line(2))["weeks"]
    assert [week["week"] for week in weeks] == ["1-W01", "2026-W47"]


def test_refused_share_counts_neither_errors_nor_other_paths() -> None:
    usage = summarized(
        line(1),
        line(2, mode="not-found", reason="no-evidence"),
        line(3, mode="related-material"),
        line(4, mode="supported"),
        line(5, status=429, mode=None, reason="rate-limited"),
        line(6, path="search", method="GET", mode=None),
        line(7, path="other", status=404, mode=None),
        line(8, hour=None),
        line(9, path="mcp", mode=None),
    )
    (week,) = usage["weeks"]
    counts = [week[name] for name in ("answered", "refused", "failed", "refused_share")]
    assert counts == [3, 1, 1, 0.25]
    assert (usage["requests"], usage["undated"]) == (6, 1)


def test_questions_of_agents_count_like_those_of_readers() -> None:
    usage = summarized(
        line(1, path="mcp", cited=("mooring",), question=CHAIN),
        line(2, path="mcp", mode="not-found", reason="no-evidence", question=CHAIN),
        line(3, path="mcp", mode=None, question=LANTERN),
        line(4, path="mcp", mode=None, status=202),
    )
    (week,) = usage["weeks"]
    assert (week["answered"], week["refused"], week["failed"], usage["requests"]) == (1, 1, 0, 2)
    assert [page["record"] for page in usage["pages"]] == ["mooring"]
    assert usage["questions"] == [{"text": CHAIN, "answered": 1, "refused": 1}]


def test_damaged_lines_are_skipped_and_counted() -> None:
    good = json.loads(line())
    whole = line(2, cited=("mooring",))
    damaged = [
        whole[: whole.index("timings_ms")],
        whole[: whole.index("tokens_in")],
        whole[:-3],
        '{"event": "refusal", "time": "2026-',
        json.dumps({**good, "time": "yesterday"}),
        json.dumps({**good, "time": "2026-13-01T00:00Z"}),
        json.dumps({**good, "mode": "certain"}),
        json.dumps({**good, "cited": "mooring"}),
        json.dumps({**good, "cited": [7]}),
        json.dumps({**good, "request_id": None}),
        json.dumps({**good, "question": "x" * 501}),
        json.dumps({"event": "refusal"}),
        vote(helpful="yes").strip(),  # type: ignore[arg-type]
        vote(question="").strip(),
        vote()[:60],
        json.dumps({"helpful": True, "request_id": 7, "question": CHAIN}),
    ]
    others = [
        "",
        "plain words of a request",
        "{",
        '{"level": "info", "event": "start"}',
        '{"helpful": true, "user": "somebody"}',
        '{"msg": "GET /answer", "status": 200}',
        "[" * 9000,
    ]
    log = "\n".join([*others, *damaged, line(7).strip(), *others])
    events = parse_logs([log])
    assert events.damaged == len(damaged)
    assert [request.request_id for request in events.requests] == ["req_7"]
    assert (events.refusals, events.votes) == ((), ())


def test_request_without_new_fields_is_read() -> None:
    """Lines that were written before requests had a time and cited pages."""
    row = json.loads(line())
    del row["time"], row["cited"]
    events = parse_logs([json.dumps(row)])
    assert events.requests == (RequestLine("req_1", "POST", "answer", 200, "partial"),)
    assert events.damaged == 0


def test_log_named_twice_counts_once_and_last_vote_counts() -> None:
    log = line(1, cited=("mooring",)) + line(2, cited=("mooring", "storms"))
    votes = vote(1, reason="outdated") + vote(1, helpful=True) + vote(2, reason="other")
    usage = summarize_usage(parse_logs([log + votes, log]))
    assert (usage["requests"], usage["votes"]) == (2, 2)
    assert usage["pages"] == [
        {"record": "mooring", "answers": 2, "helpful": 1, "unhelpful": 1},
        {"record": "storms", "answers": 1, "helpful": 0, "unhelpful": 1},
    ]
    (row,) = usage["voted_down"]
    assert (row["helpful"], row["unhelpful"], row["pages"]) == (1, 1, ["mooring", "storms"])


def test_wordings_that_differ_in_case_are_one_question() -> None:
    refusal = {"mode": "not-found", "reason": "declined"}
    usage = summarized(
        line(1, question=CHAIN.upper(), **refusal), line(2, question=CHAIN), line(3, question="Eh")
    )
    assert [tuple(row.values()) for row in usage["questions"]] == [(CHAIN, 1, 1), ("Eh", 1, 0)]


def test_vote_without_its_request_names_no_page() -> None:
    (row,) = summarized(vote(question=" Why\x1b[31m? ", reason=None))["voted_down"]
    assert (row["text"], row["pages"], row["reasons"]) == ("Why [31m?", [], [("no reason", 1)])
    assert summarized(vote(helpful=True))["voted_down"] == []


COUNTS = st.integers(0, 10**6)
SERIES = st.lists(st.tuples(COUNTS, COUNTS), min_size=1, max_size=60)


@given(SERIES)
def test_columns_stay_between_the_axes(rows: list[tuple[int, int]]) -> None:
    answered, refused = zip(*rows, strict=True)
    places = tuple(f"2026-W{number:02}" for number in range(len(rows)))
    plot = Plot("Weeks", "columns", places, {"answered": answered, "refused": refused})
    assert plot.top >= max(map(sum, rows))
    assert plot.top % 2 == 0
    total = 0.0
    for number, _, left, top, width, height in plot.columns:
        assert number in (0, 1)
        assert left >= PLOT_LEFT
        assert left + width <= PLOT_RIGHT + 0.1
        assert top >= PLOT_TOP - 0.1
        assert top + height <= PLOT_BOTTOM + 0.1
        total += height
    drawn = (PLOT_BOTTOM - PLOT_TOP) * sum(map(sum, rows)) / plot.top
    assert total == pytest.approx(drawn, abs=0.1 * len(rows) + 0.1)
    assert 1 <= len(plot.axis_labels) <= 3


def test_line_of_shares_is_interrupted_by_a_week_without_questions() -> None:
    shares = (50.0, 0.0, None, 100.0, 0.0, None, 50.0)
    plot = Plot("Shares", "lines", tuple("1234567"), {"refused": shares}, "%")
    assert [len({*points.split()}) for _, points in plot.lines] == [2, 2, 1]
    ends = [float(pair.split(",")[1]) for _, points in plot.lines for pair in points.split()]
    assert (min(ends), max(ends)) == (PLOT_TOP, PLOT_BOTTOM)


def made_page() -> Page:
    """A page with every section, whose texts are long or would command a browser."""
    long = "an_identifier_of_a_function_that_has_no_place_where_it_could_be_broken_at_all"
    wordings = tuple(Wording(text, 3) for text in (HOSTILE, f"What is {long}?", *"abcdef"))
    gaps = [
        Gap("write", "fees", "low", "no-evidence", 24, 8, 9, "2026-11-01", "2026-11-09", HOSTILE,
            wordings),
        Gap("extend", f"guide/{long}", "close", "declined", 1, 1, 1, "2026-11-01", "2026-11-01"),
        Gap("off-topic", None, None, "no-evidence", 2, 1, 1, "2026-11-01", "2026-11-01", "",
            (Wording(HOSTILE, 2),)),
    ]  # fmt: skip
    lines = [
        line(
            number,
            hour=f"2026-{month:02}-1{number % 9}T10:00Z",
            question=f"{HOSTILE} {number % 40}",
            cited=(f"guide/{long}", HOSTILE),
            mode="not-found" if number % 3 == 0 else "partial",
        )
        for number, month in enumerate([*range(1, 13)] * 6)
    ]
    votes = [vote(number, question=f"{HOSTILE} {long}", reason=HOSTILE) for number in range(3)]
    events = parse_logs(["".join([*lines, *votes, line()[:40]])])
    return make_gaps_page(
        gaps, summarize_usage(events), events, 3, [{"id": "a", "query": HOSTILE}], "gold.yaml"
    )


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("gaps-page") / "gaps.html"
    path.write_text(render_html_page(made_page()), "utf-8")
    return path


def test_html_page_fetches_and_runs_nothing(written: Path) -> None:
    text = written.read_text("utf-8")
    assert not re.search(r"(?:src|href)=|url\((?!#hatch\))|@import|<script|\son\w+=", text)
    assert "&lt;script&gt;" in text
    # Each plot has a name and a description, and no two elements an id.
    plots = re.findall(r'<svg [^>]*role="img" aria-labelledby="([\w-]+) ([\w-]+)"', text)
    assert len(plots) == 2
    ids = re.findall(r'\bid="([^"]+)"', text)
    assert sorted(ids) == sorted({*ids})
    assert {name for pair in plots for name in pair} < {*ids}


def test_html_page_holds_all_wordings_and_weeks(written: Path) -> None:
    text = written.read_text("utf-8")
    for wording in ("&lt;script&gt;", "What is an_identifier", *(f"<li>{c} " for c in "abcdef")):
        assert wording in text
    assert text.count("<li>2026-W") > 40
    assert "1 damaged line skipped" in text


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1200, 420])
def test_html_page_is_readable_and_accessible(
    browser: Browser, written: Path, scheme: str, width: int
) -> None:
    context = browser.new_context(
        viewport={"width": width, "height": 800},
        color_scheme="dark" if scheme == "dark" else "light",
        java_script_enabled=True,
    )
    page = context.new_page()
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.goto(written.as_uri())
    page.evaluate("document.querySelectorAll('details').forEach((each) => (each.open = true))")
    violations = Axe().run(page).response["violations"]
    is_wide = page.evaluate("document.documentElement.scrollWidth > innerWidth")
    # No table has to be scrolled on a phone, and no text of a plot is smaller than 11 pixels.
    scrolled = page.evaluate(
        "[...document.querySelectorAll('.scroll:has(table)')]"
        ".filter((each) => each.scrollWidth > each.clientWidth + 1).map((each) => each.ariaLabel)"
    )
    smallest = page.evaluate(
        "Math.min(...[...document.querySelectorAll('svg text')].map((each) =>"
        " 11 * each.ownerSVGElement.getBoundingClientRect().width / 360))"
    )
    title = page.title()
    context.close()
    assert requests == [written.as_uri()]
    assert violations == []
    assert not is_wide
    assert scrolled == []
    assert smallest >= 11
    assert title == "Unanswered questions: 2 gaps"


def test_page_of_empty_logs_has_no_plot_and_no_empty_heading() -> None:
    events = LogEvents()
    text = render_html_page(make_gaps_page((), summarize_usage(events), events, 0, (), "gold.yaml"))
    assert "No question was refused" in text
    assert 'role="img"' not in text
    assert "<h2>" not in text
    assert format_proposals(()) == ""


@pytest.mark.parametrize(
    ("place", "fate"),
    [
        ("docs/gaps.html", "published"),
        ("site/deep/gaps.html", "published"),
        ("function/gaps.html", "deployed"),
    ],
)
def test_html_page_is_not_written_where_it_would_leave_the_machine(
    tmp_path: Path, place: str, fate: str
) -> None:
    site = write_site(tmp_path)
    put(site / "log", line(question=CHAIN))
    done = command(site, "gaps", "log", "--html", place)
    assert done.returncode == 1
    assert f"--html {place}: " in done.stderr
    assert f"is {fate}, and the page holds what readers have typed" in done.stderr
    assert not (site / place).exists()


def test_gaps_of_requests_alone_says_that_none_was_refused(tmp_path: Path) -> None:
    put(tmp_path / "log", line(1) + line(2)[:50] + "\n" + line(3, mode="not-found"))
    done = command(tmp_path, "gaps", "log")
    assert done.returncode == 0, done.stderr
    assert done.stdout == (
        "No question was refused: the logs hold no refusal.\n\n"
        "Questions by week\n   - 2026-W47: 1 answered, 1 refused (50 %)\n\n"
        "1 damaged line skipped\n"
    )
