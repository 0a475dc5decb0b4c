"""Hold how a change to a site changes its answers, and encode it as JSON."""

from dataclasses import asdict, dataclass, field
from typing import Any

from .answer_diff import AnswerChange, AnswerDiff, diff_answers
from .page_changes import PageChange
from .report import EvalReport
from .verdict import Verdict

DIFF_VERSION = 1


@dataclass(frozen=True, slots=True)
class SiteDiff:
    """Hold two runs over the same questions. ``against``: how the earlier site is called.

    ``commit``: of the earlier site, None where it is known by a report only.
    """

    against: str
    commit: str | None
    before: EvalReport
    after: EvalReport
    pages: tuple[PageChange, ...] = ()
    answers: AnswerDiff = field(default_factory=AnswerDiff)

    @property
    def has_same_judge(self) -> bool:
        """Tell whether the same model, or none, has judged the claims of both."""
        return self.before.judge == self.after.judge


def diff_sites(
    against: str,
    commit: str | None,
    before: EvalReport,
    after: EvalReport,
    pages: tuple[PageChange, ...],
) -> SiteDiff:
    """Compare two runs. against, commit, pages: see ``SiteDiff``."""
    answers = diff_answers(before.verdicts, after.verdicts)
    return SiteDiff(against, commit, before, after, pages, answers)


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
        "changed": [_encode_change(change) for change in diff.answers.changed],
        "unchanged": len(diff.answers.unchanged),
        "new": list(diff.answers.new),
        "gone": list(diff.answers.gone),
        "uncompared": list(diff.answers.uncompared),
        "pages": [asdict(change) for change in diff.pages],
        "verdicts": {verdict.id: verdict.status for verdict in diff.after.verdicts},
    }


def _encode_change(change: AnswerChange) -> dict[str, Any]:
    return {
        "id": change.after.id,
        "query": change.after.query,
        "parts": list(change.parts),
        "before": _encode_side(change.before),
        "after": _encode_side(change.after),
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
