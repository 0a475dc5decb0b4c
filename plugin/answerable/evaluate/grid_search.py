"""Run the gold set over a grid of encodings and floors; find the Pareto front of their trials."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median

from ..indexing.output.bundle_contents import BundleContents, reencode_contents, serialize_index
from ..serve.engine import Engine
from ..serve.retrieval.retrieve import normalize_query
from ..serve.retrieval.store import Floats
from ..serve.stores.bundle import Bundle
from ..serve.vectors.encodings import Encoding, encode_all_dimensions
from .encoding_gate import FULL_PRECISION, JudgedSite, open_unpublished
from .gate import compute_all_cosines, find_regressions, is_failing, spearman_correlation
from .runner import embed_queries
from .verdict import Verdict

# A scan counts as longer only if it takes so many times as long.
TIMING_NOISE = 1.5

_TIMED_SCANS = 5

_Verdicts = Mapping[str, Verdict]


@dataclass(frozen=True, slots=True)
class TrialSetting:
    """One point of the grid."""

    encoding: Encoding
    words: int
    floor: float


@dataclass(frozen=True, slots=True)
class Trial:
    """The cost and the quality of a setting.

    ``bytes``: of the whole bundle; ``held_count``: verdicts of ``total`` that hold; ``rho``: the
    least rank correlation with full precision; ``scan``: milliseconds to estimate every row, both
    streams. ``failing_count``: queries that keep the gold set from passing; ``refused_count``:
    queries with a required refusal that pass.
    """

    setting: TrialSetting
    bytes: int
    held_count: int
    total: int
    rho: float
    scan: float
    failing_count: int = 0
    refused_count: int = 0

    @property
    def holds(self) -> bool:
        """Tell whether every verdict holds and the gold set passes, as the gate requires."""
        return self.held_count == self.total and not self.failing_count

    @property
    def passed_count(self) -> int:
        return self.total - self.failing_count

    def dominates(self, other: "Trial") -> bool:
        """Compare by Pareto: no worse in anything that counts, and better in something."""
        scores, others = self.scores, other.scores
        no_worse = all(a >= b for a, b in zip(scores, others, strict=True))
        is_quicker = TIMING_NOISE * self.scan < other.scan
        is_no_slower = self.scan <= TIMING_NOISE * other.scan
        return no_worse and is_no_slower and (scores != others or is_quicker)

    @property
    def scores(self) -> tuple[float, ...]:
        """List what counts and is exact, the higher the better."""
        return (-self.bytes, self.held_count, self.rho)


def list_dimensions(all_dimensions: int) -> list[int]:
    """List the numbers of dimensions worth a trial: all, and halves of them down to 64."""
    halves = (all_dimensions >> shift for shift in range(4))
    worthwhile = {each for each in halves if each >= min(64, all_dimensions)}
    return sorted(worthwhile | ({1024} if all_dimensions > 1024 else set()), reverse=True)


def judge_baseline(site: JudgedSite) -> _Verdicts:
    """Judge a site at full precision, by query: what every setting has to hold."""
    with open_unpublished(site, _serialize_exactly(site)) as engine:
        return site.case.judge_all(embed_queries(site.case.queries, engine), engine)


def run_trials(
    site: JudgedSite,
    words: int,
    baseline: _Verdicts,
    encodings: Sequence[Encoding],
    floors: Sequence[float],
) -> Iterator[Trial]:
    """Judge a site's index, cut into passages of so many words, in some encodings and floors.

    A verdict has to hold against the baseline, and against full precision at the same length and
    floor, as the gate of a build will compare it.
    """
    contents = _serialize_exactly(site)
    with open_unpublished(site, contents) as exact:
        vectors = embed_queries(site.case.queries, exact)
        cosines = [compute_all_cosines(exact.store, vector) for vector in vectors]
        references = {
            floor: (baseline, site.case.judge_all(vectors, _replace_floor(exact, floor)))
            for floor in floors
        }
    for encoding in encodings:
        encoded = reencode_contents(contents, site.index, encoding)
        with open_unpublished(site, encoded) as engine:
            rho = min(
                spearman_correlation(exact_cosines, compute_all_cosines(engine.store, vector))
                for exact_cosines, vector in zip(cosines, vectors, strict=True)
            )
            scan = _time_scan(engine, vectors[0])
            for floor, to_hold in references.items():
                verdicts = site.case.judge_all(vectors, _replace_floor(engine, floor))
                yield Trial(
                    TrialSetting(encoding, words, floor),
                    engine.store.manifest.bytes,
                    _count_held(verdicts, to_hold),
                    len(verdicts),
                    rho,
                    scan,
                    count_failing(verdicts),
                    sum(each.passed and each.requires_refusal for each in verdicts.values()),
                )


def find_pareto_front(trials: Sequence[Trial], words: int, floor: float) -> list[Trial]:
    """Find the trials that no other one dominates, the smallest first.

    words, floor: the site's own; of equal trials the nearest to these remains.
    """
    ordered = sorted(
        trials, key=lambda trial: (*_trial_cost(trial, words, floor), -trial.held_count)
    )
    front: list[Trial] = []
    for trial in ordered:
        is_repeated = any(trial.scores == other.scores for other in front)
        if not is_repeated and not any(other.dominates(trial) for other in trials):
            front.append(trial)
    return front


def find_smallest_trial(trials: Sequence[Trial], words: int, floor: float) -> Trial | None:
    """Find the smallest that holds every verdict; of equals the one that changes the least."""
    holding = (trial for trial in trials if trial.holds)
    return min(holding, key=lambda trial: _trial_cost(trial, words, floor), default=None)


def rank_by_passing(trials: Sequence[Trial], words: int, floor: float) -> list[Trial]:
    """Order trials by queries that pass, then refusals, then bytes, then by the least change."""
    return sorted(
        trials,
        key=lambda trial: (
            trial.failing_count,
            -trial.refused_count,
            *_trial_cost(trial, words, floor),
        ),
    )


def count_failing(verdicts: Mapping[str, Verdict]) -> int:
    """Count the queries that keep the gold set from passing."""
    return sum(is_failing(verdict) for verdict in verdicts.values())


def _serialize_exactly(site: JudgedSite) -> BundleContents:
    dimensions = site.embedder.identity.dimensions
    return serialize_index(site.index, encode_all_dimensions(dimensions, FULL_PRECISION))


def _count_held(verdicts: _Verdicts, references: Sequence[_Verdicts]) -> int:
    return sum(
        not any(find_regressions(reference[name], verdict) for reference in references)
        for name, verdict in verdicts.items()
    )


def _replace_floor(engine: Engine[Bundle], floor: float) -> Engine[Bundle]:
    """Copy an engine with another floor, which is a part of the manifest's profile."""
    manifest = engine.store.manifest
    profile = replace(manifest.profile, floor=floor)
    bundle = replace(engine.store, manifest=replace(manifest, profile=profile))
    return replace(engine, store=bundle)


def _time_scan(engine: Engine[Bundle], vector: Floats) -> float:
    """Time the estimate of every row, in milliseconds: the median of some scans."""
    bundle = engine.store
    unit = normalize_query(bundle, vector)
    times = []
    for _ in range(_TIMED_SCANS):
        start = time.perf_counter()
        bundle.passage_codes.estimate(unit)
        bundle.hint_codes.estimate(unit)
        times.append(1000 * (time.perf_counter() - start))
    return median(times)


def _trial_cost(trial: Trial, words: int, floor: float) -> tuple[float, ...]:
    setting = trial.setting
    return (trial.bytes, abs(setting.words - words), abs(setting.floor - floor), -trial.rho)
