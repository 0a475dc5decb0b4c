"""MCP messages over HTTP: errors by the specification, the protections, and nothing private."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator, ValidationError

from answerable.cli.mcp import make_agent_site
from answerable.function.logs import Logs
from answerable.function.mcp.markdown import format_answer
from answerable.function.mcp.protocol import reply_to_message
from answerable.function.openapi import make_document
from answerable.serve.engine import Engine
from answerable.serve.providers import open_function
from support import sites
from support.app_requests import Request, Response, app_of, send
from support.openapi_check import check_response
from support.service_requests import DIGEST, TOKEN, USUAL

VERSION = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": VERSION,
    "io.modelcontextprotocol/clientCapabilities": {},
}
DOCUMENT = make_document("1", metrics=True, bearer=True)
QUESTIONS = ("Where is the winch?", "What was the gearbox taken from?", "How thick is the chain?")
UNANSWERED = "Which museum of Vienna sells a mooring?"


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    folder = sites.write_site(tmp_path_factory.mktemp("site"), notes=sites.NOTES)
    sites.build_here(folder)
    return open_function(folder / "function")


def post(engine: Engine, body: object, headers: Mapping[str, str] = {}, **policy: Any) -> Response:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    request = Request("POST", "mcp", headers={"content-type": "application/json", **headers},
                      body=data)  # fmt: skip
    response = send(app_of(engine, replace(USUAL, **policy)), request)
    check_response(DOCUMENT, "POST", "mcp", response)
    return response


def legacy(method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}


def stateless(method: str, **params: Any) -> tuple[dict[str, Any], dict[str, str]]:
    headers = {"mcp-protocol-version": VERSION, "mcp-method": method}
    if name := params.get("name"):
        headers["mcp-name"] = name
    return legacy(method, **params, _meta=META), headers


def test_a_message_that_is_no_request_is_an_error_by_json_rpc(engine: Engine) -> None:
    for body, code in (
        (b"{", -32700),
        (b"\xff", -32700),
        (b"[" * 3000, -32700),
        (b'{"jsonrpc": "2.0", "id": ' + b"9" * 4000 + b"}", -32600),
        ([legacy("ping")], -32600),
        (7, -32600),
        ({"jsonrpc": "1.0", "id": 1, "method": "ping"}, -32600),
        ({"jsonrpc": "2.0", "id": 1}, -32600),
        ({"jsonrpc": "2.0", "id": None, "method": "ping"}, -32600),
        ({"jsonrpc": "2.0", "id": 1.5, "method": "ping"}, -32600),
        ({"jsonrpc": "2.0", "id": True, "method": "ping"}, -32600),
    ):
        response = post(engine, body)
        assert (response.status, response.json["error"]["code"]) == (400, code), body


def test_an_older_client_reads_errors_with_status_200(engine: Engine) -> None:
    for body, code in (
        (legacy("no/such"), -32601),
        (legacy("server/discover"), -32601),
        (legacy("tools/call", name="no-such"), -32602),
        (legacy("tools/call", name="ask", arguments=[]), -32602),
        (legacy("initialize"), -32602),
        ({**legacy("ping"), "params": []}, -32602),
    ):
        response = post(engine, body)
        assert (response.status, response.json["id"]) == (200, 7), body
        assert response.json["error"]["code"] == code, body


def test_initialize_agrees_on_a_version_that_both_speak(engine: Engine) -> None:
    for requested, agreed in (
        ("2025-11-25", "2025-11-25"), ("2025-06-18", "2025-06-18"), ("2024-11-05", "2025-11-25"),
        ("2031-01-01", "2025-11-25"),
    ):  # fmt: skip
        result = post(engine, legacy("initialize", protocolVersion=requested)).json["result"]
        assert result["protocolVersion"] == agreed
        assert "tools" in result["capabilities"]


def test_a_notification_and_a_response_get_no_body(engine: Engine) -> None:
    for body in (
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "method": "no/such", "params": 5},
        {"jsonrpc": "2.0", "id": 1, "result": {}},
    ):
        response = post(engine, body)
        assert (response.status, response.body) == (202, b"")


def test_a_stateless_request_says_its_version_in_body_and_headers(engine: Engine) -> None:
    body, headers = stateless("tools/call", name="ask", arguments={"question": "chain"})
    result = post(engine, body, headers).json["result"]
    assert result["resultType"] == "complete"
    assert result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "mkdocs-answerable"
    encoded = {**headers, "mcp-name": "=?base64?YXNr?="}
    assert post(engine, body, encoded).json["result"]["isError"] is False
    for header in headers:
        changed = {**headers, header: "other"}
        missing = {name: value for name, value in headers.items() if name != header}
        for wrong in (changed, missing):
            response = post(engine, body, wrong)
            assert (response.status, response.json["error"]["code"]) == (400, -32020), wrong
    for bad in ("=?base64?%%?=", "=?base64?/w==?="):
        assert post(engine, body, {**headers, "mcp-name": bad}).json["error"]["code"] == -32020


def test_an_unknown_version_and_a_missing_field_are_named(engine: Engine) -> None:
    body, headers = stateless("tools/list")
    later = {**META, "io.modelcontextprotocol/protocolVersion": "2031-01-01"}
    response = post(engine, {**body, "params": {"_meta": later}},
                    {**headers, "mcp-protocol-version": "2031-01-01"})  # fmt: skip
    assert response.status == 400
    assert response.json["error"]["data"] == {"supported": [VERSION], "requested": "2031-01-01"}
    for key in META:
        meta = {name: value for name, value in META.items() if name != key}
        response = post(engine, {**body, "params": {"_meta": meta}}, headers)
        assert (response.status, response.json["error"]["code"]) == (400, -32602)
        assert key in response.json["error"]["message"]
    response = post(engine, *stateless("ping"))
    assert (response.status, response.json["error"]["code"]) == (404, -32601)
    response = post(engine, legacy("tools/list"), {"mcp-protocol-version": "2024-11-05"})
    assert (response.status, response.json["error"]["code"]) == (400, -32022)


def call_tool(engine: Engine, name: str, **arguments: object) -> dict[str, Any]:
    call = legacy("tools/call", name=name, arguments=arguments)
    result: dict[str, Any] = post(engine, call).json["result"]
    return result


def ask_text(engine: Engine, question: str) -> str:
    text: str = call_tool(engine, "ask", question=question)["content"][0]["text"]
    return text


def test_mistakes_in_arguments_are_results_that_an_agent_can_mend(engine: Engine) -> None:
    for name, arguments, sentence in (
        ("ask", {}, "The tool ask needs question."),
        (
            "ask",
            {"question": "chain", "x": 1},
            "The tool ask takes question and language, and no x",
        ),
        ("ask", {"question": 5}, "The question has to be a text."),
        ("search", {"query": 5}, "The query has to be a text."),
        ("ask", {"question": "x" * 501}, "A question has at most 500 characters."),
        ("search", {"query": "chain", "limit": True}, "The limit is a whole number from 1 to 8."),
        ("read", {"page": "none"}, "There is no such page"),
        ("read", {"page": "mooring#none"}, "There is no such page"),
        ("read", {"page": None}, "The page has to be a text."),
        ("read", {"page": "http://[x"}, "There is no such page"),
    ):
        result = call_tool(engine, name, **arguments)
        assert result["isError"] is True
        assert result["content"][0]["text"].startswith(sentence), arguments
        assert "structuredContent" not in result


ARGUMENTS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
    | st.sampled_from([10**30, "2.0", "ask", "read", "mooring", "\ud800", "http://[", VERSION]),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(
        st.sampled_from(["name", "arguments", "_meta", "question", "page", *META])
        | st.text(max_size=5),
        inner,
        max_size=4,
    ),
    max_leaves=12,
)  # fmt: skip
METHODS = st.sampled_from(["initialize", "ping", "server/discover", "tools/list", "tools/call"])
MESSAGES = ARGUMENTS | st.fixed_dictionaries(
    {"jsonrpc": st.just("2.0"), "method": METHODS | ARGUMENTS},
    optional={"id": st.integers() | st.text(max_size=9) | ARGUMENTS, "params": ARGUMENTS},
)


def headers_of(message: object) -> dict[str, str]:
    """The headers that repeat a message, as a client of 2026-07-28 sends them."""
    fields = message if isinstance(message, dict) else {}
    params = fields.get("params")
    name = params.get("name") if isinstance(params, dict) else None
    texts = {"mcp-protocol-version": VERSION, "mcp-method": fields.get("method"), "mcp-name": name}
    return {key: value for key, value in texts.items() if isinstance(value, str)}


def with_meta(message: object) -> object:
    if not isinstance(message, dict) or not isinstance(message.get("params"), dict):
        return message
    return {**message, "params": {**message["params"], "_meta": META}}


@pytest.mark.deep
@settings(max_examples=500, deadline=None)
@given(message=MESSAGES, is_stateless=st.booleans())
def test_any_message_gets_a_reply_by_the_specification(
    engine: Engine, message: object, is_stateless: bool
) -> None:
    message = with_meta(message) if is_stateless else message
    data = json.dumps(message).encode("utf-8", "surrogatepass")
    response = post(engine, data, headers_of(message) if is_stateless else {})
    assert response.status in (200, 202, 400, 404)
    if response.status == 202:
        assert response.body == b""
        return
    assert response.json["jsonrpc"] == "2.0"
    assert ("result" in response.json) != ("error" in response.json)
    assert "Something went wrong" not in response.body.decode()
    is_call = isinstance(message, dict) and type(message.get("id")) in (int, str)
    if is_call and response.status == 200:
        assert response.json["id"] == json.loads(data)["id"]


def test_an_agent_gets_the_label_of_a_note_and_no_word_of_its_text(engine: Engine) -> None:
    replies = [post(engine, legacy("tools/list")).body.decode()]
    for question in QUESTIONS:
        replies.append(json.dumps(call_tool(engine, "ask", question=question)))
        replies.append(json.dumps(call_tool(engine, "search", query=question)))
    for page in ("winch", "winch.md", "note:winch", "../notebook/winch.md"):
        replies.append(json.dumps(call_tool(engine, "read", page=page)))
    assert any("Plans for the winch" in reply for reply in replies)
    assert not any(word in reply for reply in replies for word in ("scrapped", "tractor"))


def agent_request(name: str, **arguments: object) -> Request:
    body = json.dumps(legacy("tools/call", name=name, arguments=arguments)).encode()
    return Request("POST", "mcp", headers={"content-type": "application/json"}, body=body)


def test_guards_hold_for_agents(engine: Engine) -> None:
    body = legacy("tools/list")
    token = {"authorization": f"Bearer {TOKEN}"}
    assert post(engine, body, {"origin": "https://evil.example"}).status == 403
    assert post(engine, body, bearer=(DIGEST,)).status == 401
    assert post(engine, body, token, bearer=(DIGEST,)).status == 200
    assert post(engine, body, paused=True).status == 503
    assert post(engine, b"{}" + b" " * 20_000).status == 413


def test_an_agent_over_its_rate_is_told_so_and_the_log_names_it(engine: Engine) -> None:
    lines: list[bytes] = []
    app = app_of(engine, replace(USUAL, rate="1/hour"), Logs(lines.append))
    # What is looked up counts apart from questions.
    for sent, sentence in (
        (agent_request("ask", question="chain"), "Too many questions: wait a moment. Wait "),
        (agent_request("search", query="chain"), "Too many searches"),
        (agent_request("read", page="mooring"), "Too many searches"),
    ):
        send(app, sent)
        refused = send(app, sent).json["result"]
        assert refused["isError"] is True
        assert refused["content"][0]["text"].startswith(sentence)
    reasons = [json.loads(line)["reason"] for line in lines]
    assert reasons[:2] == [None, "rate-limited"]


def test_the_text_of_an_answer_begins_with_its_grade_and_ends_with_places(engine: Engine) -> None:
    text = ask_text(engine, "How thick is the chain of a mooring?")
    claim = "The chain of a mooring is twelve millimetres thick [1]."
    assert text.startswith(f"From this site\n\n{claim}")
    claims, _, places = text.partition("\n\nMore on this site (search results, not sources):\n")
    assert "[1] Mooring › Chains - " in claims
    assert "Chains" not in places


def test_a_refusal_names_the_nearest_places_and_unknown_words(engine: Engine) -> None:
    text = ask_text(engine, UNANSWERED)
    assert text.startswith("This site does not answer this question")
    assert "This site does not mention “Vienna”." in text
    places = text.partition("Nearest places, which may not answer it:\n")[2]
    assert places.startswith("- Mooring - https://harbour.example/mooring/")
    assert "Try `search`" in places
    rows = call_tool(engine, "ask", question=UNANSWERED)["structuredContent"]["places"]
    assert 1 <= len(rows) == places.partition("\n\n")[0].count("\n- ") + 1 <= 3
    assert rows[0]["url"].startswith("https://harbour.example/mooring/")
    empty = ask_text(engine, "Who sang at the opera in Vienna?")
    assert "Nearest places" not in empty
    assert "Try `search`" in empty


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
        # Claims have been dropped: the pages may have all, and the answer has not.
        (
            {"confidence": "medium", "written": True, "complete": True},
            "Answer in part\n\nTie it [1].",
        ),
        (
            {"fallback": True},
            "Nearest sections: none says it in your words\n\nAnswered without the model.\n\nTie it",
        ),
        (
            {**REFUSED, "fallback": True},
            "This site does not answer this question.\n\nAnswered without the model.\n\nTry",
        ),
        ({"confidence": "high"}, "From this site\n\nTie it [1]."),
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


def test_a_question_and_a_query_are_taken_for_one_another(engine: Engine) -> None:
    text = "How thick is the chain of a mooring?"
    for name in ("ask", "search"):
        results = [call_tool(engine, name, **{key: text}) for key in ("question", "query")]
        for result in results:
            result["structuredContent"].pop("request_id", None)
        assert results[0] == results[1]
        assert "twelve millimetres" in results[0]["content"][0]["text"]


def test_the_output_of_ask_is_described_in_2_kilobytes(engine: Engine) -> None:
    tool = post(engine, legacy("tools/list")).json["result"]["tools"][0]
    assert len(json.dumps(tool["outputSchema"])) <= 2000
    validator = Draft202012Validator(tool["outputSchema"])
    for question in (*QUESTIONS, "Who sang at the opera in Vienna?"):
        body = call_tool(engine, "ask", question=question)["structuredContent"]
        validator.validate(body)
        for field in ("claims", "citations", "confidence"):
            with pytest.raises(ValidationError):
                validator.validate({**body, field: 7})


def test_the_instructions_name_the_product_its_version_and_when_to_ask(engine: Engine) -> None:
    call = legacy("initialize", protocolVersion="2025-11-25")
    text = post(engine, call).json["result"]["instructions"]
    built_on = engine.store.manifest.built_at[:10]
    assert f"of Harbour (https://harbour.example/, built on {built_on})" in text
    assert "also where you think that you know" in text
    # Without HTTP nothing has to be repeated in headers.
    site = replace(make_agent_site(engine), base="https://docs.example/en/v2.10/")
    reply = reply_to_message(json.dumps(call).encode(), None, site)
    assert "Harbour (version v2.10, https://docs.example/en/v2.10/" in str(reply.body)


def test_unknown_words_do_not_empty_a_search_and_are_told(engine: Engine) -> None:
    result = call_tool(engine, "search", query="rope Kubernetes webhook zeppelin")
    text, data = result["content"][0]["text"], result["structuredContent"]
    assert [row["id"] for row in data["passages"]] == ["storms#storms"]
    assert [note["word"] for note in data["notes"]] == ["Kubernetes", "webhook", "zeppelin"]
    assert text.startswith("This site does not mention “Kubernetes”. This site does not mention")
    nothing = call_tool(engine, "search", query="Kubernetes webhook zeppelin")
    assert nothing["structuredContent"]["passages"] == []
    assert nothing["content"][0]["text"].endswith(
        "Nothing on this site is near enough to this query."
    )
