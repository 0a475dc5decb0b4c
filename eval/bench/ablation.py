"""Measure what each rule of the keyless answer brings: a row is without one of the rules.

``rules``, for each site with gold spans: pages found at 1 / 3 / 8, the shares of answerable
questions that are answered and of unanswerable ones that are refused, and what is shown, as
gold_spans measures it. ``sets``, for each public question set: ``hit_8``, the share of answerable
questions with a right text among the first eight, with no floor applied; the shares whose reference
the first excerpt and all excerpts hold, a refusal holding nothing; and their mean words.

A site or set is built once. A rule is switched off in the profile or by constants of its modules.
"""

import math
import shutil
import statistics
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import gold_spans
import numpy as np
import retrieval
from answers import ANSWERABLE
from gold_spans import Gold
from numpy.typing import NDArray
from passage_ranks import first_rank, order_pages, order_records, rank_all
from questions import build_site, required
from scoring import HELD, measure_reference, recall_shares, share
from tables import DataError, Results, Row, folders, main, measure_each, read_lines

from answerable.indexing.local_model import open_local_embedder
from answerable.indexing.pages.statements import describe_statements
from answerable.serve.answers.excerpts import MIN_NEIGHBOR_SHARE, ExcerptBudget
from answerable.serve.answers.extractive import EXCERPT_BUDGETS
from answerable.serve.embedders.local_embedder import LocalEmbedder
from answerable.serve.engine import Engine
from answerable.serve.providers import make_engine
from answerable.serve.retrieval import selection
from answerable.serve.retrieval.scoring import Scored
from answerable.serve.stores.bundle import Bundle, open_bundle
from answerable.serve.structure import Block
from answerable.serve.text.tokenization import split_lowercase_words
from answerable.serve.types import Passage, Reply


@dataclass(frozen=True, slots=True)
class Rule:
    """Switch a rule off. constants: of ``answerable.serve``, named ``module.NAME``."""

    name: str
    profile: Mapping[str, Any] = field(default_factory=dict)
    constants: Mapping[str, Any] = field(default_factory=dict)
    is_plain: bool = False


_PARTS = {
    "own score of a passage": "OWN_WEIGHT",
    "heading": "HEADING_WEIGHT",
    "something to copy": "CODE_BONUS",
    "length": "LENGTH_WEIGHT",
    "guides before references": "MEMBER_WEIGHT",
}
_TOGETHER = {
    "answers.excerpts.MIN_APART_SHARE": MIN_NEIGHBOR_SHARE,
    "answers.excerpts.MAX_BRIDGE_WORDS": 0,
}


def _keep_frame(question: str, names: Iterable[str] = ()) -> str:
    del names
    return question


def _match_nothing(postings: object, terms: object, rows: tuple[int, int]) -> NDArray[np.bool_]:
    del postings, terms
    return np.zeros(rows[1] - rows[0], dtype=np.bool_)


def _first_budget(words: int) -> Rule:
    budgets = (ExcerptBudget(words, EXCERPT_BUDGETS[0].lines), *EXCERPT_BUDGETS[1:])
    return Rule(
        f"first excerpt of {words} words", constants={"answers.extractive.EXCERPT_BUDGETS": budgets}
    )


_WHOLE_CODE = {"answers.excerpts.EXTRA_LINES": 0, "answers.excerpts.IMPORT_LINE_SHARE": 1}

RULES = (
    Rule("nothing"),
    Rule("frames of questions", constants={"retrieval.question.strip_frame": _keep_frame}),
    Rule("near spellings", constants={"retrieval.question.MIN_WORD_LETTERS": math.inf}),
    Rule("whole matches", constants={"retrieval.scoring.find_full_matches": _match_nothing}),
    Rule("background", constants={"retrieval.bm25.BACKGROUND_PASSAGES": 0}),
    Rule("order of pages", profile={"title_cosine": 0, "title_share": 0, "page_words": 0}),
    Rule("history", profile={"history": 1}),
    Rule("other sections of the page", constants={"retrieval.retrieve.SIBLING_PAGES": 0}),
    *(Rule(name, constants={f"retrieval.selection.{part}": 0}) for name, part in _PARTS.items()),
    Rule("all five", constants={f"retrieval.selection.{part}": 0 for part in _PARTS.values()}),
    Rule("best statement", constants={"answers.extractive.SUPPORT_WEIGHT": 0}),
    Rule("structure", is_plain=True),
    Rule("antecedents", constants={"answers.excerpts.DANGLING": 0}),
    Rule("what lies together", constants=_TOGETHER),
    Rule("end of code", constants=_WHOLE_CODE),
    Rule("one where it is sure", constants={"answers.confidence.MIN_EXCERPT_SHARE": 2}),
    Rule("up to three", constants={"answers.extractive.EXCERPT_BUDGETS": EXCERPT_BUDGETS[:1]}),
    *map(_first_budget, (80, 100, 140)),
)


def measure(data: Path) -> Results:
    """Measure every site with gold spans, and every set under ``retrieval/``."""
    embedder = open_local_embedder()
    files = sorted((data / "gold").glob("*.jsonl"))
    missing = f"no file gold/NAME.jsonl in {data}"
    sites = measure_each(files, lambda path: _site_row(path, data, embedder), missing)
    parents, missing = folders(data / "retrieval"), f"no folder retrieval/NAME in {data}"
    sets = measure_each(parents, lambda folder: _set_row(folder, embedder), missing)
    return Results((*sites.rows, *sets.rows), (*sites.skipped, *sets.skipped))


def _site_row(path: Path, data: Path, embedder: LocalEmbedder) -> Row:
    gold = gold_spans.read_gold(path)
    questions = read_lines(data / "questions" / path.name, lambda row: ("id", *required(row)))
    site = data / "sites" / path.stem
    if not (site / "mkdocs.yml").is_file():
        raise DataError(f"its site's {site / 'mkdocs.yml'} is missing")
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copytree(site, Path(folder, "site"))
        root = build_site(copy)
        bundle = open_bundle(copy / "function" / "bundle")
        rows = _measure_rules(
            bundle,
            embedder,
            lambda engine, rule: _measure_site(engine, rule, questions, gold, root),
        )
        return {"name": path.stem, "n": len(questions), "rules": rows}


def _measure_site(
    engine: Engine[Bundle],
    rule: Rule,
    questions: Sequence[Row],
    gold: Mapping[str, Gold],
    root: str,
) -> Row:
    replies = {row["id"]: _answer(engine, rule, row["question"]) for row in questions}
    shown = {name: gold_spans.read_reply(reply, root) for name, reply in replies.items()}
    own = {row["id"]: gold[row["id"]] for row in questions if row["id"] in gold}
    ranks: list[float] = []
    refused: dict[bool, list[bool]] = {True: [], False: []}
    for row in questions:
        refused[row["answerable"]].append(replies[row["id"]].answer.mode == "not-found")
        if row["answerable"]:
            urls = order_pages(engine.store, rank_all(engine, row["question"]))
            ranks.append(first_rank([url.removeprefix(root) for url in urls], row["gold_urls"]))
    columns = ("contains_first", "contains", "precision", "high", "high_precision")
    measures = gold_spans.measure(own, shown)
    return {
        **recall_shares("at", ranks),
        "answered": share([not each for each in refused[True]]),
        "refused": share(refused[False]),
        **{name: measures[name] for name in (*columns, "first_words", "shown_words")},
    }


def _set_row(folder: Path, embedder: LocalEmbedder) -> Row:
    corpus, queries = retrieval.read_set(folder)
    queries = [query for query in queries if query["kind"] == ANSWERABLE]
    with tempfile.TemporaryDirectory() as work:
        bundle = retrieval.build_bundle(corpus, embedder, Path(work))
        rows = _measure_rules(
            bundle, embedder, lambda engine, rule: _measure_set(engine, rule, queries)
        )
        return {"name": folder.name, "n": len(queries), "sets": rows}


def _measure_set(engine: Engine[Bundle], rule: Rule, queries: Sequence[Row]) -> Row:
    ranks: list[float] = []
    shown: list[list[str]] = []
    for query in queries:
        text = query["text"]
        records = order_records(engine.store, rank_all(engine, text))
        ranks.append(first_rank(records, query["gold"]))
        shown.append([claim.text for claim in _answer(engine, rule, text).answer.claims])
    holds, holds_first = (
        [
            (measure_reference(" ".join(texts[:most]), query.get("ans", ())) or 0.0) >= HELD
            for query, texts in zip(queries, shown, strict=True)
        ]
        for most in (None, 1)
    )
    return {
        "hit_8": share([rank <= 8 for rank in ranks]),
        "holds_first": share(holds_first),
        "holds": share(holds),
        "first_words": _mean_words([texts[:1] for texts in shown]),
        "words": _mean_words(shown),
    }


def _mean_words(shown: Sequence[Sequence[str]]) -> float | None:
    counts = [sum(len(split_lowercase_words(text)) for text in texts) for texts in shown if texts]
    return statistics.fmean(counts) if counts else None


def _measure_rules(
    bundle: Bundle, embedder: LocalEmbedder, measured: Callable[[Engine[Bundle], Rule], Row]
) -> list[Row]:
    """Measure one row for every rule, with an engine of its own: answerers keep what they read."""
    rows = []
    for rule in RULES:
        profile = replace(bundle.manifest.profile, **rule.profile)
        store = replace(bundle, manifest=replace(bundle.manifest, profile=profile))
        with replaced_constants(rule.constants):
            rows.append({"without": rule.name, **measured(make_engine(store, embedder), rule)})
    return rows


@contextmanager
def replaced_constants(constants: Mapping[str, Any]) -> Iterator[None]:
    """Replace constants of modules of ``answerable.serve``, named ``module.NAME``, for a while."""
    places = []
    for name, value in constants.items():
        module, _, constant = name.rpartition(".")
        place = import_module(f"answerable.serve.{module}")
        places.append((place, constant, getattr(place, constant), value))
    try:
        for place, constant, _, value in places:
            setattr(place, constant, value)
        yield
    finally:
        for place, constant, before, _ in places:
            setattr(place, constant, before)


def _answer(engine: Engine[Bundle], rule: Rule, question: str) -> Reply:
    pool = engine.retrieve(question, selection.POOL_SIZE)
    if rule.is_plain:
        plain = [tuple(map(_plain, passages)) for passages in (pool.passages, pool.siblings)]
        pool = replace(pool, passages=plain[0], siblings=plain[1])
    return engine.answer_from(pool)


def _plain(scored: Scored[Passage]) -> Scored[Passage]:
    return replace(scored, item=read_as_text(scored.item))


def read_as_text(passage: Passage) -> Passage:
    """Read a passage as if its page were plain text: a block without sentences is one sentence."""
    bare = [
        (block.start, block.end)
        for block in passage.blocks
        if not any(block.start <= start < block.end for start, _ in passage.sentences)
    ]
    plain = replace(
        passage,
        sentences=tuple(sorted((*passage.sentences, *bare))),
        blocks=tuple(Block("text", block.start, block.end) for block in passage.blocks),
        spans=(),
    )
    return describe_statements(plain)


if __name__ == "__main__":
    main("What each rule brings (one switched off in each row)", measure)
