"""Calibrated floors: chosen by one half of a site's real questions, judged by the other half.

In the rows with ``others`` a site also has to refuse the other sites' questions, of which each
half has a half too: refusals near its subject. ``floor``: the site's, which is replaced where a
floor is proposed. ``halves``: so many calibrations, one by each half of each split. ``near``: the
median of their refusals near the subject. ``proposed``: how many gave a proposal, and ``floors``
which. A question that has to be refused is answered wrongly if it is answered, and one that has a
right page if its answer cites none. ``wrong``, ``right`` and ``refused``: answers that are wrong
and right and refusals that are right, on the other half, summed over all halves, before and after.
``more_wrong``: halves with more wrong answers after than before. ``former``: the same where the
bank of off-topic questions counts like the site's refusals, as the rule was before.
"""

import random
import shutil
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from questions import build_site, required
from tables import DataError, Results, Row, main, measure_each, read_lines

from answerable.evaluate.calibration import (
    FloorQuestions,
    make_calibration,
    read_off_topic_questions,
    score_questions,
    trace_floor_curve,
)
from answerable.evaluate.gold import GoldQuery
from answerable.indexing.local_model import open_local_embedder
from answerable.serve.engine import Engine
from answerable.serve.providers import make_engine
from answerable.serve.stores.bundle import Bundle, open_bundle

SEEDS = 20
# A floor that is clearly too low for the default embedder.
LOW_FLOOR = 0.20
_MISSING = "no file questions/NAME.jsonl with its site in sites/NAME"

Names = frozenset[str]


@dataclass(frozen=True, slots=True)
class Tally:
    """Count the answers shown wrongly and rightly and the right refusals of some questions."""

    wrong: int = 0
    right: int = 0
    refused: int = 0

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(
            self.wrong + other.wrong, self.right + other.right, self.refused + other.refused
        )


@dataclass(frozen=True, slots=True)
class Judge:
    """Ask a site questions at any floor, and count what is shown.

    questions: by id. gold: the urls of the right pages of each, below ``root``; none for a
    question that has to be refused. outcomes: what has been asked before.
    """

    engine: Engine[Bundle]
    root: str
    questions: Mapping[str, str]
    gold: Mapping[str, Collection[str]]
    outcomes: dict[tuple[str, float], Tally] = field(default_factory=dict)

    def count(self, names: Collection[str], floor: float) -> Tally:
        """Count what a floor shows of some questions."""
        return sum((self._ask(name, floor) for name in sorted(names)), Tally())

    def _ask(self, name: str, floor: float) -> Tally:
        key = name, floor
        if key not in self.outcomes:
            manifest = self.engine.store.manifest
            profile = replace(manifest.profile, floor=floor)
            store = replace(self.engine.store, manifest=replace(manifest, profile=profile))
            reply = replace(self.engine, store=store).answer(self.questions[name])
            pages = {each.url.partition("#")[0].removeprefix(self.root) for each in reply.citations}
            if reply.answer.mode == "not-found":
                self.outcomes[key] = Tally(refused=not self.gold[name])
            elif pages & set(self.gold[name]):
                self.outcomes[key] = Tally(right=1)
            else:
                self.outcomes[key] = Tally(wrong=1)
        return self.outcomes[key]


def measure(data: Path) -> Results:
    """Measure every ``questions/NAME.jsonl`` on its ``sites/NAME``, in two rows."""
    files = sorted((data / "questions").glob("*.jsonl"))
    results = measure_each(files, partial(_site_rows, data=data, files=files), _MISSING)
    return Results([row for site in results.rows for row in site["rows"]], results.skipped)


def _site_rows(path: Path, data: Path, files: Sequence[Path]) -> Row:
    own = _read_questions(path)
    others = [row for file in files if file != path for row in _read_questions(file)]
    site = data / "sites" / path.stem
    if not (site / "mkdocs.yml").is_file():
        raise DataError(f"its site's {site / 'mkdocs.yml'} is missing")
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copytree(site, Path(folder, "site"))
        root = build_site(copy)
        bundle = open_bundle(copy / "function" / "bundle")
        engine = make_engine(bundle, open_local_embedder())
        gold = {row["id"]: row["gold_urls"] if row["answerable"] else () for row in own}
        gold |= {row["id"]: () for row in others}
        questions = {row["id"]: row["question"] for row in (*own, *others)}
        judge = Judge(engine, root, questions, gold)
        queries = list(_make_queries(judge))
        scored, _ = score_questions(engine, queries, {}, read_off_topic_questions())
        kinds = [
            frozenset(row["id"] for row in own if row["answerable"]),
            frozenset(row["id"] for row in own if not row["answerable"]),
        ]
        borrowed = frozenset(row["id"] for row in others)
        default = bundle.manifest.profile.floor
        rows = [_row(path.stem, default, scored, judge, kinds)]
        if borrowed:
            rows += [
                _row(f"{path.stem}, others", floor, scored, judge, [*kinds, borrowed])
                for floor in (default, LOW_FLOOR)
            ]
        return {"rows": rows}


def _read_questions(path: Path) -> list[Row]:
    rows = read_lines(path, lambda row: ("id", *required(row)))
    if not rows:
        raise DataError(f"{path} holds no question")
    return rows


def _make_queries(judge: Judge) -> Iterator[GoldQuery]:
    """Make the gold queries: pages to be retrieved, or a refusal."""
    bundle = judge.engine.store
    records: dict[str, str] = {}
    for row, record in enumerate(bundle.passage_records.tolist()):
        url = bundle.passage_urls[row].partition("#")[0].removeprefix(judge.root)
        records.setdefault(url, bundle.record_ids[record])
    for name, question in judge.questions.items():
        sources = tuple(records[url] for url in judge.gold[name] if url in records)
        if judge.gold[name]:
            yield GoldQuery(name, question, expect_sources=sources)
        else:
            yield GoldQuery(name, question, "not-found")


def _row(
    name: str, default: float, scored: FloorQuestions, judge: Judge, kinds: Sequence[Names]
) -> Row:
    """Calibrate by each half of each split, and judge by its other half."""
    totals = {"default": Tally(), "used": Tally(), "former": Tally()}
    more_wrong = {"used": 0, "former": 0}
    near, proposals = [], []
    for chosen_by, held_out in _split_in_halves(kinds):
        questions = _select_questions(scored, chosen_by)
        calibration = make_calibration(default, questions)
        near.append(calibration.near_refusals)
        used = calibration.proposed.floor if calibration.proposed else default
        if used != default:
            proposals.append(used)
        floors = {"default": default, "used": used, "former": _choose_as_before(default, questions)}
        tallies = {rule: judge.count(held_out, floor) for rule, floor in floors.items()}
        totals = {rule: totals[rule] + tally for rule, tally in tallies.items()}
        for rule in more_wrong:
            more_wrong[rule] += tallies[rule].wrong > tallies["default"].wrong
    return {
        "name": name,
        "floor": default,
        "halves": len(near),
        "near": median(near),
        "proposed": len(proposals),
        "floors": f"{min(proposals)} to {max(proposals)}" if proposals else None,
        **_counts("wrong", totals),
        **_counts("right", totals),
        **_counts("refused", totals),
        "more_wrong": more_wrong["used"],
        "former_wrong": totals["former"].wrong,
        "former_more_wrong": more_wrong["former"],
    }


def _counts(name: str, totals: Mapping[str, Tally]) -> dict[str, Any]:
    before, after = getattr(totals["default"], name), getattr(totals["used"], name)
    return {name: f"{before} → {after}"}


def _split_in_halves(kinds: Sequence[Names]) -> Iterator[tuple[Names, Names]]:
    """Split each kind of question by place and by each seed; yield both halves both ways round."""
    ordered = [sorted(names) for names in kinds]
    orders = [ordered]
    for seed in range(SEEDS):
        generator = random.Random(seed)
        orders.append([generator.sample(names, len(names)) for names in ordered])
    for shuffled in orders:
        halves = [
            frozenset(name for names in shuffled for name in names[first::2]) for first in (0, 1)
        ]
        yield halves[0], halves[1]
        yield halves[1], halves[0]


def _select_questions(scored: FloorQuestions, names: Names) -> FloorQuestions:
    """Select the gold queries of some ids; the bank stays whole."""
    return replace(
        scored,
        answerable=tuple(each for each in scored.answerable if each.name in names),
        refusable=tuple(each for each in scored.refusable if each.name in names),
    )


def _choose_as_before(default: float, questions: FloorQuestions) -> float:
    """Choose the best mean of both shares where the bank counts among the refusals."""
    middle = median(question.score for question in questions.answerable)
    bank = tuple(question for question in questions.off_topic if question.score <= middle)
    points = trace_floor_curve(FloorQuestions(questions.answerable, (*questions.refusable, *bank)))
    best = min(points, key=lambda point: (-point.balance, abs(point.floor - default)))
    return best.floor


if __name__ == "__main__":
    main("Calibrated floors (by one half of the questions, judged by the other)", measure)
