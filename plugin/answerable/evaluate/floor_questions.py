"""Score gold queries and a bank of off-topic questions as each of the two floors sees them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.resources import files
from typing import Any

from ..serve.engine import Engine
from ..serve.retrieval.question import QuestionReading
from ..serve.retrieval.question_text import clean_question
from ..serve.retrieval.store import Floats
from ..serve.stores.bundle import Bundle
from .bundle_scores import compute_hint_floor_scores, compute_passage_floor_scores
from .floor_curve import SHARE_DIGITS
from .gold import GoldQuery
from .runner import embed_queries

# The score of a question that retrieves nothing, whatever the floor: no cosine is lower.
NO_MATCH_SCORE = -1.0

_RowsBySource = Mapping[str, Sequence[int]]
_RowScorer = Callable[[Bundle, QuestionReading, Floats], Floats]


@dataclass(frozen=True, slots=True)
class ScoredQuestion:
    """A question and the score that a floor is compared with.

    ``name``: the id of a gold query, or a question of the bank. ``top``: the passage or the hint
    whose score it is, of those that are expected if the question is answerable; None without one.
    ``best``: the best score of all, expected or not.
    """

    name: str
    score: float
    top: str | None
    best: float

    def as_json(self) -> dict[str, Any]:
        """Encode the question as `--json` prints it."""
        scores = {"score": self.score, "best": self.best}
        return asdict(self) | {key: round(value, SHARE_DIGITS) for key, value in scores.items()}


@dataclass(frozen=True, slots=True)
class FloorQuestions:
    """The questions that one floor is judged by, in the order of the gold set and of the bank."""

    answerable: tuple[ScoredQuestion, ...]
    refusable: tuple[ScoredQuestion, ...]
    off_topic: tuple[ScoredQuestion, ...]


def read_off_topic_questions() -> tuple[str, ...]:
    """Read the bank in ``off_topic.txt``: our own questions, which most sites have to refuse.

    One a line; a line that begins with # is a comment.
    """
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
    gold_questions = {_normalize_question(query.query) for query in queries}
    bank_queries = [
        GoldQuery(text, text) for text in bank if _normalize_question(text) not in gold_questions
    ]
    all_queries = [*queries, *bank_queries]
    vectors = embed_queries(all_queries, engine)
    readings = [engine.parse_question(clean_question(query.query)) for query in all_queries]

    def score(
        ids: Sequence[str], expected: Mapping[int, Sequence[int]], score_rows: _RowScorer
    ) -> FloorQuestions:
        def score_each(
            numbers: Iterable[int], among: Mapping[int, Sequence[int]]
        ) -> tuple[ScoredQuestion, ...]:
            questions = []
            for number in numbers:
                scores = score_rows(bundle, readings[number], vectors[number])
                score, top = _find_best_row(scores, ids, among.get(number, ()))
                best, _ = _find_best_row(scores, ids, ())
                questions.append(ScoredQuestion(all_queries[number].id, score, top, best))
            return tuple(questions)

        return FloorQuestions(
            score_each((number for number in expected if expected[number]), expected),
            score_each(refusable, {}),
            score_each(range(len(queries), len(all_queries)), {}),
        )

    refusable = [number for number, query in enumerate(queries) if requires_floor_refusal(query)]
    passage_rows, hint_rows = _map_passage_rows(bundle), _map_hint_rows(bundle, notes)
    hint_ids = [hint.id for hint in bundle.hints]
    passages = {
        number: _list_expected_rows(query, passage_rows) for number, query in enumerate(queries)
    }
    hints = {
        number: _list_expected_hints(query, hint_rows, len(hint_ids))
        for number, query in enumerate(queries)
    }
    return (
        score(bundle.passage_ids, passages, compute_passage_floor_scores),
        score(hint_ids, hints, compute_hint_floor_scores),
    )


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


def _list_expected_hints(query: GoldQuery, rows: _RowsBySource, count: int) -> list[int]:
    """List the rows of hints that a query expects any of; of a route to any note, all of them."""
    if query.expected_modes == ("related-material",) and not query.sources:
        return list(range(count))
    return _list_expected_rows(query, rows)


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
