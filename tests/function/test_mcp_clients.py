"""The official MCP client asks a published function over HTTP, and a bundle over stdio."""

import asyncio
import sys
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Literal

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from support.published_functions import build_function, serving

Mode = Literal["auto", "legacy"]
QUESTION = "How thick is the chain of a mooring?"
REFUSED = "Which museum of Vienna sells a mooring?"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_function(tmp_path_factory.mktemp("site")).parent


@pytest.fixture(scope="module")
def url(site: Path) -> Iterator[str]:
    with serving(site / "function") as running:
        yield f"http://127.0.0.1:{running.port}/mcp"


def use(server: Any, mode: Mode, work: Callable[[Any], Awaitable[None]]) -> None:
    """Connect in a thread: in this one the tests of browsers may have left a loop that runs."""

    async def run() -> None:
        async with Client(server, mode=mode) as client:
            await work(client)

    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, run()).result()


async def ask_search_and_read(client: Any) -> None:
    """Use every tool; the client checks each result against the schema of its tool."""
    assert client.server_info.name == "mkdocs-answerable"
    assert "do not fill the gap" in (client.instructions or "")
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert list(tools) == ["ask", "search", "read"]
    assert all(tool.output_schema and tool.annotations.read_only_hint for tool in tools.values())

    answer = await client.call_tool("ask", {"question": QUESTION, "language": "en"})
    assert "twelve millimetres thick" in answer.content[0].text
    citation = answer.structured_content["citations"][0]
    assert citation["absolute_url"] in answer.content[0].text
    refusal = await client.call_tool("ask", {"question": REFUSED})
    assert not refusal.is_error
    assert refusal.structured_content["mode"] == "not-found"

    hits = await client.call_tool("search", {"query": "chain", "limit": 1})
    [passage] = hits.structured_content["passages"]
    assert passage["url"] == citation["absolute_url"]
    page = await client.call_tool("read", {"page": passage["url"], "max_words": 50})
    assert passage["markdown"] in page.content[0].text

    mistake = await client.call_tool("search", {"query": "chain", "limit": 99})
    assert mistake.is_error
    assert mistake.content[0].text == "The limit is a whole number from 1 to 8."


@pytest.mark.parametrize(("mode", "version"), [("auto", "2026-07-28"), ("legacy", "2025-11-25")])
def test_the_client_uses_a_function_over_http(url: str, mode: Mode, version: str) -> None:
    async def work(client: Any) -> None:
        assert client.protocol_version == version
        await ask_search_and_read(client)

    use(url, mode, work)


def test_the_client_uses_a_bundle_over_stdio(site: Path) -> None:
    program = Path(sys.executable).with_name("answerable")
    server = StdioServerParameters(command=str(program), args=["mcp"], cwd=str(site))
    use(stdio_client(server), "auto", ask_search_and_read)
