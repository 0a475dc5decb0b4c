"""Public question sets through the plugin's own cutting, bundle and retrieval.

Over the ``n`` answerable questions: hit@1, hit@3, hit@8 and nDCG@10; ``top_8`` and ``evidence``:
the share that has a right text among the first eight above the floor, before and after evidence is
selected, of which there are ``passages`` on average. AUROC of the top score (before boosts) of
answerable questions against each tier of questions that have to be refused; what the keyless
engine answers and refuses, and how often what it shows holds the reference answer.

A tier is what a set labels so. Where a set labels none as out of the corpus (``ooc``), its
answerable questions are asked once more with the texts of their own group hidden.
"""

import math
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from answers import ANSWERABLE, AnsweredQuestion, ask_question, count_decisions, measure_shown
from numpy.typing import NDArray
from passage_ranks import first_rank, order_records, rank_all, top_base
from scoring import auroc, floors, recall_shares, recalls, share
from tables import DataError, Results, Row, folders, main, measure_each, read_lines

from answerable.indexing.index import SiteInfo, build_index
from answerable.indexing.local_model import open_local_embedder
from answerable.indexing.output.bundle_writer import parse_build_time, serialize_index, write_bundle
from answerable.indexing.pages.page_index import index_record
from answerable.indexing.pages.records import PageBlock, PageMetadata, Record, Section
from answerable.serve.bundle_format.manifest import LOCAL_PROFILE
from answerable.serve.embedders.local_embedder import LocalEmbedder
from answerable.serve.engine import Engine
from answerable.serve.errors import NotebookError
from answerable.serve.providers import make_engine
from answerable.serve.retrieval.retrieve import TOP_K, RetrievalResult
from answerable.serve.retrieval.selection import POOL_SIZE, arrange_pool, select_evidence
from answerable.serve.stores.bundle import Bundle, open_bundle

# Questions about something of which the corpus has no text.
OUT_OF_CORPUS = "ooc"

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Outcome:
    """Hold the outcome of one question, asked of the corpus or of what a mask left of it.

    top: the best score before boosts. For an answerable question also ``rank``, of the first right
    text, infinite without one; ``gain``, its nDCG@10; whether a right text is in the first eight
    above the floor and in the evidence, and how many ``passages`` the evidence has.
    """

    answered: AnsweredQuestion
    top: float
    rank: float = math.inf
    gain: float = 0.0
    is_in_first: bool = False
    is_in_evidence: bool = False
    passages: int = 0


def measure(data: Path) -> Results:
    """Measure every folder under ``retrieval/``."""
    embedder = open_local_embedder()
    missing = f"no folder retrieval/NAME in {data}"
    return measure_each(folders(data / "retrieval"), lambda folder: _row(folder, embedder), missing)


def _row(folder: Path, embedder: LocalEmbedder) -> Row:
    corpus, queries = read_set(folder)
    labeled = {query["kind"] for query in queries}
    with tempfile.TemporaryDirectory() as work:
        bundle = build_bundle(corpus, embedder, Path(work))
        engine = make_engine(bundle, embedder)
        groups = _passage_groups(bundle, corpus)
        outcomes: list[Outcome] = []
        for query in queries:
            outcomes.append(_ask(engine, query))
            own = groups == query.get("group")
            if query["kind"] == ANSWERABLE and OUT_OF_CORPUS not in labeled and own.any():
                outcomes.append(_ask_masked(engine, query["text"], own))
    answerable = [each for each in outcomes if each.answered.kind == ANSWERABLE]
    tops = [each.top for each in answerable]
    tiers: dict[str, list[float]] = {}
    for each in outcomes:
        if each.answered.kind != ANSWERABLE:
            tiers.setdefault(each.answered.kind, []).append(each.top)
    answered = [each.answered for each in outcomes]
    ranks = [each.rank for each in answerable]
    return {
        "name": folder.name,
        "n": len(answerable),
        **recall_shares("hit", ranks),
        "ndcg_10": _mean([each.gain for each in answerable]),
        "top_8": share([each.is_in_first for each in answerable]),
        "evidence": share([each.is_in_evidence for each in answerable]),
        "passages": _mean([each.passages for each in answerable]),
        **{f"auroc_{tier}": auroc(tops, scores) for tier, scores in sorted(tiers.items())},
        "answered": share([top >= LOCAL_PROFILE.floor for top in tops]),
        **{f"refused_{tier}": share([score < LOCAL_PROFILE.floor for score in scores])
           for tier, scores in sorted(tiers.items())},
        "recall": recalls(ranks),
        "decisions": count_decisions(answered),
        "floors": floors(tops, tiers),
        "shown": measure_shown(answered),
    }  # fmt: skip


def read_set(folder: Path) -> tuple[list[Row], list[Row]]:
    """Read the texts and the questions of a set."""
    corpus = read_lines(folder / "corpus.jsonl", lambda _: ("id", "title", "text"))
    queries = read_lines(folder / "queries.jsonl", _required)
    for name, rows in (("corpus.jsonl", corpus), ("queries.jsonl", queries)):
        if not rows:
            raise DataError(f"{folder / name} is empty")
    return corpus, queries


def _required(query: Row) -> Sequence[str]:
    fields = ("text", "kind")
    return (*fields, "gold") if query.get("kind") == ANSWERABLE else fields


def _passage_groups(bundle: Bundle, corpus: Sequence[Row]) -> NDArray[np.object_]:
    """Return the group of each passage, (n,): NaN, which equals nothing, where a text has none."""
    groups = {row["id"]: row.get("group") for row in corpus}
    groups = {name: math.nan if group is None else group for name, group in groups.items()}
    of_records = np.array([groups[each] for each in bundle.record_ids], dtype=object)
    return of_records[bundle.passage_records]


def _ask(engine: Engine[Bundle], query: Row) -> Outcome:
    """Ask a question of the whole corpus."""
    ranking = rank_all(engine, query["text"])
    pool = engine.retrieve(query["text"], POOL_SIZE)
    answered = ask_question(engine, pool, query["kind"], query.get("ans", ()))
    top = top_base(ranking)
    if query["kind"] != ANSWERABLE:
        return Outcome(answered, top)
    gold, records = set(query["gold"]), order_records(engine.store, ranking)
    arranged = arrange_pool(engine.store, pool)
    evidence = select_evidence(arranged, engine.store.manifest.profile.passages_per_page).passages
    return Outcome(
        answered,
        top,
        first_rank(records, gold),
        _ndcg(records, gold, 10),
        any(scored.item.record in gold for scored in pool.truncate(TOP_K).passages),
        any(passage.record in gold for passage in evidence),
        len(evidence),
    )


def _ask_masked(engine: Engine[Bundle], text: str, mask: Mask) -> Outcome:
    """Ask an answerable question where the masked passages, (n,), are not there."""
    answered = ask_question(engine, _without(engine, text, mask), OUT_OF_CORPUS, ())
    return Outcome(answered, top_base(rank_all(engine, text), mask))


def _without(engine: Engine[Bundle], question: str, mask: Mask) -> RetrievalResult:
    """Return the pool that a question retrieves where the masked passages, (n,), are not there."""
    hidden = {engine.store.passage_ids[int(row)] for row in np.flatnonzero(mask)}
    wide = engine.retrieve(question, POOL_SIZE + len(hidden))
    visible = [scored for scored in wide.passages if scored.item.id not in hidden]
    siblings = [scored for scored in wide.siblings if scored.item.id not in hidden]
    return replace(wide, passages=tuple(visible[:POOL_SIZE]), siblings=tuple(siblings))


def build_bundle(corpus: Sequence[Row], embedder: LocalEmbedder, folder: Path) -> Bundle:
    records = [
        Record(
            id=row["id"],
            url=f"/{n}/",
            title=row["title"],
            metadata=PageMetadata(),
            sections=(Section((), "", _blocks(row["text"])),),
        )
        for n, row in enumerate(corpus)
    ]
    site = SiteInfo(folder.name, None, "en")
    pages = map(index_record, records)
    index = build_index(site, pages, [], _no_notes, embedder, folder / "cache")
    now = parse_build_time(None)
    contents = serialize_index(index, embedder.identity.dimensions)
    write_bundle(contents, folder / "bundle", embedder.identity, LOCAL_PROFILE, now)
    return open_bundle(folder / "bundle")


def _blocks(text: str) -> tuple[PageBlock, ...]:
    return tuple(PageBlock("text", part.strip()) for part in text.split("\n") if part.strip())


def _no_notes(about: str) -> str:
    raise NotebookError(f"{about!r}: this corpus has no notes")


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values else None


def _ndcg(ranked: Sequence[str], gold: set[str], k: int) -> float:
    gain = sum(1 / math.log2(n + 1) for n, item in enumerate(ranked[:k], 1) if item in gold)
    best = sum(1 / math.log2(n + 1) for n in range(1, min(len(gold), k) + 1))
    return gain / best if best else 0.0


if __name__ == "__main__":
    main("Public question sets (keyless recipe)", measure)
