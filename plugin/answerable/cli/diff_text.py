"""Print on a terminal or in a log which answers differ, word by word."""

from rich.console import Console
from rich.text import Text

from ..evaluate.answer_diff import AnswerChange
from ..evaluate.github_commands import defuse_commands
from ..evaluate.page_changes import PageChange
from ..evaluate.report_markdown import describe_turn, summarize_changes, summarize_counts
from ..evaluate.site_diff import SiteDiff
from ..evaluate.verdict import Verdict
from ..evaluate.word_diff import diff_words
from .render import to_plain_text

# A reader without colors sees these too.
_MARKS = {"same": "", "removed": "[-{}-]", "added": "{{+{}+}}"}
_STYLES = {"same": "", "removed": "red", "added": "green"}


def print_site_diff(diff: SiteDiff) -> None:
    """Print pages, changed answers and verdicts. No line of them is a command to a CI runner."""
    console = Console(soft_wrap=True)
    for change in diff.pages:
        _print_line(console, f"page {_describe_page(change)}")
    for answer_change in diff.answers.changed:
        _print_change(console, answer_change, has_same_judge=diff.has_same_judge)
    for label, ids in (("New", diff.answers.new), ("No longer asked", diff.answers.gone)):
        if ids:
            _print_line(console, f"{label}: {', '.join(ids)}")
    for verdict in diff.after.verdicts:
        if not verdict.holds:
            _print_line(console, _describe_failure(verdict))
    _print_line(console, f"{summarize_changes(diff, diff.against)}.")
    _print_line(console, summarize_counts(diff.after))


def _print_line(console: Console, line: str, style: str = "") -> None:
    console.print(to_plain_text(defuse_commands(line)), style=style)


def _print_change(console: Console, change: AnswerChange, *, has_same_judge: bool) -> None:
    _print_line(console, f"{change.after.id}: {change.after.query}", "bold")
    turn = describe_turn(change, has_same_judge=has_same_judge)
    _print_line(console, f"  changed: {turn}")
    if "mode" in change.parts:
        _print_line(console, f"  mode: {change.before.mode} → {change.after.mode}")
    if "text" in change.parts:
        console.print(_render_words(change))
    if (before := _list_urls(change.before)) != (after := _list_urls(change.after)):
        _print_line(console, f"  cited: {before}")
        _print_line(console, f"  cites: {after}")
    console.print()


def _render_words(change: AnswerChange) -> Text:
    """Render both texts as one, with marks around words that only one of them has."""
    before = change.before.answer.text if change.before.answer else ""
    after = change.after.answer.text if change.after.answer else ""
    text = Text()
    for piece in diff_words(defuse_commands(before), defuse_commands(after)):
        marked = _MARKS[piece.change].format(piece.word) if piece.change != "same" else piece.word
        space = piece.space.replace("\n", "\n    ")
        plain = to_plain_text(marked.replace("\n", "\n    "))
        plain.stylize(_STYLES[piece.change])
        text.append_text(plain).append(space)
    return Text("    ").append_text(text)


def _list_urls(verdict: Verdict) -> str:
    citations = verdict.answer.citations if verdict.answer else ()
    return ", ".join(citation.url for citation in citations) or "nothing"


def _describe_failure(verdict: Verdict) -> str:
    return f"{verdict.status.upper()} {verdict.id}: {verdict.outcome}"


def _describe_page(change: PageChange) -> str:
    match change.kind:
        case "renamed":
            return f"renamed: {change.page} → {change.new_page}"
        case "moved":
            return f"moved: {change.page}, {change.url_before} → {change.url_after}"
    return f"{change.kind}: {change.page}"
