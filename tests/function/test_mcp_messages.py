"""MCP messages over HTTP: errors by the specification, the protections, and nothing private."""

import json
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from answerable.engine.engine import Engine
from answerable.engine.providers import open_function
from answerable.function.app import make_document
from answerable.function.mcp.protocol import VERSION, reply_to_message
from answerable.function.mcp.tools import format_answer
from support import sites
from support.app_requests import Request, Response, app_of, send
from support.openapi_check import check_response
from support.service_requests import DIGEST, TOKEN, usual

DOCUMENT = make_document("1", metrics=True, bearer=True)
CHAIN = "How thick is the chain of a mooring?"
UNANSWERED = "Which museum of Vienna sells a mooring?"


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    folder = sites.write_site(tmp_path_factory.mktemp("site"), notes=sites.NOTES)
    sites.build_here(folder)
    return open_function(folder / "function")


def message_request(body: object, headers: Mapping[str, str] = {}) -> Request:
    data = body if isinstance(body, bytes) else json.dumps(body).encode("utf-8", "surrogatepass")
    headers = {"content-type": "application/json", **headers}
    return Request("POST", "mcp", headers=headers, body=data)


def post(engine: Engine, body: object, headers: Mapping[str, str] = {}, **policy: Any) -> Response:
    response = send(app_of(engine, usual(**policy)), message_request(body, headers))
    check_response(DOCUMENT, "POST", "mcp", response)
    return response


def call(method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}


def use(engine: Engine, tool: str, **arguments: object) -> tuple[str, bool]:
    """The text of a tool's result, and if that is an error."""
    result = post(engine, call("tools/call", name=tool, arguments=arguments)).json["result"]
    return result["content"][0]["text"], result["isError"]


def ask(engine: Engine, question: str) -> str:
    text, is_error = use(engine, "ask", question=question)
    assert not is_error
    return text


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"{", -32700),
        (b"\xff", -32700),
        (b'{"params": ' + b"[" * 3000, -32700),
        ([call("ping")], -32600),
        (7, -32600),
        ({"jsonrpc": "1.0", "id": 1, "method": "ping"}, -32600),
        ({"jsonrpc": "2.0", "id": 1}, -32600),
        *(({"jsonrpc": "2.0", "id": id_, "method": "ping"}, -32600) for id_ in (None, 1.5, True)),
    ],
)
def test_a_message_that_is_no_request_is_an_error(engine: Engine, body: object, code: int) -> None:
    response = post(engine, body)
    assert (response.status, response.json["error"]["code"]) == (400, code)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (call("no/such"), -32601),
        (call("prompts/list"), -32601),
        (call("tools/call", name="no-such"), -32602),
        (call("tools/call", name="ask", arguments=[]), -32602),
        ({**call("ping"), "params": []}, -32602),
    ],
)
def test_an_error_of_a_request_has_its_id_and_status_200(
    engine: Engine, body: object, code: int
) -> None:
    response = post(engine, body)
    assert (response.status, response.json["id"]) == (200, 7)
    assert response.json["error"]["code"] == code


def test_a_notification_gets_no_body(engine: Engine) -> None:
    for method in ("notifications/initialized", "no/such"):
        response = post(engine, {"jsonrpc": "2.0", "method": method, "params": 5})
        assert (response.status, response.body) == (202, b"")


def test_an_older_client_gets_the_revision_that_it_asks_for(engine: Engine) -> None:
    for version in ("2025-11-25", "2024-11-05"):
        result = post(engine, call("initialize", protocolVersion=version)).json["result"]
        assert result["protocolVersion"] == version
        assert result["serverInfo"]["name"] == "mkdocs-answerable"
    assert post(engine, call("server/discover")).json["result"]["supportedVersions"] == [VERSION]
    assert post(engine, call("ping")).json["result"] == {}


def test_the_instructions_name_the_product_its_version_and_when_to_ask(engine: Engine) -> None:
    text = post(engine, call("server/discover")).json["result"]["instructions"]
    built_on = engine.store.manifest.built_at[:10]
    assert f"of Harbour (https://harbour.example/, built on {built_on})" in text
    assert "also where you think that you know" in text
    elsewhere: Any = SimpleNamespace(engine=engine, base="https://docs.example/en/v2.10/")
    _, body = reply_to_message(json.dumps(call("server/discover")).encode(), elsewhere)
    assert "Harbour (version v2.10, https://docs.example/en/v2.10/" in str(body)


@pytest.mark.parametrize(
    ("tool", "arguments", "sentence"),
    [
        ("ask", {}, "The tool ask needs a text `question`."),
        ("ask", {"question": 5}, "The tool ask needs a text `question`."),
        ("ask", {"question": "x" * 501}, "A question has at most 500 characters."),
        ("ask", {"question": "x", "language": 5}, 'The "language" is not a language tag'),
        ("search", {"question": "chain"}, "The tool search needs a text `query`."),
        ("search", {"query": " "}, "The question is empty."),
        ("read", {"page": "none"}, "There is no such page"),
        ("read", {"page": "mooring#none"}, "There is no such page"),
        ("read", {"page": "http://[x"}, "There is no such page"),
    ],
)
def test_a_mistake_in_an_argument_is_a_result_that_an_agent_can_mend(
    engine: Engine, tool: str, arguments: dict[str, Any], sentence: str
) -> None:
    text, is_error = use(engine, tool, **arguments)
    assert is_error
    assert text.startswith(sentence)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
    | st.sampled_from([10**30, "2.0", "ask", "read", "mooring", "\ud800", "http://[", VERSION]),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(
        st.sampled_from(["name", "arguments", "_meta", "question", "page"])
        | st.text(max_size=5),
        inner,
        max_size=4,
    ),
    max_leaves=12,
)  # fmt: skip
METHODS = st.sampled_from(["initialize", "ping", "server/discover", "tools/list", "tools/call"])
CALLS = st.fixed_dictionaries(
    {"name": st.sampled_from(["ask", "search", "read"])},
    optional={"arguments": st.dictionaries(st.sampled_from(["question", "query", "page"]), VALUES)},
)
MESSAGES = VALUES | st.fixed_dictionaries(
    {"jsonrpc": st.just("2.0"), "method": METHODS | VALUES},
    optional={"id": VALUES, "params": VALUES | CALLS},
)


@pytest.mark.deep
@settings(max_examples=1000, deadline=None)
@given(message=MESSAGES)
def test_any_message_gets_a_reply_by_the_specification(engine: Engine, message: object) -> None:
    response = post(engine, message)
    assert response.status in (200, 202, 400)
    if response.status == 202:
        assert response.body == b""
        return
    assert response.json["jsonrpc"] == "2.0"
    assert ("result" in response.json) != ("error" in response.json)
    assert "Something went wrong" not in response.body.decode()
    if response.status == 200:
        assert isinstance(message, dict)
        assert response.json["id"] == message["id"]


def test_an_agent_gets_the_label_of_a_note_and_no_word_of_its_text(engine: Engine) -> None:
    questions = ("Where is the winch?", "What was the gearbox taken from?", CHAIN)
    replies = [use(engine, "ask", question=question)[0] for question in questions]
    replies += [use(engine, "search", query=question)[0] for question in questions]
    for page in ("winch", "winch.md", "note:winch", "../notebook/winch.md"):
        replies.append(use(engine, "read", page=page)[0])
    assert any("Plans for the winch" in reply for reply in replies)
    assert not any(word in reply for reply in replies for word in ("scrapped", "tractor"))


def test_guards_hold_for_agents(engine: Engine) -> None:
    body = call("tools/list")
    token = {"authorization": f"Bearer {TOKEN}"}
    assert post(engine, body, {"origin": "https://evil.example"}).status == 403
    assert post(engine, body, bearer=(DIGEST,)).status == 401
    assert post(engine, body, token, bearer=(DIGEST,)).status == 200
    assert post(engine, body, paused=True).status == 503
    assert post(engine, b"{}" + b" " * 20_000).status == 413


def test_an_agent_over_its_rate_is_told_so_and_the_log_names_it(engine: Engine) -> None:
    lines: list[bytes] = []
    app = app_of(engine, usual(rate="1/day"), write_line=lines.append)
    # What is looked up counts apart from questions.
    for name, arguments, count in (
        ("ask", {"question": "chain"}, 1), ("search", {"query": "chain"}, 1),
        ("read", {"page": "mooring"}, 0),
    ):  # fmt: skip
        request = message_request(call("tools/call", name=name, arguments=arguments))
        for _ in range(count):
            assert not send(app, request).json["result"]["isError"]
        refused = send(app, request).json["result"]
        assert refused["isError"]
        text = refused["content"][0]["text"]
        assert text.startswith("Too many requests: wait a moment. Wait ")
    reasons = [json.loads(line)["reason"] for line in lines]
    assert reasons == [None, "rate-limited", None, "rate-limited", "rate-limited"]


def test_an_answer_begins_with_its_grade_and_ends_with_places(engine: Engine) -> None:
    text = ask(engine, CHAIN)
    claim = "The chain of a mooring is twelve millimetres thick [1]."
    assert text.startswith(f"From this site\n\n{claim}")
    claims, _, places = text.partition("\n\nMore on this site (search results, not sources):\n")
    assert "[1] Mooring › Chains - https://harbour.example/mooring/#chains" in claims
    assert "Chains" not in places


def test_a_refusal_names_the_nearest_places_and_unknown_words(engine: Engine) -> None:
    text = ask(engine, UNANSWERED)
    assert text.startswith("This site does not answer this question")
    assert "This site does not mention “Vienna”." in text
    places = text.partition("Nearest places, which may not answer it:\n")[2]
    assert places.startswith("- Mooring - https://harbour.example/mooring/")
    assert "Try `search`" in places
    assert 1 <= places.partition("\n\n")[0].count("\n- ") + 1 <= 5
    empty = ask(engine, "Who sang at the opera in Vienna?")
    assert "Nearest places" not in empty
    assert "Try `search`" in empty


def test_unknown_words_do_not_empty_a_search_and_are_told(engine: Engine) -> None:
    text, _ = use(engine, "search", query="rope Kubernetes webhook zeppelin")
    assert text.count("(section ") == 1
    assert "(section storms#storms)" in text
    assert text.startswith("This site does not mention “Kubernetes”. This site does not mention")
    nothing, _ = use(engine, "search", query="Kubernetes webhook zeppelin")
    assert nothing.endswith("Nothing on this site is near enough to this query.")


KEYLESS: dict[str, Any] = {
    "mode": "partial", "confidence": "low", "written": False, "complete": False, "fallback": False,
    "claims": [{"markdown": "Tie it.", "citations": [1]}], "routes": [], "notes": [],
    "citations": [{"n": 1, "title": "X", "url": "/x/"}],
}  # fmt: skip
REFUSED = {**KEYLESS, "mode": "not-found", "claims": [], "citations": []}


@pytest.mark.parametrize(
    ("body", "begin"),
    [
        ({"confidence": "high", "written": True, "complete": True}, "Answer\n\nTie it [1]."),
        (
            {"confidence": "medium", "written": True},
            "Answer in part\n\nThe pages found answer this in part.\n\nTie it [1].",
        ),
        (
            {"fallback": True},
            "Nearest sections: none says it in your words\n\nAnswered without the model.\n\nTie it",
        ),
        (
            {**REFUSED, "fallback": True},
            "This site does not answer this question.\n\nAnswered without the model.\n\nTry",
        ),
    ],
)
def test_markdown_begins_with_grade_and_what_to_know_of_it(
    body: dict[str, Any], begin: str
) -> None:
    assert format_answer({**KEYLESS, **body}).startswith(begin)


def test_code_lists_and_tables_reach_an_agent_as_markdown() -> None:
    claim = "```sh\npip install x\n```\n\n1. Use `x`\n    - or y"
    claims = [{"markdown": claim, "citations": [1]}]
    body = {**KEYLESS, "notes": [{"kind": "corrected", "to": "x"}], "claims": claims}
    assert format_answer(body) == (
        "Nearest sections: none says it in your words\n\nShowing results for “x”.\n\n"
        f"{claim}\n\n[1]\n\nSources:\n[1] X - /x/"
    )
