"""Verbatim claims keep the Markdown of their passage: on the wire and on a terminal."""

import pytest

from answerable.cli.render import print_markdown
from answerable.engine.answers.contract import enforce_contract
from answerable.engine.answers.wire import mark_claim
from answerable.engine.types import Evidence
from answerable.indexing.pages.passages import PassageWindow, cut_passages
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
<p>Take <code>git push --dry-run</code> first.</p>
"""
(PASSAGE,) = (cut.passage for cut in cut_passages(record("hold", PAGE), PassageWindow()))
CODE = "def run():\n    hold()"


def between(first: str, last: str) -> str:
    return PASSAGE.text[PASSAGE.text.index(first) : PASSAGE.text.index(last) + len(last)]


def drawn(*quotes: str, text: str = "") -> str:
    """The Markdown of a claim of some quotes of the passage."""
    support = [{"source": "s1", "quote": quote} for quote in quotes]
    draft = {"claims": [{"text": text or "\n…\n".join(quotes), "evidence": support}]}
    (claim,) = enforce_contract(draft, Evidence((PASSAGE,))).claims
    return claim.markdown


def test_a_whole_passage_is_its_markdown() -> None:
    assert drawn(PASSAGE.text) == PASSAGE.markdown
    assert (
        PASSAGE.markdown
        == """\
Use `run()` of [the `api` guide](/api/#run):

```python title="hold.py"
def run():
    hold()
```

=== "Linux"

    3. one bold
    4. two is next
        - deep

| key | use |
| --- | --- |
| `a` | first |
| b | the second one |
| c |  |

Take `git push --dry-run` first."""
    )


@pytest.mark.parametrize(
    ("quotes", "markdown"),
    [
        ([between("two", "deep")], "    4. two is next\n        - deep"),
        (["hold()"], "```python\n    hold()\n```"),
        ([CODE, "Take git push --dry-run first."],
         f"```python\n{CODE}\n```\n\n…\n\nTake `git push --dry-run` first."),
        ([between("key", "use"), "b · the second one"],
         "| key | use |\n| --- | --- |\n| b | the second one |"),
        (["Take git push"], "Take git push"),
        ([CODE.replace("run", "`run`")], f"```python\n{CODE}\n```"),
    ],
)  # fmt: skip
def test_a_quote_is_the_markdown_of_its_words(quotes: list[str], markdown: str) -> None:
    text = "\n…\n".join(quotes).replace("`", "")
    assert drawn(*quotes, text=text) == markdown


@pytest.mark.parametrize("copy", [f"```python\n{CODE}\n```", CODE])
def test_an_excerpt_may_be_copied_as_markdown(copy: str) -> None:
    assert drawn(copy, text=copy) == f"```python\n{CODE}\n```"


@pytest.mark.parametrize(
    "copy",
    [
        "| b | the second",
        "b | the second one |",
        "| `a` | first |\n| b | the second",
        "| key | use |\n| --- | --- |\n| b | the second one |",
    ],
)
def test_a_row_may_be_cut_where_it_is_quoted(copy: str) -> None:
    support = [{"source": "s1", "quote": copy}]
    draft = {"claims": [{"text": "The second one is b.", "evidence": support}]}
    (claim,) = enforce_contract(draft, Evidence((PASSAGE,))).claims
    assert any("the second" in citation.quote for citation in claim.citations)


@pytest.mark.parametrize(
    ("html", "copy"),
    [
        (
            "<pre><code>cat x.txt | grep y | sort</code></pre>",
            "```\ncat x.txt | grep y | sort\n```",
        ),
        (
            '<p>The <a href="/x/">type</a> is <code>int | None</code> here.</p>',
            "The [type](/x/) is `int | None` here.",
        ),
        ("<ul><li>Use <code>a | b</code> to pipe.</li></ul>", "- Use `a | b` to pipe."),
    ],
)
def test_a_bar_is_no_row_where_words_stand(html: str, copy: str) -> None:
    (passage,) = (cut.passage for cut in cut_passages(record("bar", html), PassageWindow()))
    draft = {"claims": [{"text": "It is so.", "evidence": [{"source": "s1", "quote": copy}]}]}
    assert enforce_contract(draft, Evidence((passage,))).claims


def test_a_claim_in_other_words_is_one_escaped_line() -> None:
    said = "Use run() *first*, then `run()`"
    assert drawn("Use run() of the api guide:", text=said) == "Use run() \\*first\\*, then `run()`"


def test_no_control_character_is_in_a_passage() -> None:
    html = "<p>Mind \u202ethe\u202c <code>gap\x07</code> here.</p><pre>\ta\u2066b\x1b[2J</pre>"
    (passage,) = (cut.passage for cut in cut_passages(record("odd", html), PassageWindow()))
    assert passage.markdown == "Mind the `gap` here.\n\n```\n    ab[2J\n```"


def test_a_terminal_wraps_paragraphs_and_no_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "30")
    code = "```\na line of code that is longer than the terminal\n```"
    print_markdown(f"{code}\n\n    - an item of words that are wrapped")
    assert capsys.readouterr().out == (f"{code}\n\n    - an item of words that\n    are wrapped\n")


def test_markers_are_in_the_only_line_or_after_the_blocks() -> None:
    assert mark_claim("That is the end.", [1, 2]) == "That is the end [1][2]."
    assert mark_claim("```\nx\n```", [3]) == "```\nx\n```\n\n[3]"
