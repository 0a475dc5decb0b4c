"""Every setting of a grid judged by the gold set, and which of them are worth having."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

import numpy as np
from numpy.typing import NDArray

from ..build import bundle_writer
from ..build.bundle_writer import Contents
from ..build.index import Index
from ..serve import encoding as encodings
from ..serve import retrieval
from ..serve.embedder import Embedder
from ..serve.encoding import Encoding
from ..serve.engine import Engine
from ..serve.profile import Profile
from . import gate, runner
from .gate import Case
from .runner import Verdict

NOISE = 1.5

_TIMED = 5


@dataclass(frozen=True, slots=True)
class Setting:
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

    setting: Setting
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
        quicker = NOISE * self.scan < other.scan
        return no_worse and self.scan <= NOISE * other.scan and (mine != theirs or quicker)

    def _kept(self) -> tuple[float, ...]:
        return (-self.bytes, self.held, self.rho)


@dataclass(frozen=True, slots=True)
class Site:
    """A site's index at one length of its passages."""

    words: int
    index: Index
    embedder: Embedder
    profile: Profile
    case: Case


def dimensions_of(whole: int) -> list[int]:
    """The numbers of dimensions worth a trial: all, and halves of them down to 64."""
    halves = [whole >> shift for shift in range(4) if whole >> shift >= min(64, whole)]
    return sorted({*halves, *([1024] if whole > 1024 else [])}, reverse=True)


def baseline(site: Site, work: Path) -> Mapping[str, Verdict]:
    """The verdicts at full precision, by query, which every setting has to hold."""
    whole = encodings.whole(site.embedder.identity.dimensions, gate.FULL)
    made = bundle_writer.contents(site.index, whole)
    with gate.opened(site.index, made, site.embedder, site.profile, work) as engine:
        vectors = runner.embed(site.case.queries, engine)
        return _by_id(site.case, vectors, engine)


def trials(
    site: Site,
    before: Mapping[str, Verdict],
    chosen: Sequence[Encoding],
    floors: Sequence[float],
    work: Path,
) -> Iterator[Trial]:
    """Judge a site's index in some encodings, with some floors. before: what has to be held.

    A verdict also has to hold against full precision at the same length and floor, as the gate of
    a build will have it.
    """
    exact = bundle_writer.contents(
        site.index, encodings.whole(site.embedder.identity.dimensions, gate.FULL)
    )
    with gate.opened(site.index, exact, site.embedder, site.profile, work) as full:
        vectors = runner.embed(site.case.queries, full)
        cosines = [gate.all_cosines(full.bundle, vector) for vector in vectors]
        held = {
            floor: (before, _by_id(site.case, vectors, _floored(full, floor))) for floor in floors
        }
    for encoding in chosen:
        made = bundle_writer.recoded(exact, site.index, encoding)
        yield from _of_encoding(site, held, made, vectors, cosines, work)


def _of_encoding(
    site: Site,
    before: Mapping[float, Sequence[Mapping[str, Verdict]]],
    made: Contents,
    vectors: NDArray[np.float32],
    cosines: Sequence[NDArray[np.float32]],
    work: Path,
) -> Iterator[Trial]:
    with gate.opened(site.index, made, site.embedder, site.profile, work) as engine:
        rho = min(
            gate.spearman(one, gate.all_cosines(engine.bundle, vector))
            for one, vector in zip(cosines, vectors, strict=True)
        )
        scan = _scan_time(engine, vectors[0])
        for floor, wanted in before.items():
            after = _by_id(site.case, vectors, _floored(engine, floor))
            held = sum(
                not any(gate.flips(each[name], verdict) for each in wanted)
                for name, verdict in after.items()
            )
            yield Trial(
                Setting(made.encoding, site.words, floor),
                engine.bundle.manifest.bytes,
                held,
                len(after),
                rho,
                scan,
            )


def _by_id(case: Case, vectors: NDArray[np.float32], engine: Engine) -> dict[str, Verdict]:
    return {
        query.id: runner.judged(query, vector, engine, case.notes, full=case.answers(query))
        for query, vector in zip(case.queries, vectors, strict=True)
    }


def _floored(engine: Engine, floor: float) -> Engine:
    """The same engine with another floor, which is a part of the manifest's profile."""
    manifest = engine.bundle.manifest
    profile = replace(manifest.profile, floor=floor)
    bundle = replace(engine.bundle, manifest=replace(manifest, profile=profile))
    return replace(engine, store=bundle)


def _scan_time(engine: Engine, vector: NDArray[np.float32]) -> float:
    bundle = engine.bundle
    unit = retrieval.query(bundle, vector)
    times = []
    for _ in range(_TIMED):
        start = time.perf_counter()
        bundle.passage_codes.estimate(unit)
        bundle.hint_codes.estimate(unit)
        times.append(1000 * (time.perf_counter() - start))
    return median(times)


def pareto(found: Sequence[Trial], words: int, floor: float) -> list[Trial]:
    """The trials that no other one dominates, the smallest first; of equals the nearest one.

    words, floor: what the site has now.
    """
    ordered = sorted(found, key=lambda trial: (*_cost(trial, words, floor), -trial.held))
    front: list[Trial] = []
    for trial in ordered:
        same = any(trial._kept() == other._kept() for other in front)
        if not same and not any(other.dominates(trial) for other in found):
            front.append(trial)
    return front


def smallest(found: Sequence[Trial], words: int, floor: float) -> Trial | None:
    """The smallest that holds every verdict; of equals the one that changes the least."""
    held = (trial for trial in found if trial.holds)
    return min(held, key=lambda trial: _cost(trial, words, floor), default=None)


def _cost(trial: Trial, words: int, floor: float) -> tuple[float, ...]:
    setting = trial.setting
    return (trial.bytes, abs(setting.words - words), abs(setting.floor - floor), -trial.rho)
