"""The passages of a made-up site in PostgreSQL, and as a bundle.

``publish_s``: seconds to send the whole bundle, and to build the index of it. ``p50_ms`` and
``p95_ms``: of one retrieval, from the question's vector to the texts of its first 32 candidates.
``recall_8`` and ``hints_8``: of the first eight by the bundle in memory, the share that the same
place gives, of the public layer and of the private one. ``mb``: on disk.
"""

import argparse
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import synthetic
from tables import Row, find_median, find_percentile, print_rows

from answerable.engine.bundle import Bundle, open_bundle
from answerable.engine.index.manifest import LOCAL_PROFILE
from answerable.engine.retrieval.question import read_question
from answerable.engine.retrieval.retrieve import POOL_SIZE, RetrievalResult, retrieve
from answerable.engine.retrieval.store import Store
from answerable.engine.vectors import EmbedderIdentity, Floats
from answerable.indexing.write import pack_index, parse_build_time, write_index
from answerable.postgres.connections import Database
from answerable.postgres.options import SEARCH_METHODS, SearchMethod
from answerable.postgres.publication import DatabaseTarget, publish_bundle_rows
from answerable.postgres.store import open_postgres_store
from support.postgres_server import FUNCTION_ROLE, PUBLISHER_ROLE, PostgresServer, running

IDENTITY = EmbedderIdentity("generated", "subjects", 256)
# Anything is evidence, so that there are eight to be found.
PROFILE = replace(LOCAL_PROFILE, floor=0.05, note_floor=0.0)
WORDS, ASKED, TOP = 80, 100, 8
# As a server of some gigabytes has it; every write is flushed.
SERVER = {
    "fsync": "on", "synchronous_commit": "on", "full_page_writes": "on",
    "shared_buffers": "2GB", "maintenance_work_mem": "3GB", "max_wal_size": "8GB",
    "dynamic_shared_memory_type": "mmap",
}  # fmt: skip

Question = tuple[str, Floats]


def measure(passages: int, notes: int) -> list[Row]:
    """Measure a row for the bundle, and for each way to search in the database."""
    index, drawn = synthetic.make_index(passages, notes, WORDS, IDENTITY.dimensions)
    with tempfile.TemporaryDirectory() as work:
        write_index(pack_index(index, IDENTITY, PROFILE, parse_build_time("0")), Path(work))
        bundle = open_bundle(Path(work))
        rows = np.linspace(0, passages - 1, ASKED).astype(int)
        vectors = synthetic.make_questions(drawn[rows])
        # Some words of its passage, and a vector near that of the passage.
        questions = [
            (" ".join(bundle.passage(row).text.split()[:40:8]), vector)
            for row, vector in zip(rows.tolist(), vectors, strict=True)
        ]
        table = [
            {
                "name": f"bundle of {passages:,}",
                **_time_retrieval(bundle, questions),
                "mb": bundle.manifest.bytes / 1e6,
            }
        ]
        exact = [_retrieve(bundle, question) for question in questions]
        for search in SEARCH_METHODS:
            table.append(_measure_database(bundle, search, questions, exact))
    return table


def _measure_database(
    bundle: Bundle,
    search: SearchMethod,
    questions: Sequence[Question],
    exact: Sequence[RetrievalResult],
) -> Row:
    with running(**SERVER) as server:
        started = time.perf_counter()
        publish_bundle_rows(bundle, DatabaseTarget(server.url(PUBLISHER_ROLE), "bench", search))
        seconds = time.perf_counter() - started
        database = Database(server.url(FUNCTION_ROLE))
        store = open_postgres_store(database.fetch, "bench")
        row = {
            "name": f"{search} of {bundle.manifest.counts['passages']:,}",
            **_time_retrieval(store, questions),
            **_compare([_retrieve(store, question) for question in questions], exact),
            "mb": _measure_disk(server),
            "publish_s": seconds,
        }
        database.close()
    return row


def _retrieve(store: Store, question: Question) -> RetrievalResult:
    text, vector = question
    return retrieve(store, read_question(store, text), vector, POOL_SIZE)


def _time_retrieval(store: Store, questions: Sequence[Question]) -> Row:
    milliseconds = []
    for question in questions:
        started = time.perf_counter()
        _retrieve(store, question)
        milliseconds.append(1000 * (time.perf_counter() - started))
    return {"p50_ms": find_median(milliseconds), "p95_ms": find_percentile(milliseconds, 95)}


def _compare(retrieved: Sequence[RetrievalResult], exact: Sequence[RetrievalResult]) -> Row:
    """Compare the first eight of both layers with those of exact retrieval."""
    row: Row = {}
    for name, layer in (("recall_8", "passages"), ("hints_8", "hints")):
        kept = total = 0
        for result, right in zip(retrieved, exact, strict=True):
            ids, right_ids = (
                {scored.item.id for scored in getattr(side, layer)[:TOP]}
                for side in (result, right)
            )
            kept, total = kept + len(ids & right_ids), total + len(right_ids)
        row[name] = kept / max(total, 1)
    return row


def _measure_disk(server: PostgresServer) -> float:
    ((size,),) = server.execute(
        "SELECT sum(pg_total_relation_size(oid)) FROM pg_class "
        "WHERE relkind = 'r' AND relnamespace = 'answerable'::regnamespace"
    )
    return float(str(size)) / 1e6


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--passages", type=int, default=30_000)
    parser.add_argument("--notes", type=int, default=2_000)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    print_rows(
        f"{arguments.passages:,} passages and {arguments.notes:,} notes in PostgreSQL",
        measure(arguments.passages, arguments.notes),
        as_json=arguments.json,
    )
