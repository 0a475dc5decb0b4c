"""The page's tool for agents in the browser, by Chromium's own WebMCP, which a flag switches on."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from answerable.serve.answers.wire import IN_PART, serialize_answer
from answerable.serve.http.mcp.markdown import format_answer
from answerable.serve.http.mcp.tools import TOOLS
from answerable.serve.providers import make_engine
from support import sites, static_server
from support.browser import CHROMIUM_ARGS, PATIENCE, executable
from support.deadlines import until
from support.widget_site import (
    HANG,
    NOT_FOUND,
    PARTIAL,
    RECORD,
    Json,
    Site,
    ask,
    asking,
    problem,
    visit,
)

WITH_TOOL = "<answerable-ask webmcp></answerable-ask>"
ABSOLUTE = PARTIAL | {
    "answer": "Upload the function folder [1].",
    "citations": [RECORD | {"absolute_url": "https://docs.example/guide/deploy/#aws"}],
}
LIST = "async () => (await document.modelContext.getTools()).map(({ name }) => name)"
DESCRIBE = """async () => {
  const [{ name, title, description, inputSchema, annotations }] =
    await document.modelContext.getTools();
  return { name, title, description, inputSchema, readOnly: annotations.readOnlyHint };
}"""
ADD = """() => {
  const box = document.createElement("answerable-ask");
  box.toggleAttribute("webmcp", true);
  document.body.append(box);
  return box;
}"""
CALL = """async (input) => {
  const [tool] = await document.modelContext.getTools();
  return document.modelContext.executeTool(tool, input);
}"""


@pytest.fixture(scope="module")
def agent_browser(browser: Browser) -> Iterator[Browser]:
    """A Chromium whose pages have WebMCP; tests of it are skipped where it knows no such flag."""
    args = [*CHROMIUM_ARGS, "--enable-blink-features=WebMCP"]
    chromium = browser.browser_type.launch(executable_path=executable(), args=args)
    yield chromium
    chromium.close()


@pytest.fixture
def agent_page(agent_browser: Browser, site: Site) -> Iterator[Page]:
    """A page of the site that offers the tool."""
    site.ask_box = WITH_TOOL
    page = agent_browser.new_page()
    page.set_default_timeout(PATIENCE)
    page.goto(site.origin)
    if page.evaluate("typeof document.modelContext") == "undefined":
        pytest.skip("this Chromium has no WebMCP, not even behind a flag")
    until(lambda: page.evaluate(LIST) == ["ask"])
    yield page
    page.close()


def call(page: Page, question: object) -> Json:
    result: Json = json.loads(page.evaluate(CALL, {"question": question}))
    return result


def list_claims_and_sources(body: Json) -> str:
    """The text of the tool: what the MCP server says, without its grade, remarks and Markdown.

    A page offers no search, so a refusal there names none.
    """
    text = format_answer({**body, "notes": []})
    if sources := text.partition("\n\nSources:\n")[2]:
        caveat = text.split("\n\n")[1]
        known = (IN_PART, "Answered without the model.")
        before = f"{caveat}\n\n" if caveat in known else ""
        return f"{before}{body['answer']}\n\nSources:\n{sources}"
    refusal, advice = text.partition("\n\n")[0], text.partition("tell your user so,")[2]
    return f"{refusal} Tell your user so,{advice}"


def test_the_tool_gives_what_the_mcp_server_gives(agent_page: Page, site: Site) -> None:
    described = agent_page.evaluate(DESCRIBE)
    (twin,) = (tool for tool in TOOLS if tool.name == described["name"])
    assert described == {
        "name": "ask",
        "title": twin.title,
        "description": twin.description.format(site=f"the documentation at {site.origin}/"),
        "inputSchema": {
            "type": "object",
            "properties": {"question": twin.properties["question"]},
            "required": ["question"],
            "additionalProperties": False,
        },
        "readOnly": True,
    }
    bodies = (
        ABSOLUTE,
        NOT_FOUND,
        ABSOLUTE | {"complete": False},
        ABSOLUTE | {"written": False, "complete": False, "fallback": True},
    )
    for body in bodies:
        visit(agent_page, site, body)
        until(lambda: agent_page.evaluate(LIST) == ["ask"])
        assert call(agent_page, "How do I deploy?") == {
            "content": [{"type": "text", "text": list_claims_and_sources(body)}],
            "structuredContent": body,
            "isError": False,
        }
    assert site.questions == [("/_answerable/answer", asking("How do I deploy?"))] * 4
    # It is the page's, and the box that a reader uses is not touched.
    assert agent_page.locator("answerable-ask").get_attribute("state") is None


def test_the_tool_asks_the_engine_of_a_page_that_answers_itself(
    agent_browser: Browser, tmp_path: Path
) -> None:
    widget = {"webmcp": True}
    sites.build_here(
        sites.write_site(tmp_path, theme={"name": "readthedocs"}, options={"widget": widget})
    )
    bundle = sites.opened(tmp_path)
    engine = make_engine(bundle, sites.local())
    page = agent_browser.new_page()
    page.set_default_timeout(PATIENCE)
    with static_server.serving(tmp_path / "site") as origin:
        page.goto(origin)
        until(lambda: page.evaluate(LIST) == ["ask"])
        for question in ("How thick is the chain of a mooring?", "Who wrote Hamlet?"):
            result = call(page, question)
            reply = serialize_answer(engine.answer(question), bundle, "")
            answer = {**result["structuredContent"], "request_id": "", "notes": []}
            assert answer == reply
            assert result["content"][0]["text"] == list_claims_and_sources(reply)
    page.close()


def test_problems_are_results_that_an_agent_can_act_on(agent_page: Page, site: Site) -> None:
    visit(agent_page, site, problem(429, "rate-limited", Retry_After="7"), problem(503, "capped"))
    until(lambda: agent_page.evaluate(LIST) == ["ask"])
    texts = [call(agent_page, "How?")["content"][0]["text"] for _ in range(2)]
    assert texts == [
        "The question could not be answered (rate-limited). Wait 7 seconds.",
        "The question could not be answered (capped).",
    ]
    assert call(agent_page, 3) == {
        "content": [{"type": "text", "text": "The tool ask needs a question."}],
        "isError": True,
    }


def test_the_tool_stays_while_any_box_does(agent_page: Page) -> None:
    agent_page.evaluate(f"() => {{ ({ADD})(); document.querySelector('answerable-ask').remove() }}")
    # Once more: a box that leaves before its module is there offers nothing.
    agent_page.evaluate(f"() => ({ADD})().remove()")
    until(lambda: agent_page.evaluate(LIST) == ["ask"])
    agent_page.evaluate("document.querySelector('answerable-ask').remove()")
    until(lambda: agent_page.evaluate(LIST) == [])
    agent_page.evaluate(f"() => void ({ADD})()")
    until(lambda: agent_page.evaluate(LIST) == ["ask"])


def test_a_call_that_the_agent_gives_up_ends_the_question(agent_page: Page, site: Site) -> None:
    visit(agent_page, site, HANG)
    until(lambda: agent_page.evaluate(LIST) == ["ask"])
    agent_page.evaluate(
        "async () => { const { modelContext } = document; window.giveUp = new AbortController();"
        " const [tool] = await modelContext.getTools();"
        " modelContext.executeTool(tool, { question: 'How?' }, { signal: giveUp.signal })"
        ".catch(() => {}); }"
    )
    until(lambda: len(site.questions) == 1)
    agent_page.evaluate("giveUp.abort()")
    until(site.hung_up.is_set)


def test_without_webmcp_or_without_the_option_there_is_no_tool(
    agent_page: Page, page: Page, site: Site
) -> None:
    page.add_init_script("delete Document.prototype.modelContext")
    box = visit(page, site, PARTIAL)
    ask(box)
    expect(box).to_have_attribute("state", "partial")
    site.ask_box = "<answerable-ask></answerable-ask>"
    requested: list[str] = []
    agent_page.on("request", lambda request: requested.append(request.url))
    box = visit(agent_page, site, PARTIAL)
    ask(box)
    expect(box).to_have_attribute("state", "partial")
    assert agent_page.evaluate(LIST) == []
    assert not [url for url in requested if url.endswith("webmcp.js")]
