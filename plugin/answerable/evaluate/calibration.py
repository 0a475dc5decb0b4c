"""Propose floors from the scores of a gold set's questions and of a bank of off-topic ones."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.resources import files
from statistics import median
from typing import Any

from ..serve.engine import Engine
from ..serve.retrieval.question import QuestionReading
from ..serve.retrieval.question_text import clean_question
from ..serve.retrieval.store import Floats
from ..serve.stores.bundle import Bundle
from .bundle_scores import compute_hint_floor_scores, compute_passage_floor_scores
from .floor_curve import (
    SHARE_DIGITS,
    FloorPoint,
    compute_auroc,
    evaluate_floors,
    passes_floor,
    trace_floor_curve,
)
from .gold import GoldQuery
from .runner import embed_queries

# A floor that is proposed for fewer questions would fit them alone.
MIN_QUESTIONS = 5
# The score of a question that retrieves nothing, whatever the floor: no cosine is lower.
NO_MATCH_SCORE = -1.0

_RowsBySource = Mapping[str, Sequence[int]]
_RowScorer = Callable[[Bundle, QuestionReading, Floats], Floats]


@dataclass(frozen=True, slots=True)
class ScoredQuestion:
    """A question and the score that a floor is compared with.

    ``name``: the id of a gold query, or a question of the bank. ``top``: the passage or the hint
    whose score it is, of those that are expected if the question is answerable; None without one.
    """

    name: str
    score: float
    top: str | None
    is_gold: bool = True

    def as_json(self) -> dict[str, Any]:
        """Encode the question as `--json` prints it."""
        return asdict(self) | {"score": round(self.score, SHARE_DIGITS)}


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
        """Tell whether there are questions enough of both kinds to propose a floor."""
        return min(len(self.answerable), len(self.refusable)) >= MIN_QUESTIONS

    @property
    def points(self) -> tuple[FloorPoint, ...]:
        """Trace the trade-off curve."""
        return trace_floor_curve(*self._scores)

    @property
    def auroc(self) -> float:
        """Measure how well the score tells both kinds apart."""
        return compute_auroc(*self._scores)

    @property
    def current(self) -> FloorPoint:
        """Count the questions that the site's own floor answers and refuses."""
        return evaluate_floors([self.floor], *self._scores)[0]

    @property
    def proposed(self) -> FloorPoint:
        """Choose the floor with the highest mean of the shares answered and refused.

        Of equals, the one nearest to the site's.
        """
        return min(
            (self.current, *self.points),
            key=lambda point: (-point.balance, abs(point.floor - self.floor), point.floor),
        )

    def lost(self, floor: float) -> tuple[ScoredQuestion, ...]:
        """List the answerable questions that a floor refuses, lowest score first."""
        return tuple(each for each in self.answerable if not passes_floor(each.score, floor))

    def admitted(self, floor: float) -> tuple[ScoredQuestion, ...]:
        """List the questions to be refused that pass a floor, highest score first."""
        return tuple(each for each in self.refusable if passes_floor(each.score, floor))

    def as_json(self) -> dict[str, Any]:
        """Encode the calibration as `--json` prints it."""
        return {
            "current": self.current.as_json(),
            "proposed": self.proposed.as_json(),
            "auroc": round(self.auroc, SHARE_DIGITS),
            "curve": [point.as_json() for point in self.points],
            "answerable": [question.as_json() for question in self.answerable],
            "refusable": [question.as_json() for question in self.refusable],
            "left_out": [question.as_json() for question in self.left_out],
        }

    @property
    def _scores(self) -> tuple[list[float], list[float]]:
        return [each.score for each in self.answerable], [each.score for each in self.refusable]


def read_off_topic_questions() -> tuple[str, ...]:
    """Read the bank in ``off_topic.txt``: our own questions, which most sites have to refuse.

    One a line; a line that begins with # is a comment.
    """
    text = (files(__package__) / "off_topic.txt").read_text(encoding="utf-8")
    lines = (line.strip() for line in text.splitlines())
    return tuple(line for line in lines if line and not line.startswith("#"))


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
    bundle, profile = engine.store, engine.store.manifest.profile
    gold_questions = {_normalize_question(query.query) for query in queries}
    bank_queries = [
        GoldQuery(text, text, "not-found")
        for text in bank
        if _normalize_question(text) not in gold_questions
    ]
    all_queries = [*queries, *bank_queries]
    vectors = embed_queries(all_queries, engine)

    def calibrate(
        floor: float, ids: Sequence[str], rows: _RowsBySource, score_rows: _RowScorer
    ) -> FloorCalibration:
        answerable: list[ScoredQuestion] = []
        refusable: list[ScoredQuestion] = []
        for number, (query, vector) in enumerate(zip(all_queries, vectors, strict=True)):
            expected = _list_expected_rows(query, rows)
            if not expected and not requires_floor_refusal(query):
                continue
            scores = score_rows(bundle, engine.parse_question(clean_question(query.query)), vector)
            score, top = _find_best_row(scores, ids, expected)
            question = ScoredQuestion(query.id, score, top, is_gold=number < len(queries))
            (answerable if expected else refusable).append(question)
        return make_calibration(floor, answerable, refusable)

    hint_ids = [hint.id for hint in bundle.hints]
    hint_rows = _map_hint_rows(bundle, notes)
    return (
        calibrate(
            profile.floor,
            bundle.passage_ids,
            _map_passage_rows(bundle),
            compute_passage_floor_scores,
        ),
        calibrate(profile.note_floor, hint_ids, hint_rows, compute_hint_floor_scores),
    )


def make_calibration(
    floor: float, answerable: Iterable[ScoredQuestion], refusable: Iterable[ScoredQuestion]
) -> FloorCalibration:
    """Sort the questions of a floor, and leave out those of the bank that are likely on topic."""
    lowest_first = sorted(answerable, key=lambda question: question.score)
    middle = median(question.score for question in lowest_first) if lowest_first else 1.0
    off_topic: list[ScoredQuestion] = []
    left_out: list[ScoredQuestion] = []
    for question in sorted(refusable, key=lambda question: -question.score):
        is_on_topic = not question.is_gold and question.score > middle
        (left_out if is_on_topic else off_topic).append(question)
    return FloorCalibration(floor, tuple(lowest_first), tuple(off_topic), tuple(left_out))


def requires_floor_refusal(query: GoldQuery) -> bool:
    """Tell whether a floor has to refuse a query: not one that is left to the answer model.

    Nor one that has to be `declined`, which takes evidence.
    """
    return (
        query.expected_modes == ("not-found",)
        and query.expect_reason in (None, "no-evidence")
        and not query.requires_model
    )


def _map_passage_rows(bundle: Bundle) -> _RowsBySource:
    """Map the records and passages that a gold source may name to rows of passages."""
    rows: dict[str, list[int]] = {}
    for row, (name, record) in enumerate(
        zip(bundle.passage_ids, bundle.passage_records.tolist(), strict=True)
    ):
        for source in {name, bundle.record_ids[record]}:
            rows.setdefault(source, []).append(row)
    return rows


def _map_hint_rows(bundle: Bundle, notes: Mapping[str, str]) -> _RowsBySource:
    """Map the paths of notes that a gold source may name to rows of hints."""
    rows: dict[str, list[int]] = {}
    for row, hint in enumerate(bundle.hints):
        rows.setdefault(hint.note, []).append(row)
    return {path: rows[name] for path, name in notes.items() if name in rows}


def _list_expected_rows(query: GoldQuery, rows: _RowsBySource) -> list[int]:
    """List the rows of one stream that a query expects any of; [] if it is to be refused."""
    if query.expected_modes == ("not-found",):
        return []
    return sorted({row for source in query.sources for row in rows.get(source, ())})


def _find_best_row(
    scores: Floats, ids: Sequence[str], among: Sequence[int]
) -> tuple[float, str | None]:
    """Find the best score and its id. among: rows to choose from; all of them if there are none."""
    if not len(scores):
        return NO_MATCH_SCORE, None
    row = max(among, key=lambda row: scores[row]) if among else int(scores.argmax())
    return float(scores[row]), ids[row]


def _normalize_question(question: str) -> str:
    return clean_question(question).casefold()
