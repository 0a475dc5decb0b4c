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
    """Use every tool, and make a mistake."""
    assert client.server_info.name == "mkdocs-answerable"
    assert "do not fill the gap" in (client.instructions or "")
    tools = (await client.list_tools()).tools
    assert [tool.name for tool in tools] == ["ask", "search", "read"]
    assert all(tool.annotations.read_only_hint for tool in tools)

    async def call(name: str, **arguments: str) -> str:
        result = await client.call_tool(name, arguments)
        assert not result.is_error
        return str(result.content[0].text)

    answer = await call("ask", question=QUESTION, language="en")
    assert "twelve millimetres thick" in answer
    assert "This site does not answer this question" in await call("ask", question=REFUSED)
    hits = await call("search", query="chain")
    address = hits.split("\n")[1]
    assert address in answer
    assert "twelve millimetres thick" in await call("read", page=address)
    mistake = await client.call_tool("search", {"question": "chain"})
    assert mistake.is_error
    assert mistake.content[0].text == "The tool search needs a text `query`."


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
