"""Which floors tell the questions that a site answers from those that it has to refuse.

The bank: off-topic questions of our own writing, which most sites have to refuse.

What the floors are held against: the scores of a gold set's questions and of the bank's.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from importlib.resources import files
from statistics import median
from typing import Any

import numpy as np

from ..serve.engine import Engine
from ..serve.retrieval.question import QuestionReading
from ..serve.retrieval.question_text import clean_question
from ..serve.retrieval.store import Floats
from ..serve.stores.bundle import Bundle
from .gold import GoldQuery
from .runner import NO_MATCH_SCORE, embed_queries, score_all_hints, score_all_passages

# A floor that fewer questions ask for would be theirs alone.
MIN_QUESTIONS = 5
_FLOOR_GRID = tuple(step / 100 for step in range(101))
_SCORE_DIGITS = 4


@dataclass(frozen=True, slots=True)
class FloorPoint:
    """What a floor does: ``answered`` of ``answerable`` questions, ``refused`` of ``refusable``."""

    floor: float
    answered: int
    answerable: int
    refused: int
    refusable: int

    @property
    def answered_share(self) -> float:
        return self.answered / self.answerable

    @property
    def refused_share(self) -> float:
        return self.refused / self.refusable

    @property
    def balance(self) -> Fraction:
        """The mean of both shares, exact, so that equal ones are equal."""
        shares = Fraction(self.answered, self.answerable) + Fraction(self.refused, self.refusable)
        return shares / 2

    def as_json(self) -> dict[str, Any]:
        """The point as `--json` prints it."""
        shares = {
            "answered_share": round(self.answered_share, _SCORE_DIGITS),
            "refused_share": round(self.refused_share, _SCORE_DIGITS),
        }
        return asdict(self) | shares


@dataclass(frozen=True, slots=True)
class ScoredQuestion:
    """A question and the score that a floor is held against.

    ``name``: the id of a gold query, or a question of the bank. ``top``: the passage or the hint
    whose score it is, of those that are expected if the question is answerable; None without one.
    """

    name: str
    score: float
    top: str | None
    is_gold: bool = True

    def as_json(self) -> dict[str, Any]:
        """The question as `--json` prints it."""
        return asdict(self) | {"score": round(self.score, _SCORE_DIGITS)}


@dataclass(frozen=True, slots=True)
class FloorCalibration:
    """One floor of a site and the questions that it is judged by.

    ``answerable``: lowest score first. ``refusable``: highest first, without ``left_out``: the
    questions of the bank that score above the median of the answerable ones, and so are probably
    about what the site is about.
    """

    floor: float
    answerable: tuple[ScoredQuestion, ...]
    refusable: tuple[ScoredQuestion, ...]
    left_out: tuple[ScoredQuestion, ...] = ()

    @property
    def is_enough(self) -> bool:
        """Whether there are questions enough of both kinds to propose a floor."""
        return min(len(self.answerable), len(self.refusable)) >= MIN_QUESTIONS

    @property
    def points(self) -> tuple[FloorPoint, ...]:
        """The trade-off curve."""
        return trace_floor_curve(*self._scores)

    @property
    def auroc(self) -> float:
        """How well the score tells both kinds apart."""
        return compute_auroc(*self._scores)

    @property
    def current(self) -> FloorPoint:
        """What the site's floor does."""
        return evaluate_floor(self.floor, *self._scores)

    @property
    def proposed(self) -> FloorPoint:
        """The floor with the best mean of both shares; of equals, the one nearest to the site's."""
        return min(
            (self.current, *self.points),
            key=lambda point: (-point.balance, abs(point.floor - self.floor), point.floor),
        )

    def lost(self, floor: float) -> tuple[ScoredQuestion, ...]:
        """The answerable questions that a floor refuses, lowest score first."""
        return tuple(asked for asked in self.answerable if not passes_floor(asked.score, floor))

    def admitted(self, floor: float) -> tuple[ScoredQuestion, ...]:
        """The questions to be refused that pass a floor, highest score first."""
        return tuple(asked for asked in self.refusable if passes_floor(asked.score, floor))

    def as_json(self) -> dict[str, Any]:
        """The calibration as `--json` prints it."""
        return {
            "current": self.current.as_json(),
            "proposed": self.proposed.as_json(),
            "auroc": round(self.auroc, _SCORE_DIGITS),
            "curve": [point.as_json() for point in self.points],
            "answerable": [asked.as_json() for asked in self.answerable],
            "refusable": [asked.as_json() for asked in self.refusable],
            "left_out": [asked.as_json() for asked in self.left_out],
        }

    @property
    def _scores(self) -> tuple[list[float], list[float]]:
        return [asked.score for asked in self.answerable], [a.score for a in self.refusable]


def passes_floor(score: float, floor: float) -> bool:
    """Whether a score is evidence, compared as retrieval compares the two: in float32."""
    return bool(np.float32(score) >= np.float32(floor))


def evaluate_floor(
    floor: float, answerable: Sequence[float], refused: Sequence[float]
) -> FloorPoint:
    """What one floor does to the scores of both kinds; neither may be empty."""
    return _evaluate_floors([floor], answerable, refused)[0]


def trace_floor_curve(
    answerable: Sequence[float], refused: Sequence[float]
) -> tuple[FloorPoint, ...]:
    """What every floor from 0 to 1 does, in steps of 0.01.

    answerable: scores of questions to be answered; refused: of questions to be refused.
    """
    return _evaluate_floors(_FLOOR_GRID, answerable, refused)


def _evaluate_floors(
    floors: Sequence[float], answerable: Sequence[float], refused: Sequence[float]
) -> tuple[FloorPoint, ...]:
    lost, held = (
        np.searchsorted(np.sort(np.asarray(scores, np.float32)), np.asarray(floors, np.float32))
        for scores in (answerable, refused)
    )
    return tuple(
        FloorPoint(floor, len(answerable) - int(under), len(answerable), int(kept), len(refused))
        for floor, under, kept in zip(floors, lost, held, strict=True)
    )


def compute_auroc(answerable: Sequence[float], refused: Sequence[float]) -> float:
    """The chance that an answerable question scores above one to be refused; a tie counts half.

    The area under the ROC curve, as the statistic of Mann & Whitney (1947).
    """
    others = np.sort(np.asarray(refused, dtype=np.float64))
    below = np.searchsorted(others, answerable, side="left")
    ties = np.searchsorted(others, answerable, side="right") - below
    return float((below + ties / 2).mean() / len(others))


def make_calibration(
    floor: float, answerable: Iterable[ScoredQuestion], refusable: Iterable[ScoredQuestion]
) -> FloorCalibration:
    """The calibration of a site's floor; what of the bank is probably on topic is left out."""
    answerable = sorted(answerable, key=lambda asked: asked.score)
    refusable = sorted(refusable, key=lambda asked: -asked.score)
    middle = median(asked.score for asked in answerable) if answerable else 1.0
    kept: list[ScoredQuestion] = []
    left_out: list[ScoredQuestion] = []
    for asked in refusable:
        on_topic = not asked.is_gold and asked.score > middle
        (left_out if on_topic else kept).append(asked)
    return FloorCalibration(floor, tuple(answerable), tuple(kept), tuple(left_out))


def read_off_topic_questions() -> tuple[str, ...]:
    """The questions of ``off_topic.txt``, one a line; a line that begins with # is a comment."""
    text = (files(__package__) / "off_topic.txt").read_text(encoding="utf-8")
    lines = (line.strip() for line in text.splitlines())
    return tuple(line for line in lines if line and not line.startswith("#"))


SourceRows = Mapping[str, Sequence[int]]
RowScorer = Callable[[Bundle, QuestionReading, Floats], Floats]


def calibrate_floors(
    engine: Engine[Bundle],
    queries: Sequence[GoldQuery],
    notes: Mapping[str, str],
    bank: Sequence[str],
) -> tuple[FloorCalibration, FloorCalibration]:
    """The calibrations of the floor and of the note floor; one call embeds all questions.

    notes: from a note's path to its id. bank: off-topic questions; one that the gold set asks too
    is the gold set's.
    """
    bundle, profile = engine.store, engine.store.manifest.profile
    own = {_normalize_question(query.query) for query in queries}
    others = [
        GoldQuery(text, text, "not-found") for text in bank if _normalize_question(text) not in own
    ]
    every = [*queries, *others]
    vectors = embed_queries(every, engine)

    def stream(
        floor: float, ids: Sequence[str], rows: SourceRows, score: RowScorer
    ) -> FloorCalibration:
        answerable: list[ScoredQuestion] = []
        refusable: list[ScoredQuestion] = []
        for place, (query, vector) in enumerate(zip(every, vectors, strict=True)):
            expected = _list_expected_rows(query, rows)
            if not expected and not requires_floor_refusal(query):
                continue
            scores = score(bundle, engine.parse_question(clean_question(query.query)), vector)
            found, top = _find_best_row(scores, ids, expected)
            asked = ScoredQuestion(query.id, found, top, is_gold=place < len(queries))
            (answerable if expected else refusable).append(asked)
        return make_calibration(floor, answerable, refusable)

    hints = [hint.id for hint in bundle.hints]
    return (
        stream(profile.floor, bundle.passage_ids, _map_passage_rows(bundle), score_all_passages),
        stream(profile.note_floor, hints, _map_hint_rows(bundle, notes), score_all_hints),
    )


def requires_floor_refusal(query: GoldQuery) -> bool:
    """Whether a floor has to refuse a query: not one that is left to the answer model.

    Nor one that has to be `declined`, which takes evidence.
    """
    return (
        query.expect_answer_mode == "not-found"
        and query.expect_reason in (None, "no-evidence")
        and not query.requires_model
    )


def _map_passage_rows(bundle: Bundle) -> SourceRows:
    """The rows of the passages that a gold source may name, by record and by passage."""
    rows: dict[str, list[int]] = {}
    for row, (name, record) in enumerate(
        zip(bundle.passage_ids, bundle.passage_records.tolist(), strict=True)
    ):
        for source in {name, bundle.record_ids[record]}:
            rows.setdefault(source, []).append(row)
    return rows


def _map_hint_rows(bundle: Bundle, notes: Mapping[str, str]) -> SourceRows:
    """The rows of the hints that a gold source may name, by the path of their note."""
    rows: dict[str, list[int]] = {}
    for row, hint in enumerate(bundle.hints):
        rows.setdefault(hint.note, []).append(row)
    return {path: rows[name] for path, name in notes.items() if name in rows}


def _list_expected_rows(query: GoldQuery, rows: SourceRows) -> list[int]:
    """The rows of one stream that a query expects any of, none if it is to find no answer."""
    if query.expect_answer_mode == "not-found":
        return []
    sources = {*query.expect_sources, query.top_source or ""}
    return sorted({row for source in sources for row in rows.get(source, ())})


def _find_best_row(
    scores: Floats, ids: Sequence[str], among: Sequence[int]
) -> tuple[float, str | None]:
    """The best score and whose it is. among: rows, where none are named all of them."""
    if not len(scores):
        return NO_MATCH_SCORE, None
    row = max(among, key=lambda each: scores[each]) if among else int(scores.argmax())
    return float(scores[row]), ids[row]


def _normalize_question(question: str) -> str:
    return clean_question(question).casefold()
