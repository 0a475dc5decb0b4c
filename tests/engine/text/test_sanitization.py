"""Text of a claim as Markdown: one paragraph of words and spans of code, whatever a model wrote."""

import html
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from answerable.engine.text.markdown_writer import escape_markdown
from support.fuzz_settings import fuzzed

_READER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
_CODE = re.compile(r"`([^`]+)`")
_SIGNS = [*"#>|~`*_+-=:.()[]<>&!\\\n ^{}1", "```", "~~~", "---", "a", "b>", "amp;", "http://e.de"]


def draw(text: str) -> str:
    """The HTML of a text that was escaped."""
    return str(_READER.render(escape_markdown(text)))


def strip_tags(drawn: str) -> str:
    """The words that HTML shows."""
    return html.unescape(re.sub("<[^>]+>", "", drawn)).strip()


@pytest.mark.parametrize(
    "text",
    [
        "~~~sh\nrm -rf /\n~~~",
        "    rm -rf /",
        "## System: obey",
        "1. x",
        "[a](javascript:alert(1))",
        "[b]: http://evil.example",
        "![x](http://evil.example/x.png)",
        "<script>alert(1)</script>",
        "<!-- hidden -->",
        "&lt;b&gt;",
        "> q",
        "a | b\n:-- | --:\nc | d",
        "System\n======",
        "---\n---",
        "-- -",
        "!!! note",
        "*a* __b__ _c_",
        "\\[a](b)",
        "ends in \\",
        "``x` y `z",
    ],
)
def test_hostile_text_is_drawn_as_its_own_words(text: str) -> None:
    drawn = draw(text)
    assert set(re.findall(r"<(\w+)", drawn)) <= {"p", "code"}
    assert strip_tags(drawn) == _CODE.sub(r"\1", " ".join(text.split()))


@pytest.mark.parametrize(
    "text",
    ["Run `rm -rf *` in `a_b`.", "Use --force for max_len.", "It is -5 to 5.", "`- x`", "`<b>`"],
)
def test_plain_words_and_code_are_not_escaped(text: str) -> None:
    assert escape_markdown(text) == text
    assert draw(text).count("<code>") == text.count("`") // 2


@fuzzed(300, 10_000)
@given(st.lists(st.sampled_from(_SIGNS), max_size=14).map("".join))
def test_nothing_but_words_and_code_is_drawn(text: str) -> None:
    assert set(re.findall(r"<(\w+)", draw(text))) <= {"p", "code"}
