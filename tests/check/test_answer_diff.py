"""Two runs compared answer by answer, and in Markdown whatever their texts hold."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from selectolax.lexbor import LexborHTMLParser

from answerable.check.diff import (
    compare_runs,
    format_diff_markdown,
    mark_changes,
)
from answerable.check.report import (
    EvalReport,
    RecordedAnswer,
    RecordedCitation,
    Verdict,
    format_run_markdown,
)
from support.eval_reports import report, row

MARKDOWN = MarkdownIt("commonmark").enable(["table", "strikethrough"])
# What Markdown, HTML and GitHub give a meaning to, and words to put it between.
TEXTS = st.text(st.sampled_from("ab1 \n&<>\"'`*_[](){}#+-.!|~:/@$\\=^;%,\t"), max_size=40)
RECORD = RecordedCitation("record", "mooring#chains", "/mooring/#chains", "Chains", "It is thick.")
HINT = RecordedCitation("hint", "note:0123456789", "/mooring/", "Plans")


def answered(name: str, text: str, *citations: RecordedCitation) -> Verdict:
    return replace(row(name), answer=RecordedAnswer("partial", text, None, citations))


BEFORE = answered("chain", "The chain is thick [1].", RECORD)


def parts(after: Verdict) -> tuple[str, ...]:
    changes = compare_runs("main", report(BEFORE), report(after)).changed
    return changes[0].parts if changes else ()


def render(markdown: str) -> LexborHTMLParser:
    return LexborHTMLParser(MARKDOWN.render(markdown))


def test_a_change_of_text_mode_or_citations_is_a_changed_answer() -> None:
    assert parts(answered("chain", "The chain is thin [1].", RECORD)) == ("text",)
    assert BEFORE.answer
    assert parts(replace(BEFORE, answer=replace(BEFORE.answer, mode="supported"))) == ("mode",)
    moved = answered("chain", "The chain is thick [1].", replace(RECORD, url="/b/#b"))
    assert parts(moved) == ("citations",)
    assert parts(answered("chain", "No.", HINT)) == ("text", "citations")


def test_spaces_ids_and_quotes_are_no_change() -> None:
    assert parts(answered("chain", "The chain  is\nthick [1].", RECORD)) == ()
    other = replace(RECORD, id="mooring#chains~2", quote="It is.")
    assert parts(answered("chain", "The chain is thick [1].", other)) == ()


def test_reworded_query_is_new_and_renamed_query_is_compared() -> None:
    reworded = replace(BEFORE, query="How thick is it?")
    diff = compare_runs("main", report(BEFORE), report(reworded))
    assert (diff.new, diff.gone, diff.changed) == (("chain",), ("chain",), ())
    other = report(replace(BEFORE, id="thickness"))
    renamed = compare_runs("main", report(BEFORE), other)
    assert (renamed.unchanged, renamed.new, renamed.gone) == (("thickness",), (), ())


def test_verdict_without_an_answer_is_not_compared() -> None:
    failed_call = replace(BEFORE, answer=None, status="error")
    diff = compare_runs("main", report(BEFORE), report(failed_call))
    assert diff.uncompared == ("chain",)


def test_word_diff_marks_the_words_that_differ() -> None:
    assert mark_changes("It is twelve mm.", "It is ten\nmm.") == "It is [-twelve-] {+ten+}\nmm."
    assert mark_changes("鎖の太さ", "鎖の長さ") == "鎖の[-太-]{+長+}さ"


@pytest.mark.deep
@given(TEXTS, TEXTS)
def test_no_text_of_a_run_is_markup(before: str, after: str) -> None:
    first, second = report(row("a", text=before)), report(row("a", text=after))
    failed = report(replace(row("x", before), query=after))
    for comment in (
        format_diff_markdown(compare_runs(before, first, second)),
        format_run_markdown(failed),
    ):
        tree = render(f"{comment}\nend")
        assert {node.tag for node in tree.css("body *")} == {"h3", "p", "pre", "code"}
        assert tree.css("p")[-1].text() == "end"


def test_a_comment_shows_what_differs_and_nothing_of_a_page_is_markup() -> None:
    hostile = "```\n</details>\n# @octocat <img src=x>"
    first, second = report(row("a", text=f"Old. {hostile}")), report(row("a", text=hostile))
    tree = render(format_diff_markdown(compare_runs("main", first, second)))
    assert "[-Old.-] ```\n  </details>\n  # @octocat <img src=x>" in tree.css("pre")[0].text()
    assert tree.css("img, h1") == []


def test_comment_of_a_large_change_fits_and_says_what_it_leaves_out() -> None:
    def make_run(word: str) -> EvalReport:
        sizes = [20_000] + [300] * 300
        return report(*(row(f"q{n}", text=f"{word} " * size) for n, size in enumerate(sizes)))

    pages = tuple(f"gone: page-{number}" for number in range(100))
    markdown = format_diff_markdown(compare_runs("main", make_run("old"), make_run("new"), pages))
    assert len(markdown) < 65_536
    assert "301 of 301 answers differ from main." in markdown
    assert "more changes are in the report, and not here." in markdown
    # One that is too long leaves its room to those after it.
    assert "q0: " not in markdown
    assert "q1: " in markdown


def test_aborted_run_that_began_with_an_error_was_judged_in_part() -> None:
    failed = replace(row("down", "answer: no key"), status="error")
    assert report(failed).is_unjudged
    assert not report(failed, total=3).is_unjudged
