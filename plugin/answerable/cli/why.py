"""The ledger of a question on a terminal, wide or narrow.

``answerable why``: the ledger of a question's decision, for maintainers.
"""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
import yaml
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..evaluate.explain.advice import Advice, advise_author
from ..evaluate.explain.candidates import ExplainedCandidate
from ..evaluate.explain.explanation import ExpectedRank, Explanation, explain_question
from ..indexing.pages.records import parse_metadata
from ..serve.answers.confidence import bucket_confidence
from ..serve.engine import Engine
from ..serve.errors import GoldError, SiteError
from ..serve.retrieval.retrieve import TOP_K
from ..serve.stores.bundle import Bundle
from .context import check_language_tag, clean_question, open_engine, read_site_notebook
from .render import to_plain_text

# A terminal of fewer columns shows where a score stands and not what it is made of.
_WIDE_COLUMNS = 76

_FATE_LABELS = {
    "evidence": "evidence",
    "eight-above": "left out: eight better ones are selected",
    "enough-of-its-record": "left out: four passages of its page are better",
    "two-of-its-note": "left out: two hints of its note are better",
    "near-duplicate": "left out: says the same as",
    "clear-winner": "left out: far behind",
    "budget": "left out: the evidence is full",
    "record-budget": "left out: its page has had its share of the evidence",
    "other-language": "left out: passages in the language that was asked in go first",
    "out-of-pool": "left out: too many better ones",
    "under-floor": "under the floor",
}  # fmt: skip


def print_explanation(console: Console, ledger: Explanation, advice: Sequence[Advice]) -> None:
    """Print all of a ledger and what an author could do."""
    console.print(_format_outcome(ledger))
    if ledger.words:
        _print_section(console, "Words", _make_word_table(ledger))
        console.print(Text(_describe_formula(ledger), "dim"))
    _print_stream(console, "Passages", ledger.passages, ledger.profile.floor)
    _print_stream(console, "Hints", ledger.hints, ledger.profile.note_floor)
    if ledger.expected:
        _print_section(
            console, "Expected", to_plain_text(_format_expected(ledger, ledger.expected))
        )
    if advice:
        listed = Table.grid(padding=(0, 1))
        for each in advice:
            listed.add_row("•", to_plain_text(each.text))
        _print_section(console, "What an author could do", listed)


def _print_section(console: Console, title: str, what: Table | Text) -> None:
    console.print(Text(f"\n{title}", "bold"))
    console.print(what)


def _format_outcome(ledger: Explanation) -> Text:
    found = ledger.outcome
    if found is None:
        return Text("There is evidence. Answers cost money, so none is asked for.", "bold")
    if found.reason:
        return Text(f"not-found, because of {found.reason}", "bold yellow")
    cited = ", ".join(found.cited)
    line = f"{found.mode}, confidence {bucket_confidence(found.confidence)}, cites {cited}"
    return to_plain_text(line)


def _make_word_table(ledger: Explanation) -> Table:
    several = len({word.language for word in ledger.words}) > 1
    table = _make_table("passages", "weight")
    table.add_column("word", overflow="fold")
    for word in ledger.words:
        share = f"{word.share:.0%}" if word.share else "name"
        text = f"{word.text} ({word.language})" if several else word.text
        style = "yellow" if word.text in ledger.unknown else ""
        table.add_row(str(word.passages), share, to_plain_text(text), style=style)
    return table


def _describe_formula(ledger: Explanation) -> str:
    profile = ledger.profile
    notes = f"the note floor {profile.note_floor:g} against a hint's score."
    if not profile.hybrid:
        return f"base = dense. The floor {profile.floor:g} is held against base + boost, {notes}"
    total = profile.hybrid + profile.dense
    return (
        f"base = ({profile.hybrid:g} × lexical + {profile.dense:g} × dense) / {total:g}. "
        f"The floor {profile.floor:g} is held against base, {notes}"
    )


def _print_stream(
    console: Console, name: str, candidates: Sequence[ExplainedCandidate], floor: float
) -> None:
    above = [each for each in candidates if each.fate != "under-floor"]
    under = [each for each in candidates if each.fate == "under-floor"]
    shown = [each for each in above if each.rank <= TOP_K or each.fate == "evidence"]
    is_wide = console.width >= _WIDE_COLUMNS
    if shown:
        _print_section(
            console,
            f"{name} above the floor {floor:g}",
            _make_candidate_table(shown, is_wide=is_wide),
        )
    if rest := Counter(each.fate for each in above if each not in shown):
        counted = ", ".join(f"{count} {fate}" for fate, count in rest.items())
        console.print(Text(f"{rest.total()} more are above the floor: {counted}.", "dim"))
    if under:
        _print_section(
            console,
            f"{name} under the floor {floor:g}",
            _make_candidate_table(under, is_wide=is_wide),
        )


def _make_candidate_table(candidates: Sequence[ExplainedCandidate], *, is_wide: bool) -> Table:
    # A hint's score is its cosine and has no other parts.
    has_parts = is_wide and any(each.record for each in candidates)
    names = ("base", "lexical", "dense", "boost") if has_parts else ()
    table = _make_table("", "score", "to floor", *names)
    table.add_column("candidate", overflow="fold")
    for each in candidates:
        parts = (each.base, each.lexical, each.dense, each.boost) if has_parts else ()
        cells = [f"{each.score:.3f}", f"{each.to_floor:+.3f}", *(f"{n:.3f}" for n in parts)]
        table.add_row(str(each.rank), *cells, _format_candidate(each))
    return table


def _make_table(*names: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in names:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def _format_candidate(each: ExplainedCandidate) -> Text:
    """A candidate's id and, in lines of their own, its fate and what is behind its score."""
    label = f"{each.label} ({each.locator})" if each.locator else each.label
    lines = [label] if label else []
    if each.fate != "under-floor":
        lines.append(_format_fate(each))
    lines += [f'{lift.kind} "{lift.phrase}" +{lift.boost:.3f}' for lift in each.lifts]
    if each.page:
        lines.append(f"page +{each.page:.3f}")
    if each.recency:
        lines.append(f"date +{each.recency:.3f}")
    if each.weight != 1:
        lines.append(f"weight × {each.weight:g}")
    if each.missing:
        lines.append(f"lacks {', '.join(each.missing)}")
    under = Text("\n", "dim").join(Text("", "dim").append_text(to_plain_text(x)) for x in lines)
    return Text("\n").join([to_plain_text(each.id), under] if lines else [to_plain_text(each.id)])


def _format_fate(each: ExplainedCandidate) -> str:
    return f"{_FATE_LABELS[each.fate]} {each.by or ''}".strip()


def _format_expected(ledger: Explanation, expected: ExpectedRank) -> str:
    found = expected.candidate
    what = "passages" if expected.stream == "passages" else "hints"
    best = "" if found.id == expected.asked else f", at best {found.id}"
    lines = [
        f"{expected.asked}{best}: {_format_fate(found)}.",
        f"Score {found.score:.3f}, rank {expected.rank} of all {expected.total} {what}, "
        f"{found.to_floor:+.3f} to the floor.",
    ]
    if found.missing:
        lines.append(f"It lacks {', '.join(found.missing)}.")
    if expected.if_all_said is not None:
        each = ", ".join(f"{gain.word} {gain.base:.3f}" for gain in expected.gains)
        lines.append(
            f"If it said a word once, its base would be: {each}; all of them "
            f"{expected.if_all_said:.3f}."
        )
    if ledger.outcome:
        lines.append("It is cited." if found.id in ledger.outcome.cited else "It is not cited.")
    return "\n".join(lines)


_FRONT_MATTER = re.compile(r"\A\ufeff?---[ \t]*\r?\n(.*?)^(?:---|\.\.\.)[ \t]*$", re.M | re.S)


def run_why(
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
    check_language_tag(language)
    cleaned = clean_question(question)
    engine = open_engine(bundle, config_file)
    ledger = _explain(engine, config_file, cleaned, expect, language)
    advice = advise_author(ledger)
    if as_json:
        body = asdict(ledger) | {"advice": [asdict(each) for each in advice]}
        click.echo(json.dumps(_round_floats(body), indent=2))
    else:
        print_explanation(Console(), ledger, advice)


def _explain(
    engine: Engine[Bundle],
    config_file: Path,
    question: str,
    expect: str | None,
    language: str | None,
) -> Explanation:
    try:
        return explain_question(engine, question, expect=expect, language=language)
    except GoldError:
        if expect is None or not config_file.is_file():
            raise
        # The bundle alone does not know where a note lies or why a page is missing.
        notes = _map_note_paths(config_file, expect)
        return explain_question(engine, question, expect=expect, language=language, notes=notes)


def _map_note_paths(config_file: Path, expect: str) -> Mapping[str, str]:
    """From a note's path to its id; SiteError if what is expected was kept out of the bundle."""
    # A function folder that was deployed alone has no mkdocs.yml, and may lack mkdocs too.
    from ..mkdocs.site_config import find_plugin, load_mkdocs_config

    config = load_mkdocs_config(config_file)
    page = Path(config.docs_dir, f"{expect}.md")
    if page.is_file():
        excluded = parse_metadata(_read_front_matter(page)).excluded
        cause = (
            "its front matter keeps it out of answers (`answerable.exclude` or `search.exclude`)"
            if excluded
            else "it is newer than the bundle, a draft, excluded or without text: correct it and "
            "run `mkdocs build` again"
        )
        raise SiteError(f"--expect: the page {expect!r} is not in the bundle: {cause}")
    private = read_site_notebook(find_plugin(config).config.notebook)
    if expect in private.unrouted_paths:
        raise SiteError(
            f"--expect: the note {expect!r} has `routes: off`, so no question can find it; take "
            "that out of its front matter"
        )
    return private.ids


def _read_front_matter(page: Path) -> Mapping[str, object]:
    match = _FRONT_MATTER.match(page.read_text(encoding="utf-8", errors="replace"))
    try:
        data = yaml.safe_load(match[1]) if match else None
    except yaml.YAMLError:
        return {}
    return data if isinstance(data, dict) else {}


def _round_floats(value: Any) -> Any:
    """A JSON value with the digits of its numbers that mean something."""
    if isinstance(value, float):
        return round(value, 6)
    if isinstance(value, dict):
        return {key: _round_floats(each) for key, each in value.items()}
    return [_round_floats(each) for each in value] if isinstance(value, list | tuple) else value
