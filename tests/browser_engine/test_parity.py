"""Replies of the engine in the browser equal Python's as a whole, on the frozen site."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page

from support import engine_parity
from support.engine_parity import BrowserSite, Question, Result
from support.frozen_site import FrozenSite

QUESTIONS = engine_parity.read_questions()


@pytest.fixture(scope="module")
def site(frozen_browser_site: FrozenSite) -> Iterator[BrowserSite]:
    folder, engine = frozen_browser_site.folder, frozen_browser_site.engine
    with engine_parity.serving_site(folder, engine) as site:
        yield site


@pytest.fixture(scope="module")
def expected(site: BrowserSite) -> list[Result]:
    results = [engine_parity.expect_result(site.engine, question) for question in QUESTIONS]
    replies = [result["reply"] for result in results if "reply" in result]
    # There is something to compare: answers, refusals, stored ones, and questions that are none.
    stored = [reply for reply in replies if reply.get("stored")]
    assert len(stored) >= 8
    assert any(reply["notes"] for reply in stored)
    modes = [reply["mode"] for reply in replies]
    assert modes.count("partial") >= 100
    assert modes.count("not-found") >= 100
    assert len(replies) < len(results)
    return results


def test_replies_in_node_equal_those_of_python(site: BrowserSite, expected: list[Result]) -> None:
    with engine_parity.asking_in_node(site) as ask:
        differences = engine_parity.describe_differences(QUESTIONS, expected, ask)
        assert not differences, differences


def test_replies_in_a_page_equal_those_of_python(
    site: BrowserSite, expected: list[Result], page: Page
) -> None:
    ask = engine_parity.asking_in_page(site, page)
    differences = engine_parity.describe_differences(QUESTIONS[::4], expected[::4], ask)
    assert not differences, differences


@pytest.mark.parametrize("text", ["OAuth2", "Is SQLitev9 an XtoY7 of miLlrace3?"])
def test_a_first_question_in_mixed_case_loads_the_words_it_is_read_by(
    site: BrowserSite, text: str
) -> None:
    # An engine that has answered before may have them already.
    questions = [Question("mixed case", text)]
    expected = [engine_parity.expect_result(site.engine, questions[0])]
    with engine_parity.asking_in_node(site) as ask:
        differences = engine_parity.describe_differences(questions, expected, ask)
        assert not differences, differences
