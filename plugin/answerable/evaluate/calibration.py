"""Calibrate the two floors of a site: count what each floor answers and refuses, and propose one.

What is proposed refuses no less than the site's own floor, and its gain holds on held-out halves of
the questions. A bank of off-topic questions chooses no floor, and only forbids some.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from importlib.resources import files
from statistics import fmean, median
from typing import Any, Literal

import numpy as np

from ..serve.engine import Engine
from ..serve.retrieval.question import clean_question
from ..serve.retrieval.store import Floats
from ..serve.stores.bundle import Bundle
from .gold import GoldQuery
from .query_retrieval import compute_hint_floor_scores, compute_passage_floor_scores, embed_queries

# A floor that is chosen by fewer questions would fit them alone.
MIN_ANSWERABLE = 5
MIN_NEAR_REFUSALS = 20
# A refusal that scores higher than this share of the bank is near the site's subject.
NEAR_SHARE = 0.9
# Other questions score a little higher or lower, so a floor keeps this distance from the gold
# queries that it would decide wrongly.
MARGIN = 0.05
# A higher floor has to refuse so many times as many refusals as it leaves wrong pages alone.
REFUSED_PER_ENDANGERED = 2
# Mean of both shares that a floor has to gain on questions that it was not chosen by.
MIN_HELD_OUT_GAIN = 0.01
# Halves of the questions that choose a floor, each for the other half.
HELD_OUT_HALVES = 50
# The score of a question that retrieves nothing, whatever the floor: no cosine is lower.
NO_MATCH_SCORE = -1.0

# ``too-few``: questions are missing. ``best``: no floor does better than the site's. ``unsafe``:
# those that do may show wrong answers that the site's does not. ``chance``: one does better for
# these questions, and floors that are chosen by half of them do not for the other half.
Outcome = Literal["proposed", "best", "unsafe", "chance", "too-few"]


@dataclass(frozen=True, slots=True)
class ScoredQuestion:
    """A question, by the id of its gold query or its text, and the score that a floor sees.

    ``top``: the passage or the hint whose score it is, of those that are expected if the question
    is answerable. ``best``: the best score of all, expected or not.
    """

    name: str
    score: float
    top: str | None
    best: float


@dataclass(frozen=True, slots=True)
class FloorQuestions:
    """The questions that one floor is judged by; ``off_topic`` are of the bank."""

    answerable: tuple[ScoredQuestion, ...]
    refusable: tuple[ScoredQuestion, ...]
    off_topic: tuple[ScoredQuestion, ...] = ()


@dataclass(frozen=True, slots=True)
class FloorPoint:
    """Count what a floor does: ``answered`` of ``answerable``, ``refused`` of ``refusable``.

    ``misled``: answerable questions that only pages pass the floor for that are not expected.
    """

    floor: float
    answered: int
    answerable: int
    refused: int
    refusable: int
    misled: int = 0
    off_topic_refused: int = 0
    off_topic: int = 0

    @property
    def wrong(self) -> int:
        """The number of questions that are shown something else than what they require."""
        return self.misled + self.refusable - self.refused

    @property
    def balance(self) -> Fraction:
        """The mean of both shares, exactly, so that equal ones are equal."""
        shares = Fraction(self.answered, self.answerable) + Fraction(self.refused, self.refusable)
        return shares / 2


@dataclass(frozen=True, slots=True)
class FloorCalibration:
    """One floor of a site, the questions that it is judged by, and what is proposed.

    ``questions``: those most likely to be decided wrongly come first. ``left_out``: those of the
    bank that score above the median of the answerable ones, and so are probably about the site's
    subject. ``near_limit``: the score above which a refusal is near it. ``proposed``: the floor to
    set, which may be the site's. ``best``: that with the best mean of both shares, safe or not if
    the outcome is ``unsafe``. ``gain``: its mean change on held-out halves, of which ``worse`` are
    shown more wrong answers than with the site's floor.
    """

    questions: FloorQuestions
    left_out: tuple[ScoredQuestion, ...]
    near_limit: float | None
    near_refusals: int
    missing_answerable: int
    missing_refusals: int
    current: FloorPoint
    outcome: Outcome = "too-few"
    proposed: FloorPoint | None = None
    best: FloorPoint | None = None
    gain: float | None = None
    worse: int | None = None

    def as_json(self) -> dict[str, Any]:
        """Encode the calibration as `--json` prints it."""
        curve = [asdict(point) for point in trace_floor_curve(self.questions)]
        body: dict[str, Any] = asdict(self) | asdict(self.questions) | {"curve": curve}
        del body["questions"]
        return body


def make_calibration(floor: float, scored: FloorQuestions) -> FloorCalibration:
    """Choose the safe floor with the best mean of both shares, and check it by halves."""
    answerable, refusable, bank = (
        sorted(kind, key=lambda question: question.score)
        for kind in (scored.answerable, scored.refusable, scored.off_topic)
    )
    middle = median(question.score for question in answerable) if answerable else 1.0
    off_topic = [question for question in bank if question.score <= middle]
    scores = [question.score for question in off_topic]
    limit = float(np.quantile(scores, NEAR_SHARE, method="lower")) if scores else None
    near = sum(limit is None or question.score > limit for question in refusable)
    questions = FloorQuestions(tuple(answerable), tuple(refusable[::-1]), tuple(off_topic[::-1]))
    (current,) = evaluate_floors([floor], questions)
    left_out = tuple(bank[len(off_topic) :][::-1])
    missing = (max(0, MIN_ANSWERABLE - len(answerable)), max(0, MIN_NEAR_REFUSALS - near))
    result = FloorCalibration(questions, left_out, limit, near, *missing, current)
    if any(missing):
        return result
    best = _choose_floor(floor, questions)
    if best.floor == floor:
        best = _choose_floor(floor, questions, is_guarded=False)
        outcome: Outcome = "best" if best.floor == floor else "unsafe"
        return replace(result, outcome=outcome, proposed=current, best=best)
    gains, worse = [], 0
    for chosen_by, held_out in _split_in_halves(questions):
        before, after = evaluate_floors([floor, _choose_floor(floor, chosen_by).floor], held_out)
        gains.append(float(after.balance - before.balance))
        worse += after.wrong > before.wrong
    result = replace(result, best=best, gain=fmean(gains), worse=worse)
    if fmean(gains) >= MIN_HELD_OUT_GAIN and not worse:
        return replace(result, outcome="proposed", proposed=best)
    return replace(result, outcome="chance", proposed=current)


def passes_floor(score: float, floor: float) -> bool:
    """Compare a score with a floor as retrieval compares the two: in float32."""
    return bool(np.float32(score) >= np.float32(floor))


def evaluate_floors(floors: Sequence[float], questions: FloorQuestions) -> list[FloorPoint]:
    """Count what some floors do to the questions."""
    kinds = (questions.answerable, questions.refusable, questions.off_topic)
    scores = [[question.score for question in kind] for kind in kinds]
    scores.append([question.best for question in questions.answerable])
    arrays = [np.asarray(kind, np.float32) for kind in scores]
    points = []
    for floor in floors:
        lost, refused, bank, silent = (int((kind < np.float32(floor)).sum()) for kind in arrays)
        total, refusable, off_topic = map(len, kinds)
        counts = (total - lost, total, refused, refusable, lost - silent, bank, off_topic)
        points.append(FloorPoint(floor, *counts))
    return points


def trace_floor_curve(questions: FloorQuestions) -> list[FloorPoint]:
    """Count what every floor from 0 to 1 does, in steps of 0.01."""
    return evaluate_floors([step / 100 for step in range(101)], questions)


def find_endangered(new: float, floor: float, questions: FloorQuestions) -> list[ScoredQuestion]:
    """Find the questions that a new floor may show a wrong answer to, and the site's floor not.

    A lower one answers, or nearly, a refusal of the gold set, or a question of the bank. A higher
    one leaves, or nearly, only wrong pages of a right answer.
    """
    new, floor = float(np.float32(new)), float(np.float32(floor))
    if new > floor:
        alone = [q for q in questions.answerable if floor <= q.score < min(new + MARGIN, q.best)]
        return [question for question in alone if new <= question.best]
    refused = [q for q in questions.refusable if new < floor and new - MARGIN <= q.score < floor]
    return refused + [q for q in questions.off_topic if new <= q.score < floor]


def _choose_floor(floor: float, questions: FloorQuestions, is_guarded: bool = True) -> FloorPoint:
    """Choose the floor with the best mean of both shares, the nearest to the site's of equals.

    is_guarded: leave out floors that may show wrong answers that the site's does not.
    """

    def is_safe(new: float) -> bool:
        low, high = float(np.float32(floor)), float(np.float32(new)) - MARGIN
        refused = sum(low <= question.score < high for question in questions.refusable)
        return refused >= REFUSED_PER_ENDANGERED * len(find_endangered(new, floor, questions))

    points = (*evaluate_floors([floor], questions), *trace_floor_curve(questions))
    return min(
        (point for point in points if not is_guarded or is_safe(point.floor)),
        key=lambda point: (-point.balance, abs(point.floor - floor), point.floor),
    )


def _split_in_halves(questions: FloorQuestions) -> Iterator[tuple[FloorQuestions, FloorQuestions]]:
    """Yield random halves of the questions of each kind, both ways round; the bank stays whole."""
    random = np.random.default_rng(0)
    # In this order the same scores give the same halves.
    answerable = sorted(questions.answerable, key=lambda question: (question.score, question.best))
    refusable = sorted(questions.refusable, key=lambda question: question.score)
    for _ in range(HELD_OUT_HALVES // 2):
        orders = [random.permutation(len(kind)).tolist() for kind in (answerable, refusable)]
        first, second = (
            FloorQuestions(
                tuple(answerable[place] for place in orders[0][half::2]),
                tuple(refusable[place] for place in orders[1][half::2]),
                questions.off_topic,
            )
            for half in (0, 1)
        )
        yield first, second
        yield second, first


def read_off_topic_questions() -> tuple[str, ...]:
    """Read the bank in ``off_topic.txt``, one question a line; a line with # is a comment."""
    text = (files(__package__) / "off_topic.txt").read_text(encoding="utf-8")
    lines = (line.strip() for line in text.splitlines())
    return tuple(line for line in lines if line and not line.startswith("#"))


def score_questions(
    engine: Engine[Bundle],
    queries: Sequence[GoldQuery],
    notes: Mapping[str, str],
    bank: Sequence[str],
) -> tuple[FloorQuestions, FloorQuestions]:
    """Score all questions for the floor of passages and for that of notes; one call embeds them.

    notes: from a note's path to its id. bank: off-topic questions; one that the gold set asks too
    is the gold set's.
    """
    bundle = engine.store
    gold_texts = {clean_question(query.query).casefold() for query in queries}
    others = [text for text in bank if clean_question(text).casefold() not in gold_texts]
    all_queries = [*queries, *(GoldQuery(text, text, "not-found") for text in others)]
    vectors = embed_queries(all_queries, engine)
    readings = [engine.parse_question(clean_question(query.query)) for query in all_queries]

    def score(
        ids: Sequence[str], rows: Mapping[str, list[int]], score_rows: Callable[..., Floats]
    ) -> FloorQuestions:
        kinds: dict[bool, list[ScoredQuestion]] = {False: [], True: []}
        for query, reading, vector in zip(all_queries, readings, vectors, strict=True):
            must_refuse = query.expected_modes == ("not-found",)
            # What the answer model has to refuse, or to decline, is none of a floor's business.
            is_left = query.requires_model or query.expect_reason not in (None, "no-evidence")
            any_note = ("*",) if query.expected_modes == ("related-material",) else ()
            expected = [row for name in query.sources or any_note for row in rows.get(name, ())]
            if (must_refuse and is_left) or not (must_refuse or expected):
                continue
            scores = score_rows(bundle, reading, vector)
            best = int(scores.argmax()) if len(scores) else None
            scored = ScoredQuestion(query.id, NO_MATCH_SCORE, None, NO_MATCH_SCORE)
            if best is not None:
                row = best if must_refuse else max(sorted(expected), key=lambda row: scores[row])
                scored = ScoredQuestion(query.id, float(scores[row]), ids[row], float(scores[best]))
            kinds[must_refuse].append(scored)
        refusals, count = tuple(kinds[True]), len(kinds[True]) - len(others)
        return FloorQuestions(tuple(kinds[False]), refusals[:count], refusals[count:])

    passage_rows, note_rows = defaultdict[str, list[int]](list), defaultdict[str, list[int]](list)
    for row, record in enumerate(bundle.passage_records.tolist()):
        for source in {bundle.passage_ids[row], bundle.record_ids[record]}:
            passage_rows[source].append(row)
    for row, hint in enumerate(bundle.hints):
        note_rows[hint.note].append(row)
    hint_rows = {path: note_rows[name] for path, name in notes.items() if name in note_rows}
    hint_rows["*"] = list(range(len(bundle.hints)))
    passages = score(bundle.passage_ids, passage_rows, compute_passage_floor_scores)
    hints = score([hint.id for hint in bundle.hints], hint_rows, compute_hint_floor_scores)
    return passages, hints
