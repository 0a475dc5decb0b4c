"""Encode verdicts as JSON and parse them strictly; check texts, numbers and counts of a report."""

import math
from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any, get_args

from ..serve.errors import FailureCause
from ..serve.types import MODES, REASONS
from .verdict import (
    CITATION_KINDS,
    VERDICT_STATUSES,
    CallUsage,
    ClaimSupport,
    NearMiss,
    RecordedAnswer,
    RecordedCitation,
    RepeatedRun,
    SourceRank,
    Support,
    Verdict,
)

_CAUSES = get_args(FailureCause)
# Names of fields of a verdict in a report, where they differ.
_JSON_NAMES = {"below_floors": "refused"}
# What a report says of a verdict beside its fields.
_COMPUTED = ("status",)
_TEXTS = ("id", "query", "note")
_TEXTS_OR_NULL = ("top", "error", "known_failure")
_SCORES = ("passage_score", "hint_score")
_COUNTS = ("retrieved", "relevant", "claims", "dropped")


def encode_verdict(verdict: Verdict) -> dict[str, Any]:
    """Encode a verdict as a report holds it."""
    row = {**asdict(verdict), **{name: getattr(verdict, name) for name in _COMPUTED}}
    del row["top_expected"]
    return {_JSON_NAMES.get(name, name): value for name, value in row.items()}


def parse_verdict(data: Mapping[str, Any]) -> Verdict:
    """Parse the verdict of a report; ValueError, TypeError or KeyError for anything else."""
    row = {**data}
    status = row.pop("status")
    row["below_floors"] = row.pop("refused")
    for name in _TEXTS:
        require_text(row[name])
    for name in _TEXTS_OR_NULL:
        _require_text_or_null(row[name])
    for name in _SCORES:
        require_number(row[name])
    for name in _COUNTS:
        require_count(row[name])
    for name in ("tags", "issues", "public_issues", "expected_modes"):
        row[name] = tuple(require_text(text) for text in row[name])
    row["ranks"] = tuple(_parse_rank(each) for each in row["ranks"])
    row["near_misses"] = tuple(_parse_near_miss(each) for each in row["near_misses"])
    row["answer"] = None if row["answer"] is None else _parse_answer(row["answer"])
    row["usage"] = None if row["usage"] is None else parse_usage(row["usage"])
    row["judge_usage"] = None if row["judge_usage"] is None else parse_usage(row["judge_usage"])
    row["supports"] = tuple(_parse_support(each) for each in row["supports"])
    row["runs"] = tuple(_parse_run(each) for each in row["runs"])
    verdict = Verdict(**row)
    if type(verdict.below_floors) is not bool:
        raise TypeError(f"{verdict.id}: refused is true or false")
    modes = {verdict.mode, *verdict.expected_modes}
    if modes - {*MODES, None} or verdict.reason not in (*REASONS, None):
        raise ValueError(f"{verdict.id}: {modes} or {verdict.reason} is not known")
    if verdict.cause not in (*_CAUSES, None):
        raise ValueError(f"{verdict.id}: {verdict.cause!r:.20} is not a cause")
    if status not in VERDICT_STATUSES or status != verdict.status:
        raise ValueError(f"{verdict.id}: status is {status!r:.20}, its issues say {verdict.status}")
    return verdict


def require_text(value: object) -> str:
    """Return a text; TypeError for anything else."""
    if not isinstance(value, str):
        raise TypeError(f"{value!r:.40} is not a text")
    return value


def require_number(value: object) -> float:
    """Return a finite number; TypeError for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise TypeError(f"{value!r:.40} is not a finite number")
    return float(value)


def require_count(value: object) -> int:
    """Return an integer of at least 0; TypeError for anything else."""
    if type(value) is not int or value < 0:
        raise TypeError(f"{value!r:.40} is not a count")
    return value


def _require_text_or_null(value: object) -> None:
    if value is not None:
        require_text(value)


def _parse_rank(data: Mapping[str, Any]) -> SourceRank:
    rank = SourceRank(**data)
    require_text(rank.source)
    if rank.rank is not None:
        require_count(rank.rank)
    return rank


def _parse_near_miss(data: Mapping[str, Any]) -> NearMiss:
    near_miss = NearMiss(**data)
    require_text(near_miss.id)
    require_number(near_miss.score)
    return near_miss


def _parse_answer(data: Mapping[str, Any]) -> RecordedAnswer:
    citations = tuple(_parse_citation(each) for each in data["citations"])
    answer = RecordedAnswer(**{**data, "citations": citations})
    require_text(answer.text)
    require_number(answer.confidence)
    return answer


def _parse_citation(data: Mapping[str, Any]) -> RecordedCitation:
    citation = RecordedCitation(**data)
    for field in fields(citation):
        require_text(getattr(citation, field.name))
    if citation.kind not in CITATION_KINDS:
        raise ValueError(f"{citation.kind!r:.20} is not a kind of citation")
    return citation


def _parse_support(data: Mapping[str, Any]) -> ClaimSupport:
    support = ClaimSupport(**data)
    require_text(support.claim)
    if support.support not in get_args(Support) or support.cause not in (*_CAUSES, None):
        raise ValueError(f"{support.support!r:.20} or {support.cause!r:.20} is not known")
    return support


def _parse_run(data: Mapping[str, Any]) -> RepeatedRun:
    run = RepeatedRun(**{**data, "issues": tuple(map(require_text, data["issues"]))})
    require_text(run.text)
    _require_text_or_null(run.error)
    if run.mode not in (*MODES, None) or run.cause not in (*_CAUSES, None):
        raise ValueError(f"{run.mode!r:.20} or {run.cause!r:.20} is not known")
    return run


def parse_usage(data: Mapping[str, Any]) -> CallUsage:
    """Parse tokens and seconds; TypeError for anything else."""
    usage = CallUsage(**data)
    require_count(usage.input_tokens)
    require_count(usage.output_tokens)
    require_number(usage.seconds)
    return usage
