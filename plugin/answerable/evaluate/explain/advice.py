"""Advise an author, by fixed rules, on how a question could find the page or note to answer it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from .candidates import ExplainedCandidate
from .edit_text import describe_edit, describe_forecast
from .expected import ExpectedRank
from .explanation import Explanation
from .page_edit import PageEdit

_OUTRANKED_FATES = ("eight-above", "clear-winner", "out-of-pool")
# So many repeats among the candidates are a habit of the site and no accident.
_MIN_REPEATS = 2


@dataclass(frozen=True, slots=True)
class Advice:
    """One thing that would help, ``about`` some ids or words, by the name of its ``rule``.

    ``edit``: the sentence to write, where the advice is to write one.
    """

    rule: str
    about: tuple[str, ...]
    text: str
    edit: PageEdit | None = None


def advise_author(explanation: Explanation) -> tuple[Advice, ...]:
    """List what an author could do, the most useful first: a sentence to write, if one helps.

    Where the expected item is cited, only how it could lead.
    """
    expected = explanation.expected
    outcome = explanation.outcome
    if expected and outcome and expected.candidate.id in outcome.cited:
        advice = [_advise_on_boost(explanation, expected)]
    else:
        advice = [rule(explanation) for rule in _QUESTION_RULES]
        if expected:
            advice += [rule(explanation, expected) for rule in _EXPECTED_RULES]
        elif outcome and outcome.reason == "declined":
            advice.append(_advise_to_state([each.id for each in explanation.evidence]))
    # Measured: docs/why.md has the table. A sentence that would not be cited goes last.
    forecast = expected.forecast if expected else None
    helps = forecast is not None and forecast.cited
    order = {True: 0 if helps else 2, False: 1}
    listed = (each for each in advice if each)
    return tuple(sorted(listed, key=lambda each: order[each.edit is not None]))


def _advise_on_no_words(explanation: Explanation) -> Advice | None:
    if explanation.words:
        return None
    return Advice(
        "no-content-words",
        (),
        "The question has nothing to look for: its words are stopwords or in a script that no page "
        "uses. No page can change that.",
    )


def _advise_on_unknown_words(explanation: Explanation) -> Advice | None:
    # A note has no words, and a site of notes alone no page to say them on.
    expects_note = explanation.expected is not None and explanation.expected.stream == "hints"
    if not explanation.unknown or not explanation.passages or expects_note:
        return None
    words = explanation.words
    share = max(
        sum(word.share for word in words if word.language == tag and not word.passages)
        for tag in {word.language for word in words}
    )
    return Advice(
        "unknown-words",
        explanation.unknown,
        f"No passage holds {_quote_words(explanation.unknown)}, {share:.0%} of the question's "
        f"weight.{_offer_nearest(explanation.nearest)} If the site knows the matter, say it on the "
        "page in these words.",
    )


def _advise_to_name_page(explanation: Explanation) -> Advice | None:
    if not explanation.words or explanation.evidence or explanation.expected:
        return None
    return Advice(
        "name-a-page",
        (),
        "If a page ought to answer this, name it with --expect ID to see what it lacks. If none "
        "ought to, the refusal is right.",
    )


def _advise_on_duplicates(explanation: Explanation) -> Advice | None:
    ids = tuple(each.id for each in explanation.passages if each.fate == "near-duplicate")
    if len(ids) < _MIN_REPEATS:
        return None
    return Advice(
        "duplicates",
        ids,
        f"{len(ids)} passages repeat better ones: say it once and link to it, or keep the copies "
        "out of answers with `answerable.exclude` in their front matter.",
    )


def _advise_under_floor(explanation: Explanation, expected: ExpectedRank) -> Advice | None:
    candidate, profile = expected.candidate, explanation.profile
    if candidate.fate != "under-floor" or expected.stream == "hints":
        return None
    words = tuple(gain.word for gain in expected.gains)
    lacks = f" and does not hold {_quote_words(words)}" if words else ""
    text = f"{candidate.id} is {expected.gap:.3f} under the floor{lacks}."
    if not profile.hybrid and expected.gap <= profile.name_boost:
        rule = "near-miss"
        text += (
            f" A theme (`tags`) that the question uses adds up to {profile.theme_boost:g} to its "
            f"page, a name (`aliases`) up to {profile.name_boost:g}: use the readers' words."
        )
    else:
        is_near = expected.if_all_said is not None and expected.if_all_said >= profile.floor
        rule = "near-miss" if is_near else "far"
    return _advise_to_write(expected, rule, (candidate.id, *words), text)


def _advise_note_under_floor(explanation: Explanation, expected: ExpectedRank) -> Advice | None:
    del explanation
    candidate = expected.candidate
    if candidate.fate != "under-floor" or expected.stream == "passages":
        return None
    return Advice(
        "note-under-floor",
        (candidate.id,),
        f"{candidate.id} is {expected.gap:.3f} under the note floor. A note is found by its sense "
        "alone: let its title or label say what readers look for, or split one of many subjects.",
    )


def _advise_on_boost(explanation: Explanation, expected: ExpectedRank) -> Advice | None:
    candidate = expected.candidate
    top = max(explanation.passages, key=lambda each: each.score, default=None)
    if expected.stream == "hints" or candidate.to_floor < 0 or not top:
        return None
    if top.record == candidate.record or _score_unboosted(top) >= _score_unboosted(candidate):
        return None
    if top.page_boost - candidate.page_boost > max(top.boost - candidate.boost, 0):
        return Advice(
            "led-by-page",
            (top.id, candidate.id),
            f"{top.id} leads by its page: its title or several of its passages hold the "
            f"question's words. Put them into the title of {candidate.record}, give it an alias "
            "(`aliases`), or rename the page that leads if its title says too much.",
        )
    if not top.boost:
        return None
    phrases = tuple(lift.phrase for lift in top.lifts)
    return Advice(
        "led-by-boost",
        (top.id, candidate.id, *phrases),
        f"{top.id} leads by its boost alone: the question holds {_quote_words(phrases)}, a name or "
        f"theme of its page. Give {candidate.record} that phrase too, as an alias (`aliases`) or "
        "in its title, or take it from the page that leads if it says too much there.",
    )


def _advise_outranked(explanation: Explanation, expected: ExpectedRank) -> Advice | None:
    candidate = expected.candidate
    if candidate.fate not in _OUTRANKED_FATES or expected.stream == "hints":
        return None
    leader = candidate.by or (explanation.passages[0].id if explanation.passages else "")
    return _advise_to_write(
        expected,
        "outranked",
        (candidate.id, leader),
        f"{candidate.id} is above the floor, and {leader} and others stand before it.",
    )


def _advise_left_out(explanation: Explanation, expected: ExpectedRank) -> Advice | None:
    candidate = expected.candidate
    name = candidate.id
    texts = {
        "enough-of-its-record": f"Other passages of {candidate.record} come before {name}. If only "
        "this one has the fact, let its heading name what is asked.",
        "near-duplicate": f"{name} says the same as {candidate.by}, which stands in its place: "
        "say it once and link to it, or keep the copy out with `answerable.exclude`.",
        "two-of-its-note": f"Two places of the same note come before {name}.",
        "budget": f"{name} does not fit into the evidence: cut the long passages above it with "
        "headings, or choose a smaller `passages.words`.",
        "record-budget": f"{name} does not fit into its page's share of the evidence: cut its "
        "long passages with headings, or choose a smaller `passages.words`.",
        "other-language": f"Passages in {explanation.language}, which was asked in, go before "
        f"{name}: translate its page.",
    }
    text = texts.get(candidate.fate)
    about = (name, *filter(None, [candidate.by]))
    return Advice(candidate.fate, about, text) if text else None


def _advise_not_cited(explanation: Explanation, expected: ExpectedRank) -> Advice | None:
    candidate, outcome = expected.candidate, explanation.outcome
    if candidate.fate != "evidence" or not outcome:
        return None
    if expected.stream == "hints":
        return Advice(
            "note-behind",
            (candidate.id,),
            f"{candidate.id} is evidence, and the best hint is {-explanation.lead:.3f} behind the "
            "best passage in cosine: the pages answer. Correct them if they should not.",
        )
    if outcome.reason == "declined":
        text = f"{candidate.id} is evidence, but no sentence of it states what is asked."
        return _advise_to_write(expected, "declined", (candidate.id,), text)
    if outcome.mode == "related-material":
        return _advise_to_write(
            expected,
            "notes-lead",
            (candidate.id, *outcome.cited),
            f"The best hint is {explanation.lead:.3f} ahead of the best passage in cosine, so the "
            "notes alone are shown.",
        )
    return _advise_to_write(
        expected,
        "not-cited",
        (candidate.id, *outcome.cited),
        f"{candidate.id} is evidence, and sentences of {', '.join(outcome.cited)} come closer to "
        "the question.",
    )


_QUESTION_RULES = (
    _advise_on_no_words,
    _advise_on_unknown_words,
    _advise_to_name_page,
    _advise_on_duplicates,
)
_EXPECTED_RULES: Sequence[Callable[[Explanation, ExpectedRank], Advice | None]] = (
    _advise_under_floor,
    _advise_note_under_floor,
    _advise_on_boost,
    _advise_outranked,
    _advise_left_out,
    _advise_not_cited,
)


def _advise_to_write(
    expected: ExpectedRank, rule: str, about: tuple[str, ...], finding: str
) -> Advice:
    """Advise to write the sentence that was forecast, before what was found."""
    forecast = expected.forecast
    if forecast is None:
        text = f"{finding} State what is asked on its page, in one complete sentence."
        return Advice(rule, about, text)
    text = f"{describe_edit(forecast.edit)} {describe_forecast(forecast, expected)} {finding}"
    return Advice(rule, about, text, forecast.edit)


def _offer_nearest(nearest: Mapping[str, Sequence[str]]) -> str:
    offers = (f'"{word}" is near {_quote_words(near)}' for word, near in nearest.items())
    text = "; ".join(offers)
    return f" Of the site's words, {text}." if text else ""


def _advise_to_state(ids: Sequence[str]) -> Advice:
    return Advice(
        "declined",
        tuple(ids),
        "There is evidence, but no sentence of it states what is asked: write the fact as one "
        "complete sentence.",
    )


def _score_unboosted(candidate: ExplainedCandidate) -> float:
    return candidate.score - (candidate.boost + candidate.page_boost) * candidate.weight


def _quote_words(words: Sequence[str]) -> str:
    return ", ".join(f'"{word}"' for word in words)
