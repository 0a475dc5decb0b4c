"""The gate: whether the gold set can tell a bundle's encoding from full precision.

Whether the gold set can tell a database from the bundle that was published to it.
"""

import shutil
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from ..indexing.index import SiteIndex
from ..indexing.notes.note import Notebook
from ..indexing.output.atomic_files import make_private_folder
from ..indexing.output.bundle_writer import (
    BundleContents,
    read_build_time,
    reencode_contents,
    serialize_index,
    write_bundle,
)
from ..serve.bundle_format.profile import Profile
from ..serve.embedders.embedder import Embedder
from ..serve.engine import Engine
from ..serve.providers import make_engine
from ..serve.retrieval.retrieve import normalize_query
from ..serve.retrieval.store import Store
from ..serve.stores.bundle import Bundle
from ..serve.stores.bundle_reader import open_bundle
from ..serve.vectors.encodings import Codes, Encoding, encode_all_dimensions, score_all_codes
from .gold import GoldQuery, check_gold_sources, load_gold_queries, select_gold_queries
from .runner import Verdict, embed_queries, judge_query

FULL_PRECISION = "float32"

_WORK_FOLDER_PREFIX = "gate-"


@dataclass(frozen=True, slots=True)
class VerdictComparison:
    """One gold query at full precision and under the lever.

    ``flips`` says what the lever has made worse; nothing is a verdict that holds. ``rho`` is
    Spearman's correlation of the cosines with every row.
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
    """What became of a gold set of ``total`` queries under a lever.

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
    def held(self) -> int:
        """How many verdicts hold."""
        return sum(comparison.holds for comparison in self.comparisons)

    @property
    def is_whole(self) -> bool:
        """Whether every query of the gold set was asked."""
        return len(self.comparisons) == self.total

    @property
    def certified(self) -> bool:
        """Whether every verdict of the whole gold set holds; a subset certifies nothing."""
        return self.is_whole and self.held == self.total

    @property
    def word(self) -> str:
        """The decision in one word."""
        if self.certified:
            return "CERTIFIED"
        return "REJECTED" if self.is_whole else "UNCERTIFIED"

    @property
    def rho_mean(self) -> float:
        """Spearman's correlation of the mean query."""
        return float(np.mean([comparison.rho for comparison in self.comparisons] or [1.0]))

    @property
    def rho_min(self) -> float:
        """Spearman's correlation of the query that has changed the most."""
        return min((comparison.rho for comparison in self.comparisons), default=1.0)


@dataclass(frozen=True, slots=True)
class GateCase:
    """What a lever is judged by: the gold set, where its notes are, and who answers.

    ``notes``: from a note's path to its id. ``total``: of the whole set, of which ``queries`` may
    be a part. ``full``: judge answers as well as retrieval.
    """

    queries: tuple[GoldQuery, ...]
    total: int
    notes: Mapping[str, str]
    full: bool

    def answers(self, query: GoldQuery) -> bool:
        """Whether the answer to a query is judged: the gate's answers are extractive."""
        return self.full and not query.requires_model


def load_gate_case(
    path: Path,
    author: str | None,
    index: SiteIndex,
    private: Notebook,
    *,
    full: bool,
    ids: Sequence[str] = (),
) -> GateCase:
    """The gold set in a file as a case for an index; GoldError names what is wrong with it.

    ids: the queries to ask, all by default.
    """
    queries = load_gold_queries(path, author)
    public = {record.id for record in index.records} | {
        indexed.passage.id for indexed in index.passages
    }
    known = frozenset(public | {note.path for note in private.notes})
    unrouted = private.unrouted_paths
    check_gold_sources(queries, path, known, public, unrouted=unrouted, is_logged=True)
    chosen = tuple(select_gold_queries(queries, ids, path))
    return GateCase(chosen, len(queries), private.ids, full)


def judge_contents(
    index: SiteIndex,
    made: BundleContents,
    embedder: Embedder,
    profile: Profile,
    case: GateCase,
    work: Path,
) -> GateReport:
    """Run the gold set at full precision and under the lever that contents were made with.

    work: a folder for two bundles that are gone afterwards.
    """
    dimensions = embedder.identity.dimensions
    exact = reencode_contents(made, index, encode_all_dimensions(dimensions, FULL_PRECISION))
    with ExitStack() as stack:
        before, after = (
            stack.enter_context(open_unpublished(index, each, embedder, profile, work))
            for each in (exact, made)
        )
        vectors = embed_queries(case.queries, before)
        comparisons = tuple(compare_verdicts(case, vectors, before, after))
        return GateReport(
            lever=made.encoding.label(dimensions),
            bundle=after.store.manifest.id,
            bytes_before=before.store.manifest.bytes,
            bytes_after=after.store.manifest.bytes,
            total=case.total,
            comparisons=comparisons,
        )


def judge_encoding(
    index: SiteIndex,
    chosen: Encoding,
    embedder: Embedder,
    profile: Profile,
    case: GateCase,
    work: Path,
) -> GateReport:
    """The same for an encoding that nothing has been made with yet."""
    made = serialize_index(index, chosen)
    return judge_contents(index, made, embedder, profile, case, work)


def compare_verdicts(
    case: GateCase, vectors: NDArray[np.float32], before: Engine[Bundle], after: Engine[Bundle]
) -> Iterator[VerdictComparison]:
    """Judge each query with both engines. vectors: of the queries, (len(queries), dimensions)."""
    for query, vector in zip(case.queries, vectors, strict=True):
        one, other = (
            judge_query(query, vector, engine, case.notes, full=case.answers(query))
            for engine in (before, after)
        )
        rho = spearman_correlation(
            compute_all_cosines(before.store, vector), compute_all_cosines(after.store, vector)
        )
        yield VerdictComparison(
            query.id,
            one.passed,
            other.passed,
            one.top_id,
            other.top_id,
            find_regressions(one, other),
            rho,
        )


def find_regressions(before: Verdict, after: Verdict) -> tuple[str, ...]:
    """What a lever has made worse of a verdict.

    A verdict that fails under the lever alone, a refusal that came or went, and an expected source
    that has lost the top slot, even if it is still among the retrieved.
    """
    found = [] if after.passed or not before.passed else list(after.issues)
    gained = after.passed and not before.passed
    if before.refused != after.refused and not gained:
        found.append("refused by the floor" if after.refused else "no longer refused by the floor")
    if before.top_expected and not after.top_expected and not after.refused:
        found.append(f"the top slot went from {before.top_id} to {after.top_id}")
    return tuple(found)


def summarize_gate_report(report: GateReport) -> str:
    """A report on one line."""
    asked = len(report.comparisons)
    rest = "" if report.is_whole else f" ({report.total} in the gold set: a part never certifies)"
    return (
        f"{report.lever} {report.word}: {report.held} of {asked} verdicts hold{rest}, rank "
        f"correlation {report.rho_mean:.4f} (least {report.rho_min:.4f}), "
        f"{report.bytes_after / 1e6:.2f} MB instead of {report.bytes_before / 1e6:.2f}"
    )


def format_regressions(report: GateReport) -> str:
    """Which verdicts a lever has flipped, and how."""
    found = (f"{c.id}: {', '.join(c.flips)}" for c in report.comparisons if not c.holds)
    return "; ".join(found)


@contextmanager
def open_unpublished(
    index: SiteIndex, made: BundleContents, embedder: Embedder, profile: Profile, work: Path
) -> Iterator[Engine[Bundle]]:
    """A keyless engine over contents that are published nowhere."""
    make_private_folder(work)
    _remove_leftovers(work)
    with TemporaryDirectory(
        dir=work, prefix=_WORK_FOLDER_PREFIX, ignore_cleanup_errors=True
    ) as folder:
        now = read_build_time("0")
        write_bundle(index, Path(folder), embedder.identity, profile, now, made)
        yield make_engine(open_bundle(Path(folder), verify=False), embedder)


def _remove_leftovers(work: Path) -> None:
    """Remove what a killed run has left, or one on Windows, where a mapped file stays."""
    yesterday = time.time() - 86_400
    for folder in work.glob(f"{_WORK_FOLDER_PREFIX}*"):
        with suppress(OSError):
            if folder.stat().st_mtime < yesterday:
                shutil.rmtree(folder)


def compute_all_cosines(bundle: Bundle, vector: NDArray[np.float32]) -> NDArray[np.float32]:
    """The cosine of a question with every row of both streams."""
    unit = normalize_query(bundle, vector)
    streams: Iterable[Codes] = (bundle.passage_codes, bundle.hint_codes)
    return np.concatenate([score_all_codes(stream, unit) for stream in streams])


def spearman_correlation(first: NDArray[np.float32], second: NDArray[np.float32]) -> float:
    """Spearman's rank correlation, (n,) each; ties share the mean of their ranks.

    1 if there is no order to be kept, 0 if none of it is left.
    """
    one, other = _centered_ranks(first), _centered_ranks(second)
    if not one.any():
        return 1.0
    spread = float(one.std() * other.std())
    return float(np.mean(one * other) / spread) if spread else 0.0


def _centered_ranks(values: NDArray[np.float32]) -> NDArray[np.float64]:
    """The rank of each value from the mean rank."""
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[places]
    return np.asarray(ranks - (len(values) + 1) / 2, dtype=np.float64)


def find_store_regressions(
    case: GateCase, embedder: Embedder, bundle: Bundle, store: Store
) -> dict[str, str]:
    """The ids of the queries that a store has made worse, and how."""
    before, after = (make_engine(each, embedder) for each in (bundle, store))
    found: dict[str, str] = {}
    for query, vector in zip(case.queries, embed_queries(case.queries, before), strict=True):
        one, other = (
            judge_query(query, vector, engine, case.notes, full=case.answers(query))
            for engine in (before, after)
        )
        if flips := find_regressions(one, other):
            found[query.id] = ", ".join(flips)
    return found
