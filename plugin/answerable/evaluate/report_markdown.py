"""Format a gold run and its changed answers as Markdown, for a step summary or a comment."""

from collections.abc import Iterator, Sequence

from .answer_diff import AnswerChange
from .markdown import format_inline, format_table, format_word_diff
from .page_changes import PageChange
from .report import EvalReport
from .site_diff import SiteDiff
from .verdict import Verdict, VerdictStatus

# GitHub refuses a comment of more than 65,536 characters.
MAX_CHARACTERS = 60_000
# Of these for the table of verdicts, and of one text in it.
_MAX_TABLE = 20_000
_MAX_CELL = 300
_MAX_PAGES = 20

_STATUS_LABELS: dict[VerdictStatus, str] = {
    "pass": "pass",
    "fail": "**FAIL**",
    "error": "**ERROR**",
    "flaky": "**flaky**",
    "known-failure": "known failure",
    "unexpected-pass": "**unexpected pass**",
}
_PAGE_SENTENCES = {
    "gone": "{page} is gone",
    "new": "{page} is new",
    "renamed": "{page} is now {new_page}",
    "moved": "{page} has the url {url_after} instead of {url_before}",
}


def format_run(report: EvalReport) -> str:
    """Format the verdicts of a run: the counts, and a table of all that did not simply pass."""
    rows = [
        (_STATUS_LABELS[each.status], format_inline(each.id), _shorten(each.query), _explain(each))
        for each in sorted(report.verdicts, key=lambda each: each.holds)
        if each.status != "pass"
    ]
    fitting = _select_fitting(rows)
    table = format_table(("verdict", "id", "question", "why"), fitting) if fitting else ""
    if len(fitting) < len(rows):
        table += f"\n{len(rows) - len(fitting)} more are in the report, and not here.\n"
    heading = "### The gold set holds\n" if report.holds else "### The gold set does not hold\n"
    return "\n".join(filter(None, (heading, f"{summarize_counts(report)}\n", table)))


def summarize_counts(report: EvalReport) -> str:
    """Count the verdicts of a run by their status, in one sentence."""
    statuses = [each.status for each in report.verdicts]
    labels = {
        "fail": "failed",
        "error": "could not be judged",
        "flaky": "flaky",
        "unexpected-pass": "passed unexpectedly",
        "known-failure": "failed as expected",
    }
    counts = [f"{report.passed} of {report.runnable} passed ({report.tier} tier)"]
    counts += [f"{statuses.count(s)} {label}" for s, label in labels.items() if s in statuses]
    if report.skipped:
        counts.append(f"{len(report.skipped)} skipped, to which only a model can be held")
    if report.is_aborted:
        counts.append("the run was aborted")
    return f"{', '.join(counts)}."


def format_site_diff(diff: SiteDiff, *, with_run: bool = True) -> str:
    """Format what a change does to the answers, within what a comment may hold.

    with_run: say how the gold set fares too.
    """
    parts = [f"### {summarize_changes(diff, format_inline(diff.against))}\n"]
    if with_run:
        parts.append(format_run(diff.after))
    if diff.pages:
        lines = [f"- {_describe_page(change)}\n" for change in diff.pages[:_MAX_PAGES]]
        if len(diff.pages) > _MAX_PAGES:
            lines.append(f"- and {len(diff.pages) - _MAX_PAGES} more pages\n")
        parts.append("".join(lines))
    size = sum(map(len, parts))
    left_out = 0
    for change in _order_changes(diff.answers.changed):
        block = _format_change(change, has_same_judge=diff.has_same_judge)
        # One that is too long leaves its room to those after it.
        if size + len(block) > MAX_CHARACTERS:
            left_out += 1
        else:
            size += len(block)
            parts.append(block)
    if left_out:
        parts.append(f"{left_out} more changed answers are in the report, and not here.\n")
    return "\n".join(parts)


def summarize_changes(diff: SiteDiff, against: str) -> str:
    """Say in one line how many answers change. against: how the earlier state is shown."""
    answers = diff.answers
    compared = len(answers.changed) + len(answers.unchanged)
    verb = "differs" if len(answers.changed) == 1 else "differ"
    line = f"{len(answers.changed)} of {compared} answers {verb} from {against}"
    asides = [
        f"{len(ids)} {label}"
        for ids, label in (
            (answers.new, "new"),
            (answers.gone, "no longer asked"),
            (answers.uncompared, "without an answer to compare"),
        )
        if ids
    ]
    return f"{line}; {', '.join(asides)}" if asides else line


def describe_turn(change: AnswerChange, *, has_same_judge: bool) -> str:
    """Say what a change did to the parts and the verdict of an answer.

    has_same_judge: of claims; by another judge a verdict may turn without the answer.
    """
    turn = ", ".join(change.parts)
    if has_same_judge and change.before.status != change.after.status:
        turn += f"; verdict {change.before.status} → {change.after.status}"
    return turn


def _order_changes(changes: Sequence[AnswerChange]) -> list[AnswerChange]:
    """Order changes so that those which break a verdict lead."""
    return sorted(changes, key=lambda change: (not change.holds_no_longer, change.after.holds))


def _select_fitting(rows: Sequence[Sequence[str]]) -> list[Sequence[str]]:
    """Select the rows that fit into the table, each if there is room beside those before it."""
    fitting: list[Sequence[str]] = []
    size = 0
    for row in rows:
        characters = sum(map(len, row))
        if size + characters <= _MAX_TABLE:
            fitting.append(row)
            size += characters
    return fitting


def _explain(verdict: Verdict) -> str:
    """Explain a verdict to whoever may read a comment."""
    if verdict.error is not None:
        return _shorten(verdict.error)
    reasons = [_shorten(issue) for issue in verdict.public.issues]
    if verdict.known_failure:
        reasons.insert(0, f"known failure: {_shorten(verdict.known_failure)}")
    return "<br>".join(reasons)


def _shorten(text: str) -> str:
    return format_inline(text if len(text) <= _MAX_CELL else f"{text[:_MAX_CELL]}…")


def _describe_page(change: PageChange) -> str:
    values = {
        name: format_inline(value or "")
        for name, value in (
            ("page", change.page),
            ("new_page", change.new_page),
            ("url_before", change.url_before),
            ("url_after", change.url_after),
        )
    }
    return f"{change.kind}: {_PAGE_SENTENCES[change.kind].format_map(values)}"


def _format_change(change: AnswerChange, *, has_same_judge: bool) -> str:
    before, after = format_word_diff(_text(change.before), _text(change.after))
    rows = [
        (f"<b>before</b>: {_mode(change.before)}", f"<b>after</b>: {_mode(change.after)}"),
        (before, after),
        (_list_citations(change.before), _list_citations(change.after)),
    ]
    cells = "".join(
        f'<tr valign="top">{"".join(f"<td>{cell}</td>" for cell in row)}</tr>' for row in rows
    )
    turn = describe_turn(change, has_same_judge=has_same_judge)
    summary = f"{format_inline(change.after.query)} ({turn})"
    return f"<details><summary>{summary}</summary><table>{cells}</table></details>\n"


def _text(verdict: Verdict) -> str:
    return verdict.answer.text if verdict.answer else ""


def _mode(verdict: Verdict) -> str:
    return f"{verdict.mode}, {verdict.reason}" if verdict.reason else str(verdict.mode)


def _list_citations(verdict: Verdict) -> str:
    return "<br>".join(_describe_citations(verdict)) or "no citation"


def _describe_citations(verdict: Verdict) -> Iterator[str]:
    for number, citation in enumerate(verdict.answer.citations if verdict.answer else (), 1):
        yield f"[{number}] {format_inline(citation.title)} {format_inline(citation.url)}"
