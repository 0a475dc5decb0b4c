"""``answerable why``: explain retrieval by each candidate's scores and fate; advise the author."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from ..evaluate.explain.advice import advise_author
from ..evaluate.explain.explanation import Explanation, explain_question
from ..evaluate.explain.refusal import FloorCost, RefusalExplanation, count_floor_cost
from ..evaluate.explain.refusal_advice import advise_refusal, draft_gold_query
from ..evaluate.gold import load_gold_queries
from ..evaluate.gold_sources import NoteSources
from ..indexing.pages.records import parse_metadata
from ..indexing.yaml_reader import YamlError, parse_yaml
from ..serve.engine import Engine
from ..serve.errors import GoldError, SiteError
from ..serve.stores.bundle import Bundle
from .context import (
    SiteLocation,
    check_language_tag,
    clean_question,
    language_option,
    open_engine,
    question_argument,
)
from .evaluate_options import read_note_sources
from .why_tables import print_explanation

# Names of fields of a candidate in the JSON, where they differ.
_JSON_NAMES = {"page_boost": "page"}

_FRONT_MATTER = re.compile(r"\A\ufeff?---[ \t]*\r?\n(.*?)^(?:---|\.\.\.)[ \t]*$", re.M | re.S)


@click.command("why")
@question_argument
@click.option("--expect", metavar="ID", help="What should have been found: a page, passage, note.")
@click.option("--refuse", is_flag=True, help="It should have been refused: what would do that.")
@language_option
@click.option("--json", "as_json", is_flag=True, help="Print the whole ledger as JSON.")
@click.pass_obj
def command(
    location: SiteLocation,
    question: str,
    expect: str | None,
    refuse: bool,
    language: str | None,
    as_json: bool,
) -> None:
    """Explain what a QUESTION retrieves, what it does not, and what an author could do."""
    check_language_tag(language)
    if refuse and expect:
        raise click.UsageError("--refuse: nothing should answer the question; drop --expect")
    cleaned = clean_question(question)
    engine = open_engine(*location)
    if refuse:
        explanation = explain_question(engine, cleaned, language=language, refuse=True)
        cost = _count_floor_cost(engine, location[1], explanation.refusal)
        advice = advise_refusal(explanation, cost)
    else:
        explanation = _explain(engine, location[1], cleaned, expect, language)
        cost = None
        advice = advise_author(explanation)
    gold_query = draft_gold_query(explanation, cost) if explanation.refusal else None
    if as_json:
        fields = asdict(explanation, dict_factory=_rename_fields)
        body = fields | {
            "floor_cost": asdict(cost) if cost else None,
            "gold_query": gold_query,
            "advice": [asdict(each) for each in advice],
        }
        click.echo(json.dumps(_round_floats(body), indent=2))
    else:
        print_explanation(Console(), explanation, advice, gold_query, refuse=refuse)


def _count_floor_cost(
    engine: Engine[Bundle], config_file: Path, refusal: RefusalExplanation | None
) -> FloorCost | None:
    """Count what the floors that refuse a question cost; None where there is no gold set."""
    if refusal is None or (refusal.floor is None and refusal.note_floor is None):
        return None
    if not config_file.is_file():
        return None
    from ..mkdocs.site_config import load_site_config

    site = load_site_config(config_file)
    if not site.gold.is_file():
        return None
    queries = load_gold_queries(site.gold, site.author)
    return count_floor_cost(engine, queries, refusal.floor, refusal.note_floor)


def _explain(
    engine: Engine[Bundle],
    config_file: Path,
    question: str,
    expect: str | None,
    language: str | None,
) -> Explanation:
    """Explain a question; the site's sources are read only where the bundle does not suffice."""
    try:
        return explain_question(engine, question, expect=expect, language=language)
    except GoldError:
        if expect is None or not config_file.is_file():
            raise
        # The bundle alone does not know the path of a note, or the reason why a page is missing.
        notes = _read_site_notes(config_file, expect).ids
        return explain_question(engine, question, expect=expect, language=language, notes=notes)


def _read_site_notes(config_file: Path, expect: str) -> NoteSources:
    """Read the notes of a site; SiteError if the expected page or note was left out on purpose."""
    # A function folder that was deployed alone has no mkdocs.yml, and may lack mkdocs too.
    from ..mkdocs.site_config import find_plugin, load_mkdocs_config

    config = load_mkdocs_config(config_file)
    page = Path(config.docs_dir, f"{expect}.md")
    if page.is_file():
        cause = (
            "its front matter keeps it out of answers (`answerable.exclude` or `search.exclude`)"
            if parse_metadata(_read_front_matter(page)).excluded
            else "it is newer than the bundle, a draft, excluded or without text: correct it and "
            "run `mkdocs build` again"
        )
        raise SiteError(f"--expect: the page {expect!r} is not in the bundle: {cause}")
    notes = read_note_sources(find_plugin(config).config.notebook)
    if expect in notes.unrouted:
        raise SiteError(
            f"--expect: the note {expect!r} has `routes: off`, so no question can find it; take "
            "that out of its front matter"
        )
    return notes


def _read_front_matter(page: Path) -> Mapping[str, object]:
    match = _FRONT_MATTER.match(page.read_text(encoding="utf-8", errors="replace"))
    try:
        metadata = parse_yaml(match[1]) if match else None
    except YamlError:
        return {}
    return metadata if isinstance(metadata, dict) else {}


def _rename_fields(fields: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    return {_JSON_NAMES.get(name, name): value for name, value in fields}


def _round_floats(value: Any) -> Any:
    """Round the numbers of a JSON value to the digits that mean something."""
    if isinstance(value, float):
        return round(value, 6)
    if isinstance(value, dict):
        return {key: _round_floats(each) for key, each in value.items()}
    return [_round_floats(each) for each in value] if isinstance(value, list | tuple) else value
