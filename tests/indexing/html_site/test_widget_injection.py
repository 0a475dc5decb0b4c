"""Test the injection of the widget: once, and not where only something looks like a tag."""

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
    ("before", "after"),
    [
        ("<head></head><body>a</body>", f"<head>{LINK}</head><body>a{WIDGET}</body>"),
        ("<HEAD></HEAD><BODY>a</BODY>", f"<HEAD>{LINK}</HEAD><BODY>a{WIDGET}</BODY>"),
        ("<!DOCTYPE html><p>a", f"<!DOCTYPE html><p>a{WIDGET}{LINK}"),
        ("<p>a fragment", "<p>a fragment"),
        (
            "<head><link href=/old/ rel=answerable></head>"
            "<body>a<answerable-ask x></answerable-ask>"
            f"<script src=../assets/answerable/ask-box.js type=module>\n</script>{SCRIPT}</body>",
            f"<head>{LINK}</head><body>a<answerable-ask x></answerable-ask>{SCRIPT}</body>",
        ),
    ],
)
def test_the_widget_is_put_in_once(before: str, after: str) -> None:
    assert inject(before) == after
    assert inject(after) == after


def test_a_link_is_left_where_no_endpoint_is_told() -> None:
    html = f"<head>{LINK}</head><body></body>"
    assert LINK in inject_widget(html, "x.js", endpoint=None, element=None)


@pytest.mark.parametrize(
    "body",
    [
        f"<!-- {WIDGET} -->",
        "<!-- </body> -->",
        "<!--><p>a</p><!-- <answerable-ask> --!><p>b</p>",
        "<SCRIPT type=module>'<answerable-ask></answerable-ask></body>' + '<!--'</SCRIPT >",
        "<style>/* <answerable-ask> */</style>",
        f"<textarea>{WIDGET}</textarea>",
        f"<template id=a>{WIDGET}</template>",
        "<answerable-asking></answerable-asking>",
        "caf\udce9",
    ],
)
def test_what_only_looks_like_a_tag_is_kept_and_not_taken_for_one(body: str) -> None:
    head = "<!doctype html><head><title>On <answerable-ask> and </head></title>"
    for end in ("</body></html>", ""):
        after = inject(f"{head}</head><body>{body}{end}")
        assert after == f"{head}{LINK}</head><body>{body}{WIDGET}{end}"
        assert inject(after) == after
