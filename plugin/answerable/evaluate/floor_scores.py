"""What the floors are held against: the scores of a gold set's questions and of the bank's."""

from collections.abc import Callable, Mapping, Sequence

from ..serve import questions
from ..serve.bundle import Bundle
from ..serve.engine import Engine
from ..serve.question_reading import Reading
from ..serve.store import Floats
from . import calibration, runner
from .calibration import Asked, Calibration
from .gold import GoldQuery
from .scores import NOTHING, hint_scores, passage_scores

Rows = Mapping[str, Sequence[int]]
Score = Callable[[Bundle, Reading, Floats], Floats]


def calibrate(
    engine: Engine, queries: Sequence[GoldQuery], notes: Mapping[str, str], bank: Sequence[str]
) -> tuple[Calibration, Calibration]:
    """The calibrations of the floor and of the note floor; one call embeds all questions.

    notes: from a note's path to its id. bank: off-topic questions; one that the gold set asks too
    is the gold set's.
    """
    bundle, profile = engine.bundle, engine.bundle.manifest.profile
    own = {_key(query.query) for query in queries}
    others = [GoldQuery(text, text, "not-found") for text in bank if _key(text) not in own]
    every = [*queries, *others]
    vectors = runner.embed(every, engine)

    def stream(floor: float, ids: Sequence[str], rows: Rows, score: Score) -> Calibration:
        answerable: list[Asked] = []
        refusable: list[Asked] = []
        for place, (query, vector) in enumerate(zip(every, vectors, strict=True)):
            expected = _expected(query, rows)
            if not expected and not must_be_refused(query):
                continue
            scores = score(bundle, engine.read(questions.clean(query.query)), vector)
            found, top = _best(scores, ids, expected)
            asked = Asked(query.id, found, top, is_gold=place < len(queries))
            (answerable if expected else refusable).append(asked)
        return calibration.of(floor, answerable, refusable)

    hints = [hint.id for hint in bundle.hints]
    return (
        stream(profile.floor, bundle.passage_ids, _passages(bundle), passage_scores),
        stream(profile.note_floor, hints, _hints(bundle, notes), hint_scores),
    )


def must_be_refused(query: GoldQuery) -> bool:
    """Whether a floor has to refuse a query: not one that is left to the answer model.

    Nor one that has to be `declined`, which takes evidence.
    """
    return (
        query.expect_answer_mode == "not-found"
        and query.expect_reason in (None, "no-evidence")
        and not query.requires_model
    )


def _passages(bundle: Bundle) -> Rows:
    """The rows of the passages that a gold source may name, by record and by passage."""
    rows: dict[str, list[int]] = {}
    for row, (name, record) in enumerate(
        zip(bundle.passage_ids, bundle.passage_records.tolist(), strict=True)
    ):
        for source in {name, bundle.record_ids[record]}:
            rows.setdefault(source, []).append(row)
    return rows


def _hints(bundle: Bundle, notes: Mapping[str, str]) -> Rows:
    """The rows of the hints that a gold source may name, by the path of their note."""
    rows: dict[str, list[int]] = {}
    for row, hint in enumerate(bundle.hints):
        rows.setdefault(hint.note, []).append(row)
    return {path: rows[name] for path, name in notes.items() if name in rows}


def _expected(query: GoldQuery, rows: Rows) -> list[int]:
    """The rows of one stream that a query expects any of, none if it is to find no answer."""
    if query.expect_answer_mode == "not-found":
        return []
    sources = {*query.expect_sources, query.top_source or ""}
    return sorted({row for source in sources for row in rows.get(source, ())})


def _best(scores: Floats, ids: Sequence[str], among: Sequence[int]) -> tuple[float, str | None]:
    """The best score and whose it is. among: rows, where none are named all of them."""
    if not len(scores):
        return NOTHING, None
    row = max(among, key=lambda each: scores[each]) if among else int(scores.argmax())
    return float(scores[row]), ids[row]


def _key(question: str) -> str:
    return questions.clean(question).casefold()
