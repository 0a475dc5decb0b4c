"""Prepare the verdicts of the HTML report: links to what is cited, and changed words."""

from dataclasses import dataclass
from urllib.parse import urljoin, urlsplit

from .answer_diff import AnswerChange, diff_answers
from .report import EvalReport, diff_reports
from .verdict import RecordedCitation, Verdict, VerdictStatus
from .word_diff import TextPiece, diff_words

STATUS_LABELS: dict[VerdictStatus, str] = {
    "pass": "pass",
    "fail": "FAIL",
    "error": "ERROR",
    "flaky": "flaky",
    "known-failure": "known failure",
    "unexpected-pass": "unexpected pass",
}


@dataclass(frozen=True, slots=True)
class LinkedCitation:
    """Hold a citation and the absolute address of its place, None where that is not known.

    ``is_quote_shown``: it has a quote that does not stand in the answer itself.
    """

    citation: RecordedCitation
    href: str | None
    is_quote_shown: bool


@dataclass(frozen=True, slots=True)
class VerdictCard:
    """Hold a verdict and what has changed since an earlier run.

    ``turn``: `newly failing`, `newly passing` or empty. ``change``: of its answer, None where it is
    the same, with the words of ``pieces``.
    """

    verdict: Verdict
    turn: str
    citations: tuple[LinkedCitation, ...]
    change: AnswerChange | None = None
    earlier_citations: tuple[LinkedCitation, ...] = ()
    pieces: tuple[TextPiece, ...] = ()

    @property
    def label(self) -> str:
        """Name the status for people."""
        return STATUS_LABELS[self.verdict.status]

    @property
    def is_open(self) -> bool:
        """Tell whether a reader wants to see it at once."""
        return self.change is not None or bool(self.turn) or self.verdict.status != "pass"


def make_cards(report: EvalReport, previous: EvalReport | None) -> list[VerdictCard]:
    """Make the card of each verdict: failures first, then what has changed, then the others."""
    changes = {}
    turns = {}
    if previous:
        diff = diff_reports(previous, report)
        turns = dict.fromkeys(diff.newly_failing, "newly failing")
        turns |= dict.fromkeys(diff.newly_passing, "newly passing")
        answers = diff_answers(previous.verdicts, report.verdicts)
        changes = {change.after.id: change for change in answers.changed}
    earlier_url = previous.site_url if previous else None
    cards = [
        _make_card(verdict, turns.get(verdict.id, ""), changes.get(verdict.id), report, earlier_url)
        for verdict in report.verdicts
    ]
    return sorted(cards, key=lambda card: (card.verdict.holds, not card.is_open))


def link_citations(verdict: Verdict, site_url: str | None) -> tuple[LinkedCitation, ...]:
    """Resolve the urls of an answer's citations against a site's address."""
    if verdict.answer is None:
        return ()
    text = _join_words(verdict.answer.text)
    return tuple(
        LinkedCitation(each, _resolve_url(each.url, site_url), _join_words(each.quote) not in text)
        for each in verdict.answer.citations
    )


def _make_card(
    verdict: Verdict,
    turn: str,
    change: AnswerChange | None,
    report: EvalReport,
    earlier_url: str | None,
) -> VerdictCard:
    citations = link_citations(verdict, report.site_url)
    if change is None:
        return VerdictCard(verdict, turn, citations)
    return VerdictCard(
        verdict,
        turn,
        citations,
        change,
        link_citations(change.before, earlier_url),
        diff_words(_get_text(change.before), _get_text(change.after)),
    )


def _get_text(verdict: Verdict) -> str:
    return verdict.answer.text if verdict.answer else ""


def _join_words(text: str) -> str:
    """Join the words of a text, without the period before which a marker is inserted."""
    return " ".join(text.split()).removesuffix(".")


def _resolve_url(url: str, site_url: str | None) -> str | None:
    """Make a url absolute; None without a site's address, and for what no browser should follow."""
    address = urljoin(site_url or "", url)
    return address if urlsplit(address).scheme in ("http", "https") else None
