"""The report for people: one file that a browser opens from disk, and that everybody can read."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from answerable.evaluate.page import render_html_page
from answerable.evaluate.run_page import make_run_page, write_run_page
from answerable.evaluate.verdict import (
    CallUsage,
    NearMiss,
    RecordedAnswer,
    RecordedCitation,
    SourceRank,
    Verdict,
)
from support.eval_reports import report, row

HOSTILE = "<script>document.title='owned'</script>\"&'"


ROWS = (
    row("fine"),
    row("lost", "top source is not 'a'"),
    row("opera", mode="not-found", passage=0.1, tag="off-topic"),
)
BEFORE = report(row("fine"), row("lost"), made_at="2026-11-20T09-30-00.0Z")


@pytest.fixture
def written(tmp_path: Path) -> Path:
    path = tmp_path / "report.html"
    write_run_page(path, report(*ROWS), BEFORE)
    return path


def test_html_report_fetches_nothing(written: Path) -> None:
    text = written.read_text("utf-8")
    assert not re.search(r"(?:src|href)=|url\((?!#hatch\))|@import|fetch\(", text)


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
    shown = page.locator(".verdicts > li:visible")
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


LONG_ID = "advanced/configuration#how-a-very-long-heading-becomes-an-identifier-of-a-section"
SITE_URL = "https://harbour.example/docs/"


def answered(name: str, text: str, *citations: RecordedCitation, **changes: Any) -> Verdict:
    return replace(
        row(name), answer=RecordedAnswer(text, citations, 0.5), note="Guards the chain.",
        ranks=(SourceRank(LONG_ID, 2), SourceRank("lost", None)),
        near_misses=(NearMiss(LONG_ID, 0.341),), usage=CallUsage(1200, 34, 0.5), **changes,
    )  # fmt: skip


CITED = RecordedCitation("record", LONG_ID, "/docs/a/#b", "Chains › Thick", "It is thick.")
OLD_TEXT = "The chain of a mooring is twelve millimetres thick [1].\n\npip install " + "x" * 90
NEW_TEXT = OLD_TEXT.replace("twelve", "fifteen")
UNSAFE = RecordedCitation("hint", "note:1", "javascript:alert(1)", "Plans for the winch")
EARLIER = replace(
    report(answered("chain", OLD_TEXT, CITED), made_at="2026-11-20T09-30-00.0Z"), site_url=SITE_URL
)
STATUSES = replace(
    report(
        row("fine"),
        answered("chain", NEW_TEXT, CITED, UNSAFE),
        row("lost", "top source is not 'a'"),
        replace(row("down"), error="the server timed out", answer=None),
        replace(row("old", "answer mode 'not-found'"), known_failure="needs a model"),
        replace(row("mended"), known_failure="needs a page"),
    ),
    site_url=SITE_URL,
    cost=0.0125,
)  # fmt: skip


@pytest.fixture
def compared(tmp_path: Path) -> Path:
    path = tmp_path / "compared.html"
    write_run_page(path, STATUSES, EARLIER)
    return path


def test_html_report_shows_answers_side_by_side(page: Page, compared: Path) -> None:
    page.goto(compared.as_uri())
    card = page.locator(".verdicts > li", has_text="What is chain?")
    assert "answer changed" in card.locator("summary").inner_text()
    before, now = card.locator(".sides > div").all()
    assert before.locator("del").all_inner_texts() == ["twelve"]
    assert now.locator("ins").all_inner_texts() == ["fifteen"]
    assert "fifteen" not in before.inner_text()
    assert "twelve" not in now.inner_text()
    boxes = [side.bounding_box() for side in (before, now)]
    assert boxes[0]
    assert boxes[1]
    assert boxes[0]["y"] == boxes[1]["y"]
    # A citation leads to the cited place, and nowhere where its url is not of the web.
    links = now.locator("a")
    assert [link.get_attribute("href") for link in links.all()] == [
        "https://harbour.example/docs/a/#b"
    ]
    assert "Plans for the winch" in now.inner_text()
    text = card.inner_text()
    for shown in (f"{LONG_ID}: rank 2", "lost: not retrieved", f"{LONG_ID}: 0.341", "It is thick."):
        assert shown in text
    assert "1,200 tokens read, 34 written, 0.5 seconds" in text
    main = page.inner_text("main")
    assert "Answers changed since 2026-11-20T09-30-00.0Z: chain" in main
    assert "1,200 tokens read, 34 written, 0.5 seconds of answers, cost 0.0125" in main


def test_html_report_tells_statuses_apart(page: Page, compared: Path) -> None:
    page.goto(compared.as_uri())
    labels = {
        card.locator("summary .query").inner_text(): card.locator(
            "summary > span"
        ).first.inner_text()
        for card in page.locator(".verdicts > li").all()
    }
    assert labels == {
        "What is lost?": "FAIL", "What is down?": "ERROR", "What is mended?": "unexpected pass",
        "What is old?": "known failure", "What is chain?": "pass", "What is fine?": "pass",
    }  # fmt: skip
    text = page.inner_text("main")
    for shown in (
        "2 of 6 passed (full tier), 1 known to fail, 1 passed unexpectedly, 1 failed, 1 not judged",
        "the server timed out",
    ):
        assert shown in text
    shown_cards = page.locator(".verdicts > li:visible")
    for label, count in (("failed", 3), ("known failure", 1), ("ERROR", 1), ("answer changed", 1)):
        page.locator("select[name=verdict]").select_option(label)
        assert shown_cards.count() == count, label


# Every element that reaches out of the window, and every word of letters on two lines.
MISPLACED = """() => {
  const problems = [];
  for (const element of document.querySelectorAll("main *")) {
    const box = element.getBoundingClientRect();
    if (box.width && (box.right > innerWidth + 0.5 || box.left < -0.5) &&
        getComputedStyle(element.closest("thead") || element).position !== "absolute")
      problems.push(`${element.tagName} ${element.className} ${element.textContent.slice(0, 40)}`);
    if (element.scrollWidth > element.clientWidth + 1 && element.clientWidth > 1 &&
        getComputedStyle(element).display !== "inline" && !element.closest("thead, select"))
      problems.push(`inner ${element.tagName} ${element.textContent.slice(0, 40)}`);
  }
  const walker = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  while (walker.nextNode()) {
    const node = walker.currentNode;
    for (const match of node.data.matchAll(/\\p{L}+/gu)) {
      if (match[0].length > 24) continue;
      range.setStart(node, match.index);
      range.setEnd(node, match.index + match[0].length);
      const lines = new Set([...range.getClientRects()].map((box) => Math.round(box.top)));
      if (lines.size > 1) problems.push(`broken ${match[0]}`);
    }
  }
  return problems;
}"""


@pytest.mark.parametrize(
    ("width", "scheme"), [(420, "light"), (420, "dark"), (720, "light"), (1000, "dark")]
)
def test_html_report_fits_the_window_without_broken_words(
    browser: Browser, compared: Path, width: int, scheme: str
) -> None:
    context = browser.new_context(
        viewport={"width": width, "height": 900},
        color_scheme="dark" if scheme == "dark" else "light",
    )
    page = context.new_page()
    page.goto(compared.as_uri())
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    problems = page.evaluate(MISPLACED)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    violations = Axe().run(page).response["violations"]
    context.close()
    assert problems == []
    assert violations == []


def test_html_report_escapes_text(page: Page, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    write_run_page(path, report(row(HOSTILE, HOSTILE, tag=HOSTILE)), None)
    page.goto(path.as_uri())
    assert page.title() == "Gold set: 0 of 1 passed"
    assert HOSTILE in page.inner_text(".verdicts")


def test_html_report_names_aborted_run() -> None:
    text = render_html_page(make_run_page(report(*ROWS, total=5), None))
    assert "and the run was aborted" in text
