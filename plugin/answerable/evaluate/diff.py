"""The answers and pages that a change to a site changes: compared, as JSON, page and Markdown."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, Literal

from ..serve.stores.bundle import Bundle
from .page import (
    MAX_CHARACTERS,
    Card,
    Page,
    ReportSection,
    format_cards_table,
    format_changed_cards,
    format_inline,
)
from .report import AnswerDiff, EvalReport, diff_answers
from .run_page import make_side, make_verdict_cards, summarize_report
from .verdict import Verdict

PageChangeKind = Literal["gone", "new", "renamed", "moved"]

DIFF_VERSION = 1
# A page that has so much of the lines of one that is gone is that page under another name.
_SHARED_LINES = 0.5
# A shorter line, such as "Example:", stands on many pages.
_LINE_WORDS = 4
# So many pages a comment lists.
_MAX_PAGES = 20


@dataclass(frozen=True, slots=True)
class ComparedPage:
    """Hold what is compared of a page: its url and the lines of its text, with plain spaces."""

    url: str
    lines: frozenset[str]


@dataclass(frozen=True, slots=True)
class PageChange:
    """Say what became of a page. ``page``: its id; of a renamed one ``new_page`` is the later id.

    ``moved``: the same id has another url.
    """

    kind: PageChangeKind
    page: str
    url_before: str | None = None
    url_after: str | None = None
    new_page: str | None = None


def list_pages(bundle: Bundle) -> dict[str, ComparedPage]:
    """List the pages of a bundle, by their ids."""
    return _group_pages(
        (passage.record, passage.url, passage.text) for passage in bundle.passages()
    )


def list_cited_pages(verdicts: Iterable[Verdict]) -> dict[str, ComparedPage]:
    """List the pages that recorded answers cite, with the quoted lines, by their ids."""
    return _group_pages(
        (citation.id.partition("#")[0], citation.url, citation.quote)
        for verdict in verdicts
        if verdict.answer
        for citation in verdict.answer.citations
        if citation.kind == "record"
    )


def compare_pages(
    before: Mapping[str, ComparedPage], after: Mapping[str, ComparedPage], *, is_whole: bool
) -> tuple[PageChange, ...]:
    """Compare pages by their ids.

    is_whole: ``before`` has every page with all its lines, so others are new or renamed.
    """
    changes: list[PageChange] = []
    new = {page: after[page] for page in after if page not in before}
    for page, earlier in before.items():
        if page in after:
            if earlier.url != after[page].url:
                changes.append(PageChange("moved", page, earlier.url, after[page].url))
        # A report knows a page by the lines that it cites, which other pages may have too.
        elif is_whole and (new_page := _find_renamed(earlier, new)):
            url = new.pop(new_page).url
            changes.append(PageChange("renamed", page, earlier.url, url, new_page))
        else:
            changes.append(PageChange("gone", page, earlier.url))
    if is_whole:
        changes += [PageChange("new", page, None, new[page].url) for page in new]
    return tuple(changes)


def _group_pages(passages: Iterable[tuple[str, str, str]]) -> dict[str, ComparedPage]:
    """Join passages, each (page, url, text), to pages."""
    lines: dict[str, set[str]] = defaultdict(set)
    urls: dict[str, str] = {}
    for page, url, text in passages:
        urls.setdefault(page, url.partition("#")[0])
        lines[page] |= {
            " ".join(words)
            for line in text.splitlines()
            if len(words := line.split()) >= _LINE_WORDS
        }
    return {page: ComparedPage(urls[page], frozenset(lines[page])) for page in urls}


def _find_renamed(page: ComparedPage, new: Mapping[str, ComparedPage]) -> str | None:
    """Find the new page with most of a page's lines, None if no page has enough of them."""
    shared = {name: len(page.lines & other.lines) for name, other in new.items()}
    best = max(shared, key=shared.__getitem__, default=None)
    if best is None or not page.lines or shared[best] < _SHARED_LINES * len(page.lines):
        return None
    return best


@dataclass(frozen=True)
class SiteDiff:
    """Hold two runs over the same questions. ``against``: how the earlier site is called.

    ``commit``: of the earlier site, None where it is known by a report only.
    """

    against: str
    commit: str | None
    before: EvalReport
    after: EvalReport
    pages: tuple[PageChange, ...] = ()

    @cached_property
    def answers(self) -> AnswerDiff:
        """The answers that differ."""
        return diff_answers(self.before.verdicts, self.after.verdicts)


def encode_site_diff(diff: SiteDiff) -> dict[str, Any]:
    """Encode the outcome as JSON."""
    return {
        "version": DIFF_VERSION,
        "against": {
            "name": diff.against,
            "commit": diff.commit,
            "bundle": diff.before.bundle,
            "made_at": diff.before.made_at,
        },
        "bundle": diff.after.bundle,
        "holds": diff.after.holds,
        "total": diff.after.total,
        "skipped": list(diff.after.skipped),
        "changed": [
            {
                "id": change.after.id,
                "query": change.after.query,
                "parts": list(change.parts),
                "before": _encode_side(change.before),
                "after": _encode_side(change.after),
            }
            for change in diff.answers.changed
        ],
        "unchanged": len(diff.answers.unchanged),
        "new": list(diff.answers.new),
        "gone": list(diff.answers.gone),
        "uncompared": list(diff.answers.uncompared),
        "pages": [asdict(change) for change in diff.pages],
        "verdicts": {verdict.id: verdict.status for verdict in diff.after.verdicts},
    }


def _encode_side(verdict: Verdict) -> dict[str, Any]:
    answer = asdict(verdict.answer) if verdict.answer else {"text": "", "citations": ()}
    return {
        "status": verdict.status,
        "issues": list(verdict.issues),
        "mode": verdict.mode,
        "reason": verdict.reason,
        "text": answer["text"],
        "citations": list(answer["citations"]),
    }


def summarize_changes(diff: SiteDiff, against: str) -> str:
    """Say in one line how many answers change. against: how the earlier state is shown."""
    answers = diff.answers
    compared = len(answers.changed) + len(answers.unchanged)
    verb = "differs" if len(answers.changed) == 1 else "differ"
    asides = {
        "new": answers.new,
        "no longer asked": answers.gone,
        "without an answer to compare": answers.uncompared,
    }
    counts = [f"{len(ids)} {label}" for label, ids in asides.items() if ids]
    line = f"{len(answers.changed)} of {compared} answers {verb} from {against}"
    return f"{line}; {', '.join(counts)}" if counts else line


def make_diff_page(diff: SiteDiff) -> Page:
    """Lay out what a change does as a page: pages, changed answers, verdicts that fail."""
    answers = diff.answers
    asides = [
        f"{label}: {', '.join(ids)}"
        for label, ids in (("New", answers.new), ("No longer asked", answers.gone))
        if ids
    ]
    pages = tuple(
        f"page {change.kind}: {change.page}"
        + (f" → {change.new_page}" if change.new_page else "")
        + (f", {change.url_before} → {change.url_after}" if change.kind == "moved" else "")
        for change in diff.pages
    )
    failures = [
        f"{verdict.status.upper()} {verdict.id}: {verdict.outcome}"
        for verdict in diff.after.verdicts
        if not verdict.holds
    ]
    return Page(
        "Changed answers",
        sections=(
            ReportSection(lines=pages),
            ReportSection(cards=make_change_cards(diff)),
            ReportSection(lines=(*asides, *failures)),
        ),
        summary=(f"{summarize_changes(diff, diff.against)}.", f"{summarize_report(diff.after)}."),
    )


def make_change_cards(diff: SiteDiff) -> tuple[Card, ...]:
    """Make the card of each changed answer; those which break a verdict lead."""
    changes = sorted(
        diff.answers.changed, key=lambda change: (not change.holds_no_longer, change.after.holds)
    )
    cards = []
    for change in changes:
        before, after = change.before, change.after
        turn = ", ".join(change.parts)
        # By another judge of claims a verdict may turn without the answer.
        if diff.before.judge == diff.after.judge and before.status != after.status:
            turn += f"; verdict {before.status} → {after.status}"
        sides = make_side(before, diff.before.site_url), make_side(after, diff.after.site_url)
        cards.append(Card(title=after.query, name=after.id, remark=turn, sides=sides))
    return tuple(cards)


def format_run_markdown(report: EvalReport) -> str:
    """Format the verdicts of a run in Markdown: counts, and all that did not simply pass."""
    # A comment and a summary are for whoever may see the run.
    cards = make_verdict_cards(report.public, None)
    table = format_cards_table(card for card in cards if card.label != "pass")
    heading = "### The gold set holds\n" if report.holds else "### The gold set does not hold\n"
    return "\n".join(filter(None, (heading, f"{summarize_report(report)}.\n", table)))


def format_diff_markdown(diff: SiteDiff, *, with_run: bool = True) -> str:
    """Format what a change does to the answers in Markdown, within what a comment may hold.

    with_run: say how the gold set fares too.
    """
    parts = [f"### {summarize_changes(diff, format_inline(diff.against))}\n"]
    if with_run:
        parts.append(format_run_markdown(diff.after))
    if diff.pages:
        lines = [f"- {_mark_page(change)}\n" for change in diff.pages[:_MAX_PAGES]]
        if len(diff.pages) > _MAX_PAGES:
            lines.append(f"- and {len(diff.pages) - _MAX_PAGES} more pages\n")
        parts.append("".join(lines))
    room = MAX_CHARACTERS - sum(map(len, parts))
    parts.append(format_changed_cards(make_change_cards(diff), room))
    return "\n".join(filter(None, parts))


def _mark_page(change: PageChange) -> str:
    page, new_page, before, after = (
        format_inline(value or "")
        for value in (change.page, change.new_page, change.url_before, change.url_after)
    )
    sentences = {
        "gone": f"{page} is gone",
        "new": f"{page} is new",
        "renamed": f"{page} is now {new_page}",
        "moved": f"{page} has the url {after} instead of {before}",
    }
    return f"{change.kind}: {sentences[change.kind]}"
