"""Replies of a real engine in the box: drawn with their sources."""

import json

from playwright.sync_api import Page, expect

from answerable.engine.answers.wire import serialize_answer
from support.frozen_site import FrozenSite
from support.widget_site import Site, visit

QUESTIONS = {
    "How do I install the server on Debian?": "partial",
    "Which options does the configuration have?": "partial",
    "What does mill enqueue print when it is run from a script?": "related-material",
    "Who won the football championship?": "not-found",
}


def test_real_replies_are_drawn_with_their_sources(
    page: Page, site: Site, frozen_site: FrozenSite
) -> None:
    site.ask_box = '<answerable-ask placement="inline"></answerable-ask>'
    engine = frozen_site.engine
    bodies = []
    for question in QUESTIONS:
        remarks = engine.parse_question(question).remarks
        reply = serialize_answer(engine.answer(question), engine.store, remarks)
        bodies.append(json.loads(json.dumps(reply)))
    assert [body["mode"] for body in bodies] == list(QUESTIONS.values())
    box = visit(page, site, *bodies)
    for question, body in zip(QUESTIONS, bodies, strict=True):
        box.get_by_label("Your question").fill(question)
        box.get_by_label("Your question").press("Enter")
        expect(box).to_have_attribute("state", body["mode"])
        titles = {each.get("title") or each["label"] for each in body["citations"]}
        # One is named by the verdict, the others by rows or in the list of sources.
        drawn = box.locator(":is(h3, h4, .view > .entries, .sources) .title")
        expect(drawn).to_have_count(len(titles))
        assert set(drawn.all_inner_texts()) == titles
