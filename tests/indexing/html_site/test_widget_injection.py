"""Test the injection of the widget where scripts, comments and text only look like tags."""

import pytest

from answerable.indexing.widget import injection
from answerable.indexing.widget.injection import inject_widget

URL = "x/assets/answerable/ask-box.js"
SCRIPT = f'<script type="module" src="{URL}"></script>\n'
LINK = '<link rel="answerable" href="/ask/">\n'
WIDGET = f"{injection.WIDGET_ELEMENT}\n{SCRIPT}"


def inject(html: str) -> str:
    return inject_widget(html, URL, endpoint="/ask/")


@pytest.mark.parametrize(
    "body",
    [
        f"<!-- {SCRIPT} -->",
        f"<!-- {injection.WIDGET_ELEMENT} -->",
        "<!-- </body> -->",
        "<!--><p>a</p><!-- <answerable-ask> --!><p>b</p>",
        "<script>const html = '<answerable-ask></answerable-ask></body>';</script>",
        "<SCRIPT type=module>'<answerable-ask>' + '<!--'</SCRIPT >",
        "<style>/* <answerable-ask> */</style>",
        f"<textarea>{WIDGET}</textarea>",
        f"<template id=a>{WIDGET}</template>",
        "<svg><title/><style /></svg>",
        "<answerable-asking></answerable-asking>",
        "caf\udce9",
    ],
)
@pytest.mark.parametrize("end", ["</body></html>", ""])
def test_what_only_looks_like_a_tag_is_kept_and_not_taken_for_one(body: str, end: str) -> None:
    head = "<!doctype html><head><title>On <answerable-ask> and </head></title>"
    before = f"{head}</head><body>{body}{end}"
    after = inject(before)
    assert after == f"{head}{LINK}</head><body>{body}{WIDGET}{end}"
    assert inject(after) == after


def test_a_script_of_ours_with_a_line_break_in_it_is_known() -> None:
    before = f"<head></head><body><script src={URL}>\n</script></body>"
    assert inject(before) == f"<head>{LINK}</head><body>{WIDGET}</body>"


def test_an_element_in_capitals_is_the_only_one() -> None:
    before = "<body><ANSWERABLE-ASK></ANSWERABLE-ASK></body>"
    assert "<answerable-ask" not in inject(before)


@pytest.mark.parametrize("start", ["<!--", "<script>", "<title>"])
def test_a_page_of_stretches_without_an_end_is_read_quickly(start: str) -> None:
    assert SCRIPT in inject(f"<!doctype html><body>{start * 20_000}")
