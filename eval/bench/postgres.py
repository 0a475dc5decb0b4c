"""A million passages in PostgreSQL, and what they would be as a bundle.

``publish_s`` and ``index_s``: seconds to send a whole bundle, and to build the index of it.
``p50_ms`` and ``p95_ms``: of one retrieval, from the question's vector to the texts of its first 32
candidates. ``recall_8`` and ``hints_8``: of the first eight by the bundle in memory, the share that
the same place gives, of the public layer and of the private one. ``mb``: on disk, or of the files
that a function would carry.

--passages, --notes and --beside (the size of the bundle that stands beside it) take other sizes.
"""

import argparse
import itertools
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import drawn
import numpy as np
from tables import Row, print_rows

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from answerable.postgres import publication, rows
from answerable.postgres.catalog import FUNCTION_ROLE, PUBLISHER_ROLE
from answerable.postgres.connections import DatabaseConnections
from answerable.postgres.options import SEARCH_METHODS, DatabaseOptions
from answerable.postgres.publication import DatabaseTarget, publish_bundle_rows
from answerable.postgres.store import open_postgres_store, read_served_key
from answerable.serve.retrieval import retrieve
from answerable.serve.retrieval.question import read_question
from answerable.serve.retrieval.retrieve import RetrievalResult
from answerable.serve.retrieval.selection import POOL_SIZE
from answerable.serve.retrieval.store import Store
from answerable.serve.stores.bundle import Bundle
from support.postgres_server import PostgresServer, running

PASSAGES, NOTES, BESIDE = 1_000_000, 20_000, 100_000
ASKED, ASKED_EXACTLY, TOP = 100, 30, 8
# Terms whose postings stand for all, in an estimate of their size.
_SAMPLED_TERMS = 1024
# As a server of some gigabytes has it; every write is flushed.
SERVER = {
    "fsync": "on", "synchronous_commit": "on", "full_page_writes": "on",
    "shared_buffers": "2GB", "maintenance_work_mem": "3GB", "max_wal_size": "8GB",
    "dynamic_shared_memory_type": "mmap",
}  # fmt: skip

Question = tuple[str, drawn.Floats]


def measured(passages: int, notes: int, beside: int) -> list[Row]:
    """Measure a row for each way to search, and for the bundles."""
    table: list[Row] = []
    with tempfile.TemporaryDirectory() as work:
        for size in sorted({beside, passages}):
            folder = Path(work, str(size))
            folder.mkdir()
            started = time.perf_counter()
            generated = drawn.bundle(size, notes, folder)
            _say(f"{size:,} passages drawn in {time.perf_counter() - started:.0f} s")
            questions = list(drawn.questions(generated, ASKED))
            exact = [_retrieved(generated, each) for each in questions]
            times = _times(generated, questions)
            table.append({"name": f"bundle of {size:,}", **times, "mb": _bundle_mb(generated)})
            _say(str(table[-1]))
            table += _in_database(generated, size, questions, exact)
    return table


def _in_database(
    generated: Bundle, size: int, questions: Sequence[Question], exact: Sequence[RetrievalResult]
) -> list[Row]:
    with running(**SERVER) as server:
        built: list[float] = []
        publication._index_vectors = _timed(publication._index_vectors, built)
        started = time.perf_counter()
        publish_bundle_rows(generated, DatabaseTarget(server.url(PUBLISHER_ROLE), "bench", "hnsw"))
        took = time.perf_counter() - started
        _say(f"published in {took:.0f} s, of which the index took {built[-1]:.0f} s")
        sizes = _sizes(server)
        _say(f"{sizes['tables']:.0f} MB of tables, {sizes['all']:.0f} MB with their indexes")
        connections = DatabaseConnections(DatabaseOptions(server.url(FUNCTION_ROLE), timeout=60))
        store = open_postgres_store(connections.fetch, read_served_key(connections.fetch, "bench"))
        table: list[Row] = []
        for search in SEARCH_METHODS:
            store = replace(store, search=search)
            some = ASKED_EXACTLY if search == "exact" and size > BESIDE else ASKED
            row: Row = {"name": f"{search} of {size:,}"}
            row |= _times(store, questions[:some])
            row |= _recalls([_retrieved(store, each) for each in questions[:some]], exact[:some])
            table.append(row)
            _say(str(row))
        connections.close()
    table[0] |= {"mb": sizes["tables"], "publish_s": took - built[-1]}
    table[1] |= {"mb": sizes["all"], "index_s": built[-1]}
    return table


def _retrieved(store: Store, question: Question) -> RetrievalResult:
    text, vector = question
    return retrieve.retrieve(store, read_question(store, text), vector, POOL_SIZE)


def _times(store: Store, questions: Sequence[Question]) -> Row:
    took = []
    for each in questions:
        started = time.perf_counter()
        _retrieved(store, each)
        took.append(1000 * (time.perf_counter() - started))
    return {"p50_ms": float(np.median(took)), "p95_ms": float(np.percentile(took, 95))}


def _recalls(retrieved: Sequence[RetrievalResult], exact: Sequence[RetrievalResult]) -> Row:
    def share(stream: str) -> float:
        shared = total = 0
        for one, other in zip(retrieved, exact, strict=True):
            got, best = (
                {s.item.id for s in getattr(each.truncate(TOP), stream)} for each in (one, other)
            )
            shared, total = shared + len(got & best), total + len(best)
        return shared / max(total, 1)

    return {"recall_8": share("passages"), "hints_8": share("hints")}


def _timed(work: Callable[..., Any], into: list[float]) -> Callable[..., Any]:
    def timed(*arguments: Any) -> Any:
        started = time.perf_counter()
        done = work(*arguments)
        into.append(time.perf_counter() - started)
        return done

    return timed


def _sizes(server: PostgresServer) -> dict[str, float]:
    ((tables, whole),) = server.execute(
        "SELECT sum(pg_table_size(oid)), sum(pg_total_relation_size(oid)) FROM pg_class "
        "WHERE relkind = 'r' AND relnamespace::regnamespace::text LIKE 'answerable%'"
    )
    return {"tables": float(str(tables)) / 1e6, "all": float(str(whole)) / 1e6}


def _bundle_mb(generated: Bundle) -> float:
    """Estimate the MB of vectors, compressed postings and, by a part of them, texts."""
    import zlib

    counts = generated.manifest.counts
    vectors = (counts["passages"] + counts["windows"]) * (drawn.IDENTITY.dimensions + 4)
    part = list(itertools.islice(rows.make_posting_rows(generated), _SAMPLED_TERMS))
    listed = sum(len(data) for _, data in part)
    edges = generated.postings.edges
    posting_count = sum(int(edges[n + 1] - edges[n]) for n in range(len(part)))
    postings = listed / max(posting_count, 1) * counts["postings"]
    texts = "\n".join(generated.passage(row).text for row in range(min(1600, counts["passages"])))
    share = len(zlib.compress(texts.encode(), 9)) / min(1600, counts["passages"])
    return (vectors + postings + share * counts["passages"]) / 1e6


def _say(what: str) -> None:
    print(what, file=sys.stderr, flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--passages", type=int, default=PASSAGES)
    parser.add_argument("--notes", type=int, default=NOTES)
    parser.add_argument("--beside", type=int, default=BESIDE)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    passages, notes = arguments.passages, arguments.notes
    title = f"{passages:,} passages and {notes:,} notes in PostgreSQL, 256 dimensions"
    print_rows(
        title,
        measured(passages, notes, arguments.beside),
        as_json=arguments.json,
    )
