"""Real questions against the real sites they were asked about, built with the plugin.

Pages found at 1 / 3 / 8; ``top_8`` and ``evidence``: how many questions have a right page among
the first eight passages above the floor, before and after evidence is selected; the shares of
answerable questions that are answered and of unanswerable ones that are refused, keyless; AUROC of
the best score (before boosts) of answerable questions against unanswerable ones. Where a site has
``gold/NAME.jsonl``, how often what is shown holds the answer: see gold_spans.
"""

import logging
import shutil
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

import gold_spans
from answers import ANSWERABLE, Asked, ask, decisions, shown
from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.utils.yaml import yaml_load
from scoring import FIRST, auroc, floors, recalls
from tables import Row, main, read_lines

from answerable.build.function_writer import model_folder
from answerable.serve import local_embedder, providers, selection
from answerable.serve.engine import Engine
from answerable.serve.opening import open_bundle
from answerable.serve.recipe import Scored
from answerable.serve.retrieval import TOP_K
from answerable.serve.types import Passage


def rows(data: Path) -> list[Row]:
    """One row for every ``questions/NAME.jsonl`` that has its ``sites/NAME``."""
    found = sorted((data / "questions").glob("*.jsonl"))
    return [_row(path, data) for path in found
            if (data / "sites" / path.stem / "mkdocs.yml").is_file()]  # fmt: skip


def _row(path: Path, data: Path) -> Row:
    questions = read_lines(path)
    site = data / "sites" / path.stem
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copytree(site, Path(folder, "site"))
        started = time.perf_counter()
        root = _build(copy)
        built = time.perf_counter() - started
        bundle = open_bundle(copy / "function" / "bundle")
        engine = providers.engine(bundle, local_embedder.load(model_folder()))
        ranked = [(q, _everything(engine, q["question"])) for q in questions]
        ranks = [_rank(scored, q["gold_urls"], root) for q, scored in ranked if q["answerable"]]
        pools = [(engine.retrieve(q["question"], selection.POOL), q["gold_urls"])
                 for q in questions if q["answerable"]]  # fmt: skip
        started = time.perf_counter()
        asked = [_ask(engine, q) for q in questions]
        took = time.perf_counter() - started
        contents = _contents(engine, questions, data / "gold" / path.name, root)
    answerable = [a for a in asked if a.kind == ANSWERABLE]
    others = [a for a in asked if a.kind != ANSWERABLE]
    best = {is_answerable: [_best(scored) for q, scored in ranked
                            if q["answerable"] is is_answerable]
            for is_answerable in (True, False)}  # fmt: skip
    return {
        "name": path.stem,
        "questions": len(answerable),
        **{f"at_{k}": sum(rank <= k for rank in ranks) for k in FIRST},
        "top_8": sum(_holds([s.item for s in p.best(TOP_K).passages], g, root) for p, g in pools),
        "evidence": sum(_holds(selection.select(p).passages, g, root) for p, g in pools),
        "answered": _share(sum(not a.refused for a in answerable), len(answerable)),
        "unanswerable": len(others),
        "refused": _share(sum(a.refused for a in others), len(others)),
        "auroc_unanswerable": auroc(best[True], best[False]),
        **contents,
        "passages": bundle.manifest.counts["passages"],
        "build_s": built,
        "ask_ms": 1000 * took / len(asked),
        "recall": recalls(ranks),
        "decisions": decisions(asked),
        "floors": floors(best[True], {"unanswerable": best[False]}),
        "shown": shown(asked),
    }


def _ask(engine: Engine, row: Row) -> Asked:
    kind = ANSWERABLE if row["answerable"] else "unanswerable"
    retrieved = engine.retrieve(row["question"], selection.POOL)
    return ask(engine, row["question"], retrieved, kind, row.get("ans", ()))


def _contents(engine: Engine, questions: list[Row], path: Path, root: str) -> Row:
    """How often what is shown holds the gold spans; nothing where a site has none."""
    if not path.is_file():
        print(f"{path.stem}: no gold spans at {path}, so what is shown is not held against them",
              file=sys.stderr)  # fmt: skip
        return {}
    gold = gold_spans.read_gold(path)
    return gold_spans.measure(
        {q["id"]: gold[q["id"]] for q in questions if q["id"] in gold},
        {q["id"]: gold_spans.read_reply(engine.answer(q["question"]), root) for q in questions},
    )


def _build(folder: Path) -> str:
    """Build the site with the plugin added to what it has; the path it is served under."""
    logging.getLogger("mkdocs").setLevel(logging.ERROR)
    file = folder / "mkdocs.yml"
    with file.open(encoding="utf-8") as stream:
        plugins = yaml_load(stream).get("plugins", ["search"])
    if isinstance(plugins, dict):
        plugins = [{name: options or {}} for name, options in plugins.items()]
    config = load_config(str(file), plugins=[*plugins, "answerable"])
    build(config)
    path = (config.site_url or "/").split("//", 1)[-1].partition("/")[2].strip("/")
    return f"/{path}/" if path else "/"


def _everything(engine: Engine, question: str) -> list[Scored[Passage]]:
    """Every passage of the site, best first, floor or no floor."""
    passages = engine.bundle.manifest.counts["passages"]
    found = engine.retrieve(question, passages, near=passages)
    return sorted((*found.passages, *found.near_passages), key=lambda s: -s.score)


def _rank(scored: Sequence[Scored[Passage]], gold: list[str], root: str) -> float:
    """The rank of the first right page among the distinct pages found."""
    pages = dict.fromkeys(_page(s.item.url, root) for s in scored)
    right = [n for n, page in enumerate(pages, 1) if page in gold]
    return right[0] if right else float("inf")


def _best(scored: Sequence[Scored[Passage]]) -> float:
    """The best score before boosts; less than any for a question without content terms."""
    return max((s.base for s in scored), default=float("-inf"))


def _holds(passages: Iterable[Passage], gold: list[str], root: str) -> bool:
    """Whether one of the passages is of a right page."""
    return any(_page(passage.url, root) in gold for passage in passages)


def _page(url: str, root: str) -> str:
    """The page that a url leads to, as the questions name it."""
    return url.partition("#")[0].removeprefix(root)


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


if __name__ == "__main__":
    main("Real questions on real sites (pages found at 1 / 3 / 8)", rows)
