"""Calibrate the two floors of a site: what each one answers and refuses, and what to propose."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from ..serve.engine import Engine
from ..serve.stores.bundle import Bundle
from .floor_curve import (
    SHARE_DIGITS,
    FloorPoint,
    FloorScores,
    compute_auroc,
    evaluate_floors,
    passes_floor,
    trace_floor_curve,
)
from .floor_proposal import (
    MIN_ANSWERABLE,
    MIN_NEAR_REFUSALS,
    FloorProposal,
    compute_near_limit,
    endangers_answer,
    endangers_off_topic,
    endangers_refusal,
    propose_floor,
)
from .floor_questions import FloorQuestions, ScoredQuestion, score_questions
from .gold import GoldQuery


@dataclass(frozen=True, slots=True)
class FloorCalibration:
    """One floor of a site, the questions that it is judged by, and what is proposed.

    ``answerable``: lowest score first. ``refusable``: gold queries that the floor has to refuse,
    highest first; ``near_refusals`` are those of them that are near the site's subject.
    ``off_topic``: questions of the bank, highest first, without ``left_out``: those that score
    above the median of the answerable ones, and so are probably about what the site is about.
    """

    floor: float
    answerable: tuple[ScoredQuestion, ...]
    refusable: tuple[ScoredQuestion, ...]
    off_topic: tuple[ScoredQuestion, ...]
    left_out: tuple[ScoredQuestion, ...]
    proposal: FloorProposal

    @property
    def is_judged(self) -> bool:
        """Tell whether there are questions enough to propose a floor, or to confirm the site's."""
        return self.proposal.outcome != "too-few"

    @property
    def near_limit(self) -> float | None:
        """Compute the score above which a refusal is near the subject; None without a bank."""
        return compute_near_limit([each.score for each in self.off_topic])

    @property
    def near_refusals(self) -> tuple[ScoredQuestion, ...]:
        limit = self.near_limit
        return tuple(each for each in self.refusable if limit is None or each.score > limit)

    @property
    def missing_answerable(self) -> int:
        return max(0, MIN_ANSWERABLE - len(self.answerable))

    @property
    def missing_refusals(self) -> int:
        return max(0, MIN_NEAR_REFUSALS - len(self.near_refusals))

    @property
    def points(self) -> tuple[FloorPoint, ...]:
        """Trace the trade-off curve."""
        return trace_floor_curve(self._scores)

    @property
    def auroc(self) -> float | None:
        """Measure how well the score tells the answerable from the gold set's refusals."""
        return _compute_auroc(self._scores.answerable, self._scores.refusable)

    @property
    def off_topic_auroc(self) -> float | None:
        """Measure how well the score tells the answerable from the bank."""
        return _compute_auroc(self._scores.answerable, self._scores.off_topic)

    @property
    def current(self) -> FloorPoint:
        """Count the questions that the site's own floor answers and refuses."""
        return evaluate_floors([self.floor], self._scores)[0]

    @property
    def proposed(self) -> FloorPoint | None:
        """The point of the floor to set, which may be the site's; None if questions are missing."""
        if not self.is_judged:
            return None
        return self.proposal.best if self.proposal.outcome == "proposed" else self.current

    def lost(self, floor: float) -> tuple[ScoredQuestion, ...]:
        """List the answerable questions that a floor refuses, lowest score first."""
        return tuple(each for each in self.answerable if not passes_floor(each.score, floor))

    def admitted(self, floor: float) -> tuple[ScoredQuestion, ...]:
        """List the gold queries to be refused that pass a floor, highest score first."""
        return tuple(each for each in self.refusable if passes_floor(each.score, floor))

    def endangered(self, floor: float) -> tuple[ScoredQuestion, ...]:
        """List the questions that another floor may show a wrong answer to, and the site's not."""
        return (
            *(e for e in self.refusable if endangers_refusal(floor, self.floor, e.score)),
            *(e for e in self.off_topic if endangers_off_topic(floor, self.floor, e.score)),
            *(e for e in self.answerable if endangers_answer(floor, self.floor, e.score, e.best)),
        )

    def as_json(self) -> dict[str, Any]:
        """Encode the calibration as `--json` prints it."""
        proposed, best, check = self.proposed, self.proposal.best, self.proposal.check
        return {
            "outcome": self.proposal.outcome,
            "current": self.current.as_json(),
            "proposed": proposed.as_json() if proposed else None,
            "best": best.as_json() if best else None,
            "check": asdict(check) if check else None,
            "auroc": _round_share(self.auroc),
            "off_topic_auroc": _round_share(self.off_topic_auroc),
            "near_limit": _round_share(self.near_limit),
            "near_refusals": len(self.near_refusals),
            "missing_answerable": self.missing_answerable,
            "missing_refusals": self.missing_refusals,
            "curve": [point.as_json() for point in self.points],
            "answerable": [question.as_json() for question in self.answerable],
            "refusable": [question.as_json() for question in self.refusable],
            "off_topic": [question.as_json() for question in self.off_topic],
            "left_out": [question.as_json() for question in self.left_out],
        }

    @property
    def _scores(self) -> FloorScores:
        return _list_scores(self.answerable, self.refusable, self.off_topic)


def calibrate_floors(
    engine: Engine[Bundle],
    queries: Sequence[GoldQuery],
    notes: Mapping[str, str],
    bank: Sequence[str],
) -> tuple[FloorCalibration, FloorCalibration]:
    """Calibrate the floor and the note floor; one call embeds all questions.

    notes: from a note's path to its id. bank: off-topic questions; one that the gold set asks too
    is the gold set's.
    """
    profile = engine.store.manifest.profile
    passages, hints = score_questions(engine, queries, notes, bank)
    return make_calibration(profile.floor, passages), make_calibration(profile.note_floor, hints)


def make_calibration(floor: float, questions: FloorQuestions) -> FloorCalibration:
    """Sort the questions of a floor, leave out the bank's that are likely on topic, and propose."""
    answerable = _sort_by_score(questions.answerable)
    refusable, bank = (
        _sort_by_score(each)[::-1] for each in (questions.refusable, questions.off_topic)
    )
    middle = median(question.score for question in answerable) if answerable else 1.0
    off_topic = tuple(question for question in bank if question.score <= middle)
    left_out = tuple(question for question in bank if question.score > middle)
    proposal = propose_floor(floor, _list_scores(answerable, refusable, off_topic))
    return FloorCalibration(floor, answerable, refusable, off_topic, left_out, proposal)


def _sort_by_score(questions: Iterable[ScoredQuestion]) -> tuple[ScoredQuestion, ...]:
    return tuple(sorted(questions, key=lambda question: question.score))


def _list_scores(
    answerable: Iterable[ScoredQuestion],
    refusable: Iterable[ScoredQuestion],
    off_topic: Iterable[ScoredQuestion],
) -> FloorScores:
    pairs = [(each.score, each.best) for each in answerable]
    return FloorScores(
        answerable=tuple(score for score, _ in pairs),
        refusable=tuple(each.score for each in refusable),
        off_topic=tuple(each.score for each in off_topic),
        best=tuple(best for _, best in pairs),
    )


def _compute_auroc(answerable: Sequence[float], refusable: Sequence[float]) -> float | None:
    return compute_auroc(answerable, refusable) if answerable and refusable else None


def _round_share(share: float | None) -> float | None:
    return None if share is None else round(share, SHARE_DIGITS)
