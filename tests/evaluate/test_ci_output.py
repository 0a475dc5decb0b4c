"""Tell CI services of a run: annotations, JUnit XML and Markdown, whatever their texts hold."""

from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from selectolax.lexbor import LexborHTMLParser

from answerable.cli.eval import _print_report
from answerable.evaluate.diff import (
    ComparedPage,
    SiteDiff,
    compare_pages,
    format_diff_markdown,
    format_run_markdown,
)
from answerable.evaluate.gold import locate_queries
from answerable.evaluate.judge import JudgedAnswer, judge_answer
from answerable.evaluate.page import (
    Card,
    defuse_commands,
    format_annotation,
    format_cards_table,
    format_inline,
    format_word_diff,
)
from answerable.evaluate.question_file import load_questions
from answerable.evaluate.report import EvalReport
from answerable.evaluate.run_page import render_junit
from answerable.evaluate.verdict import CallUsage, RecordedAnswer
from answerable.serve.errors import GoldError
from support.eval_reports import report, row

MARKDOWN = MarkdownIt("commonmark").enable(["table", "strikethrough"])
# What Markdown, HTML and GitHub give a meaning to, and words to put it between.
TEXTS = st.text(st.sampled_from("ab1 \n&<>\"'`*_[](){}#+-.!|~:/@$\\=^;%,\t"), max_size=40)


def read_text(tree: LexborHTMLParser, selector: str) -> str:
    """The text of the only element that a selector matches."""
    (node,) = tree.css(selector)
    return str(node.text())


def render(markdown: str) -> LexborHTMLParser:
    return LexborHTMLParser(MARKDOWN.render(markdown))


@given(TEXTS)
def test_inline_text_is_shown_as_it_is_and_makes_no_markup(text: str) -> None:
    tree = render(f"- before {format_inline(text)} after")
    assert [node.tag for node in tree.css("body *")] == ["ul", "li", "code"]
    assert read_text(tree, "code") == " ".join(text.split())
    assert read_text(tree, "li").startswith("before")


@given(TEXTS)
def test_cells_of_a_table_stay_in_their_columns(text: str) -> None:
    card = Card(title=text, name="x", label="pass", outcome=text)
    tree = render(format_cards_table([card]))
    cells = [node.text() for node in tree.css("td")]
    words = " ".join(text.split())
    assert cells == ["pass", "x", words, words]


@given(TEXTS, TEXTS)
def test_blocks_of_a_word_diff_hold_both_texts(before: str, after: str) -> None:
    blocks = format_word_diff(before, after)
    for block, text in zip(blocks, (before, after), strict=True):
        tree = render(f"<details><table><tr><td>{block}</td></tr></table></details>\n\nend")
        assert {node.tag for node in tree.css("td *")} <= {"code", "br", "del", "ins"}
        assert {node.tag for node in tree.css("td > *")} <= {"code", "br"}
        # All of it is in code, where GitHub links no name.
        shown = " ".join(node.text() for node in tree.css("td code"))
        assert "".join(shown.split()) == "".join(text.split())
        assert "end" in [node.text() for node in tree.css("p")]


def unescape(text: str) -> str:
    """Decode as GitHub's runner does (actions/runner, ActionCommand.cs)."""
    for code, character in (("%3A", ":"), ("%2C", ","), ("%0D", "\r"), ("%0A", "\n"), ("%25", "%")):
        text = text.replace(code, character)
    return text


@given(TEXTS, TEXTS)
def test_annotation_is_one_line_that_a_runner_reads_back(title: str, message: str) -> None:
    line = format_annotation("error", message, file="eval/gold.yaml", line=3, title=f"t{title}")
    assert "\n" not in line
    command, _, data = line.removeprefix("::").partition("::")
    assert unescape(data) == message
    name, _, properties = command.partition(" ")
    fields = dict(field.split("=", 1) for field in properties.split(","))
    assert name == "error"
    assert {key: unescape(value) for key, value in fields.items()} == {
        "file": "eval/gold.yaml", "line": "3", "title": f"t{title}",
    }  # fmt: skip


def test_printed_text_is_no_workflow_command() -> None:
    printed = defuse_commands("fine\n  ::error::x\n##[add-mask]x\nhttps://a::b")
    assert printed == "fine\n|   ::error::x\n# #[add-mask]x\nhttps://a::b"


STATUSES = report(
    row("fine"),
    row("lost", "top source is not 'a'", "expected \x00 <more> & more"),
    replace(row("down"), error="the server timed out", answer=None),
    replace(row("old", "answer mode 'not-found'"), known_failure="needs a model"),
    replace(row("mended"), known_failure="needs a page", usage=CallUsage(1, 2, 0.25)),
)


def test_junit_has_an_outcome_for_each_status() -> None:
    whole = replace(STATUSES, skipped=("model-only",), total=6)
    root = ElementTree.fromstring(render_junit(whole, Path("eval/gold.yaml")))
    (suite,) = root
    assert suite.attrib == {
        "name": "full tier", "tests": "6", "failures": "2", "errors": "1", "skipped": "2",
        "time": "0.25",
    }  # fmt: skip
    outcomes = {case.get("name"): [child.tag for child in case] for case in suite}
    assert outcomes == {
        "fine": [], "lost": ["failure"], "down": ["error"], "old": ["skipped"],
        "mended": ["failure"], "model-only": ["skipped"],
    }  # fmt: skip
    failure = suite.find("testcase[@name='lost']/failure")
    assert failure is not None
    assert failure.get("message") == "top source is not 'a'; expected  <more> & more"
    assert {case.get("file") for case in suite} == {"eval/gold.yaml"}


def test_junit_of_an_aborted_run_has_an_error() -> None:
    root = ElementTree.fromstring(render_junit(report(row("fine"), total=3), Path("gold.yaml")))
    assert root[0].get("errors") == "1"
    [error] = root.findall(".//testcase/error")
    assert "aborted" in error.attrib["message"]


def test_lines_of_a_gold_file_are_no_commands_to_a_ci_service(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    verdict = replace(row("lost", "an issue"), note="first\n::error::INJECTED\n##[group]x")
    _print_report(report(verdict), None, as_json=False)
    printed = capsys.readouterr().out
    assert "INJECTED" in printed
    assert not [line for line in printed.splitlines() if line.lstrip().startswith("::")]
    assert "##[" not in printed


def test_summary_tells_statuses_apart() -> None:
    markdown = format_run_markdown(STATUSES)
    assert "### The gold set does not hold" in markdown
    assert "1 of 5 passed (full tier)" in markdown
    rows = [[cell.text() for cell in line.css("td")][:2] for line in render(markdown).css("tr")]
    assert rows[1:] == [
        ["FAIL", "lost"], ["ERROR", "down"], ["unexpected pass", "mended"],
        ["known failure", "old"],
    ]  # fmt: skip


def test_comment_of_a_large_change_fits_and_says_what_it_leaves_out() -> None:
    def make_run(word: str) -> EvalReport:
        verdicts = (
            replace(
                row(f"q{number}", *[f"issue {'#' * 400}"] * (number % 2)),
                answer=RecordedAnswer(f"{word} " * 300),
            )
            for number in range(300)
        )
        return report(*verdicts)

    pages = {f"page-{number}": ComparedPage(f"/{number}/", frozenset()) for number in range(100)}
    gone = compare_pages(pages, {}, is_whole=True)
    diff = SiteDiff("main", None, make_run("old"), make_run("new"), gone)
    markdown = format_diff_markdown(diff)
    assert len(markdown) < 65_536
    assert "300 of 300 answers differ from <code>main</code>" in markdown
    assert "more are in the report, and not here." in markdown
    assert "more changed answers are in the report, and not here." in markdown
    assert "and 80 more pages" in markdown


def test_one_large_change_leaves_room_for_the_small_ones() -> None:
    def make_run(word: str, *issue: str) -> EvalReport:
        sizes = {"huge": 20_000} | {f"tiny-{number}": 1 for number in range(5)}
        verdicts = (
            replace(row(name, *issue), answer=RecordedAnswer(f"{word}{name}" * size))
            for name, size in sizes.items()
        )
        return report(*verdicts)

    markdown = format_diff_markdown(SiteDiff("main", None, make_run("old"), make_run("new"), ()))
    assert len(markdown) < 65_536
    summaries = [node.text() for node in render(markdown).css("summary code")]
    assert summaries == [f"What is tiny-{number}?" for number in range(5)]
    assert "1 more changed answers are in the report" in markdown
    # The same in the table of verdicts, whose texts are shortened each, and an id is not.
    rows = (row("huge" * 6_000, "lost"), *(row(f"tiny-{number}", "lost") for number in range(5)))
    table = format_run_markdown(report(*rows))
    assert [table.count(f"<code>tiny-{number}</code>") for number in range(5)] == [1] * 5
    assert "1 more are in the report, and not here." in table


def test_turn_of_a_verdict_by_another_judge_is_not_shown() -> None:
    before = report(replace(row("a"), answer=RecordedAnswer("old")))
    after = report(replace(row("a", "the judge says no"), answer=RecordedAnswer("new")))
    shown = format_diff_markdown(SiteDiff("main", None, before, after, ()), with_run=False)
    assert "verdict pass → fail" in shown
    judged = replace(after, judge="honest-judge")
    shown = format_diff_markdown(SiteDiff("main", None, before, judged, ()), with_run=False)
    assert "verdict" not in shown


def test_aborted_run_that_began_with_an_error_was_judged_in_part() -> None:
    failed = replace(row("down"), error="answer: no key")
    assert report(failed).is_unjudged
    assert not report(failed, total=3).is_unjudged


def test_queries_are_located_by_their_lines(tmp_path: Path) -> None:
    gold = tmp_path / "gold.yaml"
    gold.write_text(
        "# Ours\nqueries:\n  - id: one\n    query: One?\n\n  - query: Two?\n    id: 'two'\n"
    )
    assert locate_queries(gold) == {"one": 3, "two": 6}
    gold.write_text("- id: three\n  query: Three?\n")
    assert locate_queries(gold) == {"three": 1}
    gold.write_text("queries: [")
    assert locate_queries(gold) == {}
    assert locate_queries(tmp_path / "none.yaml") == {}


@pytest.mark.parametrize(
    ("text", "message"),
    [("", "holds no question"), ("# only this\n\n", "holds no question"), ("x" * 501, "line 1: ")],
)
def test_file_without_a_question_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "questions.txt"
    path.write_text(text)
    with pytest.raises(GoldError, match=message):
        load_questions(path)


def test_questions_have_the_ids_of_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "questions.txt"
    path.write_text("\n# Read\nHow thick?\n  How long?  \nHow thick?\n")
    assert [(each.id, each.query) for each in load_questions(path)] == [
        ("line-3", "How thick?"), ("line-4", "How long?"),
    ]  # fmt: skip
    # They require nothing, whatever a claim and its quote say of each other.
    conflict = ("A chain is not long.", "A chain is long.")
    answer = JudgedAnswer(
        "partial", "A chain is not long.", cites_records=True, cites_hints=False,
        conflicts=(conflict,),
    )  # fmt: skip
    assert [judge_answer(each, answer) for each in load_questions(path)] == [[], []]
