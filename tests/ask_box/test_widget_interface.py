"""The widget's manifest against the widget: what it reads, sets, sends, slots, names and offers."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from support.browser import browsing
from support.deadlines import until
from support.widget_excerpts import OPTIONS, STEPS, TABS, code, excerpts, join
from support.widget_site import (
    HANG,
    NOT_FOUND,
    SCRIPT,
    SUPPORTED,
    WIDGET,
    Stream,
    event,
    problem,
    serving,
    visit,
)

# Its modules and styles as they are written: in the script, styles are strings without spaces.
SOURCES = "\n".join(path.read_text("utf-8") for path in sorted((WIDGET / "ask-box").iterdir()))
(MODULE,) = json.loads((WIDGET / "custom-elements.json").read_text("utf-8"))["modules"]
(ELEMENT,) = MODULE["declarations"]

# Notes every attribute of an ask box that is read or set, and every event that it sends.
NOTING = """
window.seen = { read: new Set(), set: new Set(), events: {}, parts: new Set(), slots: new Set() };
const noted = { getAttribute: "read", hasAttribute: "read", setAttribute: "set",
  toggleAttribute: "set" };
for (const [method, kind] of Object.entries(noted)) {
  const original = Element.prototype[method];
  Element.prototype[method] = function (name, ...rest) {
    if (this.localName === "answerable-ask") seen[kind].add(name);
    return original.call(this, name, ...rest);
  };
}
const { dispatchEvent } = EventTarget.prototype;
EventTarget.prototype.dispatchEvent = function (event) {
  if (this.localName === "answerable-ask") {
    seen.events[event.type] = [event.cancelable, event.bubbles && event.composed];
  }
  return dispatchEvent.call(this, event);
};
"""
COLLECT = """(box) => {
  for (const node of box.shadowRoot.querySelectorAll("*")) {
    node.part.forEach((name) => seen.parts.add(name));
    if (node.localName === "slot") seen.slots.add(node.name);
  }
}"""


@pytest.fixture(scope="module")
def interface(browser: Browser) -> Iterator[dict[str, Any]]:
    """The interface of a widget that went through every state and everything to be pressed."""
    with browsing(browser) as page, serving() as site:
        page.add_init_script(NOTING)
        site.about = {
            "examples": ["How do I moor?"],
            "search": "?q={question}",
            "authors": "mailto:crew@harbour.example",
            "feedback": "/feedback",
        }
        site.places = {"moor#use": {"url": "/moor/#use", "title": "Moor › Use", "line": "Moor."}}
        shown = excerpts(
            join(TABS, STEPS, OPTIONS, '!!! "Mind"\n\n    The gap.', code("line\n" * 120)),
            STEPS,
            notes=[{"kind": "unknown", "word": "CEO"}],
        )
        # A section of this page, on which the box stays.
        shown["citations"][0]["href"] = "/#use"
        box = visit(
            page, site, HANG,
            Stream([event("stage", {"stage": "writing"}), event("answer", SUPPORTED)]),
            NOT_FOUND, problem(503, "busy"), shown,
        )  # fmt: skip
        box.locator(".trigger").click()
        box.locator("textarea").fill("How do I moor?")
        expect(box.locator(".example")).to_be_visible()
        box.evaluate(COLLECT)
        for state in ("working", "supported", "not-found", "problem", "partial"):
            box.locator("textarea").press("Enter")
            expect(box).to_have_attribute("state", state)
            box.evaluate(COLLECT)
            if state == "working":
                # A stopped request that was not sent yet would leave its reply to the next one.
                until(lambda: len(site.questions) == 1)
                box.locator(".stop").click()
            if state == "not-found":
                box.locator(".send").click()
                expect(box.get_by_role("status")).to_have_text("Thank you.")
        expect(box.locator(".more")).to_be_visible()
        box.evaluate(COLLECT)
        box.locator("a.title").first.click()
        expect(box.locator(".bar")).to_be_visible()
        box.evaluate(COLLECT)
        interface = page.evaluate(
            "({ events: seen.events, ...Object.fromEntries("
            "['read', 'set', 'parts', 'slots'].map((name) => [name, [...seen[name]]])) })"
        )
        interface["methods"] = page.evaluate(
            "Object.fromEntries(Object.entries(Object.getOwnPropertyDescriptors("
            "customElements.get('answerable-ask').prototype)).filter(([name, { value }]) =>"
            " value && name !== 'constructor' && !name.endsWith('Callback'))"
            ".map(([name, { value }]) => [name, value.length]))"
        )
        yield interface


def by_name(kind: str) -> dict[str, dict[str, Any]]:
    """Return the entries of a kind by their names, each of which is described."""
    assert all(entry["description"].strip() for entry in ELEMENT[kind])
    return {entry["name"]: entry for entry in ELEMENT[kind]}


def test_manifest_attributes_match_the_script(interface: dict[str, Any]) -> None:
    assert set(by_name("attributes")) == {*interface["read"], *interface["set"]}
    for name, attribute in by_name("attributes").items():
        is_set = attribute["description"].startswith("set by the element")
        assert is_set == (name in interface["set"]), name
        assert ("default" in attribute) == (not is_set), name


def test_manifest_events_match_those_dispatched(interface: dict[str, Any]) -> None:
    assert set(by_name("events")) == set(interface["events"])
    assert set(interface["events"]) == set(re.findall(r'"(answerable:\w+)"', SCRIPT))
    for name, described in by_name("events").items():
        cancelable, reaches_the_page = interface["events"][name]
        assert ("preventDefault()" in described["description"]) == cancelable, name
        assert reaches_the_page, name


def test_manifest_methods_slots_and_parts_match_the_element(interface: dict[str, Any]) -> None:
    methods = {
        name: len(member.get("parameters", ()))
        for name, member in by_name("members").items()
        if member["kind"] == "method"
    }
    assert methods == interface["methods"]
    assert set(by_name("slots")) == set(interface["slots"])
    # A place is listed while a reader types, which needs an index.
    assert set(by_name("cssParts")) - {"place"} <= set(interface["parts"])


def test_manifest_properties_match_the_styles_and_defaults() -> None:
    defaults_by_use = re.findall(r"var\((--answerable-[\w-]+)(?:, ([^()]*)(\(?))?", SOURCES)
    properties = by_name("cssProperties")
    assert set(properties) == {name for name, _, _ in defaults_by_use}
    for name, default, calls in defaults_by_use:
        # What falls back to other properties is told in words.
        assert calls or properties[name]["default"] == default, name
