"""Compare gold verdicts of two engines; certify an encoding if all pass and none got worse.

`answerable eval --encoding` and the build ask the same function.
"""

from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from ..indexing.index import SiteIndex
from ..indexing.output.bundle_writer import (
    BundleContents,
    parse_build_time,
    reencode_contents,
    write_bundle,
)
from ..serve.bundle_format.manifest import Profile
from ..serve.embedders.embedder import Embedder, Vectors
from ..serve.engine import Engine
from ..serve.providers import make_engine
from ..serve.retrieval.retrieve import normalize_query
from ..serve.retrieval.scoring import score_all_codes
from ..serve.retrieval.store import Floats, Store
from ..serve.stores.bundle import Bundle, open_bundle
from ..serve.vectors import encode_all_dimensions
from .gold import GoldQuery, load_gold_queries, select_gold_queries
from .query_retrieval import embed_queries
from .runner import judge_query
from .sources import NoteSources, check_gold_sources
from .verdict import Verdict

FULL_PRECISION = "float32"


@dataclass(frozen=True, slots=True)
class JudgedSite:
    """A site's index, what opens it, and the gold set that a change of it is judged by.

    ``total``: of the whole set, of which ``queries`` may be a part. ``notes``: from a note's path
    to its id. ``full``: judge answers as well as retrieval.
    """

    index: SiteIndex
    embedder: Embedder
    profile: Profile
    queries: tuple[GoldQuery, ...]
    total: int
    notes: Mapping[str, str]
    full: bool

    def judge(self, query: GoldQuery, vector: Floats, engine: Engine) -> Verdict:
        """Judge one query, without its answer where only a model could be held to that."""
        is_full = self.full and not query.requires_model
        return judge_query(query, vector, engine, self.notes, full=is_full)


@dataclass(frozen=True, slots=True)
class VerdictComparison:
    """One gold query at full precision and under the lever.

    A known failure counts as passed, since the gold set passes with it. ``flips`` says what the
    lever has made worse; a verdict without flips holds. ``rho`` is Spearman's correlation of the
    cosines with every row.
    """

    id: str
    passed_before: bool
    passed_after: bool
    top_before: str | None
    top_after: str | None
    flips: tuple[str, ...]
    rho: float

    @property
    def holds(self) -> bool:
        return not self.flips


@dataclass(frozen=True, slots=True)
class GateReport:
    """The verdicts of a gold set of ``total`` queries under a lever.

    ``lever``: a label such as ``int4@128``; ``bundle``: the id it would be published under;
    bytes: of all files of the bundle.
    """

    lever: str
    bundle: str
    bytes_before: int
    bytes_after: int
    total: int
    comparisons: tuple[VerdictComparison, ...]

    @property
    def held_count(self) -> int:
        """Count the verdicts that hold."""
        return sum(comparison.holds for comparison in self.comparisons)

    @property
    def failing(self) -> tuple[str, ...]:
        """List the queries that fail at full precision, which no encoding can mend."""
        return tuple(
            comparison.id for comparison in self.comparisons if not comparison.passed_before
        )

    @property
    def flipped(self) -> tuple[str, ...]:
        """List the queries whose verdicts do not hold."""
        return tuple(comparison.id for comparison in self.comparisons if not comparison.holds)

    @property
    def is_whole(self) -> bool:
        """Tell whether every query of the gold set was asked."""
        return len(self.comparisons) == self.total

    @property
    def certified(self) -> bool:
        """Tell whether the whole gold set passes, at full precision and under the lever.

        A subset certifies nothing, nor does a gold set that fails at full precision.
        """
        return self.is_whole and self.held_count == self.total and not self.failing

    @property
    def word(self) -> str:
        """Name the decision in one word."""
        if self.certified:
            return "CERTIFIED"
        return "REJECTED" if self.is_whole and self.flipped else "UNCERTIFIED"

    @property
    def rho_mean(self) -> float:
        """Average Spearman's correlation over the queries."""
        return float(np.mean([comparison.rho for comparison in self.comparisons] or [1.0]))

    @property
    def rho_min(self) -> float:
        """Return Spearman's correlation of the query that has changed the most."""
        return min((comparison.rho for comparison in self.comparisons), default=1.0)


def load_gate_queries(
    path: Path,
    author: str | None,
    index: SiteIndex,
    notes: NoteSources,
    *,
    check_negation: bool,
    ids: Collection[str] = (),
) -> tuple[tuple[GoldQuery, ...], int]:
    """Load the queries to ask of an index, and count all; GoldError names what is wrong.

    check_negation: of queries that do not say. ids: the queries to ask, all by default.
    """
    queries = load_gold_queries(path, author, check_negation=check_negation)
    public = {record.id for record in index.records} | {
        indexed.passage.id for indexed in index.passages
    }
    check_gold_sources(queries, path, public, notes, suggest=public, is_logged=True)
    return tuple(select_gold_queries(queries, tuple(ids), path)), len(queries)


def judge_contents(site: JudgedSite, contents: BundleContents) -> GateReport:
    """Run the gold set at full precision and under the encoding that contents were made with."""
    dimensions = site.embedder.identity.dimensions
    exact = reencode_contents(
        contents, site.index, encode_all_dimensions(dimensions, FULL_PRECISION)
    )
    with ExitStack() as stack:
        before, after = (
            stack.enter_context(open_unpublished(site, encoded)) for encoded in (exact, contents)
        )
        vectors = embed_queries(site.queries, before)
        return GateReport(
            lever=contents.encoding.label(dimensions),
            bundle=after.store.manifest.id,
            bytes_before=before.store.manifest.bytes,
            bytes_after=after.store.manifest.bytes,
            total=site.total,
            comparisons=tuple(compare_verdicts(site, vectors, before, after)),
        )


@contextmanager
def open_unpublished(site: JudgedSite, contents: BundleContents) -> Iterator[Engine[Bundle]]:
    """Open a keyless engine over contents that are published nowhere."""
    # Its folder is for its owner alone: it holds vectors of notes.
    with TemporaryDirectory(prefix="answerable-", ignore_cleanup_errors=True) as name:
        folder, built_at = Path(name), parse_build_time("0")
        write_bundle(contents, folder, site.embedder.identity, site.profile, built_at)
        yield make_engine(open_bundle(folder, verify=False), site.embedder)


def compare_verdicts(
    site: JudgedSite, vectors: Vectors, before: Engine[Bundle], after: Engine[Bundle]
) -> Iterator[VerdictComparison]:
    """Judge each query with both engines. vectors: of the queries, (len(queries), dimensions)."""
    for query, vector in zip(site.queries, vectors, strict=True):
        first, second = (site.judge(query, vector, engine) for engine in (before, after))
        cosines = (compute_all_cosines(engine.store, vector) for engine in (before, after))
        yield VerdictComparison(
            query.id,
            not is_failing(first),
            not is_failing(second),
            first.top,
            second.top,
            find_regressions(first, second),
            spearman_correlation(*cosines),
        )


def is_failing(verdict: Verdict) -> bool:
    """Tell whether a verdict keeps the gold set from passing; a known failure does not."""
    return not verdict.passed and verdict.known_failure is None


def find_regressions(before: Verdict, after: Verdict) -> tuple[str, ...]:
    """Find what a lever has made worse of a verdict.

    A verdict that fails under the lever alone, a refusal that came or went, and an expected source
    that has lost the top slot, even if it is still among the retrieved.
    """
    regressions = [] if after.passed or not before.passed else list(after.issues)
    is_improved = after.passed and not before.passed
    if before.below_floors != after.below_floors and not is_improved:
        regressions.append(
            "refused by the floor" if after.below_floors else "no longer refused by the floor"
        )
    if before.top_expected and not after.top_expected and not after.below_floors:
        regressions.append(f"the top slot went from {before.top} to {after.top}")
    return tuple(regressions)


def find_store_regressions(site: JudgedSite, bundle: Bundle, store: Store) -> dict[str, str]:
    """Find what a database has made worse of the bundle that was published to it, by query id."""
    before, after = (make_engine(opened, site.embedder) for opened in (bundle, store))
    regressions = {}
    for query, vector in zip(site.queries, embed_queries(site.queries, before), strict=True):
        verdicts = (site.judge(query, vector, engine) for engine in (before, after))
        if flips := find_regressions(*verdicts):
            regressions[query.id] = ", ".join(flips)
    return regressions


def summarize_gate_report(report: GateReport) -> str:
    """Summarize a report on one line."""
    part = "" if report.is_whole else f" ({report.total} in the gold set: a part never certifies)"
    failing = ""
    if report.failing:
        count = f"{len(report.failing)} {'query' if len(report.failing) == 1 else 'queries'}"
        failing = f"the gold set fails at full precision: {count}; nothing can be certified; "
    verdicts = f"{report.held_count} of {len(report.comparisons)} verdicts hold{part}"
    return (
        f"{report.lever} {report.word}: {failing}{verdicts}, "
        f"rank correlation {report.rho_mean:.4f} (least {report.rho_min:.4f}), "
        f"{report.bytes_after / 1e6:.2f} MB instead of {report.bytes_before / 1e6:.2f}"
    )


def format_regressions(report: GateReport) -> str:
    """List on one line which verdicts a lever has flipped, and how."""
    return "; ".join(
        f"{comparison.id}: {', '.join(comparison.flips)}"
        for comparison in report.comparisons
        if not comparison.holds
    )


def compute_all_cosines(bundle: Bundle, vector: Floats) -> Floats:
    """Compute the cosine of a question with every row of both streams."""
    unit = normalize_query(bundle, vector)
    streams = (bundle.passage_codes, bundle.hint_codes)
    return np.concatenate([score_all_codes(stream, unit) for stream in streams])


def spearman_correlation(first: Floats, second: Floats) -> float:
    """Correlate the ranks of two lists, (n,) each; ties share the mean of their ranks.

    1 if there is no order to be kept, 0 if none of it is left.
    """
    first_ranks, second_ranks = _centered_ranks(first), _centered_ranks(second)
    if not first_ranks.any():
        return 1.0
    spread = float(first_ranks.std() * second_ranks.std())
    return float(np.mean(first_ranks * second_ranks) / spread) if spread else 0.0


def _centered_ranks(values: Floats) -> NDArray[np.float64]:
    """Rank each value, counted from the mean rank."""
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[places]
    return np.asarray(ranks - (len(values) + 1) / 2, dtype=np.float64)
