"""Public question sets through the plugin's own cutting, bundle and retrieval.

hit@1, hit@8 and nDCG@10 over the answerable questions; ``top_8`` and ``evidence``: how many of
them have a right text among the first eight above the floor, before and after evidence is selected,
of which there are ``passages`` on average; AUROC of the top score (before boosts) of
answerable questions against each tier of questions that have to be refused; what the keyless
engine answers and refuses, and how often what it shows holds the reference answer.
"""

import math
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from answers import ANSWERABLE, Asked, ask, decisions, shown
from numpy.typing import NDArray
from scoring import auroc, floors, recalls
from tables import Row, main, read_lines

from answerable.build import bundle_writer, cutting, index
from answerable.build.function_writer import model_folder
from answerable.build.index import SiteInfo
from answerable.build.records import Block, Metadata, Record, Section
from answerable.serve import local_embedder, providers, selection
from answerable.serve.bundle import Bundle
from answerable.serve.engine import Engine
from answerable.serve.errors import NotebookError
from answerable.serve.local_embedder import LocalEmbedder
from answerable.serve.opening import open_bundle
from answerable.serve.profile import LOCAL
from answerable.serve.recipe import Ranking
from answerable.serve.retrieval import TOP_K, Retrieved, content_terms, rank_passages, retrieve
from answerable.serve.selection import POOL

# Answerable questions whose own texts are hidden from them: out of the corpus.
MASKED = "ooc"


def rows(data: Path) -> list[Row]:
    """One row for every folder under ``retrieval/``."""
    folders = sorted(path.parent for path in (data / "retrieval").glob("*/queries.jsonl"))
    embedder = local_embedder.load(model_folder())
    return [_row(folder, embedder) for folder in folders]


def _row(folder: Path, embedder: LocalEmbedder) -> Row:
    corpus = read_lines(folder / "corpus.jsonl")
    queries = read_lines(folder / "queries.jsonl")
    groups = {row["id"]: row["group"] for row in corpus}
    with tempfile.TemporaryDirectory() as work:
        bundle = _bundle(corpus, embedder, Path(work))
        vectors = embedder.embed([query["text"] for query in queries])
        ranks: list[float] = []
        gains: list[float] = []
        answerable: list[float] = []
        kept = Kept()
        tiers: dict[str, list[float]] = {}
        for query, vector in zip(queries, vectors, strict=True):
            ranking = _ranking(bundle, query["text"], vector)
            top = _top(ranking, None)
            if query["kind"] != ANSWERABLE:
                tiers.setdefault(query["kind"], []).append(top)
                continue
            found = _records(bundle, ranking)
            gold = set(query["gold"])
            right = [n for n, record in enumerate(found, 1) if record in gold]
            ranks.append(right[0] if right else math.inf)
            gains.append(_ndcg(found, gold, 10))
            answerable.append(top)
            kept.add(bundle, query["text"], vector, gold)
            own = _own(bundle, groups, query["group"])
            tiers.setdefault(MASKED, []).append(_top(ranking, own))
        asked = list(_asked(providers.engine(bundle, embedder), queries, groups))
    return {
        "name": folder.name,
        "questions": len(answerable),
        "hit_1": float(np.mean([rank <= 1 for rank in ranks])),
        "hit_8": float(np.mean([rank <= 8 for rank in ranks])),
        "ndcg_10": float(np.mean(gains)),
        **kept.as_row(),
        **{f"auroc_{tier}": auroc(answerable, scores) for tier, scores in sorted(tiers.items())},
        "answered": float(np.mean(np.array(answerable) >= LOCAL.floor)),
        **{f"refused_{tier}": float(np.mean(np.array(scores) < LOCAL.floor))
           for tier, scores in sorted(tiers.items())},
        "recall": recalls(ranks),
        "decisions": decisions(asked),
        "floors": floors(answerable, tiers),
        "shown": shown(asked),
    }  # fmt: skip


def _own(bundle: Bundle, groups: Mapping[str, str], group: str) -> NDArray[np.bool_]:
    """Which passages are of a group, (n,). groups: of each record."""
    return np.array([groups[bundle.record_ids[row]] == group for row in bundle.passage_records])


def _asked(engine: Engine, queries: Sequence[Row], groups: Mapping[str, str]) -> Iterator[Asked]:
    """Every question, and the answerable ones once more with the texts of their group hidden."""
    for query in queries:
        text, kind = query["text"], query["kind"]
        yield ask(engine, text, engine.retrieve(text, POOL), kind, query.get("ans", ()))
        if kind == ANSWERABLE:
            own = _own(engine.bundle, groups, query["group"])
            yield ask(engine, text, _without(engine, text, own), MASKED, ())


def _without(engine: Engine, question: str, masked: NDArray[np.bool_]) -> Retrieved:
    """The pool that a question retrieves where the masked passages, (n,), are not there."""
    hidden = {engine.bundle.passage_ids[int(row)] for row in np.flatnonzero(masked)}
    found = engine.retrieve(question, POOL + len(hidden))
    left = [scored for scored in found.passages if scored.item.id not in hidden]
    return Retrieved(tuple(left[:POOL]), found.hints)


@dataclass
class Kept:
    """What selection keeps: questions with a right text before and after it, and passages left."""

    top_8: int = 0
    evidence: int = 0
    passages: list[int] = field(default_factory=list)

    def add(
        self, bundle: Bundle, question: str, vector: NDArray[np.float32], gold: set[str]
    ) -> None:
        """Count one question. gold: the ids of the records that answer it."""
        pool = retrieve(bundle, question, vector, POOL)
        selected = selection.select(pool).passages
        self.top_8 += any(s.item.record in gold for s in pool.best(TOP_K).passages)
        self.evidence += any(passage.record in gold for passage in selected)
        self.passages.append(len(selected))

    def as_row(self) -> Row:
        """The columns of the table."""
        passages = float(np.mean(self.passages)) if self.passages else None
        return {"top_8": self.top_8, "evidence": self.evidence, "passages": passages}


def _bundle(corpus: Sequence[Row], embedder: LocalEmbedder, folder: Path) -> Bundle:
    records = [
        Record(
            id=row["id"],
            url=f"/{n}/",
            title=row["title"],
            metadata=Metadata(),
            sections=(Section((), "", _blocks(row["text"])),),
        )
        for n, row in enumerate(corpus)
    ]
    site = SiteInfo(folder.name, None, "en")
    pages = map(cutting.cut, records)
    made = index.build(site, pages, [], _no_notes, embedder, folder / "cache")
    now = bundle_writer.build_time(None)
    bundle_writer.write(made, folder / "bundle", embedder.identity, LOCAL, now)
    return open_bundle(folder / "bundle")


def _blocks(text: str) -> tuple[Block, ...]:
    return tuple(Block("prose", part.strip()) for part in text.split("\n") if part.strip())


def _no_notes(about: str) -> str:
    raise NotebookError(f"{about!r}: this corpus has no notes")


def _ranking(bundle: Bundle, question: str, vector: NDArray[np.float32]) -> Ranking:
    return rank_passages(bundle, question, vector, content_terms(bundle, question))


def _top(ranking: Ranking, masked: NDArray[np.bool_] | None) -> float:
    scores = ranking.base if masked is None else ranking.base[~masked]
    return float(scores.max())


def _records(bundle: Bundle, ranking: Ranking) -> list[str]:
    """Distinct records, best passage first."""
    order = np.argsort(-ranking.score, kind="stable")
    return list(dict.fromkeys(bundle.record_ids[bundle.passage_records[row]] for row in order))


def _ndcg(found: Sequence[str], gold: set[str], k: int) -> float:
    gain = sum(1 / math.log2(n + 1) for n, item in enumerate(found[:k], 1) if item in gold)
    best = sum(1 / math.log2(n + 1) for n in range(1, min(len(gold), k) + 1))
    return gain / best if best else 0.0


if __name__ == "__main__":
    main("Public question sets (keyless recipe)", rows)
