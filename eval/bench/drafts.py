"""Evidence of a model's prompt against gold spans, the prompts of questions, and drafts of them.

``evidence`` says of each site for which share of the gold questions the spans are in what a model
sees, ``held``, and for which share of the others a model is called, ``reached``; the columns of
``keyless`` are the same for what an answer without a model selects. ``sources`` and ``characters``
are medians of the prompts.
"""

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import gold_spans
from questions import build_site, required
from scoring import share
from tables import DATA, DataError, Row, print_rows, read_lines

from answerable.indexing.local_model import open_local_embedder
from answerable.serve.engine import Engine
from answerable.serve.providers import make_engine
from answerable.serve.settings import FunctionSettings
from answerable.serve.stores.bundle import Bundle, open_bundle
from answerable.serve.types import Evidence


def open_engine(site: Path, built: Path) -> Engine[Bundle]:
    """Open a site with a model as its answerer. built: the folder of built sites, added to."""
    copy = built / site.name
    if not copy.is_dir():
        build_site(shutil.copytree(site, copy))
    bundle = open_bundle(copy / "function" / "bundle")
    settings = FunctionSettings(answers="openai", model="any")
    return make_engine(bundle, open_local_embedder(), settings)


def measure_evidence(name: str, data: Path, built: Path) -> Row:
    """Measure what a model sees of the questions of a site."""
    gold = gold_spans.read_gold(data / "gold" / f"{name}.jsonl")
    engine = open_engine(data / "sites" / name, built)
    keyless = make_engine(engine.store, engine.embedder)
    selected: dict[str, list[tuple[str, Evidence]]] = {"model": [], "keyless": []}
    for row in read_lines(data / "questions" / f"{name}.jsonl", required):
        retrieved = engine.retrieve_for_answer(row["question"])
        selected["model"].append((row["id"], engine.select_evidence(retrieved)))
        selected["keyless"].append((row["id"], keyless.select_evidence(retrieved)))
    prompts = [join_texts(evidence) for _, evidence in selected["model"] if evidence]
    return {
        "name": name,
        "gold": len(gold),
        **{
            f"{kind}_held": share([gold[i].is_held(join_texts(e)) for i, e in rows if i in gold])
            for kind, rows in selected.items()
        },
        "others": sum(i not in gold for i, _ in selected["model"]),
        **{
            f"{kind}_reached": share([bool(e) for i, e in rows if i not in gold])
            for kind, rows in selected.items()
        },
        "sources": median(len(e.passages) for _, e in selected["model"] if e),
        "characters": median(map(len, prompts)),
    }


def join_texts(evidence: Evidence) -> str:
    """Join the texts of evidence as a model reads them."""
    starts = evidence.starts or [0] * len(evidence.passages)
    return "\n".join(p.text[start:] for p, start in zip(evidence.passages, starts, strict=True))


def main() -> None:
    """Run a command."""
    data = Path(os.environ.get("ANSWERABLE_DATA") or DATA)
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=data, metavar="DIR")
    parser.add_argument("--built", type=Path, metavar="DIR", help="keep the built sites here")
    commands = parser.add_subparsers(dest="command", required=True)
    evidence = commands.add_parser("evidence")
    evidence.add_argument("sites", nargs="*")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        built = arguments.built or Path(folder)
        if arguments.command == "evidence":
            names = arguments.sites or [p.stem for p in sorted((arguments.data/"gold").glob("*.jsonl"))]
            rows = [measure_evidence(name, arguments.data, built) for name in names]
            print_rows("Evidence of a model's prompt", rows, as_json=False)


if __name__ == "__main__":
    main()
