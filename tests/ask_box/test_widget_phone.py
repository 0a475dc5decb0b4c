"""The ask box on a phone, zoomed, without motion and with forced colours."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, ViewportSize, expect

from support.widget_excerpts import OPTIONS, TABS, code, excerpts, join
from support.widget_site import CLAIM, HANG, PARTIAL, RECORD, SUPPORTED, Site, ask, visit

# A stand-in for a virtual keyboard: Chromium has none on a desk.
KEYBOARD = """() => {
  for (const name of ["height", "offsetTop"]) {
    const own = Object.getOwnPropertyDescriptor(VisualViewport.prototype, name).get;
    Object.defineProperty(VisualViewport.prototype, name, {
      get() { return window.faked?.[name] ?? own.call(this); },
    });
  }
}"""
SHRINK = (
    """(faked) => { window.faked = faked; visualViewport.dispatchEvent(new Event("resize")); }"""
)
WIDE = "wide" * 100
PHONE: ViewportSize = {"width": 360, "height": 640}


def fits(page: Page, box: Locator) -> None:
    """Nothing is cut off or scrolls sideways, apart from code."""
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert box.locator(".result").evaluate("(node) => node.scrollWidth <= node.clientWidth")
    width = page.evaluate("innerWidth")
    parts = "header, form, .primary, .close, .card, .entry, .text, .actions, .button"
    for part in box.locator(parts).all():
        place = part.bounding_box()
        if place is not None:
            assert place["x"] >= 0
            assert place["x"] + place["width"] <= width + 0.5


def test_the_dialog_fits_above_an_on_screen_keyboard(page: Page, site: Site) -> None:
    page.set_viewport_size({"width": 390, "height": 780})
    page.add_init_script(f"({KEYBOARD})()")
    box = visit(page, site, SUPPORTED)
    box.get_by_role("button", name="Ask").click()
    dialog = box.get_by_role("dialog")
    whole = {"x": 0, "y": 0, "width": 390, "height": 780}
    assert dialog.bounding_box() == whole
    page.evaluate(SHRINK, {"height": 420, "offsetTop": 0})
    assert dialog.bounding_box() == whole | {"height": 420}
    expect(box.get_by_label("Your question")).to_be_in_viewport()
    page.evaluate(SHRINK, {"height": 420, "offsetTop": 60})
    assert dialog.bounding_box() == whole | {"height": 420, "y": 60}
    page.evaluate(SHRINK, None)
    assert dialog.bounding_box() == whole
    box.get_by_label("Your question").fill("How?")
    page.keyboard.press("Enter")
    expect(box.locator(".sources li")).to_have_count(3)
    fits(page, box)
    size = box.get_by_label("Your question").evaluate("(node) => getComputedStyle(node).fontSize")
    assert float(size.removesuffix("px")) >= 16
    page.emulate_media(media="print")
    expect(box.get_by_role("dialog")).to_be_hidden()


def test_nothing_scrolls_sideways_when_zoomed_or_small(page: Page, site: Site) -> None:
    wide = RECORD | {"title": WIDE, "quote": WIDE, "href": f"/{WIDE}/"}
    claims = [CLAIM | {"markdown": WIDE}, CLAIM | {"markdown": f"Run `{WIDE}`: {WIDE}"}]
    site.about = {"feedback": "/feedback", "examples": [WIDE]}
    sizes: tuple[ViewportSize, ...] = (
        {"width": 640, "height": 400}, PHONE, {"width": 320, "height": 256},
    )  # fmt: skip
    written = PARTIAL | {"claims": claims, "citations": [wide]}
    passage = claims[0] | {"markdown": join(code(WIDE), OPTIONS, TABS)}
    keyless = excerpts(WIDE) | {"claims": [passage, claims[1]], "citations": [wide]}
    box = visit(page, site, written, keyless)

    def fits_all() -> None:
        for size in sizes:
            page.set_viewport_size(size)
            fits(page, box)

    box.get_by_role("button", name="Ask").click()
    expect(box.locator(".example")).to_have_count(1)
    fits_all()
    page.keyboard.type("How?")
    page.keyboard.press("Enter")
    expect(box.locator(".sentence")).to_have_count(2)
    fits_all()
    box.get_by_label("Your question").press("Enter")
    box.locator(".entry summary").click()
    expect(box.locator(".words")).to_have_count(2)
    fits_all()


def test_the_button_that_copies_code_hides_none_of_it(page: Page, site: Site) -> None:
    page.set_viewport_size(PHONE)
    box = visit(page, site, excerpts(join(code("make"), code(WIDE))))
    ask(box)
    expect(box.locator(".code")).to_have_count(2)
    fits(page, box)
    assert box.locator("pre").evaluate_all(
        """(all) => all.every((block) => {
          const button = block.parentElement.querySelector("button").getBoundingClientRect();
          const lines = [...block.querySelectorAll(".code-line > span")];
          const words = lines.flatMap((line) => [...line.getClientRects()]);
          return words.length > 0 && words.every(({ right, top, bottom }) =>
            right <= button.left || bottom <= button.top || top >= button.bottom);
        })"""
    )


@pytest.mark.deep
def test_motion_respects_prefers_reduced_motion(page: Page, site: Site) -> None:
    for motion, moves in [("reduce", False), ("no-preference", True)]:
        page.emulate_media(reduced_motion="reduce" if motion == "reduce" else "no-preference")
        box = visit(page, site, HANG)
        ask(box)
        expect(box.locator(".pulse")).to_be_visible()
        for part in (".pulse", "dialog"):
            name = box.locator(part).evaluate("(node) => getComputedStyle(node).animationName")
            assert (name != "none") == moves


@pytest.mark.deep
def test_forced_colors_keep_borders_and_states_visible(page: Page, site: Site) -> None:
    page.emulate_media(forced_colors="active")
    box = visit(page, site, HANG)
    trigger = box.get_by_role("button", name="Ask")
    expect(trigger).to_have_css("border-top-style", "solid")
    clear = "rgba(0, 0, 0, 0)"
    expect(trigger).not_to_have_css("border-top-color", clear)
    ask(box)
    expect(box.locator(".pulse")).not_to_have_css("background-color", clear)
    expect(box.locator(".close")).not_to_have_css("border-top-color", clear)
    page.keyboard.press("Tab")
    expect(box.locator(".primary")).to_be_focused()
    expect(box.locator(".primary")).to_have_css("outline-style", "solid")
