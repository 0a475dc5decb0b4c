"""Print an explanation of ``answerable why``: outcome, advice, words and candidates as tables."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..evaluate.explain.advice import Advice
from ..evaluate.explain.candidates import ExplainedCandidate
from ..evaluate.explain.expected import ExpectedRank
from ..evaluate.explain.explanation import Explanation
from ..evaluate.explain.refusal_advice import describe_refusal
from ..serve.answers.confidence import bucket_confidence
from ..serve.retrieval.retrieve import TOP_K
from .render import to_plain_text

# A longer quote is cut in the terminal.
_QUOTE_CHARACTERS = 240

# A terminal of fewer columns shows a candidate's score without its parts.
_WIDE_COLUMNS = 76

_FATE_LABELS = {
    "evidence": "evidence",
    "eight-above": "left out: eight better ones are selected",
    "enough-of-its-record": "left out: enough passages of its page are better",
    "two-of-its-note": "left out: two hints of its note are better",
    "near-duplicate": "left out: says the same as",
    "clear-winner": "left out: far behind",
    "budget": "left out: the evidence is full",
    "record-budget": "left out: its page has had its share of the evidence",
    "other-language": "left out: passages in the language that was asked in go first",
    "out-of-pool": "left out: too many better ones",
    "under-floor": "under the floor",
}  # fmt: skip


def print_explanation(
    console: Console,
    explanation: Explanation,
    advice: Sequence[Advice],
    gold_query: Mapping[str, str] | None,
    *,
    refuse: bool,
) -> None:
    """Print the outcome, what an author could do, and then what it rests on.

    gold_query: one to hold a refusal. refuse: the question should have been refused.
    """
    profile = explanation.profile
    console.print(_format_outcome(explanation))
    for line in _list_remarks(explanation):
        console.print(to_plain_text(line))
    if refuse and explanation.refusal is None:
        console.print("It is refused already, so there is nothing to do.")
    if explanation.refusal:
        text = describe_refusal(explanation, explanation.refusal)
        _print_section(console, "Why it is answered", to_plain_text(text))
    if advice:
        listed = Table.grid(padding=(0, 1))
        for each in advice:
            listed.add_row("•", to_plain_text(each.text))
        _print_section(console, "What an author could do", listed)
    if gold_query:
        # A JSON text is a YAML text, whatever a question has in it.
        lines = (f"{name}: {json.dumps(text)}" for name, text in gold_query.items())
        _print_section(console, "The gold query", to_plain_text("- " + "\n  ".join(lines)))
    if explanation.expected:
        text = _format_expected(explanation, explanation.expected)
        _print_section(console, "Expected", to_plain_text(text))
    if explanation.words:
        _print_section(console, "Words", _make_word_table(explanation))
        console.print(Text(_describe_formula(explanation), "dim"))
    _print_stream(console, "Passages", explanation.passages, profile.floor)
    _print_stream(console, "Hints", explanation.hints, profile.note_floor)


def _print_section(console: Console, title: str, content: Table | Text) -> None:
    console.print(Text(f"\n{title}", "bold"))
    console.print(content)


def _format_outcome(explanation: Explanation) -> Text:
    outcome = explanation.outcome
    if outcome is None:
        return Text("There is evidence. Answers cost money, so none is asked for.", "bold")
    if outcome.reason:
        return Text(f"not-found, because of {outcome.reason}", "bold yellow")
    confidence = bucket_confidence(outcome.confidence)
    return to_plain_text(
        f"{outcome.mode}, confidence {confidence}, cites {', '.join(outcome.cited)}"
    )


def _list_remarks(explanation: Explanation) -> Iterator[str]:
    """List where the answer comes from, and how words were read."""
    if explanation.outcome and explanation.outcome.pages:
        pages = (
            f"{each.page} {each.share:.0%} (rank {each.rank})" for each in explanation.outcome.pages
        )
        yield f"Quoted from: {', '.join(pages)}."
    for word, replacement in explanation.corrected.items():
        yield f'"{word}" was read as "{replacement}".'


def _make_word_table(explanation: Explanation) -> Table:
    has_languages = len({word.language for word in explanation.words}) > 1
    table = _make_table("passages", "weight")
    table.add_column("word", overflow="fold")
    for word in explanation.words:
        share = f"{word.share:.0%}" if word.share else "name"
        text = f"{word.text} ({word.language})" if has_languages else word.text
        style = "yellow" if word.text in explanation.unknown else ""
        table.add_row(str(word.passages), share, to_plain_text(text), style=style)
    return table


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


def _print_stream(
    console: Console, name: str, candidates: Sequence[ExplainedCandidate], floor: float
) -> None:
    above = [each for each in candidates if each.fate != "under-floor"]
    under = [each for each in candidates if each.fate == "under-floor"]
    shown = [each for each in above if each.rank <= TOP_K or each.fate == "evidence"]
    is_wide = console.width >= _WIDE_COLUMNS
    if shown:
        table = _make_candidate_table(shown, is_wide=is_wide)
        _print_section(console, f"{name} considered, with the floor {floor:g}", table)
    if fates := Counter(each.fate for each in above if each not in shown):
        counted = ", ".join(f"{count} {fate}" for fate, count in fates.items())
        console.print(Text(f"{fates.total()} more were considered: {counted}.", "dim"))
    if under:
        table = _make_candidate_table(under, is_wide=is_wide)
        _print_section(console, f"{name} under the floor {floor:g}", table)


def _make_candidate_table(candidates: Sequence[ExplainedCandidate], *, is_wide: bool) -> Table:
    # A hint's score is its cosine and has no other parts.
    has_parts = is_wide and any(each.record for each in candidates)
    names = ("base", "lexical", "dense", "boost") if has_parts else ()
    table = _make_table("", "score", "to floor", *names)
    table.add_column("candidate", overflow="fold")
    for each in candidates:
        parts = (each.base, each.lexical, each.dense, each.boost) if has_parts else ()
        cells = [f"{each.score:.3f}", f"{each.to_floor:+.3f}", *(f"{part:.3f}" for part in parts)]
        table.add_row(str(each.rank), *cells, _format_candidate(each))
    return table


def _make_table(*number_columns: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in number_columns:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def _format_candidate(candidate: ExplainedCandidate) -> Text:
    """Format a candidate's id and, in lines of their own, its fate and the parts of its score."""
    label, locator = candidate.label, candidate.locator
    lines = [f"{label} ({locator})" if locator else label] if label or locator else []
    if candidate.fate != "under-floor":
        lines.append(_format_fate(candidate))
    lines += [f'{lift.kind} "{lift.phrase}" +{lift.boost:.3f}' for lift in candidate.lifts]
    if candidate.page_boost:
        lines.append(f"page +{candidate.page_boost:.3f}")
    if candidate.recency:
        lines.append(f"date +{candidate.recency:.3f}")
    if candidate.weight != 1:
        lines.append(f"weight × {candidate.weight:g}")
    if candidate.missing:
        lines.append(f"lacks {', '.join(candidate.missing)}")
    texts = [to_plain_text(candidate.id)]
    texts += [Text("", "dim").append_text(to_plain_text(line)) for line in lines]
    return Text("\n").join(texts)


def _format_fate(candidate: ExplainedCandidate) -> str:
    return f"{_FATE_LABELS[candidate.fate]} {candidate.by or ''}".strip()


def _format_expected(explanation: Explanation, expected: ExpectedRank) -> str:
    candidate = expected.candidate
    best = "" if candidate.id == expected.asked else f", at best {candidate.id}"
    lines = [
        f"{expected.asked}{best}: {_format_fate(candidate)}.",
        f"Score {candidate.score:.3f}, rank {expected.rank} of all {expected.total} "
        f"{expected.stream}, {candidate.to_floor:+.3f} to the floor.",
    ]
    if candidate.missing:
        lines.append(f"It lacks {', '.join(candidate.missing)}.")
    if expected.if_all_said is not None:
        gains = ", ".join(f"{gain.word} {gain.base:.3f}" for gain in expected.gains)
        lines.append(
            f"If it said a word once, its base would be: {gains}; all of them "
            f"{expected.if_all_said:.3f}."
        )
    if expected.stream == "passages":
        lines.append(_describe_quote(expected))
    if outcome := explanation.outcome:
        lines.append("It is cited." if candidate.id in outcome.cited else "It is not cited.")
    return "\n".join(lines)


def _describe_quote(expected: ExpectedRank) -> str:
    """Describe what a keyless answer would quote of the expected page alone."""
    if not expected.quote:
        return "Even if it came first, a keyless answer would quote nothing of it."
    quote = " ".join(expected.quote.split())
    if len(quote) > _QUOTE_CHARACTERS:
        quote = quote[:_QUOTE_CHARACTERS].rsplit(" ", 1)[0] + " …"
    return f'If it came first, a keyless answer would quote: "{quote}"'
