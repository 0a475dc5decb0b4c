"""Races of the ask box: keys pressed twice, boxes closed and opened, readers elsewhere."""

from __future__ import annotations

from playwright.sync_api import Page, Route, expect

from support.widget_site import HANG, NOT_FOUND, PARTIAL, Site, ask, asking, problem, visit

INLINE = '<answerable-ask placement="inline"></answerable-ask><input aria-label="Elsewhere">'
BOX = "const box = document.querySelector('answerable-ask');"


def test_focus_stays_in_the_dialog_when_the_pressed_button_disappears(
    page: Page, site: Site
) -> None:
    site.about = {"examples": ["Where do logs go?"]}
    page.add_init_script("window.addEventListener('keydown', (e) => (window.last = e.key))")
    box = visit(page, site, problem(503, "busy"), HANG)
    box.get_by_role("button", name="Ask").click()
    box.get_by_role("button", name="Where do logs go?").press("Enter")
    expect(box.get_by_role("button", name="Try again")).to_be_visible()
    box.get_by_role("button", name="Try again").press("Enter")
    expect(box.get_by_role("button", name="Stop")).to_be_focused()
    page.keyboard.press("n")
    assert page.evaluate("window.last") != "n"


def test_an_inline_box_does_not_steal_focus(page: Page, site: Site) -> None:
    site.ask_box = INLINE
    box = visit(page, site, NOT_FOUND, problem(500))
    page.evaluate(
        f"{BOX} box.fetch = async (address, options) => {{"
        " const isQuestion = `${address}`.endsWith('/answer');"
        " if (isQuestion) await new Promise((done) => (window.answer = done));"
        " return fetch(address, options); }; null"
    )
    elsewhere = page.get_by_label("Elsewhere")
    for state in ("not-found", "problem"):
        box.get_by_label("Your question").fill(state)
        box.get_by_label("Your question").press("Enter")
        elsewhere.fill("")
        elsewhere.press_sequentially("ab")
        page.wait_for_function("() => window.answer")
        page.evaluate("window.answer(window.answer = null)")
        expect(box).to_have_attribute("state", state)
        elsewhere.press_sequentially("cd")
        expect(elsewhere).to_have_value("abcd")
        expect(elsewhere).to_be_focused()


def test_closing_and_asking_at_once_reopens_with_the_new_question(page: Page, site: Site) -> None:
    box = visit(page, site, PARTIAL)
    box.get_by_role("button", name="Ask").click()
    page.evaluate(f"{BOX} box.close(); box.ask('Why?')")
    expect(box).to_have_attribute("state", "partial")
    expect(box).to_have_attribute("open", "")
    assert [body for _, body in site.questions] == [asking("Why?")]


def test_places_that_come_late_do_not_replace_a_later_answer(page: Page, site: Site) -> None:
    box = visit(page, site, PARTIAL, NOT_FOUND)
    held: list[Route] = []
    page.route("**/places", lambda route: held.append(route), times=1)
    ask(box)
    expect(box).to_have_attribute("state", "partial")
    box.get_by_label("Your question").press("Enter")
    expect(box).to_have_attribute("state", "not-found")
    with page.expect_response("**/places") as late:
        held[0].continue_()
    late.value.finished()
    page.evaluate("() => new Promise((done) => setTimeout(done, 50))")
    page.reload()
    expect(box).to_have_attribute("state", "not-found")
