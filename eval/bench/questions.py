"""Real questions against the real sites they were asked about, built with the plugin.

``n``: the answerable questions, which the shares are of. Pages found at 1 / 3 / 8; ``top_8`` and
``evidence``: how many have a right page among the first eight passages above the floor, before and
after evidence is selected; the shares of answerable questions that are answered and of
unanswerable ones that are refused, keyless; AUROC of the best score (before boosts) of answerable
questions against unanswerable ones. ``rank_ms`` and ``ask_ms``: the mean time to rank all passages
for a question, and to answer it. Where a site has ``gold/NAME.jsonl``, how often what is shown
holds the answer: see gold_spans.

The table ``seen`` says what a reader finds without a model, on any site: ``page_visible`` is the
share of the answerable questions of which a right page is in a card or in a place under the reply.
Where there are gold spans, it says for which share of the gold questions they are in the first
card, in what is read without a click, in the excerpts after every card is opened, and in the whole
sections after a second click, and how many replies are of the upper grade, "From this site", and
which share of these does not hold its spans: see seen.
"""

import logging
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import gold_spans
import seen
from answers import ANSWERABLE, AnsweredQuestion, ask_question, count_decisions, measure_shown
from gold_spans import Gold
from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.exceptions import Abort, ConfigurationError
from mkdocs.utils.yaml import yaml_load
from passage_ranks import first_rank, order_pages, rank_all, top_base
from scoring import auroc, floors, recall_shares, recalls, share
from seen import SeenReply
from tables import DataError, Results, Row, main, measure_each, read_lines

from answerable.indexing.local_model import open_local_embedder
from answerable.serve.engine import Engine
from answerable.serve.providers import make_engine
from answerable.serve.retrieval import selection
from answerable.serve.retrieval.retrieve import TOP_K, RetrievalResult
from answerable.serve.retrieval.selection import arrange_pool, select_evidence
from answerable.serve.stores.bundle import Bundle, open_bundle
from answerable.serve.types import Passage

UNANSWERABLE = "unanswerable"
_PLUGIN = MappingProxyType({"answerable": {"function": "function"}})
_MISSING = "no file questions/NAME.jsonl with its site in sites/NAME"


@dataclass(frozen=True, slots=True)
class Outcome:
    """Hold the outcome of one question.

    rank: of the first right page of all, infinite without one. best: the best score before boosts.
    pool: what evidence is selected from.
    evidence: the passages that are selected from it. reader_reply: the reply as a reader sees it.
    """

    gold: Sequence[str]
    rank: float
    best: float
    pool: RetrievalResult
    evidence: Sequence[Passage]
    answered: AnsweredQuestion
    reader_reply: SeenReply

    @property
    def is_answerable(self) -> bool:
        return self.answered.kind == ANSWERABLE


def measure(data: Path) -> Results:
    """Measure every ``questions/NAME.jsonl`` on its ``sites/NAME``."""
    files = sorted((data / "questions").glob("*.jsonl"))
    return measure_each(files, lambda path: measure_site(path, data), f"{_MISSING} in {data}")


def measure_site(path: Path, data: Path, prepare: Callable[[Path], None] | None = None) -> Row:
    """Measure the questions of a file on a copy of its site; DataError where one is missing.

    prepare: changes the copy, which is built before and after.
    """
    questions = read_lines(path, required)
    if not questions:
        raise DataError(f"{path} holds no question")
    site = data / "sites" / path.stem
    if not (site / "mkdocs.yml").is_file():
        raise DataError(f"its site's {site / 'mkdocs.yml'} is missing")
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copytree(site, Path(folder, "site"))
        started = time.perf_counter()
        root = build_site(copy)
        if prepare:
            prepare(copy)
            build_site(copy)
        build_seconds = time.perf_counter() - started
        bundle = open_bundle(copy / "function" / "bundle")
        engine = make_engine(bundle, open_local_embedder())
        seconds = {"rank": 0.0, "ask": 0.0}
        outcomes = [_ask(engine, question, root, seconds) for question in questions]
    replies = {
        row["id"]: outcome.reader_reply
        for row, outcome in zip(questions, outcomes, strict=True)
        if "id" in row
    }
    gold = _read_gold(data / "gold" / path.name)
    own_gold = {name: gold[name] for name in replies if name in gold}
    shown = {name: gold_spans.read_reply(own.reply, root) for name, own in replies.items()}
    answerable = [each for each in outcomes if each.is_answerable]
    others = [each for each in outcomes if not each.is_answerable]
    ranks = [each.rank for each in answerable]
    best, best_of_others = [each.best for each in answerable], [each.best for each in others]
    answered = [each.answered for each in outcomes]
    return {
        "name": path.stem,
        "n": len(answerable),
        **recall_shares("at", ranks),
        "top_8": share([_holds(_first(each.pool), each.gold, root) for each in answerable]),
        "evidence": share([_holds(each.evidence, each.gold, root) for each in answerable]),
        "answered": share([not each.answered.refused for each in answerable]),
        "unanswerable": len(others),
        "refused": share([each.answered.refused for each in others]),
        "auroc_unanswerable": auroc(best, best_of_others),
        **(gold_spans.measure(own_gold, shown) if gold else {}),
        "passages": bundle.manifest.counts["passages"],
        "build_s": build_seconds,
        **{f"{name}_ms": 1000 * total / len(outcomes) for name, total in seconds.items()},
        "recall": recalls(ranks),
        "decisions": count_decisions(answered),
        "floors": floors(best, {UNANSWERABLE: best_of_others}),
        "shown": measure_shown(answered),
        "seen": [
            {
                "answerable": len(answerable),
                "page_visible": share([_sees_page(outcome, root) for outcome in answerable]),
                **(seen.measure(own_gold, replies) if gold else {}),
            }
        ],
    }


def required(row: Row) -> Sequence[str]:
    """List the fields that a row of questions has to have."""
    fields = ("question", "answerable")
    return (*fields, "gold_urls") if row.get("answerable") else fields


def _ask(engine: Engine[Bundle], row: Row, root: str, seconds: dict[str, float]) -> Outcome:
    """Rank all passages for a question, then answer it. seconds: by step, to be added to."""
    question, gold = row["question"], row.get("gold_urls", ())
    started = time.perf_counter()
    ranking = rank_all(engine, question)
    ranked = time.perf_counter()
    pool = engine.retrieve(question, selection.POOL_SIZE)
    kind = ANSWERABLE if row["answerable"] else UNANSWERABLE
    answered = ask_question(engine, pool, kind, row.get("ans", ()))
    seconds["rank"] += ranked - started
    seconds["ask"] += time.perf_counter() - ranked
    pages = [url.removeprefix(root) for url in order_pages(engine.store, ranking)]
    arranged = arrange_pool(engine.store, pool)
    evidence = select_evidence(arranged, engine.store.manifest.profile.passages_per_page).passages
    return Outcome(
        gold,
        first_rank(pages, gold),
        top_base(ranking),
        pool,
        evidence,
        answered,
        seen.ask(engine, question),
    )


def _read_gold(path: Path) -> Mapping[str, Gold]:
    """Read the gold spans to hold what is shown against; {} where a site has none."""
    try:
        return gold_spans.read_gold(path)
    except DataError as error:
        print(f"{path.stem}: no gold spans to hold what is shown against: {error}", file=sys.stderr)
        return {}


def build_site(folder: Path, plugin: Mapping[str, Any] = _PLUGIN) -> str:
    """Build the site with a plugin added to its own; return the path it is served under."""
    logging.getLogger("mkdocs").setLevel(logging.ERROR)
    file = folder / "mkdocs.yml"
    try:
        with file.open(encoding="utf-8") as stream:
            plugins = yaml_load(stream).get("plugins", ["search"])
        if isinstance(plugins, dict):
            plugins = [{name: options or {}} for name, options in plugins.items()]
        plugins = [*plugins, *([dict(plugin)] if plugin else [])]
        config = load_config(str(file), plugins=plugins)
    except (Abort, ConfigurationError):
        reason = "MkDocs cannot load its site's mkdocs.yml here, as its error above says"
        raise DataError(reason) from None
    build(config)
    path = (config.site_url or "/").split("//", 1)[-1].partition("/")[2].strip("/")
    return f"/{path}/" if path else "/"


def _first(pool: RetrievalResult) -> Iterable[Passage]:
    return (scored.item for scored in pool.truncate(TOP_K).passages)


def _sees_page(outcome: Outcome, root: str) -> bool:
    return not outcome.reader_reply.list_pages(root).isdisjoint(outcome.gold)


def _holds(passages: Iterable[Passage], gold: Sequence[str], root: str) -> bool:
    """Check whether one of the passages is of a right page, as the questions name pages."""
    return any(each.url.partition("#")[0].removeprefix(root) in gold for each in passages)


if __name__ == "__main__":
    main("Real questions on real sites (pages found at 1 / 3 / 8)", measure)
