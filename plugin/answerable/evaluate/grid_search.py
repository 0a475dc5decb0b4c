"""Every setting of a grid judged by the gold set, and which of them are worth having."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

import numpy as np
from numpy.typing import NDArray

from ..indexing.index import SiteIndex
from ..indexing.output.bundle_writer import BundleContents, reencode_contents, serialize_index
from ..serve.bundle_format.profile import Profile
from ..serve.embedders.embedder import Embedder
from ..serve.engine import Engine
from ..serve.retrieval.retrieve import normalize_query
from ..serve.stores.bundle import Bundle
from ..serve.vectors.encodings import Encoding, encode_all_dimensions
from . import gate
from .gate import (
    GateCase,
    compute_all_cosines,
    find_regressions,
    open_unpublished,
    spearman_correlation,
)
from .runner import Verdict, embed_queries, judge_query

TIMING_NOISE = 1.5

_TIMED_SCANS = 5


@dataclass(frozen=True, slots=True)
class TrialSetting:
    """One point of the grid."""

    encoding: Encoding
    words: int
    floor: float


@dataclass(frozen=True, slots=True)
class Trial:
    """What a setting costs and what it keeps.

    ``bytes``: of the whole bundle; ``held``: verdicts of ``total``; ``rho``: the least rank
    correlation with full precision; ``scan``: milliseconds to estimate every row, both streams.
    """

    setting: TrialSetting
    bytes: int
    held: int
    total: int
    rho: float
    scan: float

    @property
    def holds(self) -> bool:
        return self.held == self.total

    def dominates(self, other: "Trial") -> bool:
        """Whether it is no worse in anything that counts, and better in something.

        Times are noisy: one counts as longer only if it is by half.
        """
        mine, theirs = self._kept(), other._kept()
        no_worse = all(a >= b for a, b in zip(mine, theirs, strict=True))
        quicker = TIMING_NOISE * self.scan < other.scan
        return no_worse and self.scan <= TIMING_NOISE * other.scan and (mine != theirs or quicker)

    def _kept(self) -> tuple[float, ...]:
        return (-self.bytes, self.held, self.rho)


@dataclass(frozen=True, slots=True)
class TrialSite:
    """A site's index at one length of its passages."""

    words: int
    index: SiteIndex
    embedder: Embedder
    profile: Profile
    case: GateCase


def list_dimensions(whole: int) -> list[int]:
    """The numbers of dimensions worth a trial: all, and halves of them down to 64."""
    halves = [whole >> shift for shift in range(4) if whole >> shift >= min(64, whole)]
    return sorted({*halves, *([1024] if whole > 1024 else [])}, reverse=True)


def judge_baseline(site: TrialSite, work: Path) -> Mapping[str, Verdict]:
    """The verdicts at full precision, by query, which every setting has to hold."""
    whole = encode_all_dimensions(site.embedder.identity.dimensions, gate.FULL_PRECISION)
    made = serialize_index(site.index, whole)
    with open_unpublished(site.index, made, site.embedder, site.profile, work) as engine:
        vectors = embed_queries(site.case.queries, engine)
        return _judge_queries(site.case, vectors, engine)


def run_trials(
    site: TrialSite,
    before: Mapping[str, Verdict],
    chosen: Sequence[Encoding],
    floors: Sequence[float],
    work: Path,
) -> Iterator[Trial]:
    """Judge a site's index in some encodings, with some floors. before: what has to be held.

    A verdict also has to hold against full precision at the same length and floor, as the gate of
    a build will have it.
    """
    exact = serialize_index(
        site.index, encode_all_dimensions(site.embedder.identity.dimensions, gate.FULL_PRECISION)
    )
    with open_unpublished(site.index, exact, site.embedder, site.profile, work) as full:
        vectors = embed_queries(site.case.queries, full)
        cosines = [compute_all_cosines(full.store, vector) for vector in vectors]
        held = {
            floor: (before, _judge_queries(site.case, vectors, _replace_floor(full, floor)))
            for floor in floors
        }
    for encoding in chosen:
        made = reencode_contents(exact, site.index, encoding)
        yield from _run_encoding_trials(site, held, made, vectors, cosines, work)


def _run_encoding_trials(
    site: TrialSite,
    before: Mapping[float, Sequence[Mapping[str, Verdict]]],
    made: BundleContents,
    vectors: NDArray[np.float32],
    cosines: Sequence[NDArray[np.float32]],
    work: Path,
) -> Iterator[Trial]:
    with open_unpublished(site.index, made, site.embedder, site.profile, work) as engine:
        rho = min(
            spearman_correlation(one, compute_all_cosines(engine.store, vector))
            for one, vector in zip(cosines, vectors, strict=True)
        )
        scan = _time_scan(engine, vectors[0])
        for floor, wanted in before.items():
            after = _judge_queries(site.case, vectors, _replace_floor(engine, floor))
            held = sum(
                not any(find_regressions(each[name], verdict) for each in wanted)
                for name, verdict in after.items()
            )
            yield Trial(
                TrialSetting(made.encoding, site.words, floor),
                engine.store.manifest.bytes,
                held,
                len(after),
                rho,
                scan,
            )


def _judge_queries(
    case: GateCase, vectors: NDArray[np.float32], engine: Engine[Bundle]
) -> dict[str, Verdict]:
    return {
        query.id: judge_query(query, vector, engine, case.notes, full=case.answers(query))
        for query, vector in zip(case.queries, vectors, strict=True)
    }


def _replace_floor(engine: Engine[Bundle], floor: float) -> Engine[Bundle]:
    """The same engine with another floor, which is a part of the manifest's profile."""
    manifest = engine.store.manifest
    profile = replace(manifest.profile, floor=floor)
    bundle = replace(engine.store, manifest=replace(manifest, profile=profile))
    return replace(engine, store=bundle)


def _time_scan(engine: Engine[Bundle], vector: NDArray[np.float32]) -> float:
    bundle = engine.store
    unit = normalize_query(bundle, vector)
    times = []
    for _ in range(_TIMED_SCANS):
        start = time.perf_counter()
        bundle.passage_codes.estimate(unit)
        bundle.hint_codes.estimate(unit)
        times.append(1000 * (time.perf_counter() - start))
    return median(times)


def find_pareto_front(found: Sequence[Trial], words: int, floor: float) -> list[Trial]:
    """The trials that no other one dominates, the smallest first; of equals the nearest one.

    words, floor: what the site has now.
    """
    ordered = sorted(found, key=lambda trial: (*_trial_cost(trial, words, floor), -trial.held))
    front: list[Trial] = []
    for trial in ordered:
        same = any(trial._kept() == other._kept() for other in front)
        if not same and not any(other.dominates(trial) for other in found):
            front.append(trial)
    return front


def find_smallest_trial(found: Sequence[Trial], words: int, floor: float) -> Trial | None:
    """The smallest that holds every verdict; of equals the one that changes the least."""
    held = (trial for trial in found if trial.holds)
    return min(held, key=lambda trial: _trial_cost(trial, words, floor), default=None)


def _trial_cost(trial: Trial, words: int, floor: float) -> tuple[float, ...]:
    setting = trial.setting
    return (trial.bytes, abs(setting.words - words), abs(setting.floor - floor), -trial.rho)
