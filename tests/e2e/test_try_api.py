"""The manual's page that lets a reader try the endpoint: a real `mkdocs serve`, a real browser."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from support import server_processes, sites

QUESTION = "How thick is the chain of a mooring?"
HOSTILE = "<img src=x onerror=alert(1)>"
MANUAL = sites.ROOT / "docs"
THEMES: dict[str, dict[str, Any]] = {
    "material": {"font": False, "features": ["navigation.instant"]},
    "mkdocs": {"highlightjs": False},
}


@pytest.fixture(scope="module", params=THEMES)
def address(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    theme = request.param
    form = (MANUAL / "api.md").read_text("utf-8").partition("## Try the API\n")[2]
    script = (MANUAL / "assets" / "try-api.js").read_text("utf-8")
    folder = sites.write_site(
        tmp_path_factory.mktemp(theme),
        {
            **sites.PAGES,
            "api.md": f"# API\n\nThe API is not {HOSTILE.replace('<', '&lt;')}.\n",
            "try.md": f"# Try the API\n{form}",
            "assets/try-api.js": script,
        },
        theme={"name": theme, **THEMES[theme]},
        markdown_extensions=["attr_list", "md_in_html"],
        extra_javascript=["assets/try-api.js"],
        plugins=["search", "answerable"],
        site_url="https://harbour.example/docs/",
    )
    with server_processes.mkdocs(folder) as server:
        yield f"http://127.0.0.1:{server.port}/docs/"


def send(page: Page, question: str) -> None:
    page.get_by_label("Question", exact=True).fill(question)
    page.locator("#try-api").get_by_role("button", name="Send").click()


def test_form_shows_an_answer(page: Page, address: str) -> None:
    page.goto(f"{address}try/")
    expect(page.get_by_label("Address")).to_have_value(f"{address}_answerable/answer")
    send(page, QUESTION)
    expect(page.locator("#try-status").filter(has_text="200 OK after")).to_be_visible()
    expect(page.get_by_label("Headers of the response")).to_contain_text("Vary: Origin")
    expect(page.get_by_label("Body of the response")).to_contain_text('"mode": "partial"')


def test_form_shows_the_events_of_a_stream(page: Page, address: str) -> None:
    page.goto(f"{address}try/")
    page.get_by_label("As a stream of events").check()
    send(page, QUESTION)
    body = page.get_by_label("Body of the response")
    expect(body).to_contain_text('event: stage\n{\n  "stage": "embedding"\n}')
    expect(body).to_contain_text('event: answer\n{\n  "mode": "partial"')
    headers = page.get_by_label("Headers of the response")
    expect(headers).to_contain_text("Content-Type: text/event-stream")


def test_form_shows_a_problem(page: Page, address: str) -> None:
    page.goto(f"{address}try/")
    send(page, "x" * 501)
    expect(page.locator("#try-status").filter(has_text="400 Bad Request")).to_be_visible()
    expect(page.get_by_label("Body of the response")).to_contain_text('"code": "bad-request"')


def test_form_says_that_nothing_answers(page: Page, address: str) -> None:
    page.goto(f"{address}try/")
    page.get_by_label("Address").fill(f"http://127.0.0.1:{server_processes.free_port()}/answer")
    send(page, QUESTION)
    expect(page.locator("#try-status").filter(has_text="No answer")).to_be_visible()
    expect(page.locator("#try-api").get_by_role("button", name="Stop")).to_be_disabled()


def test_markup_in_an_answer_is_text(page: Page, address: str) -> None:
    page.goto(f"{address}try/")
    send(page, "What is the API not?")
    body = page.get_by_label("Body of the response")
    expect(body).to_contain_text(HOSTILE)
    expect(body.locator("*")).to_have_count(0)


def test_form_works_after_instant_navigation(page: Page, address: str) -> None:
    page.goto(address)
    # The navigation's link may be folded away: instant navigation listens to the click alone.
    page.get_by_role("link", name="Try the API").first.dispatch_event("click")
    page.wait_for_url(f"{address}try/")
    send(page, QUESTION)
    expect(page.get_by_label("Body of the response")).to_contain_text('"mode": "partial"')


def test_the_manuals_javascript_reads_a_stream(page: Page, address: str) -> None:
    blocks = re.findall(r"```js\n(.*?)```", (MANUAL / "api.md").read_text("utf-8"), re.S)
    function = next(block for block in blocks if "async function ask" in block)
    page.goto(address)
    call = f"async ([address, question]) => {{ {function} const stages = [];"
    call += "const body = await ask(address, question, (stage) => stages.push(stage));"
    call += "return [stages, body]; }"
    stages, body = page.evaluate(call, [f"{address}_answerable/answer", QUESTION])
    assert stages == ["embedding", "searching", "writing", "checking"]
    assert body["mode"] == "partial"
    stages, body = page.evaluate(call, [f"{address}_answerable/answer", ""])
    assert (stages, body["code"]) == ([], "bad-request")


def test_the_form_is_accessible(page: Page, address: str) -> None:
    page.goto(f"{address}try/")
    send(page, QUESTION)
    expect(page.get_by_label("Body of the response")).to_be_visible()
    results = Axe().run(page, context="#try-api, #try-status, #try-headers, #try-body")
    assert [each["nodes"] for each in results.response["violations"]] == []


def test_the_script_makes_no_markup() -> None:
    script = (Path(MANUAL) / "assets" / "try-api.js").read_text("utf-8")
    for name in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
        assert name not in script
