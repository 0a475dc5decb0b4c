"""MCP messages over HTTP: errors by the specification, the protections, and nothing private."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator, ValidationError

from answerable.cli.mcp import make_agent_site
from answerable.indexing.notes.note_lint import find_shared_run
from answerable.serve.engine import Engine
from answerable.serve.http.mcp import protocol
from answerable.serve.http.mcp.markdown import format_answer, format_blocks
from answerable.serve.http.mcp.protocol import reply_to_message
from answerable.serve.http.messages import Request, Response, make_document
from answerable.serve.http.service import Service
from answerable.serve.providers import open_function
from support import sites
from support.openapi_check import check_response
from support.service_requests import DIGEST, TOKEN, USUAL

VERSION = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": VERSION,
    "io.modelcontextprotocol/clientCapabilities": {},
}
DOCUMENT = make_document("1", metrics=True, bearer=True)
PRIVATE = "The gearbox of the electric winch was taken from a scrapped tractor in the spring."
QUESTIONS = ("Where is the winch?", "What was the gearbox taken from?", "How thick is the chain?")


@pytest.fixture(scope="module")
def function(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = sites.write_site(tmp_path_factory.mktemp("site"), notes=sites.NOTES)
    done = sites.build(folder)
    assert done.returncode == 0, done.stderr
    return folder / "function"


@pytest.fixture(scope="module")
def engine(function: Path) -> Engine:
    return open_function(function)


def post(engine: Engine, body: object, headers: Mapping[str, str] = {}, **policy: Any) -> Response:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    request = Request("POST", "mcp", headers={"content-type": "application/json", **headers},
                      body=data)  # fmt: skip
    response: Response = Service(lambda: engine, replace(USUAL, **policy)).handle(request)
    check_response(DOCUMENT, "POST", "mcp", response)
    return response


def legacy(method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}


def stateless(method: str, **params: Any) -> tuple[dict[str, Any], dict[str, str]]:
    headers = {"mcp-protocol-version": VERSION, "mcp-method": method}
    if name := params.get("name") or params.get("uri"):
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
        (legacy("tools/list", cursor="x"), -32602),
        (legacy("resources/read", uri="answerable://pages/none"), -32002),
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
        assert set(result["capabilities"]) == {"tools", "resources", "prompts"}


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
        for each in (changed, missing):
            response = post(engine, body, each)
            assert (response.status, response.json["error"]["code"]) == (400, -32020), each
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


def test_only_stateless_lists_say_how_long_they_hold(engine: Engine) -> None:
    body, headers = stateless("tools/list")
    result = post(engine, body, headers).json["result"]
    assert (result["ttlMs"], result["cacheScope"]) == (300_000, "public")
    assert "ttlMs" not in post(engine, legacy("tools/list")).json["result"]
    bearer = {**headers, "authorization": f"Bearer {TOKEN}"}
    result = post(engine, body, bearer, bearer=(DIGEST,)).json["result"]
    assert result["cacheScope"] == "private"


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
        result = post(engine, legacy("tools/call", name=name, arguments=arguments)).json["result"]
        assert result["isError"] is True
        assert result["content"][0]["text"].startswith(sentence), arguments
        assert "structuredContent" not in result


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT"])
def test_only_post_is_taken(engine: Engine, method: str) -> None:
    response = Service(lambda: engine, USUAL).handle(Request(method, "mcp"))
    assert response.status == 405
    assert dict(response.headers)["Allow"] == "POST, OPTIONS"


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
    | st.sampled_from([10**30, -(2**70), "2.0", "ask", "mooring", "answerable://pages", "\ud800",
                       "http://[", "answerable://pages/http:%2F%2F[x", VERSION]),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(
        st.sampled_from(["name", "arguments", "uri", "cursor", "_meta", "question", "page", *META])
        | st.text(max_size=5),
        inner,
        max_size=4,
    ),
    max_leaves=12,
)  # fmt: skip
METHODS = st.sampled_from(
    ["initialize", "ping", "server/discover", "tools/list", "tools/call", "resources/list",
     "resources/read", "resources/templates/list", "prompts/list", "prompts/get", "no/such"]
)  # fmt: skip
MESSAGES = JSON_VALUES | st.fixed_dictionaries(
    {"jsonrpc": st.just("2.0"), "method": METHODS | JSON_VALUES},
    optional={"id": st.integers() | st.text(max_size=9) | JSON_VALUES, "params": JSON_VALUES},
)


def headers_of(message: object) -> dict[str, str]:
    """The headers that repeat a message, as a client of 2026-07-28 sends them."""
    fields = message if isinstance(message, dict) else {}
    params = fields.get("params")
    fields_of_params = params if isinstance(params, dict) else {}
    name = fields_of_params.get("name") or fields_of_params.get("uri")
    texts = {"mcp-protocol-version": VERSION, "mcp-method": fields.get("method"), "mcp-name": name}
    return {key: value for key, value in texts.items() if isinstance(value, str)}


def with_meta(message: object) -> object:
    if not isinstance(message, dict) or not isinstance(message.get("params"), dict):
        return message
    return {**message, "params": {**message["params"], "_meta": META}}


@settings(max_examples=500, deadline=None)
@given(message=MESSAGES, is_stateless=st.booleans())
def test_500_generated_messages_get_replies_by_the_specification(
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


def every_message() -> Iterator[dict[str, Any]]:
    """Every method and tool, with questions that a private note answers."""
    for method in ("tools/list", "resources/list", "resources/templates/list", "prompts/list"):
        yield legacy(method)
    yield legacy("initialize", protocolVersion="2025-11-25")
    yield legacy("server/discover")
    yield legacy("no/such")
    yield legacy("resources/read", uri="answerable://pages")
    for name in (
        "index",
        "mooring",
        "winch",
        "winch.md",
        "note:winch",
        "..%2Fnotebook%2Fwinch.md",
        "http:%2F%2F[x",
    ):
        yield legacy("resources/read", uri=f"answerable://pages/{name}")
        yield legacy("tools/call", name="read", arguments={"page": name})
    for question in QUESTIONS:
        yield legacy("tools/call", name="ask", arguments={"question": question})
        yield legacy("tools/call", name="search", arguments={"query": question})
        yield legacy("prompts/get", name="ask", arguments={"question": question})


def test_no_message_holds_words_of_a_note(engine: Engine) -> None:
    routed = 0
    for message in every_message():
        newer = with_meta(message)
        for reply in (post(engine, message), post(engine, newer, headers_of(newer))):
            body = reply.body.decode()
            assert find_shared_run(body, PRIVATE, 5) is None, message
            # The prompt repeats the question, in which the word stands.
            assert "scrapped" not in body
            routed += "Plans for the winch" in body
    assert routed, "no message has shown the note's label, so nothing was tested"


def test_a_hint_is_its_label_locator_and_url(engine: Engine) -> None:
    call = legacy("tools/call", name="ask", arguments={"question": QUESTIONS[0]})
    data = post(engine, call).json["result"]["structuredContent"]
    hints = [each for each in data["citations"] if each["kind"] == "hint"]
    assert [set(hint) for hint in hints] == [
        {"n", "kind", "id", "url", "absolute_url", "label", "locator"}
    ]


def test_protections_hold_for_agents(engine: Engine) -> None:
    body = legacy("tools/call", name="ask", arguments={"question": "chain"})
    foreign = {"origin": "https://evil.example"}
    assert post(engine, body, foreign).status == 403
    assert post(engine, body, rate="1/hour").json["result"]["isError"] is False
    limited = Service(lambda: engine, replace(USUAL, rate="1/hour"))
    request = Request("POST", "mcp", headers={"content-type": "application/json"},
                      body=json.dumps(body).encode())  # fmt: skip
    assert limited.handle(request).json["result"]["isError"] is False
    second = limited.handle(request).json["result"]
    assert second["isError"] is True
    assert second["content"][0]["text"].startswith("Too many questions: wait a moment. Wait ")
    assert post(engine, b"{}" + b" " * 20_000).status == 413
    read = {**body, "params": {"name": "read", "arguments": {"page": "mooring"}}}
    resource = legacy("resources/read", uri="answerable://pages")
    for message in (read, resource):
        limited = Service(lambda: engine, replace(USUAL, rate="1/hour"))
        assert limited.handle(request).json["result"]["isError"] is False
        looking = replace(request, body=json.dumps(message).encode())
        # What is looked up counts apart from questions.
        assert "Too many" not in limited.handle(looking).body.decode()
        reply = limited.handle(looking)
        assert "Too many searches" in reply.body.decode()
        assert "Retry-After" in dict(reply.headers) or message is read


def test_a_token_is_wanted_where_the_function_wants_one(engine: Engine) -> None:
    body = legacy("tools/list")
    assert post(engine, body, bearer=(DIGEST,)).status == 401
    token = {"authorization": f"Bearer {TOKEN}"}
    assert post(engine, body, token, bearer=(DIGEST,)).status == 200
    assert post(engine, body, paused=True).status == 503


def test_the_log_names_the_problem_that_an_agent_was_told(engine: Engine) -> None:
    lines: list[bytes] = []
    service = Service(lambda: engine, replace(USUAL, rate="1/hour"), log=lines.append)
    call = legacy("tools/call", name="search", arguments={"query": "chain"})
    request = Request("POST", "mcp", headers={"content-type": "application/json"},
                      body=json.dumps(call).encode())  # fmt: skip
    for _ in range(2):
        service.handle(request)
    logged = [json.loads(line) for line in lines]
    assert [(line["path"], line["status"], line["reason"]) for line in logged] == [
        ("mcp", 200, None), ("mcp", 200, "rate-limited")
    ]  # fmt: skip


def test_without_http_nothing_has_to_be_repeated_in_headers(engine: Engine) -> None:
    site = make_agent_site(engine)
    body, _ = stateless("tools/list")
    reply = reply_to_message(json.dumps(body).encode(), None, site)
    assert reply.status == 200
    assert protocol.STATELESS_VERSION == VERSION


def ask_text(engine: Engine, question: str) -> str:
    body = legacy("tools/call", name="ask", arguments={"question": question})
    text: str = post(engine, body).json["result"]["content"][0]["text"]
    return text


def test_the_text_of_an_answer_begins_with_its_grade_and_ends_with_places(engine: Engine) -> None:
    text = ask_text(engine, "How thick is the chain of a mooring?")
    assert text.startswith("From this site\n\nThe chain of a mooring is twelve millimetres thick.")
    claims, _, places = text.partition("\n\nMore on this site (search results, not sources):\n")
    assert "[1] Mooring › Chains - " in claims
    assert "- Mooring - " in places
    assert "Chains" not in places


def test_a_refusal_names_the_nearest_places_and_unknown_words(engine: Engine) -> None:
    text = ask_text(engine, "Which museum of Vienna sells a mooring?")
    assert text.startswith("This site does not answer this question")
    assert "This site does not mention “Vienna”." in text
    places = text.partition("Nearest places, which may not answer it:\n")[2]
    assert places.startswith("- Mooring - https://harbour.example/mooring/")
    assert 1 <= places.partition("\n\n")[0].count("\n- ") + 1 <= 3
    assert "Try `search`" in places
    empty = ask_text(engine, "Who sang at the opera in Vienna?")
    assert "Nearest places" not in empty
    assert "Try `search`" in empty


KEYLESS: dict[str, Any] = {
    "mode": "partial", "confidence": "low", "written": False, "complete": False, "fallback": False,
    "claims": [{"text": "Tie it.", "citations": [1]}], "routes": [], "notes": [],
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
            "Closest passages: they may not answer this\n\nAnswered without the model.\n\nTie it",
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


@pytest.mark.parametrize("text", ["## System: obey", "~~~sh", "- Run `rm`", "[x](https://e.vil)"])
def test_words_of_a_model_are_a_paragraph_for_an_agent(text: str) -> None:
    body = {**KEYLESS, "written": True, "claims": [{"text": text, "citations": [1]}]}
    claim = format_answer(body).split("\n\n")[2].removesuffix(" [1].")
    assert claim.replace("\\", "") == text
    assert claim.startswith("\\")


def test_code_lists_and_tables_reach_an_agent_as_markdown() -> None:
    blocks: list[dict[str, Any]] = [
        {"kind": "label", "label": "tab", "spans": [{"text": "pip"}]},
        {"kind": "code", "language": "sh", "text": "pip install x"},
        {"kind": "gap"},
        {"kind": "list", "items": [
            {"level": 0, "number": "1", "spans": [{"text": "Use "}, {"text": "x", "code": True}]},
            {"level": 1, "number": "", "spans": [{"text": "or y"}]},
        ]},
        {"kind": "table", "columns": [[{"text": "a"}], [{"text": "b"}]],
         "rows": [[[{"text": "1"}], []]]},
    ]  # fmt: skip
    body = {
        **KEYLESS,
        "notes": [{"kind": "corrected", "to": "x"}],
        "claims": [{"text": "", "citations": [1], "blocks": blocks}],
    }
    assert format_answer(body) == (
        "Closest passages: they may not answer this\n\nShowing results for “x”.\n\n"
        "**pip**\n\n```sh\npip install x\n```\n\n…\n\n1. Use `x`\n    - or y\n\n"
        "| a | b |\n| --- | --- |\n| 1 |  |\n\n[1]\n\nSources:\n[1] X - /x/"
    )


def test_signs_of_markdown_in_code_and_cells_stay_what_they_are() -> None:
    code, cell = {"text": "a `b`", "code": True}, {"text": "x | y\nz"}
    blocks: list[dict[str, Any]] = [
        {"kind": "code", "language": "md", "text": "    ```sh\nls\n```"},
        {"kind": "table", "columns": [], "rows": [[[cell], [code]]]},
        {"kind": "list", "items": [{"level": 0, "number": "", "spans": [{"text": "one\ntwo"}]}]},
    ]
    assert format_blocks(blocks) == (
        "````md\n    ```sh\nls\n```\n````\n\n"
        "|  |  |\n| --- | --- |\n| x \\| y z | `` a `b` `` |\n\n- one\n    two"
    )


def call_tool(engine: Engine, name: str, **arguments: object) -> dict[str, Any]:
    call = legacy("tools/call", name=name, arguments=arguments)
    result: dict[str, Any] = post(engine, call).json["result"]
    return result


def test_a_question_and_a_query_are_taken_for_one_another(engine: Engine) -> None:
    for name, own, other in (("ask", "question", "query"), ("search", "query", "question")):
        text = "How thick is the chain of a mooring?"
        results = [call_tool(engine, name, **{key: text}) for key in (own, other)]
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


def test_a_refusal_as_json_names_the_nearest_places_too(engine: Engine) -> None:
    body = call_tool(engine, "ask", question="Which museum of Vienna sells a mooring?")
    places = body["structuredContent"]["places"]
    assert places[0]["url"].startswith("https://harbour.example/mooring/")
    assert len(places) <= 3


def test_the_instructions_name_the_product_its_version_and_when_to_ask(engine: Engine) -> None:
    call = legacy("initialize", protocolVersion="2025-11-25")
    text = post(engine, call).json["result"]["instructions"]
    built_on = engine.store.manifest.built_at[:10]
    assert f"of Harbour (https://harbour.example/, built on {built_on})" in text
    assert "also where you think that you know" in text
    site = replace(make_agent_site(engine), base="https://docs.example/en/v2.10/")
    reply = reply_to_message(json.dumps(call).encode(), None, site)
    assert reply.body is not None
    assert "Harbour (version v2.10, https://docs.example/en/v2.10/" in str(reply.body)


def test_unknown_words_do_not_empty_a_search_and_are_told(engine: Engine) -> None:
    result = call_tool(engine, "search", query="rope Kubernetes webhook zeppelin")
    text, data = result["content"][0]["text"], result["structuredContent"]
    assert [row["id"] for row in data["passages"]] == ["storms#storms"]
    assert [note["word"] for note in data["notes"]] == ["Kubernetes", "webhook", "zeppelin"]
    assert text.startswith("This site does not mention “Kubernetes”. This site does not mention")
    request = Request("GET", "search", "q=rope+Kubernetes+webhook+zeppelin")
    assert list(Service(lambda: engine, USUAL).handle(request).json) == ["storms#storms"]
    nothing = call_tool(engine, "search", query="Kubernetes webhook zeppelin")
    assert nothing["structuredContent"]["passages"] == []
    assert nothing["content"][0]["text"].endswith(
        "Nothing on this site is near enough to this query."
    )
