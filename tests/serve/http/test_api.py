"""The HTTP core: endpoints, problems and what a response never repeats."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from answerable.serve.bundle_format.manifest import Profile
from answerable.serve.embedders.embedder import Vectors
from answerable.serve.engine import Engine
from answerable.serve.errors import EmbedderError
from answerable.serve.http.messages import MAX_BODY_BYTES, Request, Response
from answerable.serve.retrieval.question import MAX_QUESTION_CHARACTERS, clean_question
from answerable.serve.types import Evidence
from support.doubles import TINY, bundle_of, handle, index_of, note, record
from support.scripted import LetterEmbedder, ScriptedAnswerer

SECRET = "zanzibarquestion"
ROPE = "A rope holds the boat."


class Quoter:
    """Answers with its first passage, remembering the questions."""

    label = "quoter"
    max_question_tokens = 0
    max_evidence_characters = None

    def __init__(self) -> None:
        self.questions: list[str] = []

    def draft(self, question: str, evidence: Evidence, violation: str | None = None) -> object:
        del violation
        self.questions.append(question)
        text = evidence.passages[0].text
        claims = [{"text": text, "evidence": [{"source": "s1", "quote": text}]}]
        return {"claims": claims, "routes": ["h1"] if evidence.hints else []}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    folder = tmp_path_factory.mktemp("api")
    pages = [record("rope", f"<h2 id=use>Use</h2><p>{ROPE}</p>"), record("w", "<p>Wind.</p>")]
    index = index_of(folder, pages, [note("one", "alpha beta")])
    bundle = bundle_of(folder, index, Profile(floor=0, note_floor=0))
    return Engine(bundle, LetterEmbedder(), Quoter())


def post(engine: Engine, body: object, kind: str = "application/json") -> Response:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return handle(engine, Request("POST", "answer", headers={"content-type": kind}, body=data))


def get(engine: Engine, path: str, query: str = "") -> Response:
    return handle(engine, Request("GET", path, query))


def problem(response: Response, status: int) -> dict[str, Any]:
    assert response.status == status
    assert dict(response.headers)["Content-Type"] == "application/problem+json"
    body: dict[str, Any] = response.json
    assert set(body) == {"type", "title", "status", "detail", "code"}
    assert body["status"] == status
    return body


def test_answer_has_every_wire_field(engine: Engine) -> None:
    response = post(engine, {"question": "rope?"})
    body = response.json
    assert response.status == 200
    assert set(body) == {
        "mode", "answer", "claims", "routes", "citations", "confidence", "written", "complete",
        "fallback", "reason", "dropped", "notes", "site_url", "bundle", "built_at", "request_id",
    }  # fmt: skip
    assert body["mode"] == "supported"
    blocks = [{"kind": "text", "spans": [{"text": ROPE}]}]
    assert body["claims"] == [{"text": ROPE, "citations": [1], "blocks": blocks}]
    assert [c["n"] for c in body["citations"]] == [1, 2]
    record_citation, hint_citation = body["citations"]
    assert (record_citation["id"], record_citation["url"]) == ("rope#use", "/rope/#use")
    assert record_citation["quote"] == ROPE
    # What the note is about lies on another host, and so its url is absolute without a site's.
    assert hint_citation["absolute_url"] == hint_citation["url"]
    assert set(hint_citation) == {"n", "kind", "id", "url", "absolute_url", "label", "locator"}
    assert body["bundle"] == engine.store.manifest.id
    assert body["confidence"] in ("high", "medium", "low")


def test_request_ids_differ(engine: Engine) -> None:
    ids = {post(engine, {"question": "rope?"}).json["request_id"] for _ in range(3)}
    assert len(ids) == 3


def test_refusal_is_200_without_citations(engine: Engine) -> None:
    body = post(engine, {"question": "?!"}).json
    assert (body["mode"], body["reason"], body["citations"]) == ("not-found", "no-evidence", [])
    assert body["answer"] == ""


def test_search_returns_url_title_and_text_only(engine: Engine) -> None:
    body = get(engine, "search", "q=rope").json
    assert body["rope#use"] == {"url": "/rope/#use", "title": "Rope › Use", "text": ROPE}
    assert all(set(value) == {"url", "title", "text"} for value in body.values())
    assert set(body) == {"rope#use", "w"}


def test_places_are_the_search_without_texts(engine: Engine) -> None:
    passages = get(engine, "search", "q=rope").json
    body = json.dumps({"question": "rope", "language": "en"}).encode()
    request = Request("POST", "places", headers={"content-type": "application/json"}, body=body)
    places = handle(engine, request).json
    assert list(places) == list(passages)
    assert places["rope#use"] == {"url": "/rope/#use", "title": "Rope › Use"}


def test_health_names_served_bundle(engine: Engine) -> None:
    body = get(engine, "health").json
    assert (body["status"], body["bundle"]) == ("ok", engine.store.manifest.id)


def test_slash_at_either_end_of_path_is_ignored(engine: Engine) -> None:
    assert get(engine, "/health/").status == 200


def test_every_response_is_no_store(engine: Engine) -> None:
    for response in (get(engine, "health"), get(engine, "x"), post(engine, {"question": "rope"})):
        assert dict(response.headers)["Cache-Control"] == "no-store"


@pytest.mark.parametrize("path", ["", "x", "answer/x", "../answer", "ANSWER", "search.json"])
def test_unknown_path_is_404(engine: Engine, path: str) -> None:
    problem(get(engine, path), 404)


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [("GET", "answer", "POST"), ("POST", "search", "GET"),
     ("DELETE", "health", "GET")],
)  # fmt: skip
def test_wrong_method_is_405_with_allow_header(
    engine: Engine, method: str, path: str, allowed: str
) -> None:
    response = handle(engine, Request(method, path))
    problem(response, 405)
    assert dict(response.headers)["Allow"] == f"{allowed}, OPTIONS"


@pytest.mark.parametrize("kind", ["", "text/plain", "application/x-www-form-urlencoded", "json"])
def test_other_media_type_is_415(engine: Engine, kind: str) -> None:
    problem(post(engine, {"question": SECRET}, kind), 415)


@pytest.mark.parametrize("kind", ["application/json; charset=utf-8", "Application/JSON"])
def test_json_with_charset_is_accepted(engine: Engine, kind: str) -> None:
    assert post(engine, {"question": "rope"}, kind).status == 200


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b'{"question": }',
        b"[" * MAX_BODY_BYTES,
        b"[]",
        b"null",
        b'"question"',
        b"{}",
        b'{"question": null}',
        b'{"question": 1}',
        b'{"question": ["rope"]}',
        b'{"question": ""}',
        b'{"question": " \\n\\u0000\\u200b "}',
        b"1" * MAX_BODY_BYTES,
    ],
)
def test_body_without_question_is_400(engine: Engine, body: bytes) -> None:
    problem(post(engine, body), 400)


@pytest.mark.parametrize("tag", [None, "en", "fr-CA", "pt_BR", "zh-Hant-TW", "unheard-of"])
def test_language_tag_is_accepted(engine: Engine, tag: str | None) -> None:
    assert post(engine, {"question": "rope?", "language": tag}).status == 200


@pytest.mark.parametrize("tag", ["", "e", 1, ["en"], "en " + SECRET, "en-" * 12, "a" * 36, "<en>"])
def test_invalid_language_tag_is_400(engine: Engine, tag: object) -> None:
    response = post(engine, {"question": "rope?", "language": tag})
    assert "language" in problem(response, 400)["detail"]
    assert SECRET not in everything(response)


def test_body_over_limit_is_413(engine: Engine) -> None:
    fits = json.dumps({"question": "rope"}).encode().ljust(MAX_BODY_BYTES)
    assert post(engine, fits).status == 200
    problem(post(engine, fits + b" "), 413)


def test_question_over_length_limit_is_400(engine: Engine) -> None:
    assert post(engine, {"question": "rope " * 100}).status == 200
    problem(post(engine, {"question": "r" * (MAX_QUESTION_CHARACTERS + 1)}), 400)
    problem(get(engine, "search", f"q={'r' * (MAX_QUESTION_CHARACTERS + 1)}"), 400)


@pytest.mark.parametrize("query", ["", "x=rope", "q", "q=", "q=%00", "q=%20"])
def test_search_without_query_is_400(engine: Engine, query: str) -> None:
    problem(get(engine, "search", query), 400)


def test_invalid_utf8_in_query_is_answered(engine: Engine) -> None:
    assert get(engine, "search", "q=rope%ff%fe&q=other").status == 200


@pytest.mark.parametrize(
    ("sent", "read"),
    [
        ("  a\t\nrope ", "a rope"),
        ("\uff32\uff4f\uff50\uff45", "Rope"),
        ("ro\u0000pe", "ro pe"),
        ("rope\u202e", "rope"),
        ("rope \ud800 x", "rope x"),
        ("cafe\u0301", "caf\u00e9"),
    ],
)
def test_question_is_cleaned_before_it_is_asked(engine: Engine, sent: str, read: str) -> None:
    assert clean_question(sent) == read
    assert post(engine, {"question": sent}).status == 200


def everything(response: Response) -> str:
    return response.body.decode() + repr(response.headers)


@pytest.mark.parametrize(
    "request_",
    [
        Request("POST", "answer", body=SECRET.encode()),
        Request("POST", "answer", headers={"content-type": "application/json"},
                body=f'{{"question": "{SECRET}'.encode()),
        Request("POST", "answer", headers={"content-type": "application/json"},
                body=json.dumps({"question": SECRET * 40}).encode()),
        Request("POST", "answer", headers={"content-type": "application/json"},
                body=json.dumps({"question": f"rope {SECRET}"}).encode()),
        Request("POST", "answer", headers={"content-type": "application/json"},
                body=json.dumps({"question": SECRET}).encode().ljust(MAX_BODY_BYTES + 1)),
        Request("POST", "answer", headers={"content-type": SECRET}, body=b"{}"),
        Request("GET", SECRET),
        Request(SECRET, "answer"),
        Request("GET", "search", f"q={SECRET * 40}"),
        Request("GET", "search", SECRET),
    ],
)  # fmt: skip
def test_no_response_repeats_the_question(engine: Engine, request_: Request) -> None:
    response = handle(engine, request_)
    if response.status == 200 and "notes" in response.json:
        # They tell the asker which words of the question the site does not know.
        body = {**response.json, "notes": []}
        response = replace(response, body=json.dumps(body).encode())
    assert SECRET not in everything(response)


@dataclass
class Unreachable(LetterEmbedder):
    def embed(self, texts: Sequence[str]) -> Vectors:
        raise EmbedderError(f"the host said {SECRET} to {texts}")


def test_embedder_error_is_problem_without_its_message(engine: Engine) -> None:
    assert Unreachable().identity == TINY
    broken = Engine(engine.store, Unreachable(), ScriptedAnswerer([]))
    response = post(broken, {"question": f"rope {SECRET}"})
    problem(response, 503)
    assert SECRET not in everything(response)


def test_lone_surrogate_in_page_is_sent_escaped(tmp_path: Path) -> None:
    index = index_of(tmp_path, [record("rope", "<p>A rope \ud800 holds.</p>")])
    bundle = bundle_of(tmp_path, index, Profile(floor=0, note_floor=0))
    response = get(Engine(bundle, LetterEmbedder(), Quoter()), "search", "q=rope")
    assert response.status == 200
    assert b"rope" in response.body
