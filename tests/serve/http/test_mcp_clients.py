"""The official MCP client asks a published function over HTTP, and a bundle over stdio."""

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Literal

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from answerable.indexing.questions import SectionQuestions, list_sections, write_questions
from answerable.serve.stores.bundle import open_bundle
from support.published_functions import build_function, serving

Mode = Literal["auto", "legacy"]
STATELESS, HANDSHAKE = "2026-07-28", "2025-11-25"
QUESTION = "How thick is the chain of a mooring?"
UNSURE = "How many litres of rope does a storm need?"
REFUSED = "Which museum of Vienna sells a mooring?"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The harbour, whose section on chains is known to answer a question."""
    folder = tmp_path_factory.mktemp("site")
    passages = open_bundle(build_function(folder) / "bundle").passages()
    sections = {section.id: section for section in list_sections(passages)}
    section = sections["mooring#chains"]
    line = SectionQuestions(section.id, section.hash, ("How strong must a chain be?",))
    write_questions(folder / "eval" / "questions.jsonl", [line])
    return build_function(folder).parent


@pytest.fixture(scope="module")
def url(site: Path) -> Iterator[str]:
    with serving(site / "function") as running:
        yield f"http://127.0.0.1:{running.port}/mcp"


def stdio(site: Path) -> StdioServerParameters:
    program = Path(sys.executable).with_name("answerable")
    return StdioServerParameters(command=str(program), args=["mcp"], cwd=str(site))


def over_http(url: str, mode: Mode, use: Callable[[Any], Awaitable[None]]) -> None:
    async def run() -> None:
        async with Client(url, mode=mode) as client:
            await use(client)

    run_apart(run)


def over_stdio(site: Path, mode: Mode, use: Callable[[Any], Awaitable[None]]) -> None:
    async def run() -> None:
        async with Client(stdio_client(stdio(site)), mode=mode) as client:
            await use(client)

    run_apart(run)


def run_apart(run: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run in a thread of its own: the tests of browsers keep a loop in theirs."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, run()).result()


async def use_all(client: Any) -> None:
    """List, ask, be refused, search and read, and check what comes back."""
    assert client.server_info.name == "mkdocs-answerable"
    assert "do not fill the gap" in (client.instructions or "")
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert list(tools) == ["ask", "search", "read"]
    assert all(tool.output_schema and tool.annotations.read_only_hint for tool in tools.values())

    # The client checks a result against the output schema of its tool.
    answer = await client.call_tool("ask", {"question": QUESTION, "language": "en"})
    assert not answer.is_error
    assert answer.structured_content["mode"] == "partial"
    assert "twelve millimetres thick" in answer.content[0].text
    cited = answer.structured_content["citations"][0]
    assert cited["absolute_url"] in answer.content[0].text

    unsure = (await client.call_tool("ask", {"question": UNSURE})).content[0].text
    assert unsure.startswith("Closest passages: they may not answer this\n\n")
    await find_after_refusal(client)

    hits = (await client.call_tool("search", {"query": "chain", "limit": 1})).structured_content
    [passage] = hits["passages"]
    assert passage["url"] == cited["absolute_url"]
    for name in (passage["id"], passage["url"]):
        read = (await client.call_tool("read", {"page": name})).structured_content
        assert [section["text"] for section in read["sections"]] == [passage["text"]]

    mistake = await client.call_tool("search", {"query": "chain", "limit": 99})
    assert mistake.is_error
    assert mistake.content[0].text == "The limit is a whole number from 1 to 8."

    [pages] = (await client.list_resources()).resources
    listing = json.loads((await client.read_resource(pages.uri)).contents[0].text)
    assert listing["total"] == len(listing["pages"])
    uris = {page["id"]: page["resource"] for page in listing["pages"]}
    page = (await client.read_resource(uris["mooring"])).contents[0]
    assert passage["text"] in page.text
    prompt, answered = (await client.list_prompts()).prompts
    rendered = await client.get_prompt(prompt.name, {"question": QUESTION})
    assert QUESTION in rendered.messages[0].content.text
    assert (answered.name, answered.title) == (
        "how-strong-must-a-chain-be",
        "How strong must a chain be?",
    )
    rendered = await client.get_prompt(answered.name)
    assert answered.title in rendered.messages[0].content.text


async def find_after_refusal(client: Any) -> None:
    """Be refused, follow what the refusal says, and find by search and read what it would not."""
    refusal = await client.call_tool("ask", {"query": REFUSED})
    assert not refusal.is_error
    assert refusal.structured_content["mode"] == "not-found"
    text = refusal.content[0].text
    assert text.startswith("This site does not answer this question.\n\n")
    assert "Try `search`" in text
    assert 1 <= len(refusal.structured_content["places"]) <= 3
    hits = await client.call_tool("search", {"question": "buoy"})
    place = hits.structured_content["passages"][0]["url"]
    page = await client.call_tool("read", {"page": place, "max_words": 50})
    assert "A mooring needs a buoy of forty litres." in page.content[0].text


@pytest.mark.parametrize(("mode", "version"), [("auto", STATELESS), ("legacy", HANDSHAKE)])
def test_the_client_uses_a_function_over_http(url: str, mode: Mode, version: str) -> None:
    async def use(client: Any) -> None:
        assert client.protocol_version == version
        await use_all(client)

    over_http(url, mode, use)


@pytest.mark.parametrize(("mode", "version"), [("auto", STATELESS), ("legacy", HANDSHAKE)])
def test_the_client_uses_a_bundle_over_stdio(site: Path, mode: Mode, version: str) -> None:
    async def use(client: Any) -> None:
        assert client.protocol_version == version
        await use_all(client)

    over_stdio(site, mode, use)
