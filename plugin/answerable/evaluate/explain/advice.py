"""What an author could do about a question, by rules over its ledger: never a special case."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .candidates import ExplainedCandidate
from .explanation import ExpectedRank, Explanation

_OUTRANKED_FATES = ("eight-above", "clear-winner", "out-of-pool")
# So many repeats among the candidates are a habit of the site and no accident.
_MIN_REPEATS = 2


@dataclass(frozen=True, slots=True)
class Advice:
    """One thing that would help, ``about`` some ids or words; ``rule`` is what found it."""

    rule: str
    about: tuple[str, ...]
    text: str


def advise_author(ledger: Explanation) -> tuple[Advice, ...]:
    """What an author could do: where what was expected is cited, only how it could lead."""
    expected = ledger.expected
    if expected and ledger.outcome and expected.candidate.id in ledger.outcome.cited:
        found = [_led_by_boost(ledger, expected)]
    else:
        found = [rule(ledger) for rule in (_no_words, _unknown_words, _name_a_page, _duplicates)]
        found += [rule(ledger, expected) for rule in _EXPECTED_RULES] if expected else []
        if not expected and ledger.outcome and ledger.outcome.reason == "declined":
            found.append(_states_nothing([each.id for each in ledger.evidence]))
    return tuple(advice for advice in found if advice)


def _no_words(ledger: Explanation) -> Advice | None:
    if ledger.words:
        return None
    return Advice(
        "no-content-words",
        (),
        "The question has nothing to look for: its words are stopwords or in a script that no page "
        "uses. No page can change that.",
    )


def _unknown_words(ledger: Explanation) -> Advice | None:
    # A note has no words, and a site of notes alone no page to say them on.
    is_about_a_note = ledger.expected is not None and ledger.expected.stream == "hints"
    if not ledger.unknown or not ledger.passages or is_about_a_note:
        return None
    share = max(
        sum(word.share for word in ledger.words if word.language == tag and not word.passages)
        for tag in {word.language for word in ledger.words}
    )
    return Advice(
        "unknown-words",
        ledger.unknown,
        f"No passage holds {_quoted(ledger.unknown)}, {share:.0%} of the question's weight. If the "
        "site knows the matter, say it on the page in these words, or name them as an alias of the "
        "page, as an abbreviation or in the enrichment file.",
    )


def _name_a_page(ledger: Explanation) -> Advice | None:
    if not ledger.words or ledger.evidence or ledger.expected:
        return None
    return Advice(
        "name-a-page",
        (),
        "If a page ought to answer this, name it with --expect ID to see what it lacks. If none "
        "ought to, the refusal is right.",
    )


def _duplicates(ledger: Explanation) -> Advice | None:
    same = [each for each in ledger.passages if each.fate == "near-duplicate"]
    if len(same) < _MIN_REPEATS:
        return None
    return Advice(
        "duplicates",
        tuple(each.id for each in same),
        f"{len(same)} passages repeat better ones: say it once and link to it, or keep the copies "
        "out of answers with `answerable.exclude` in their front matter.",
    )


def _under_floor(ledger: Explanation, expected: ExpectedRank) -> Advice | None:
    found, profile = expected.candidate, ledger.profile
    if found.fate != "under-floor" or expected.stream == "hints":
        return None
    lacks = f"{found.id} is {expected.gap:.3f} under the floor"
    words = tuple(gain.word for gain in expected.gains)
    if not profile.hybrid and expected.gap <= profile.name_boost:
        text = (
            f"{lacks}. A theme (`tags`) that the question uses adds up to {profile.theme_boost:g} "
            f"to its page, a name (`aliases`) up to {profile.name_boost:g}: use the readers' words."
        )
    elif expected.if_all_said is not None and expected.if_all_said >= profile.floor:
        text = (
            f"{lacks} and does not hold {_quoted(words)}; with all of them its base would be about "
            f"{expected.if_all_said:.3f}. Say what they mean in the page's `description`, a theme "
            "(`tags`), the heading or the enrichment file: in a sentence of your own, which a copy "
            "of the question is not."
        )
    else:
        lacked = (
            f", and the words that it lacks, {_quoted(words)}, would bring it to "
            f"{expected.if_all_said:.3f} only"
            if expected.if_all_said is not None
            else ""
        )
        return Advice(
            "far",
            (found.id, *words),
            f"{lacks}{lacked}. Write a passage under a heading of its own that says what is asked.",
        )
    return Advice("near-miss", (found.id, *words), text)


def _note_under_floor(ledger: Explanation, expected: ExpectedRank) -> Advice | None:
    del ledger
    found = expected.candidate
    if found.fate != "under-floor" or expected.stream == "passages":
        return None
    return Advice(
        "note-under-floor",
        (found.id,),
        f"{found.id} is {expected.gap:.3f} under the note floor. A note is found by its sense "
        "alone: let its title or label say what readers look for, or split one of many subjects.",
    )


def _led_by_boost(ledger: Explanation, expected: ExpectedRank) -> Advice | None:
    found = expected.candidate
    top = max(ledger.passages, key=lambda each: each.score, default=None)
    if expected.stream == "hints" or found.to_floor < 0 or not top:
        return None
    if top.record == found.record or _unboosted(top) >= _unboosted(found):
        return None
    if top.page - found.page > max(top.boost - found.boost, 0):
        return Advice(
            "led-by-page",
            (top.id, found.id),
            f"{top.id} leads by its page: its title or several of its passages hold the "
            f"question's words. Put them into the title of {found.record}, give it an alias "
            "(`aliases`), or rename the page that leads if its title says too much.",
        )
    if not top.boost:
        return None
    names = tuple(lift.phrase for lift in top.lifts)
    return Advice(
        "led-by-boost",
        (top.id, found.id, *names),
        f"{top.id} leads by its boost alone: the question holds {_quoted(names)}, a name or theme "
        f"of its page. Give {found.record} that phrase too, as an alias (`aliases`) or in its "
        "title, or take it from the page that leads if it says too much there.",
    )


def _outranked(ledger: Explanation, expected: ExpectedRank) -> Advice | None:
    found = expected.candidate
    if found.fate not in _OUTRANKED_FATES or expected.stream == "hints":
        return None
    leader = found.by or (ledger.passages[0].id if ledger.passages else "")
    missing = f" It does not hold {_quoted(found.missing)}." if found.missing else ""
    return Advice(
        "outranked",
        (found.id, leader),
        f"{found.id} is above the floor, and {leader} and others stand before it.{missing} Say "
        "on its page what is asked, in one sentence of its own under a heading that names it.",
    )


def _left_out(ledger: Explanation, expected: ExpectedRank) -> Advice | None:
    found = expected.candidate
    texts = {
        "enough-of-its-record": f"Four passages of {found.record} come before "
        f"{found.id}. If only this one has the fact, let its heading name what is asked.",
        "near-duplicate": f"{found.id} says the same as {found.by}, which stands in its place: "
        "say it once and link to it, or keep the copy out with `answerable.exclude`.",
        "two-of-its-note": f"Two places of the same note come before {found.id}.",
        "budget": f"{found.id} does not fit into the evidence: cut the long passages above it with "
        "headings, or choose a smaller `passages.words`.",
        "record-budget": f"{found.id} does not fit into its page's share of the evidence: cut its "
        "long passages with headings, or choose a smaller `passages.words`.",
        "other-language": f"Passages in {ledger.language}, which was asked in, go before "
        f"{found.id}: translate its page.",
    }
    text = texts.get(found.fate)
    return Advice(found.fate, (found.id, *filter(None, [found.by])), text) if text else None


def _not_cited(ledger: Explanation, expected: ExpectedRank) -> Advice | None:
    found, outcome = expected.candidate, ledger.outcome
    if found.fate != "evidence" or not outcome:
        return None
    if expected.stream == "hints":
        return Advice(
            "note-behind",
            (found.id,),
            f"{found.id} is evidence, and the best hint is {-ledger.lead:.3f} behind the best "
            "passage in cosine: the pages answer. Correct them if they should not.",
        )
    if outcome.reason == "declined":
        return _states_nothing([found.id])
    if outcome.mode == "related-material":
        return Advice(
            "notes-lead",
            (found.id, *outcome.cited),
            f"The best hint is {ledger.lead:.3f} ahead of the best passage in cosine, so the notes "
            f"alone are shown: let {found.id} say what is asked in one complete sentence.",
        )
    return Advice(
        "not-cited",
        (found.id, *outcome.cited),
        f"{found.id} is evidence, and sentences of {', '.join(outcome.cited)} come closer to the "
        "question: let it say what is asked in one complete sentence.",
    )


_EXPECTED_RULES: Sequence[Callable[[Explanation, ExpectedRank], Advice | None]] = (
    _under_floor,
    _note_under_floor,
    _led_by_boost,
    _outranked,
    _left_out,
    _not_cited,
)


def _states_nothing(ids: Sequence[str]) -> Advice:
    return Advice(
        "declined",
        tuple(ids),
        "There is evidence, but no sentence of it states what is asked: write the fact as one "
        "complete sentence.",
    )


def _unboosted(found: ExplainedCandidate) -> float:
    return found.score - (found.boost + found.page) * found.weight


def _quoted(words: Sequence[str]) -> str:
    return ", ".join(f'"{word}"' for word in words)
