"""The ledger of a question on a terminal, wide or narrow."""

from collections import Counter
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..evaluate.why import Ledger
from ..evaluate.why_advice import Advice
from ..evaluate.why_candidates import Candidate
from ..evaluate.why_expected import Standing
from ..serve import confidence
from ..serve.retrieval import TOP_K
from . import showing

# A terminal of fewer columns shows where a score stands and not what it is made of.
_WIDE = 76

_FATES = {
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


def show(console: Console, ledger: Ledger, advice: Sequence[Advice]) -> None:
    """Print all of a ledger and what an author could do."""
    console.print(_outcome(ledger))
    if ledger.words:
        _print(console, "Words", _words(ledger))
        console.print(Text(_recipe(ledger), "dim"))
    _show_stream(console, "Passages", ledger.passages, ledger.profile.floor)
    _show_stream(console, "Hints", ledger.hints, ledger.profile.note_floor)
    if ledger.expected:
        _print(console, "Expected", showing.plain(_standing(ledger, ledger.expected)))
    if advice:
        listed = Table.grid(padding=(0, 1))
        for each in advice:
            listed.add_row("•", showing.plain(each.text))
        _print(console, "What an author could do", listed)


def _print(console: Console, title: str, what: Table | Text) -> None:
    console.print(Text(f"\n{title}", "bold"))
    console.print(what)


def _outcome(ledger: Ledger) -> Text:
    found = ledger.outcome
    if found is None:
        return Text("There is evidence. Answers cost money, so none is asked for.", "bold")
    if found.reason:
        return Text(f"not-found, because of {found.reason}", "bold yellow")
    cited = ", ".join(found.cited)
    line = f"{found.mode}, confidence {confidence.bucket(found.confidence)}, cites {cited}"
    return showing.plain(line)


def _words(ledger: Ledger) -> Table:
    several = len({word.language for word in ledger.words}) > 1
    table = _columns("passages", "weight")
    table.add_column("word", overflow="fold")
    for word in ledger.words:
        share = f"{word.share:.0%}" if word.share else "name"
        text = f"{word.text} ({word.language})" if several else word.text
        style = "yellow" if word.text in ledger.unknown else ""
        table.add_row(str(word.passages), share, showing.plain(text), style=style)
    return table


def _recipe(ledger: Ledger) -> str:
    profile = ledger.profile
    notes = f"the note floor {profile.note_floor:g} against a hint's score."
    if not profile.hybrid:
        return f"base = dense. The floor {profile.floor:g} is held against base + boost, {notes}"
    total = profile.hybrid + profile.dense
    return (
        f"base = ({profile.hybrid:g} × lexical + {profile.dense:g} × dense) / {total:g}. "
        f"The floor {profile.floor:g} is held against base, {notes}"
    )


def _show_stream(
    console: Console, name: str, candidates: Sequence[Candidate], floor: float
) -> None:
    above = [each for each in candidates if each.fate != "under-floor"]
    under = [each for each in candidates if each.fate == "under-floor"]
    shown = [each for each in above if each.rank <= TOP_K or each.fate == "evidence"]
    is_wide = console.width >= _WIDE
    if shown:
        _print(console, f"{name} above the floor {floor:g}", _table(shown, is_wide=is_wide))
    if rest := Counter(each.fate for each in above if each not in shown):
        counted = ", ".join(f"{count} {fate}" for fate, count in rest.items())
        console.print(Text(f"{rest.total()} more are above the floor: {counted}.", "dim"))
    if under:
        _print(console, f"{name} under the floor {floor:g}", _table(under, is_wide=is_wide))


def _table(candidates: Sequence[Candidate], *, is_wide: bool) -> Table:
    # A hint's score is its cosine and has no other parts.
    has_parts = is_wide and any(each.record for each in candidates)
    names = ("base", "lexical", "dense", "boost") if has_parts else ()
    table = _columns("", "score", "to floor", *names)
    table.add_column("candidate", overflow="fold")
    for each in candidates:
        parts = (each.base, each.lexical, each.dense, each.boost) if has_parts else ()
        cells = [f"{each.score:.3f}", f"{each.to_floor:+.3f}", *(f"{n:.3f}" for n in parts)]
        table.add_row(str(each.rank), *cells, _candidate(each))
    return table


def _columns(*names: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in names:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def _candidate(each: Candidate) -> Text:
    """A candidate's id and, in lines of their own, its fate and what is behind its score."""
    label = f"{each.label} ({each.locator})" if each.locator else each.label
    lines = [label] if label else []
    if each.fate != "under-floor":
        lines.append(_fate(each))
    lines += [f'{lift.kind} "{lift.phrase}" +{lift.boost:.3f}' for lift in each.lifts]
    if each.page:
        lines.append(f"page +{each.page:.3f}")
    if each.recency:
        lines.append(f"date +{each.recency:.3f}")
    if each.weight != 1:
        lines.append(f"weight × {each.weight:g}")
    if each.missing:
        lines.append(f"lacks {', '.join(each.missing)}")
    under = Text("\n", "dim").join(Text("", "dim").append_text(showing.plain(x)) for x in lines)
    return Text("\n").join([showing.plain(each.id), under] if lines else [showing.plain(each.id)])


def _fate(each: Candidate) -> str:
    return f"{_FATES[each.fate]} {each.by or ''}".strip()


def _standing(ledger: Ledger, expected: Standing) -> str:
    found = expected.candidate
    what = "passages" if expected.stream == "passages" else "hints"
    best = "" if found.id == expected.asked else f", at best {found.id}"
    lines = [
        f"{expected.asked}{best}: {_fate(found)}.",
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
