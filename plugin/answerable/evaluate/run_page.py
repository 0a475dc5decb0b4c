"""A gold run as a page of verdicts, metrics and plots, and as JUnit XML."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

import junitparser

from ..indexing.output.files import write_file
from .page import Card, Link, Page, Plot, ReportSection, Side, Table, Tone, render_html_page
from .report import AnswerChange, EvalReport, diff_answers, diff_reports
from .verdict import CallUsage, Verdict, VerdictStatus, compute_metrics, compute_metrics_by_tag

STATUS_LABELS: Mapping[VerdictStatus, tuple[str, Tone]] = {
    "pass": ("pass", "good"),
    "fail": ("FAIL", "bad"),
    "error": ("ERROR", "bad"),
    "flaky": ("flaky", "bad"),
    "known-failure": ("known failure", "warn"),
    "unexpected-pass": ("unexpected pass", "bad"),
}

_SHARE_LABELS = {
    "recall": "expected sources retrieved",
    "precision": "retrieved items that are of an expected source",
    "answered": "questions that got an answer",
    "refused": "questions refused as required",
    "quoted": "drafted claims whose quotes were found",
}
# Characters that XML 1.0 cannot hold, not even as references.
_NOT_XML = dict.fromkeys([*(set(range(32)) - {9, 10, 13}), *range(0xD800, 0xE000), 0xFFFE, 0xFFFF])


def summarize_report(report: EvalReport) -> str:
    """Count the verdicts of a run by their status, in one sentence."""
    counts = {
        "known to fail": len(report.list_ids("known-failure")),
        "passed unexpectedly": len(report.list_ids("unexpected-pass")),
        "failed": len(report.list_ids("fail")),
        "flaky": len(report.list_ids("flaky")),
        "not judged, because a call failed": len(report.errors),
        "skipped: only an answer model can be held to those": len(report.skipped),
    }
    parts = [f"{report.passed} of {report.runnable} passed ({report.tier} tier)"]
    parts += [f"{count} {label}" for label, count in counts.items() if count]
    if count := len(report.half_judged):
        parts.append(f"the answers to {count} not judged (--full judges them)")
    parts += ["and the run was aborted"] if report.is_aborted else []
    return ", ".join(parts)


def make_run_page(
    report: EvalReport, previous: EvalReport | None, against: EvalReport | None = None
) -> Page:
    """Lay out a run as a page: verdicts, metrics, what has changed, and what the floor trades.

    previous: the run that it is compared with. against: the same queries, asked of another model.
    """
    sections = [
        ReportSection("Verdicts", cards=make_verdict_cards(report, previous)),
        _make_metrics_section(report),
    ]
    if previous:
        sections.append(ReportSection("What has changed", _describe_changes(report, previous)))
    if against:
        sections.append(_compare_models(report, against))
    if plot := _plot_floor(report):
        sections.append(ReportSection("What the floor trades", plot=plot))
    facts = {
        "Tier": report.tier,
        "Bundle": report.bundle[:12],
        "Embedder": report.embedder,
        "Answers": f"{report.answers}, prompt {report.prompt}",
        "Floors": f"{report.floor:g} for passages, {report.note_floor:g} for hints",
        "Made at": report.made_at,
    }
    summary = [summarize_report(report)]
    if report.usage:
        cost = "" if report.cost is None else f", cost {report.cost:.4f} by evaluate.prices"
        summary.insert(0, f"{report.answers}: {_describe_usage(report.usage)}{cost}")
    return Page(
        f"Gold set: {report.passed} of {report.runnable} passed",
        "good" if report.holds else "bad",
        tuple(summary),
        facts | ({"Skipped": ", ".join(report.skipped)} if report.skipped else {}),
        tuple(sections),
    )


def make_verdict_cards(report: EvalReport, previous: EvalReport | None) -> tuple[Card, ...]:
    """Make the card of each verdict: failures first, then what has changed, then the others."""
    changes: dict[str, AnswerChange] = {}
    turns: dict[str, str] = {}
    if previous:
        diff = diff_reports(previous, report)
        turns = dict.fromkeys(diff.newly_failing, "newly failing")
        turns |= dict.fromkeys(diff.newly_passing, "newly passing")
        answers = diff_answers(previous.verdicts, report.verdicts)
        changes = {change.after.id: change for change in answers.changed}
    has_runs = any(verdict.runs for verdict in report.verdicts)
    cards = []
    for verdict in report.verdicts:
        label, tone = STATUS_LABELS[verdict.status]
        change, turn = changes.get(verdict.id), turns.get(verdict.id)
        remarks = [*filter(None, [turn]), *(["answer changed"] if change else [])]
        sides = (make_side(verdict, report.site_url),) if verdict.answer else ()
        if change and previous:
            sides = (make_side(change.before, previous.site_url), *sides)
        card = Card(
            title=verdict.query,
            name=verdict.id,
            label=label,
            tone=tone,
            outcome=verdict.outcome,
            remark=", ".join(remarks),
            note=verdict.note,
            cells=_list_cells(verdict, report, has_runs=has_runs),
            details=tuple(_list_details(verdict)),
            sides=sides,
            tags=verdict.tags,
            marks=(
                *(() if verdict.holds else ("failed",)),
                label,
                *(("changed",) if remarks else ()),
                *(("answer changed",) if change else ()),
            ),
            is_open=bool(remarks) or verdict.status != "pass",
        )
        cards.append((verdict.holds, not card.is_open, card))
    return tuple(card for *_, card in sorted(cards, key=lambda row: row[:2]))


def make_side(verdict: Verdict, site_url: str | None) -> Side:
    """Make one side of a card from an answer. site_url: what urls of citations are relative to."""
    label = f"{verdict.mode}, {verdict.reason}" if verdict.reason else str(verdict.mode)
    if verdict.answer is None:
        return Side(label, "")
    # A period may stand before the marker of a citation.
    text = " ".join(verdict.answer.text.split())
    links = []
    for citation in verdict.answer.citations:
        address = urljoin(site_url or "", citation.url)
        # No browser should follow anything else.
        href = address if urlsplit(address).scheme in ("http", "https") else None
        quoted = " ".join(citation.quote.split()).removesuffix(".")
        quote = "" if quoted in text else citation.quote
        links.append(Link(citation.title, citation.url, href, quote))
    return Side(label, verdict.answer.text, tuple(links))


def write_run_page(path: Path, report: EvalReport, previous: EvalReport | None) -> None:
    """Write a run as an HTML page to a file."""
    page = render_html_page(make_run_page(report, previous))
    write_file(path, page.encode("utf-8", "backslashreplace"))


def _list_cells(verdict: Verdict, report: EvalReport, *, has_runs: bool) -> dict[str, str]:
    """List a verdict's columns in a table: what a model has cost only where one was asked."""
    cells = {
        "mode": verdict.mode or "",
        "score": f"{max(verdict.passage_score, verdict.hint_score):.3f}",
        "top": verdict.top or "",
    }
    if has_runs:
        cells["runs passed"] = f"{verdict.pass_count} of {len(verdict.runs)}"
    if report.judge:
        supported = sum(claim.support == "yes" for claim in verdict.supports)
        total = len(verdict.supports)
        cells["supported"] = f"{supported} of {total}" if total else ""
    if report.usage:
        usage = verdict.usage
        cells["tokens"] = f"{usage.input_tokens} + {usage.output_tokens}" if usage else ""
        cells["seconds"] = f"{usage.seconds:.1f}" if usage else ""
    return cells


def _list_details(verdict: Verdict) -> list[tuple[str, str]]:
    """List what a page shows of a verdict beside its answer."""
    mode = f"{verdict.mode}, {verdict.reason}" if verdict.reason else verdict.mode or "–"
    details = [
        ("Scores", f"{verdict.passage_score:.3f} · {verdict.hint_score:.3f}"),
        ("Mode", mode),
        ("Best candidate", verdict.top or "–"),
    ]
    if verdict.answer and verdict.answer.text:
        details.append(("Confidence", f"{verdict.answer.confidence:.2f}"))
    for place in verdict.ranks:
        rank = f"rank {place.rank}" if place.rank else "not retrieved"
        details.append(("Expected", f"{place.source}: {rank}"))
    details += [("Near miss", f"{near.id}: {near.score:.3f}") for near in verdict.near_misses]
    if verdict.supports:
        supported = sum(claim.support == "yes" for claim in verdict.supports)
        details.append(("Judge", f"{supported} of {len(verdict.supports)} claims supported"))
    details += [
        (f"Claim {number}", f"{claim.support}, says the judge")
        for number, claim in enumerate(verdict.supports, 1)
    ]
    if verdict.usage:
        details.append(("Cost", _describe_usage(verdict.usage)))
    return details


def _describe_usage(usage: CallUsage) -> str:
    return (
        f"{usage.input_tokens:,} tokens read, {usage.output_tokens:,} written, "
        f"{usage.seconds:.1f} seconds of answers"
    )


def _make_metrics_section(report: EvalReport) -> ReportSection:
    metrics = compute_metrics(report.verdicts)
    lines = []
    for name, label in _SHARE_LABELS.items():
        share = metrics.shares[name]
        if share.whole:
            low, high = share.interval
            interval = f"(95 % interval {low:.2f} to {high:.2f})"
            lines.append(f"{label}: {share.part} of {share.whole} {interval}")
    if metrics.mrr is not None:
        lines.append(f"mean reciprocal rank of the first expected source: {metrics.mrr:.3f}")

    names = ("passed", "recall", "precision", "answered", "refused")
    rows = []
    for tag, of_tag in compute_metrics_by_tag(report.verdicts).items():
        shares = (of_tag.shares[name] for name in names)
        cells = (f"{share.part} of {share.whole}" if share.whole else "" for share in shares)
        rows.append((tag, *cells))
    table = Table(("tag", *names), tuple(rows)) if rows else None
    return ReportSection("In numbers", tuple(lines), table=table)


def _describe_changes(report: EvalReport, previous: EvalReport) -> tuple[str, ...]:
    diff = diff_reports(previous, report)
    changes = {
        "Newly failing": diff.newly_failing,
        "Newly passing": diff.newly_passing,
        "Answers changed": diff.changed_answers,
    }
    return tuple(
        f"{label} since {diff.against}: {', '.join(ids)}" for label, ids in changes.items() if ids
    )


def _compare_models(report: EvalReport, against: EvalReport) -> ReportSection:
    """Lay out the verdicts of each query by two models, and what each run came to."""
    reports = (report, against)
    by_id = [{verdict.id: verdict for verdict in report.verdicts} for report in reports]
    statuses = {
        name: tuple(
            STATUS_LABELS[verdicts[name].status][0] if name in verdicts else ""
            for verdicts in by_id
        )
        for name in dict.fromkeys([*by_id[0], *by_id[1]])
    }
    totals = [
        {
            "passed": f"{report.passed} of {report.runnable}",
            "flaky": str(len(report.list_ids("flaky"))),
            "not judged": str(len(report.errors)),
            "tokens read": f"{report.usage.input_tokens:,}" if report.usage else "",
            "tokens written": f"{report.usage.output_tokens:,}" if report.usage else "",
            "seconds": f"{report.usage.seconds:.1f}" if report.usage else "",
            "cost": "" if report.cost is None else f"{report.cost:.4f}",
        }
        for report in reports
    ]
    lines = []
    for first, second in ((0, 1), (1, 0)):
        passing = {name for name, verdict in by_id[second].items() if verdict.holds}
        only = [n for n, verdict in by_id[first].items() if verdict.holds and n not in passing]
        if only:
            lines.append(f"Only {reports[first].answers} passes: {', '.join(only)}")
    rows = [(name, *row) for name, row in statuses.items()]
    rows += [(name, totals[0][name], totals[1][name]) for name in totals[0]]
    table = Table(("query", report.answers, against.answers), tuple(rows))
    return ReportSection("Models side by side", tuple(lines), table=table)


def _plot_floor(report: EvalReport) -> Plot | None:
    """Plot the shares answered and refused as the floor rises; None without both kinds."""
    answerable = [
        verdict.passage_score
        for verdict in report.verdicts
        if verdict.is_answerable and verdict.expected_modes != ("related-material",)
    ]
    refused = [verdict.passage_score for verdict in report.verdicts if verdict.requires_refusal]
    if not answerable or not refused:
        return None
    floors = [step / 100 for step in range(101)]
    return Plot(
        "Questions answered and refused at each floor",
        {
            "answered": [
                sum(score >= floor for score in answerable) / len(answerable) for floor in floors
            ],
            "refused as required": [
                sum(score < floor for score in refused) / len(refused) for floor in floors
            ],
        },
        report.floor,
        f"floor {report.floor:g}",
    )


class _GoldCase(junitparser.TestCase):
    file = junitparser.Attr()


def render_junit(report: EvalReport, file: Path) -> bytes:
    """Render a report as JUnit XML: a suite for the tier, a case for each query.

    A known failure is a skipped case, and so is a query that only an answer model can be held to.
    file: the gold set, or what else the questions are from.
    """
    suite = junitparser.TestSuite(f"{report.tier} tier")

    def add(name: str, outcome: Any = None, seconds: float | None = None, text: str = "") -> None:
        case = _GoldCase(name.translate(_NOT_XML), f"answerable.{report.tier}", seconds)
        case.file = file.as_posix().translate(_NOT_XML)
        if outcome:
            outcome.text = text.translate(_NOT_XML)
            case.result = [outcome]
        suite.add_testcase(case)

    # CI services show it to whoever may see the run.
    for verdict in report.public.verdicts:
        message = verdict.outcome.translate(_NOT_XML)
        outcome = {
            "pass": None,
            "error": junitparser.Error(message),
            "known-failure": junitparser.Skipped(message),
        }.get(verdict.status, junitparser.Failure(message))
        lines = (verdict.query, *verdict.issues, verdict.note)
        answer = verdict.answer.text if verdict.answer else ""
        seconds = verdict.usage.seconds if verdict.usage else None
        add(verdict.id, outcome, seconds, "\n".join(filter(None, (*lines, answer))))
    for name in report.skipped:
        add(name, junitparser.Skipped("only an answer model can be held to it"))
    if report.is_aborted:
        # A case of its own, since tools count cases: without one an aborted run would look passed.
        add("(aborted)", junitparser.Error("the run was aborted before every query was judged"))
    xml = junitparser.JUnitXml("answerable")
    xml.add_testsuite(suite)
    xml.update_statistics()  # type: ignore[no-untyped-call]
    rendered: bytes = xml.tostring()  # type: ignore[no-untyped-call]
    return rendered
