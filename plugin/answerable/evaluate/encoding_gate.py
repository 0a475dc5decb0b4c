"""Judge a gold set at full precision and in a bundle's encoding, compare, and cache the report."""

import hashlib
import json
import shutil
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from .. import evaluate, serve
from ..indexing.index import SiteIndex
from ..indexing.output.atomic_files import make_private_folder, write_private_file
from ..indexing.output.bundle_contents import BundleContents, reencode_contents
from ..indexing.output.bundle_writer import make_manifest, parse_build_time, write_bundle
from ..serve.bundle_format.profile import Profile
from ..serve.embedders.embedder import Embedder
from ..serve.engine import Engine
from ..serve.providers import make_engine
from ..serve.stores.bundle import Bundle
from ..serve.stores.bundle_reader import open_bundle
from ..serve.vectors.encodings import encode_all_dimensions
from .gate import GateCase, GateReport, VerdictComparison, compare_verdicts
from .runner import embed_queries

FULL_PRECISION = "float32"

_WORK_FOLDER_PREFIX = "gate-"


@dataclass(frozen=True, slots=True)
class JudgedSite:
    """A site's index, what opens it, and the case that judges it.

    ``work``: a folder for bundles that are deleted afterwards.
    """

    index: SiteIndex
    embedder: Embedder
    profile: Profile
    case: GateCase
    work: Path

    def compute_bundle_id(self, contents: BundleContents) -> str:
        """Compute the id that contents would be published under."""
        identity, built_at = self.embedder.identity, parse_build_time("0")
        return make_manifest(contents, identity, self.profile, built_at).id


def judge_contents(site: JudgedSite, contents: BundleContents) -> GateReport:
    """Run the gold set at full precision and under the encoding that contents were made with."""
    dimensions = site.embedder.identity.dimensions
    exact = reencode_contents(
        contents, site.index, encode_all_dimensions(dimensions, FULL_PRECISION)
    )
    with ExitStack() as stack:
        before, after = (
            stack.enter_context(open_unpublished(site, each)) for each in (exact, contents)
        )
        vectors = embed_queries(site.case.queries, before)
        return GateReport(
            lever=contents.encoding.label(dimensions),
            bundle=after.store.manifest.id,
            bytes_before=before.store.manifest.bytes,
            bytes_after=after.store.manifest.bytes,
            total=site.case.total,
            comparisons=tuple(compare_verdicts(site.case, vectors, before, after)),
        )


def certify_contents(site: JudgedSite, contents: BundleContents, cache_folder: Path) -> GateReport:
    """Judge contents, or read the report that the cache holds of the same bundle and gold set."""
    key = compute_verdict_key(site.compute_bundle_id(contents), site.index, site.case)
    path = cache_folder / f"{key}.json"
    report = read_gate_report(path)
    if report is None:
        report = judge_contents(site, contents)
        write_gate_report(path, report)
    return report


def compute_verdict_key(bundle_id: str, index: SiteIndex, case: GateCase) -> str:
    """Hash all that verdicts depend on: code, bundle, gold set, exact vectors.

    A note can change without its coarse codes, so the exact vectors count too.
    """
    inputs = json.dumps([_digest_code(), bundle_id, asdict(case)], sort_keys=True)
    digest = hashlib.sha256(inputs.encode())
    for vectors in (index.passage_vectors, index.hint_vectors):
        digest.update(np.ascontiguousarray(vectors, dtype="<f4").data)
    return digest.hexdigest()


@contextmanager
def open_unpublished(site: JudgedSite, contents: BundleContents) -> Iterator[Engine[Bundle]]:
    """Open a keyless engine over contents that are published nowhere."""
    make_private_folder(site.work)
    _remove_leftovers(site.work)
    with TemporaryDirectory(
        dir=site.work, prefix=_WORK_FOLDER_PREFIX, ignore_cleanup_errors=True
    ) as name:
        folder, built_at = Path(name), parse_build_time("0")
        write_bundle(contents, folder, site.embedder.identity, site.profile, built_at)
        yield make_engine(open_bundle(folder, verify=False), site.embedder)


def write_gate_report(path: Path, report: GateReport) -> None:
    """Write a report for its owner alone, since it may name notes by path."""
    write_private_file(path, (json.dumps(asdict(report), indent=1) + "\n").encode())


def read_gate_report(path: Path) -> GateReport | None:
    """Read a report of a whole gold set; None for a file that is missing or damaged."""
    try:
        data = json.loads(path.read_bytes())
        rows = data.pop("comparisons")
        comparisons = [VerdictComparison(**{**row, "flips": tuple(row["flips"])}) for row in rows]
        report = GateReport(**data, comparisons=tuple(comparisons))
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None
    return report if report.is_whole else None


@cache
def _digest_code() -> str:
    """Hash the code that retrieves, answers and judges."""
    paths = (
        path for room in (evaluate, serve) for path in Path(str(room.__file__)).parent.rglob("*.py")
    )
    return hashlib.sha256(b"".join(path.read_bytes() for path in sorted(paths))).hexdigest()


def _remove_leftovers(work: Path) -> None:
    """Remove what a killed run has left, or one on Windows, where a mapped file stays."""
    yesterday = time.time() - 86_400
    for folder in work.glob(f"{_WORK_FOLDER_PREFIX}*"):
        with suppress(OSError):
            if folder.stat().st_mtime < yesterday:
                shutil.rmtree(folder)
