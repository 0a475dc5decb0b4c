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
    assert drawn(between("Use run", "hold()")) == [
        LEAD_IN, FILE, CODE
    ]  # fmt: skip
    assert drawn(between("two", "deep")) == [
        {"kind": "list", "items": [
            {"level": 0, "number": "4", "spans": [{"text": "two is next"}]},
            {"level": 1, "number": "", "spans": [{"text": "deep"}]},
        ]}
    ]  # fmt: skip


def test_code_keeps_the_spaces_that_indent_it() -> None:
    indented = {"kind": "code", "language": "python", "text": "    hold()"}
    assert drawn("hold()", text="    hold()") == [indented]
    start = PASSAGE.text.index("    hold()")
    quote = PASSAGE.text[start : start + 10]
    assert drawn(f"def run():\n{quote}") == [CODE]


def test_omitted_text_between_two_quotes_is_a_gap_block() -> None:
    assert drawn("def run():\n    hold()", "That is the end.") == [CODE, {"kind": "gap"}, END]
    both = "Use run() of the api guide: … That is the end."
    blocks = drawn("Use run() of the api guide:", "That is the end.", text=both)
    assert blocks == [LEAD_IN, {"kind": "gap"}, END]


def test_an_omitted_file_name_makes_no_gap() -> None:
    shown = drawn(between("Use run", "guide:"), "def run():\n    hold()")
    assert shown == [LEAD_IN, CODE]


def test_rows_of_one_table_are_one_table_with_its_column_names() -> None:
    blocks = drawn(between("key", "use"), "b · the second one")
    assert blocks == [
        {
            "kind": "table",
            "columns": COLUMNS,
            "rows": [[[{"text": "b"}], [{"text": "the second one"}]]],
        }
    ]


def test_column_names_of_two_words_are_cited_and_drawn() -> None:
    """They are all of a row, and a table without them is hard to read."""
    support = [{"source": "s1", "quote": quote} for quote in ("key · use", "b · the second one")]
    draft = {"claims": [{"text": "key · use\n…\nb · the second one", "evidence": support}]}
    (claim,) = enforce_contract(draft, Evidence((PASSAGE,))).claims
    assert [each.quote for each in claim.citations] == ["key · use", "b · the second one"]
    (table,) = build_claim_blocks(claim, [PASSAGE]) or []
    assert table["columns"] == COLUMNS
    assert len(table["rows"]) == 1


def test_a_claim_with_words_that_it_does_not_cite_has_no_blocks() -> None:
    """A quote of two words is too short to be cited."""
    support = [{"source": "s1", "quote": quote} for quote in ("one bold", "b · the second one")]
    draft = {"claims": [{"text": "one bold … b · the second one", "evidence": support}]}
    (claim,) = enforce_contract(draft, Evidence((PASSAGE,))).claims
    assert [citation.quote for citation in claim.citations] == ["b · the second one"]
    assert build_claim_blocks(claim, [PASSAGE]) is None


def test_an_ellipsis_of_the_page_makes_no_gap() -> None:
    html = "<p>Wait … and see … then go.</p><p>More words here.</p>"
    (passage,) = (cut.passage for cut in cut_passages(record("gap", html), PassageWindow()))
    whole = {"kind": "text", "spans": [{"text": "Wait … and see … then go."}]}
    assert drawn("Wait … and see … then go.", passage=passage) == [whole]


def test_an_ellipsis_within_a_cell_is_a_part_of_it() -> None:
    html = "<table><tr><td>wait … and see</td><td>then go</td></tr></table><p>More words here.</p>"
    (passage,) = (cut.passage for cut in cut_passages(record("gap", html), PassageWindow()))
    first, last = passage.text.split("\n\n")
    blocks = drawn(first, last, passage=passage)
    cells = [[{"text": "wait … and see"}], [{"text": "then go"}]]
    assert blocks is not None
    assert blocks[0] == {"kind": "table", "columns": [], "rows": [cells]}


def test_a_claim_in_other_words_has_no_blocks() -> None:
    assert drawn("That is the end.", text="It ends.") is None
    backwards = "That is the end. … Use run() of the api guide:"
    assert drawn("That is the end.", "Use run() of the api guide:", text=backwards) is None
    assert drawn("That is the end.", text="That is the end. Really.") is None
    plain = Passage("a", "a", "/a/", "A", PASSAGE.text)
    assert drawn("That is the end.", passage=plain) is None


def test_a_claim_of_two_passages_has_no_blocks() -> None:
    other = Passage("b", "b", "/b/", "B", "That is the end.", blocks=PASSAGE.blocks[:0])
    support = [{"source": f"s{n}", "quote": "That is the end."} for n in (1, 2)]
    draft = {"claims": [{"text": "That is the end.", "evidence": support}]}
    (claim,) = enforce_contract(draft, Evidence((PASSAGE, other))).claims
    assert build_claim_blocks(claim, [PASSAGE, other]) is None


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


def test_a_terminal_breaks_no_line_of_code() -> None:
    code = "x = " + " + ".join(f"number_{n}" for n in range(20))
    shown = printed([{"kind": "code", "language": "python", "text": code}], width=30)
    assert shown == f"    {code}\n"
    shown = printed([{"kind": "code", "language": "no-such-language", "text": "a\n\n b\n"}])
    assert shown.rstrip() == "    a\n\n     b"


def test_a_gap_is_an_ellipsis_on_a_terminal() -> None:
    assert printed([END, {"kind": "gap"}, END]) == "That is the end.\n\n…\n\nThat is the end.\n"


def test_markers_are_in_the_last_paragraph_or_after_another_block() -> None:
    assert printed(add_citation_markers([CODE, END], [1, 2])).endswith(
        "\n\nThat is the end [1][2].\n"
    )
    assert printed(add_citation_markers([END, CODE], [3])).endswith("    hold()\n\n[3]\n")


def test_markup_of_a_terminal_is_printed_as_it_is() -> None:
    spans = [{"text": "[red]a[/red] \x1b[31mb"}]
    assert printed([{"kind": "text", "spans": spans}]) == "[red]a[/red] [31mb\n"
    assert printed([{"kind": "code", "language": "", "text": "[b]\x1b]0;x\x07"}]) == "    [b]]0;x\n"


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
