"""``answerable search``: print the passages and hints that a question retrieves, with scores."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from ..serve.retrieval.scoring import Scored
from ..serve.types import Passage, RoutingHint
from .context import (
    SiteLocation,
    check_language_tag,
    clean_question,
    language_option,
    open_engine,
    question_argument,
)
from .render import to_plain_text

ScoredStream = Sequence[Scored[Passage]] | Sequence[Scored[RoutingHint]]


@click.command("search")
@question_argument
@click.option("--json", "as_json", is_flag=True, help="Print the candidates as JSON.")
@click.option(
    "--top-k",
    type=click.IntRange(1, 100),
    default=8,
    show_default=True,
    help="How many candidates of each kind to show.",
)
@click.option("--near", is_flag=True, help="Show near misses, under the floor, too.")
@language_option
@click.pass_obj
def command(
    location: SiteLocation,
    question: str,
    as_json: bool,
    top_k: int,
    near: bool,
    language: str | None,
) -> None:
    """Show what a QUESTION retrieves, with scores."""
    check_language_tag(language)
    engine = open_engine(*location)
    result = engine.retrieve(clean_question(question), top_k, language, top_k if near else 0)
    streams: dict[str, ScoredStream] = {"passages": result.passages, "hints": result.hints}
    if near:
        streams |= {"near passages": result.near_passages, "near hints": result.near_hints}
    if as_json:
        rows = {name: [_format_candidate(c) for c in stream] for name, stream in streams.items()}
        click.echo(json.dumps(rows, indent=2))
        return
    console = Console()
    for name, stream in streams.items():
        if stream:
            console.print(_make_table(name, stream))
    if not any(streams.values()):
        console.print("Nothing is above the floor.")


def _format_candidate(scored: Scored[Passage] | Scored[RoutingHint]) -> dict[str, Any]:
    return asdict(scored.item) | {
        "score": round(scored.score, 6),
        "base": round(scored.base, 6),
        "lexical": round(scored.lexical, 6),
        "dense": round(scored.dense, 6),
        "boost": round(scored.boost, 6),
    }


def _make_table(name: str, stream: ScoredStream) -> Table:
    table = Table(title=name.capitalize(), title_justify="left")
    for column in ("score", "base", "lexical", "dense"):
        table.add_column(column, justify="right")
    table.add_column("id", overflow="fold")
    for scored in stream:
        numbers = (scored.score, scored.base, scored.lexical, scored.dense)
        table.add_row(*(f"{number:.3f}" for number in numbers), to_plain_text(scored.item.id))
    return table
