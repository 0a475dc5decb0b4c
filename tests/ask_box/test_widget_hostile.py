"""Answers and streams that no honest function sends: drawn as text or as the error, never more."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from support.deadlines import PATIENCE
from support.fuzz_settings import DEEP
from support.widget_excerpts import OPTIONS, STEPS, code, excerpts, join
from support.widget_site import (
    CLAIM,
    NOT_FOUND,
    PARTIAL,
    RECORD,
    RELATED,
    ROUTE,
    SUPPORTED,
    Json,
    Reply,
    Site,
    Stream,
    ask,
    event,
    visit,
)

MARKUP = "<img src=x onerror=alert(1)><script>alert(2)</script><b>bold</b>"
TURNED = "\u202eevil\u202c \u202dleft\u2066 isolate"
ODD: list[object] = [
    None,
    -1,
    1e308,
    "",
    "\u202e" + MARKUP,
    [None],
    {},
    {"toString": None},
    "constructor",
]


def mutated(answer: Json) -> Iterator[Json]:
    """The answer with one of its fields at a time as something else, or without it."""
    for path in paths(answer):
        for odd in ODD:
            changed = json.loads(json.dumps(answer))
            place = changed
            for step in path[:-1]:
                place = place[step]
            place[path[-1]] = odd
            yield changed


def paths(value: object, before: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """The way to every field of a JSON value."""
    if isinstance(value, dict):
        inner = [(key, each) for key, each in value.items()]
    elif isinstance(value, list):
        inner = list(enumerate(value))
    else:
        return []
    all_paths: list[tuple[str | int, ...]] = []
    for key, each in inner:
        all_paths += [(*before, key), *paths(each, (*before, key))]
    return all_paths


# Each answer is one question; the box settles before the next one is asked.
ASK_ALL = """async ([answers, asStream]) => {
  const box = document.querySelector("answerable-ask");
  const settled = [];
  box.addEventListener("answerable:answer", () => settled.push(box.getAttribute("state")));
  box.addEventListener("answerable:problem", () => settled.push(box.getAttribute("state")));
  const drawn = [];
  for (const answer of answers) {
    const before = settled.length;
    const body = JSON.stringify(answer);
    const text = asStream ? `event: answer\\ndata: ${body}\\n\\n` : body;
    const type = asStream ? "text/event-stream" : "application/json";
    box.fetch = async (url) => new Response(text, { headers: { "Content-Type": type } });
    box.ask("How?");
    for (let tries = 0; settled.length === before && tries < 400; tries += 1) {
      await new Promise((done) => setTimeout(done, 5));
    }
    const root = box.shadowRoot;
    if (settled.length !== before + 1 || root.querySelector("img, script, b, iframe")) {
      drawn.push(["unsettled or markup", answer]);
    }
    for (const link of root.querySelectorAll(".result a")) {
      if (!/^(https?|mailto):/.test(link.href)) drawn.push([link.href, answer]);
    }
    const alert = root.querySelector("[role=alert]").textContent;
    const cards = root.querySelectorAll(".card, .sentence, .mark, .entry").length;
    const failed = box.getAttribute("state") === "problem";
    if (failed !== (alert !== "") || (failed && cards)) drawn.push(["half drawn", answer]);
  }
  return [settled.length, drawn];
}"""


def test_a_field_of_any_type_draws_an_answer_or_the_error(page: Page, site: Site) -> None:
    visit(page, site)
    answers = [*mutated(SUPPORTED), *mutated(NOT_FOUND), *mutated(excerpts(join(STEPS, OPTIONS)))]
    related = [*mutated(RELATED)]
    assert len(answers) > 400
    if not DEEP:
        answers, related = answers[::12], related[::4]
    settled, wrong = page.evaluate(ASK_ALL, [answers, False])
    assert wrong == []
    assert settled == len(answers)
    settled, wrong = page.evaluate(ASK_ALL, [related, True])
    assert wrong == []


@pytest.mark.deep
def test_a_problem_with_an_unknown_code_draws_the_error(page: Page, site: Site) -> None:
    """Codes that every object has by inheritance, and those that are no text."""
    codes = ["__proto__", "constructor", "toString", "no such", "", 5, None, [], {}, MARKUP]
    replies: list[Reply | Stream] = [
        Reply({"code": code}, 503, "application/problem+json") for code in codes
    ]
    replies += [Stream([event("problem", {"code": code})]) for code in codes]
    box = visit(page, site, *replies)
    ask(box)
    for request_count in range(1, len(replies) + 1):
        expect(box.get_by_role("alert")).to_contain_text("try again")
        expect(box.locator("img, b")).to_have_count(0)
        assert len(site.questions) == request_count
        if site.replies:
            box.get_by_label("Your question").press("Enter")
    assert len(site.questions) == len(replies)


def test_markup_is_drawn_as_text(page: Page, site: Site) -> None:
    record = RECORD | {
        "title": MARKUP, "quote": MARKUP, "date": MARKUP, "language": MARKUP,
        "href": f"/{MARKUP}",
    }  # fmt: skip
    hint = {
        "n": 3,
        "kind": "hint",
        "label": MARKUP,
        "locator": MARKUP,
        "url": "javascript:alert(1)",
    }
    claims = [CLAIM | {"markdown": f"{MARKUP} `{MARKUP}`"}, CLAIM | {"markdown": code(MARKUP)}]
    fields = {"confidence": MARKUP, "reason": MARKUP, "request_id": MARKUP, "bundle": MARKUP}
    answer = SUPPORTED | {
        "claims": claims,
        "routes": [ROUTE | {"text": MARKUP}],
        "citations": [record, hint],
        **fields,
    }
    site.about = {"bundle": "x", "examples": [MARKUP]}
    passages = excerpts(MARKUP, MARKUP)
    for citation in passages["citations"]:
        citation |= {"title": MARKUP, "quote": MARKUP}
    box = visit(page, site, answer, passages)
    box.get_by_role("button", name="Ask").click()
    expect(box.locator(".example")).to_have_text(MARKUP)
    page.keyboard.type(MARKUP)
    page.keyboard.press("Enter")
    expect(box.locator(".sources .title")).to_have_text([MARKUP, MARKUP])
    expect(box.locator("pre")).to_have_text(MARKUP)
    expect(box.locator(".sentence > code")).to_have_text(MARKUP)
    expect(box.locator(".quoted")).to_have_text([MARKUP] * 3)
    expect(box.locator(".locator")).to_have_text(MARKUP)
    expect(box.locator("img, b, script")).to_have_count(0)
    expect(box.locator("a[href^=javascript]")).to_have_count(0)
    protocols = box.locator("a").evaluate_all("(all) => all.map((link) => link.protocol)")
    assert protocols == ["http:"] * 3
    site.places = {"x": {"url": "/x/", "title": MARKUP, "line": MARKUP}}
    box.get_by_label("Your question").press("Enter")
    expect(box.locator(".entry .title")).to_have_text([MARKUP] * 2)
    expect(box.locator(".entry .line")).to_have_text([MARKUP] * 2)
    expect(box.locator("h3")).to_contain_text(MARKUP)
    expect(box.locator(".card .words")).to_have_text(MARKUP)
    expect(box.locator("img, b, script")).to_have_count(0)


def test_bidirectional_controls_are_removed(page: Page, site: Site) -> None:
    record = RECORD | {"title": TURNED, "quote": TURNED}
    hint = SUPPORTED["citations"][2] | {"label": TURNED, "locator": TURNED}
    answer = SUPPORTED | {
        "claims": [CLAIM | {"markdown": f"{TURNED} `{TURNED}`: {TURNED}"}],
        "routes": [ROUTE | {"text": TURNED}],
        "citations": [record, hint],
    }
    box = visit(page, site, answer)
    ask(box)
    expect(box.locator(".sources li")).to_have_count(2)
    html: str = box.locator(".view").evaluate("(view) => view.innerHTML")
    assert html.count("evil") >= 7
    assert not set(html) & set("\u202a\u202b\u202c\u202d\u202e")
    for part in box.locator(".sources .title, .sentence, .quoted, .locator").all():
        assert part.get_attribute("dir") == "auto"


@pytest.mark.deep
def test_a_very_large_answer_is_drawn_completely(page: Page, site: Site) -> None:
    long = CLAIM | {"markdown": "word " * 40_000}
    endless = CLAIM | {"markdown": "w" * 20_000}
    ticks = CLAIM | {"markdown": "`a` " * 2_000}
    box = visit(page, site, PARTIAL | {"claims": [long, endless, ticks]})
    ask(box)
    expect(box.locator(".sentence")).to_have_count(3)
    assert len(box.locator(".sentence").first.inner_text()) >= 200_000 - 1
    assert box.locator(".result").evaluate("(node) => node.scrollWidth <= node.clientWidth")
    expect(box.get_by_role("button", name="Close")).to_be_in_viewport()


STAGES: list[object] = ["x", "__proto__", 5, None, []]
ANSWER = event("answer", PARTIAL)
STAGE = event("stage", {"stage": "writing"})
BROKEN: dict[str, list[str | bytes]] = {
    "nothing": [],
    "no answer": [STAGE],
    "an answer cut off": [STAGE, ANSWER[:40]],
    "an answer without its last line": [ANSWER[:-1]],
    "garbage": ["<html>\n\n\x00\x01\n\n"],
    "bytes that are no text": [b"\xff\xfe\n\nevent: answer\ndata: \xff\n\n"],
    "data that is no JSON": ["event: answer\ndata: {,}\n\n"],
    "an answer of null": ["event: answer\ndata: null\n\n"],
    "an answer without data": ["event: answer\n\n", ": bye\n\n"],
    "a stage without data": ["event: stage\n\n"],
    "a problem without data": ["event: problem\n\n"],
    "a problem of null": ["event: problem\ndata: null\n\n"],
    "a refusal with a card": [event("answer", NOT_FOUND | {"citations": [RECORD]})],
    "an unknown event": [event("constructor", PARTIAL), event("__proto__", PARTIAL)],
}
WHOLE: dict[str, list[str | bytes]] = {
    "comments and stages": [":\n\n", ": x\n\n", STAGE, ": event: answer\n\n", ANSWER],
    "unknown stages": [
        *(event("stage", {"stage": odd}) for odd in STAGES), ANSWER
    ],
    "two answers": [ANSWER, event("answer", RELATED)],
    "an answer and a problem": [ANSWER, event("problem", {"code": "timeout"})],
    "an answer and garbage": [ANSWER, "event: answer\ndata: {{{\n\n"],
    "letters in two parts": [
        *(bytes([byte]) for byte in event("stage", {"stage": "é"}).encode()), ANSWER
    ],
    "many comments": [": still here\n\n" * 20_000, ANSWER],
    "much text": [": " + "x" * 3_000_000 + "\n\n", ANSWER],
}  # fmt: skip


def test_a_stream_is_read_until_its_first_answer_or_is_an_error(page: Page, site: Site) -> None:
    streams = BROKEN | WHOLE
    box = visit(page, site, *(Stream([*parts]) for parts in streams.values()))
    box.get_by_role("button", name="Ask").click()
    for case in streams:
        box.get_by_label("Your question").fill(case)
        page.keyboard.press("Enter")
        expect(box).to_have_attribute("state", "partial" if case in WHOLE else "problem")
        expect(box.locator(".card, .sentence")).to_have_count(int(case in WHOLE))
        if case in BROKEN:
            expect(box.get_by_role("alert")).to_contain_text("try again")
        page.evaluate("document.querySelector('answerable-ask').removeAttribute('state')")
    assert [body["question"] for _, body in site.questions] == list(streams)


@pytest.mark.deep
def test_a_stream_left_open_after_its_answer_is_closed(page: Page, site: Site) -> None:
    box = visit(page, site, Stream([ANSWER], stays=True))
    ask(box)
    expect(box).to_have_attribute("state", "partial")
    assert site.hung_up.wait(PATIENCE)
