"""What the gate has found before, so that an unchanged bundle is not judged again."""

import hashlib
import json
from dataclasses import asdict
from functools import cache
from pathlib import Path

import numpy as np

from .. import evaluate, serve
from ..indexing.index import SiteIndex
from ..indexing.output.atomic_files import write_private_file
from .gate import GateCase, GateReport, VerdictComparison


def certificate_key(bundle: str, index: SiteIndex, case: GateCase) -> str:
    """What a report is kept under: all that it depends on. bundle: the id of what is judged.

    A note can change without its coarse codes, so the exact vectors count too.
    """
    found = hashlib.sha256(
        json.dumps([_digest_code(), bundle, asdict(case)], sort_keys=True).encode()
    )
    for vectors in (index.passage_vectors, index.hint_vectors):
        found.update(np.ascontiguousarray(vectors, dtype="<f4").data)
    return found.hexdigest()


@cache
def _digest_code() -> str:
    """A digest of the code that retrieves, answers and judges."""
    paths = (
        path for room in (evaluate, serve) for path in Path(str(room.__file__)).parent.rglob("*.py")
    )
    return hashlib.sha256(b"".join(path.read_bytes() for path in sorted(paths))).hexdigest()


def read_certificate(folder: Path, name: str) -> GateReport | None:
    """The report under a key, None if there is none that is whole."""
    try:
        data = json.loads((folder / f"{name}.json").read_bytes())
        rows = data.pop("comparisons")
        comparisons = [VerdictComparison(**{**row, "flips": tuple(row["flips"])}) for row in rows]
        report = GateReport(**data, comparisons=tuple(comparisons))
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None
    return report if report.is_whole else None


def write_certificate(folder: Path, name: str, report: GateReport) -> None:
    """Keep a report under a key."""
    text = json.dumps(asdict(report), indent=1) + "\n"
    write_private_file(folder / f"{name}.json", text.encode())
