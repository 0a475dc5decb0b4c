"""``answerable ask`` and ``answerable search``."""

import json
import uuid
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from ..serve.answers.wire import serialize_answer
from ..serve.retrieval import selection
from ..serve.retrieval.scoring import Scored
from ..serve.types import Passage, RoutingHint
from .context import check_language_tag, clean_question, open_engine
from .render import print_reply, to_plain_text

ScoredStream = Sequence[Scored[Passage]] | Sequence[Scored[RoutingHint]]


def print_answer(
    bundle: Path | None,
    config_file: Path,
    question: str,
    as_json: bool,
    language: str | None = None,
) -> None:
    """Answer one question; a refusal is an answer too and exits with 0.

    language: a tag of what is asked in, whose pages go before all others.
    """
    check_language_tag(language)
    engine = open_engine(bundle, config_file)
    text = clean_question(question)
    pool = engine.retrieve(text, selection.POOL_SIZE, language)
    reply = engine.answer_from(text, pool)
    if as_json:
        body = serialize_answer(reply, engine.store, f"req_{uuid.uuid4().hex}", pool.remarks)
        click.echo(json.dumps(body, indent=2))
    else:
        route = engine.store.site.route
        print_reply(Console(), reply, route, language, pool.remarks)


def print_candidates(
    bundle: Path | None,
    config_file: Path,
    question: str,
    top_k: int,
    language: str | None = None,
    *,
    as_json: bool,
    near: bool,
) -> None:
    """Print both streams of what a question retrieves, and near misses if asked for.

    language: a tag of what is asked in, whose pages go before all others.
    """
    check_language_tag(language)
    engine = open_engine(bundle, config_file)
    found = engine.retrieve(clean_question(question), top_k, language, top_k if near else 0)
    streams: dict[str, ScoredStream] = {"passages": found.passages, "hints": found.hints}
    if near:
        streams |= {"near passages": found.near_passages, "near hints": found.near_hints}
    if as_json:
        rows = {
            name: [_candidate_json(scored) for scored in items] for name, items in streams.items()
        }
        click.echo(json.dumps(rows, indent=2))
        return
    console = Console()
    for name, items in streams.items():
        if items:
            console.print(_candidate_table(name, items))
    if not any(streams.values()):
        console.print("Nothing is above the floor.")


def _candidate_json(scored: Scored[Passage] | Scored[RoutingHint]) -> dict[str, Any]:
    return asdict(scored.item) | {
        "score": round(scored.score, 6),
        "base": round(scored.base, 6),
        "lexical": round(scored.lexical, 6),
        "dense": round(scored.dense, 6),
        "boost": round(scored.boost, 6),
    }


def _candidate_table(name: str, items: ScoredStream) -> Table:
    table = Table(title=name.capitalize(), title_justify="left")
    for column in ("score", "base", "lexical", "dense"):
        table.add_column(column, justify="right")
    table.add_column("id", overflow="fold")
    for scored in items:
        numbers = (scored.score, scored.base, scored.lexical, scored.dense)
        table.add_row(*(f"{number:.3f}" for number in numbers), to_plain_text(scored.item.id))
    return table
