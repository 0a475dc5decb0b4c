"""Verbatim claims with the structure of their page: on the wire and on a terminal."""

import io
from typing import Any

from rich.console import Console

from answerable.cli.render import add_citation_markers, print_blocks
from answerable.indexing.pages.passages import PassageWindow, cut_passages
from answerable.serve.answers.contract import enforce_contract
from answerable.serve.answers.wire import build_claim_blocks
from answerable.serve.types import Evidence, Passage
from support.doubles import record

PAGE = """
<p>Use <code>run()</code> of <a href="../api/#run">the <code>api</code> guide</a>:</p>
<div class="language-python highlight"><span class="filename">hold.py</span><pre><code>def run():
    hold()
</code></pre></div>
<div class="tabbed-set"><input><label>Linux</label><div class="tabbed-content"><ol start=3>
<li>one <b>bold</b><li>two is next<ul><li>deep</ul></ol></div></div>
<table><tr><th>key<th>use</tr><tr><td><code>a</code><td>first</tr><tr><td>b<td>the second one</tr>
<tr><td>c<td></tr></table>
<p>That is the end.</p>
"""
(PASSAGE,) = (cut.passage for cut in cut_passages(record("hold", PAGE), PassageWindow()))


def span_of(*words: str) -> tuple[int, int]:
    """The range from the first of some words to the last."""
    return PASSAGE.text.index(words[0]), PASSAGE.text.index(words[-1]) + len(words[-1])


def drawn(*quotes: str, text: str = "", passage: Passage = PASSAGE) -> list[dict[str, Any]] | None:
    """The blocks of a claim of some quotes of one passage, settled."""
    support = [{"source": "s1", "quote": quote} for quote in quotes]
    draft = {"claims": [{"text": text or "\n…\n".join(quotes), "evidence": support}]}
    settled = enforce_contract(draft, Evidence((passage,)))
    (claim,) = settled.claims
    return build_claim_blocks(claim, [passage])


def between(first: str, last: str) -> str:
    start, end = span_of(first, last)
    return PASSAGE.text[start:end]


LEAD_IN = {
    "kind": "text",
    "spans": [
        {"text": "Use "},
        {"text": "run()", "code": True},
        {"text": " of "},
        {"text": "the ", "href": "/api/#run"},
        {"text": "api", "href": "/api/#run", "code": True},
        {"text": " guide", "href": "/api/#run"},
        {"text": ":"},
    ],
}
CODE = {"kind": "code", "language": "python", "text": "def run():\n    hold()"}
FILE = {"kind": "label", "label": "file", "spans": [{"text": "hold.py"}]}
TAB = {"kind": "label", "label": "tab", "spans": [{"text": "Linux"}]}
LIST = {
    "kind": "list",
    "items": [
        {"level": 0, "number": "3", "spans": [{"text": "one bold"}]},
        {"level": 0, "number": "4", "spans": [{"text": "two is next"}]},
        {"level": 1, "number": "", "spans": [{"text": "deep"}]},
    ],
}
COLUMNS = [[{"text": "key"}], [{"text": "use"}]]
TABLE = {
    "kind": "table",
    "columns": COLUMNS,
    "rows": [
        [[{"text": "a", "code": True}], [{"text": "first"}]],
        [[{"text": "b"}], [{"text": "the second one"}]],
        [[{"text": "c"}], []],
    ],
}
END = {"kind": "text", "spans": [{"text": "That is the end."}]}


def test_a_whole_passage_is_drawn_as_its_page_is() -> None:
    assert drawn(PASSAGE.text) == [LEAD_IN, FILE, CODE, TAB, LIST, TABLE, END]


def test_a_quote_of_a_part_is_drawn_as_that_part() -> None:
    assert drawn(between("Use run", "hold()")) == [LEAD_IN, FILE, CODE]
    assert drawn(between("two", "deep")) == [
        {"kind": "list", "items": [
            {"level": 0, "number": "4", "spans": [{"text": "two is next"}]},
            {"level": 1, "number": "", "spans": [{"text": "deep"}]},
        ]}
    ]  # fmt: skip


def test_code_keeps_the_spaces_that_indent_it() -> None:
    indented = {"kind": "code", "language": "python", "text": "    hold()"}
    assert drawn("hold()", text="    hold()") == [indented]


def test_omitted_text_between_two_quotes_is_a_gap() -> None:
    blocks = drawn("def run():\n    hold()", "That is the end.")
    assert blocks == [CODE, {"kind": "gap"}, END]
    assert printed(blocks).endswith("\n\n…\n\nThat is the end.\n")


def test_rows_of_one_table_are_one_table_with_its_column_names() -> None:
    blocks = drawn(between("key", "use"), "b · the second one")
    assert blocks == [
        {
            "kind": "table",
            "columns": COLUMNS,
            "rows": [[[{"text": "b"}], [{"text": "the second one"}]]],
        }
    ]


def test_a_claim_in_other_words_has_no_blocks() -> None:
    assert drawn("That is the end.", text="It ends.") is None
    backwards = "That is the end. … Use run() of the api guide:"
    assert drawn("That is the end.", "Use run() of the api guide:", text=backwards) is None
    plain = Passage("a", "a", "/a/", "A", PASSAGE.text)
    assert drawn("That is the end.", passage=plain) is None


def test_no_control_character_leaves_in_a_block() -> None:
    html = "<p>Mind \u202ethe\u202c <code>gap\x07</code> here.</p><pre>\ta\u2066b\x1b[2J</pre>"
    (passage,) = (cut.passage for cut in cut_passages(record("odd", html), PassageWindow()))
    blocks = drawn(passage.text, passage=passage)
    assert blocks == [
        {"kind": "text", "spans": [{"text": "Mind the "}, {"text": "gap", "code": True},
                                   {"text": " here."}]},
        {"kind": "code", "language": "", "text": "    ab[2J"},
    ]  # fmt: skip


def printed(blocks: list[dict[str, Any]], width: int = 60) -> str:
    stream = io.StringIO()
    print_blocks(Console(file=stream, width=width, color_system=None), blocks)
    return "\n".join(line.rstrip() for line in stream.getvalue().split("\n"))


def test_a_terminal_shows_the_structure() -> None:
    blocks = drawn(PASSAGE.text)
    assert blocks is not None
    assert (
        printed(blocks)
        == """\
Use run() of the api guide:

hold.py
    def run():
        hold()

Linux
3. one bold
4. two is next
  • deep

┏━━━━━┳━━━━━━━━━━━━━━━━┓
┃ key ┃ use            ┃
┡━━━━━╇━━━━━━━━━━━━━━━━┩
│ a   │ first          │
│ b   │ the second one │
│ c   │                │
└─────┴────────────────┘

That is the end.
"""
    )


def test_markers_are_in_the_last_paragraph_or_after_another_block() -> None:
    assert printed(add_citation_markers([CODE, END], [1, 2])).endswith(
        "\n\nThat is the end [1][2].\n"
    )
    assert printed(add_citation_markers([END, CODE], [3])).endswith("    hold()\n\n[3]\n")


def test_code_that_is_cut_within_a_line_is_not_drawn_as_code() -> None:
    html = (
        "<p>Take <code>git push --dry-run</code> first.</p><pre>cd /srv\nrm -rf ./spool/tmp</pre>"
    )
    (passage,) = (cut.passage for cut in cut_passages(record("cut", html), PassageWindow()))
    assert drawn("rm -rf", passage=passage) == [
        {"kind": "text", "spans": [{"text": "rm -rf"}]}, {"kind": "gap"}
    ]  # fmt: skip
    assert drawn("Take git push", passage=passage) == [
        {"kind": "text", "spans": [{"text": "Take "}, {"text": "git push"}]}
    ]
    line = {"kind": "code", "language": "", "text": "rm -rf ./spool/tmp"}
    assert drawn("rm -rf ./spool/tmp", passage=passage) == [line]
