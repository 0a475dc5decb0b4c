"""One verdict as a report keeps it."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from ..serve.types import MODES, REASONS, Mode, Reason
from .runner import Verdict

_SCORE_DIGITS = 6


@dataclass(frozen=True, slots=True)
class VerdictRow:
    """A query and what became of it; see ``Verdict`` for what its fields mean."""

    id: str
    query: str
    tags: tuple[str, ...]
    note: str
    expected_mode: Mode | None
    passed: bool
    issues: tuple[str, ...]
    mode: Mode | None
    reason: Reason | None
    refused: bool
    top: str | None
    passage_score: float
    hint_score: float
    ranks: tuple[int | None, ...]
    claims: int
    dropped: int

    @property
    def is_answerable(self) -> bool:
        """Whether the query requires an answer, by its mode or by a source that it expects."""
        return self.expected_mode != "not-found" and bool(self.expected_mode or self.ranks)

    @property
    def is_refused(self) -> bool:
        """Whether it was refused; where no answer was asked for, by the floors."""
        return self.refused if self.mode is None else self.mode == "not-found"

    @property
    def is_answered(self) -> bool:
        """Whether it was answered as required; where no answer was asked for, not refused."""
        if self.mode is None or self.expected_mode is None:
            return not self.is_refused
        return self.mode == self.expected_mode

    def as_json(self) -> dict[str, Any]:
        """The row as a report holds it."""
        return asdict(self)


def make_verdict_row(verdict: Verdict) -> VerdictRow:
    """The row of a verdict."""
    query = verdict.query
    return VerdictRow(
        id=query.id,
        query=query.query,
        tags=query.tags,
        note=query.note,
        expected_mode=query.expect_answer_mode,
        passed=verdict.passed,
        issues=verdict.issues,
        mode=verdict.mode,
        reason=verdict.reason,
        refused=verdict.refused,
        top=verdict.top_id,
        passage_score=round(verdict.passage_score, _SCORE_DIGITS),
        hint_score=round(verdict.hint_score, _SCORE_DIGITS),
        ranks=verdict.ranks,
        claims=verdict.claims,
        dropped=verdict.dropped,
    )


def parse_verdict_row(data: Mapping[str, Any]) -> VerdictRow:
    """A row from a report; ValueError, TypeError or KeyError if it is none."""
    row = VerdictRow(
        **{
            **data,
            "tags": tuple(require_text(tag) for tag in data["tags"]),
            "issues": tuple(require_text(issue) for issue in data["issues"]),
            "ranks": tuple(None if rank is None else require_count(rank) for rank in data["ranks"]),
        }
    )
    for each in (row.id, row.query, row.note, row.top or ""):
        require_text(each)
    for score in (row.passage_score, row.hint_score):
        require_number(score)
    for each_count in (row.claims, row.dropped):
        require_count(each_count)
    if type(row.passed) is not bool or type(row.refused) is not bool:
        raise TypeError(f"{row.id}: passed and refused are true or false")
    if {row.mode, row.expected_mode} - {*MODES, None} or row.reason not in (*REASONS, None):
        raise ValueError(f"{row.id}: {row.mode}, {row.expected_mode} or {row.reason} is not known")
    if row.passed == bool(row.issues):
        raise ValueError(f"{row.id}: what passed has no issues, what failed has some")
    return row


def require_text(value: object) -> str:
    """A value that has to be a text; TypeError if it is none."""
    if not isinstance(value, str):
        raise TypeError(f"{value!r:.40} is no text")
    return value


def require_number(value: object) -> float:
    """A value that has to be a finite number; TypeError if it is none."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise TypeError(f"{value!r:.40} is no number")
    return float(value)


def require_count(value: object) -> int:
    """A value that has to be a whole number from 0; TypeError if it is none."""
    if type(value) is not int or value < 0:
        raise TypeError(f"{value!r:.40} is no count")
    return value
