"""The widget's manifest against the widget: what it reads, sets, sends, slots, names and offers."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from support import widget_folder, widget_tables
from support.widget_excerpts import OPTIONS, STEPS, TABS, excerpts

SCRIPT = widget_folder.SCRIPT
# Its modules and styles as they are written: in the script, styles are strings without spaces.
SOURCES = "\n".join(
    path.read_text("utf-8") for path in sorted((widget_folder.WIDGET / "ask-box").iterdir())
)
MANIFEST = widget_tables.read_manifest()
ELEMENT = widget_tables.element(MANIFEST)

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
# A reply is a body, its type and its status; without one the question waits until it is stopped.
REPLYING = """(box, { site, replies }) => {
  box.fetch = (address, { signal } = {}) => {
    if (!address.pathname.endsWith("/answer")) return Promise.resolve(Response.json(site));
    const reply = replies.shift();
    if (reply) {
      const { body, type, status } = reply;
      return Promise.resolve(new Response(body, { status, headers: { "Content-Type": type } }));
    }
    return new Promise((_, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason));
    });
  };
}"""
SITE = {
    "examples": ["How do I moor?"],
    "search": "?q={question}",
    "authors": "mailto:crew@harbour.example",
    "feedback": "feedback",
}
NOT_FOUND = {"mode": "not-found", "claims": [], "routes": [], "citations": [], "confidence": "low"}
SUPPORTED = {
    "mode": "supported",
    "claims": [{"text": "Tie it twice.", "citations": [1]}],
    "routes": [{"text": "Related material: Knots.", "citations": [2]}],
    "citations": [
        {"n": 1, "kind": "record", "title": "Mooring", "url": "/index.html#top", "quote": "Twice."},
        {"n": 2, "kind": "hint", "label": "Knots", "locator": "second shelf"},
    ],
    "confidence": "high",
}


def reply(body: object, status: int = 200) -> dict[str, Any]:
    return {"body": json.dumps(body), "type": "application/json", "status": status}


def stream(body: object) -> dict[str, Any]:
    events = ("stage", {"stage": "writing"}), ("answer", body)
    text = "".join(f"event: {name}\ndata: {json.dumps(data)}\n\n" for name, data in events)
    return {"body": text, "type": "text/event-stream", "status": 200}


@pytest.fixture(scope="module")
def interface(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Any]]:
    """Record the interface of a widget that went through everything it can do."""
    folder = tmp_path_factory.mktemp("interface")
    context = browser.new_context()
    page = context.new_page()
    page.add_init_script(NOTING)
    with widget_folder.served(folder) as origin:
        box = widget_folder.visit(page, folder, origin)
        use(page, box)
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
    context.close()


def use(page: Page, box: Locator) -> None:
    """Go through every state, and everything that can be pressed."""
    excerpt = excerpts([*TABS, *STEPS, *OPTIONS], STEPS, notes=[{"kind": "unknown", "word": "CEO"}])
    replies = [None, stream(SUPPORTED), reply(NOT_FOUND), reply({"code": "busy"}, 503)]
    replies.append(reply(excerpt))
    box.evaluate(REPLYING, {"site": SITE, "replies": replies})

    def ask(state: str) -> None:
        box.locator("textarea").press("Enter")
        expect(box).to_have_attribute("state", state)
        box.evaluate(COLLECT)

    box.locator(".trigger").click()
    box.locator("textarea").fill("How do I moor?")
    expect(box.locator(".example")).to_be_visible()
    box.evaluate(COLLECT)
    ask("working")
    box.locator(".stop").click()
    ask("supported")
    box.get_by_role("button", name="Yes").click()
    expect(box.get_by_role("status")).to_have_text("Thank you.")
    box.locator(".mark").first.click()
    expect(box.get_by_role("dialog")).to_be_hidden()
    page.keyboard.press("Control+i")
    ask("not-found")
    ask("problem")
    ask("partial")


def names(kind: str) -> list[str]:
    names = [each["name"] for each in ELEMENT[kind]]
    assert len(names) == len(set(names)), kind
    return names


def members(kind: str) -> dict[str, Any]:
    return {each["name"]: each for each in ELEMENT["members"] if each["kind"] == kind}


def choices(attribute: str) -> set[str]:
    """The values that an attribute may have, by its type."""
    (declared,) = (each for each in ELEMENT["attributes"] if each["name"] == attribute)
    return set(re.findall(r'"([^"]+)"', declared["type"]["text"]))


def test_the_manifest_names_the_element_that_the_script_defines() -> None:
    (module,) = MANIFEST["modules"]
    assert (widget_folder.WIDGET / module["path"]).is_file()
    defined = re.findall(r'customElements\.define\("([^"]+)", (\w+)\)', SCRIPT)
    assert defined == [(ELEMENT["tagName"], ELEMENT["name"])]
    assert f"\nclass {ELEMENT['name']} extends {ELEMENT['superclass']['name']} {{" in SCRIPT
    assert f"\nexport {{ {ELEMENT['name']} }};" in SCRIPT


def test_manifest_attributes_match_the_script(interface: dict[str, Any]) -> None:
    # `lang` is a global attribute that the element reads as its own.
    assert set(names("attributes")) == {*interface["read"], *interface["set"]}
    for attribute in ELEMENT["attributes"]:
        is_set = attribute["description"].startswith("set by the element")
        assert is_set == (attribute["name"] in interface["set"]), attribute["name"]
        assert ("default" in attribute) == (not is_set), attribute["name"]


def test_manifest_attribute_values_match_the_script() -> None:
    assert choices("placement") == set(re.findall(r'placement="(\w+)"', SOURCES)) | {"inline"}
    states = re.findall(r'this\.#show\("([\w-]+)"', SCRIPT)
    (modes,) = re.findall(r'\["([\w-]+)", "([\w-]+)"\] : \["([\w-]+)", "([\w-]+)"\];', SCRIPT)
    assert choices("state") == {*states, *modes}


def test_manifest_events_match_those_dispatched(interface: dict[str, Any]) -> None:
    assert set(names("events")) == set(interface["events"])
    assert set(interface["events"]) == set(re.findall(r'"(answerable:\w+)"', SCRIPT))
    for event in ELEMENT["events"]:
        cancelable, reaches_the_page = interface["events"][event["name"]]
        assert ("preventDefault()" in event["description"]) == cancelable, event["name"]
        assert reaches_the_page, event["name"]


def test_manifest_methods_and_fields_match_the_class(interface: dict[str, Any]) -> None:
    methods = members("method")
    assert set(methods) == set(interface["methods"])
    for name, method in methods.items():
        assert len(method.get("parameters", ())) == interface["methods"][name], name


def test_manifest_fields_are_set_by_the_page_and_read_by_the_element() -> None:
    # An element that had a field of its own would lose what a page has set before its script runs.
    assert set(members("field")) == set(re.findall(r"\bthis(?:\)|\.#box)?\.(\w+) \?\?", SOURCES))


def test_manifest_slots_match_the_shadow_tree(interface: dict[str, Any]) -> None:
    assert set(names("slots")) == set(interface["slots"])


def test_manifest_parts_exist_in_the_shadow_tree(interface: dict[str, Any]) -> None:
    assert set(names("cssParts")) <= set(interface["parts"])


def test_manifest_properties_match_the_styles_and_defaults() -> None:
    defaults_by_use = re.findall(r"var\((--answerable-[\w-]+)(?:, ([^()]*)(\(?))?", SOURCES)
    assert set(names("cssProperties")) == {name for name, _, _ in defaults_by_use}
    for name, default, calls in defaults_by_use:
        (described,) = (each for each in ELEMENT["cssProperties"] if each["name"] == name)
        # What falls back to other properties is told in words.
        assert calls or described["default"] == default, name


def test_every_manifest_entry_has_a_description() -> None:
    for kind in ("attributes", "members", "events", "slots", "cssProperties", "cssParts"):
        assert ELEMENT[kind]
        for each in ELEMENT[kind]:
            assert each["description"].strip(), each["name"]


@pytest.mark.parametrize(
    ("placement", "shown", "hidden"),
    [("header", ".trigger", ".box"), ("inline", ".box", ".trigger"), ("none", None, ".trigger")],
)
def test_each_placement_draws_what_the_manifest_describes(
    page: Page, tmp_path: Path, placement: str, shown: str | None, hidden: str
) -> None:
    assert placement in choices("placement")
    with widget_folder.served(tmp_path) as origin:
        box = widget_folder.visit(page, tmp_path, origin, element=f'placement="{placement}"')
        box.evaluate("(box) => customElements.whenDefined(box.localName)")
        if shown:
            expect(box.locator(shown)).to_be_visible()
        else:
            expect(box.locator(hidden)).to_be_attached()
        expect(box.locator(hidden)).to_be_hidden()


def test_tables_are_written_only_between_their_marks() -> None:
    written = {"slots": "\nnew\n\n", "parts": "\nother\n\n"}
    page = "# A\n\n<!-- widget:slots -->\nold\n<!-- /widget:slots -->\n\nText.\n"
    after = "# A\n\n<!-- widget:slots -->\n\nnew\n\n<!-- /widget:slots -->\n\nText.\n"
    assert widget_tables.updated(page, written) == after
    assert widget_tables.updated(after, written) == after
    assert widget_tables.marked(after) == {"slots": written["slots"]}


def test_a_table_has_as_many_cells_in_each_row() -> None:
    for name, table in widget_tables.tables(MANIFEST).items():
        rows = table.strip().splitlines()
        assert len(rows) > 2, name
        assert len({len(re.findall(r"(?<!\\)\|", row)) for row in rows}) == 1, name


def test_the_manual_tables_match_the_manifest() -> None:
    tables: dict[str, str] = {}
    for page in widget_tables.DOCS.rglob("*.md"):
        tables |= widget_tables.marked(page.read_text("utf-8"))
    # Run `make tables` to write them anew.
    assert tables == widget_tables.tables(MANIFEST)
