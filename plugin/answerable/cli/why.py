"""``answerable why``: explain retrieval by each candidate's scores and fate; advise the author."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from ..evaluate.report import ReportSection
from ..evaluate.sources import NoteSources
from ..evaluate.why import ExpectedRank, ExplainedCandidate, Explanation, explain_question
from ..evaluate.why_advice import (
    Advice,
    advise_author,
    advise_refusal,
    draft_gold_query,
    find_refusing_floors,
)
from ..serve.answers.confidence import bucket_confidence
from ..serve.engine import Engine
from ..serve.errors import GoldError, SiteError
from ..serve.retrieval.retrieve import TOP_K
from ..serve.stores.bundle import Bundle
from .context import (
    SiteLocation,
    check_language_tag,
    clean_question,
    join_question,
    language_option,
    open_engine,
)
from .eval import read_note_sources
from .render import print_sections

_SELECTED = {"evidence": "evidence", "under-floor": "under the floor"}
# Why a candidate above the floor is left out.
_REASONS = {
    "eight-above": "eight better ones are selected",
    "enough-of-its-record": "enough passages of its page are better",
    "two-of-its-note": "two hints of its note are better",
    "near-duplicate": "says the same as",
    "clear-winner": "far behind",
    "budget": "the evidence is full",
    "record-budget": "its page has had its share of the evidence",
    "other-language": "passages in the language that was asked in go first",
    "out-of-pool": "too many better ones",
}


_CANDIDATE_COLUMNS = ("", "score", "to floor", "candidate")


@click.command("why")
@click.argument("question", nargs=-1, required=True, metavar="QUESTION", callback=join_question)
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
    explanation = _explain(engine, location[1], cleaned, expect, language)
    floors = find_refusing_floors(engine, explanation) if refuse else None
    if refuse:
        advice = advise_refusal(engine, explanation, floors) if floors else ()
    else:
        advice = advise_author(engine, explanation)
    gold_query = draft_gold_query(explanation, floors) if floors else None
    if as_json:
        body = _encode(explanation) | {
            "refusing_floors": asdict(floors) if floors else None,
            "gold_query": gold_query,
            "advice": [asdict(remedy) for remedy in advice],
        }
        click.echo(json.dumps(_round_floats(body), indent=2))
        return
    opening = [_format_outcome(explanation)]
    opening += [f'"{old}" was read as "{new}".' for old, new in explanation.corrected.items()]
    if refuse and floors is None:
        opening.append("It is refused already, so there is nothing to do.")
    print_sections(_make_sections(explanation, opening, advice, gold_query), wraps=True)


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
    if Path(config.docs_dir, f"{expect}.md").is_file():
        raise SiteError(
            f"--expect: the page {expect!r} is not in the bundle: it is newer than the bundle, a "
            "draft, without text or kept out of answers by its front matter (`answerable.exclude` "
            "or `search.exclude`); correct it and run `answerable build` again"
        )
    notes = read_note_sources(find_plugin(config).config.notebook)
    if expect in notes.unrouted:
        raise SiteError(
            f"--expect: the note {expect!r} has `routes: off`, so no question can find it; take "
            "that out of its front matter"
        )
    return notes


def _encode(explanation: Explanation) -> dict[str, Any]:
    """Encode an explanation as JSON, where what a page adds to a candidate is called ``page``."""
    return asdict(
        explanation,
        dict_factory=lambda fields: {
            "page" if name == "page_boost" else name: value for name, value in fields
        },
    )


def _round_floats(value: Any) -> Any:
    """Round the numbers of a JSON value to the digits that mean something."""
    if isinstance(value, float):
        return round(value, 6)
    if isinstance(value, dict):
        return {key: _round_floats(each) for key, each in value.items()}
    return [_round_floats(item) for item in value] if isinstance(value, list | tuple) else value


def _format_outcome(explanation: Explanation) -> str:
    outcome = explanation.outcome
    if outcome is None:
        return "There is evidence. Answers cost money, so none is asked for."
    if outcome.reason:
        return f"not-found, because of {outcome.reason}"
    confidence = bucket_confidence(outcome.confidence)
    return f"{outcome.mode}, confidence {confidence}, cites {', '.join(outcome.cited)}"


def _make_sections(
    explanation: Explanation,
    opening: Sequence[str],
    advice: Sequence[Advice],
    gold_query: Mapping[str, str] | None,
) -> list[ReportSection]:
    """Lay out what an author could do, and then what it rests on."""
    profile = explanation.profile
    # A JSON text is a YAML text, whatever a question has in it.
    code = "\n  ".join(f"{name}: {json.dumps(text)}" for name, text in (gold_query or {}).items())
    words = tuple(
        (
            str(word.passages),
            f"{word.share:.0%}" if word.share else "name",
            f"{word.text}, unknown" if word.text in explanation.unknown else word.text,
        )
        for word in explanation.words
    )
    expected = _list_expected(explanation.expected) if explanation.expected else ()
    sections = [
        ReportSection(lines=tuple(opening)),
        ReportSection("What an author could do", tuple(f"• {remedy.text}" for remedy in advice)),
        ReportSection("The gold query", code=f"- {code}" if code else ""),
        ReportSection("Expected", expected),
    ]
    if explanation.words:
        sections.append(
            ReportSection(
                "Words", (_describe_formula(explanation),), ("passages", "weight", "word"), words
            )
        )
    sections += _list_streams("Passages", explanation.passages, profile.floor)
    sections += _list_streams("Hints", explanation.hints, profile.note_floor)
    return sections


def _describe_formula(explanation: Explanation) -> str:
    profile = explanation.profile
    note_floor = f"the note floor {profile.note_floor:g} against a hint's score."
    if not profile.hybrid:
        return (
            f"base = dense. The floor {profile.floor:g} is held against base + boost, {note_floor}"
        )
    total = profile.hybrid + profile.dense
    return (
        f"base = ({profile.hybrid:g} × lexical + {profile.dense:g} × dense) / {total:g}. "
        f"The floor {profile.floor:g} is held against base, {note_floor} "
        "`to floor` is how far a candidate lies above it, or below it with a minus."
    )


def _list_streams(
    name: str, candidates: Sequence[ExplainedCandidate], floor: float
) -> Iterator[ReportSection]:
    above = [candidate for candidate in candidates if candidate.fate != "under-floor"]
    under = [candidate for candidate in candidates if candidate.fate == "under-floor"]
    shown = [
        candidate for candidate in above if candidate.rank <= TOP_K or candidate.fate == "evidence"
    ]
    lines = []
    if fates := Counter(candidate.fate for candidate in above if candidate not in shown):
        counted = "; ".join(f"{count}: {_REASONS[fate]}" for fate, count in fates.items())
        lines.append(f"{fates.total()} more were considered and left out ({counted}).")
    if shown:
        title = f"{name} considered, with the floor {floor:g}"
        yield ReportSection(title, tuple(lines), _CANDIDATE_COLUMNS, _make_candidate_rows(shown))
    if under:
        yield ReportSection(
            f"{name} under the floor {floor:g}",
            columns=_CANDIDATE_COLUMNS,
            rows=_make_candidate_rows(under),
        )


def _make_candidate_rows(
    candidates: Sequence[ExplainedCandidate],
) -> tuple[tuple[str, ...], ...]:
    return tuple(
        (
            str(candidate.rank),
            f"{candidate.score:.3f}",
            f"{candidate.to_floor:+.3f}",
            "\n".join(_describe_candidate(candidate)),
        )
        for candidate in candidates
    )


def _describe_candidate(candidate: ExplainedCandidate) -> Iterator[str]:
    """Describe a candidate by its id, and then by its fate and the parts of its score."""
    yield candidate.id
    if candidate.label or candidate.locator:
        locator = f" ({candidate.locator})" if candidate.locator else ""
        yield f"{candidate.label}{locator}"
    parts = [_format_fate(candidate)] if candidate.fate != "under-floor" else []
    # A hint's score is its cosine and has no other parts.
    if candidate.record:
        base, lexical, dense = candidate.base, candidate.lexical, candidate.dense
        parts.append(f"base {base:.3f} (lexical {lexical:.3f}, dense {dense:.3f})")
    if candidate.boost:
        parts.append(f"boost +{candidate.boost:.3f}")
    if candidate.page_boost:
        parts.append(f"page +{candidate.page_boost:.3f}")
    if candidate.recency:
        parts.append(f"date +{candidate.recency:.3f}")
    if candidate.weight != 1:
        parts.append(f"weight × {candidate.weight:g}")
    if candidate.missing:
        parts.append(f"lacks {', '.join(candidate.missing)}")
    if parts:
        yield "; ".join(parts)


def _format_fate(candidate: ExplainedCandidate) -> str:
    if label := _SELECTED.get(candidate.fate):
        return label
    return f"left out: {_REASONS[candidate.fate]} {candidate.by or ''}".strip()


def _list_expected(expected: ExpectedRank) -> tuple[str, ...]:
    candidate = expected.candidate
    best = "" if candidate.id == expected.asked else f", at best {candidate.id}"
    return (
        f"{expected.asked}{best}: {_format_fate(candidate)}.",
        f"Score {candidate.score:.3f}, rank {expected.rank} of all {expected.total} "
        f"{expected.stream}, {candidate.to_floor:+.3f} to the floor.",
        "It is cited." if expected.is_cited else "It is not cited.",
    )
