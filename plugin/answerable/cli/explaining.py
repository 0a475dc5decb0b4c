"""``answerable why``: the ledger of a question's decision, for maintainers."""

import json
import re
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
import yaml
from rich.console import Console

from ..build import notebook, records
from ..evaluate import why, why_advice
from ..evaluate.why import Ledger
from ..serve.engine import Engine
from ..serve.errors import GoldError, SiteError
from . import ledgers, opening, typed

_FRONT_MATTER = re.compile(r"\A\ufeff?---[ \t]*\r?\n(.*?)^(?:---|\.\.\.)[ \t]*$", re.M | re.S)


def explain(
    bundle: Path | None,
    config_file: Path,
    question: str,
    expect: str | None,
    language: str | None,
    *,
    as_json: bool,
) -> None:
    """Print all that decides about a question, and what an author could do.

    expect: the id, or a note's path, of what should have been found. language: a tag of what is
    asked in, whose pages go before all others.
    """
    typed.check_tag(language)
    cleaned = typed.question(question)
    engine = opening.engine(bundle, config_file)
    ledger = _ledger(engine, config_file, cleaned, expect, language)
    advice = why_advice.advise(ledger)
    if as_json:
        body = asdict(ledger) | {"advice": [asdict(each) for each in advice]}
        click.echo(json.dumps(_rounded(body), indent=2))
    else:
        ledgers.show(Console(), ledger, advice)


def _ledger(
    engine: Engine, config_file: Path, question: str, expect: str | None, language: str | None
) -> Ledger:
    try:
        return why.explain(engine, question, expect=expect, language=language)
    except GoldError:
        if expect is None or not config_file.is_file():
            raise
        # The bundle alone does not know where a note lies or why a page is missing.
        notes = _notes(config_file, expect)
        return why.explain(engine, question, expect=expect, language=language, notes=notes)


def _notes(config_file: Path, expect: str) -> Mapping[str, str]:
    """From a note's path to its id; SiteError if what is expected was kept out of the bundle."""
    # A function folder that was deployed alone has no mkdocs.yml, and may lack mkdocs too.
    from ..mkdocs import settings

    config = settings.read(config_file)
    page = Path(config.docs_dir, f"{expect}.md")
    if page.is_file():
        excluded = records.metadata(_front_matter(page)).excluded
        cause = (
            "its front matter keeps it out of answers (`answerable.exclude` or `search.exclude`)"
            if excluded
            else "it is newer than the bundle, a draft, excluded or without text: correct it and "
            "run `mkdocs build` again"
        )
        raise SiteError(f"--expect: the page {expect!r} is not in the bundle: {cause}")
    private = opening.notebook_of(settings.plugin(config).config.notebook)
    if expect in private.unrouted_paths:
        raise SiteError(
            f"--expect: the note {expect!r} has `routes: off`, so no question can find it; take "
            "that out of its front matter"
        )
    return notebook.ids(private.notes)


def _front_matter(page: Path) -> Mapping[str, object]:
    match = _FRONT_MATTER.match(page.read_text(encoding="utf-8", errors="replace"))
    try:
        data = yaml.safe_load(match[1]) if match else None
    except yaml.YAMLError:
        return {}
    return data if isinstance(data, dict) else {}


def _rounded(value: Any) -> Any:
    """A JSON value with the digits of its numbers that mean something."""
    if isinstance(value, float):
        return round(value, 6)
    if isinstance(value, dict):
        return {key: _rounded(each) for key, each in value.items()}
    return [_rounded(each) for each in value] if isinstance(value, list | tuple) else value
