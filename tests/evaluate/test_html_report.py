"""The report for people: one file that a browser opens from disk, and that everybody can read."""

import re
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from answerable.evaluate.html_report import (
    TuneTrials,
    place_scores,
    read_trials,
    render_html_report,
    write_html_report,
)
from support.eval_reports import report, row

HOSTILE = "<script>document.title='owned'</script>\"&'"


ROWS = (
    row("fine"),
    row("lost", "top source is not 'a'"),
    row("opera", mode="not-found", passage=0.1, tag="off-topic"),
)
BEFORE = report(row("fine"), row("lost"), made_at="2026-11-20T09-30-00.0Z")
TRIALS = TuneTrials(
    "2026-11-20T09-30-00.0Z",
    tuple(
        {"encoding": name, "dimensions": 256, "words": 240, "floor": 0.36, "bytes": size,
         "held": count, "total": 3, "rho_min": 0.9, "scan_ms": 0.1}
        for name, size, count in (("int8", 300_000, 3), ("binary", 100_000, 2))
    ),
)  # fmt: skip


@pytest.fixture
def written(tmp_path: Path) -> Path:
    path = tmp_path / "report.html"
    write_html_report(path, report(*ROWS), BEFORE, TRIALS)
    return path


def test_html_report_fetches_nothing(written: Path) -> None:
    text = written.read_text("utf-8")
    assert not re.search(r"(?:src|href)=|url\(|@import|fetch\(", text)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1200, 390])
def test_html_report_opens_from_disk_and_is_accessible(
    browser: Browser, written: Path, scheme: str, width: int
) -> None:
    context = browser.new_context(
        viewport={"width": width, "height": 800},
        color_scheme="dark" if scheme == "dark" else "light",
    )
    problems: list[str] = []
    page = context.new_page()
    page.on("console", lambda message: problems.append(message.text))
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("request", lambda request: problems.append(request.url))
    page.goto(written.as_uri())
    violations = Axe().run(page).response["violations"]
    wide = page.evaluate("document.documentElement.scrollWidth > innerWidth")
    context.close()
    assert problems == [written.as_uri()]
    assert violations == []
    assert not wide


def test_html_report_lists_failures_first_and_filters_rows(page: Page, written: Path) -> None:
    page.goto(written.as_uri())
    assert "2 of 3 passed" in page.inner_text("h1")
    shown = page.locator("table.verdicts tbody tr:visible")
    assert shown.count() == 3
    assert "What is lost?" in shown.nth(0).inner_text()
    assert "newly failing" in shown.nth(0).inner_text()
    page.locator("select[name=verdict]").select_option("failed")
    assert shown.count() == 1
    assert page.locator("output").inner_text() == "1 of 3 shown"
    page.locator("select[name=verdict]").select_option("changed")
    assert shown.count() == 1
    page.locator("select[name=verdict]").select_option("all")
    page.locator("select[name=tag]").select_option("off-topic")
    assert shown.count() == 1
    assert "What is opera?" in shown.nth(0).inner_text()
    page.locator("select[name=tag]").select_option("all")
    page.get_by_label("Words").fill("FINE what")
    assert shown.count() == 1


def test_html_report_escapes_text(page: Page, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    write_html_report(path, report(row(HOSTILE, HOSTILE, tag=HOSTILE)), None, None)
    page.goto(path.as_uri())
    assert page.title() == "Gold set: 0 of 1 passed"
    assert HOSTILE in page.inner_text("table.verdicts tbody")
    assert "There is no earlier report" in page.inner_text("main")
    assert "Run answerable tune" in page.inner_text("main")


def test_html_report_names_aborted_run() -> None:
    text = render_html_report(report(*ROWS, total=5), None, None)
    assert "The run was aborted before every query was judged." in text


def test_score_strip_stays_in_its_frame() -> None:
    strip = place_scores(row("x", passage=1.7), report())
    assert strip.passage == 154.0
    assert strip.floor == pytest.approx(6 + 148 * 0.36, abs=0.05)


def test_trials_that_cannot_be_drawn_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "tune.json"
    assert read_trials(path) is None
    for text in (
        "no json",
        "[]",
        '{"made_at": "x", "trials": []}',
        '{"made_at": 1, "trials": [1]}',
    ):
        path.write_text(text, "utf-8")
        assert read_trials(path) is None
