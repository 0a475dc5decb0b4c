"""Advise an author: the sentence to write and where, or the floor that would refuse a question."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..serve.engine import Engine
from ..serve.stores.bundle import Bundle
from ..serve.structure import TITLE_SEPARATOR
from ..serve.text.tokenization import extract_terms, extract_words
from .why import ExpectedRank, Explanation, QuestionContext, list_missing_words, read_context

# Stands in a proposed sentence for what only the author knows.
FACT = "…"
# A sentence of one content word would be found by any question with that word.
_MIN_LEAD_TERMS = 2
# Of the weight of a question's words, in [0, 1].
_MOST_MISSING = 0.5
# A longer question is not put into one sentence: its best sentence is.
_MAX_LEAD_WORDS = 30
_MAX_ID_WORDS = 6
# Not after "e.g." and other abbreviations of single letters.
_SENTENCE_END = re.compile(r"(?<=[^\s.][^\s.][.!?])\s+|(?<=\s[!?])\s+|(?<=[。！？])\s*")
_EDGES = " \t?!.,:;…。！？"

_LEFT_OUT = {
    "enough-of-its-record": "Other passages of its page come before it. If only this one has the "
    "fact, let its heading name what is asked.",
    "near-duplicate": "It says the same as {by}, which stands in its place: say it once and link "
    "to it, or keep the copy out with `answerable.exclude`.",
    "two-of-its-note": "Two places of the same note come before it.",
    "budget": "It does not fit into the evidence: cut the long passages above it with headings, or "
    "choose a smaller `passages.words`.",
    "record-budget": "It does not fit into its page's share of the evidence: cut its long passages "
    "with headings, or choose a smaller `passages.words`.",
    "other-language": "Passages in {language}, which was asked in, go before it: translate its "
    "page.",
}


@dataclass(frozen=True, slots=True)
class PageEdit:
    """A sentence to write on a page, ``…`` standing for the fact that only the author knows.

    ``section``: the id of the passage under whose heading it goes; ``under``: the titles of the
    page and its headings, the nearest last. ``heading``: a new heading to write at the end of that
    section, with the sentence under it; "" where the sentence goes directly under the section's.
    """

    page: str
    section: str
    under: tuple[str, ...]
    heading: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Advice:
    """One thing that would help, by the name of its ``rule``; ``edit`` is a sentence to write."""

    rule: str
    text: str
    edit: PageEdit | None = None


@dataclass(frozen=True, slots=True)
class RefusingFloors:
    """The lowest hundredths that refuse all that is above the floors now, None where nothing is.

    Both are None where no floor refuses the question: a passage holds all of its content words, or
    it would take a floor above 1.
    """

    floor: float | None
    note_floor: float | None


def advise_author(engine: Engine[Bundle], explanation: Explanation) -> tuple[Advice, ...]:
    """List what an author could do, the most useful first; nothing where what is expected leads."""
    expected, outcome = explanation.expected, explanation.outcome
    if not explanation.words:
        text = (
            "The question has nothing to look for: its words are stopwords or in a script that no "
            "page uses. No page can change that."
        )
        return (Advice("no-content-words", text),)
    advice = []
    if expected:
        if not expected.is_cited:
            advice.append(_advise_on_expected(engine, explanation, expected))
    elif outcome and outcome.reason == "declined":
        text = (
            "There is evidence, but no sentence of it states what is asked: write the fact as one "
            "complete sentence."
        )
        advice.append(Advice("declined", text))
    # A note has no words, and a site of notes alone no page to say them on.
    is_note = expected is not None and expected.stream == "hints"
    if explanation.unknown and explanation.passages and not is_note:
        words = ", ".join(f'"{word}"' for word in explanation.unknown)
        text = f"No passage holds {words}. If the site knows the matter, say it in these words."
        advice.append(Advice("unknown-words", text))
    if not expected and not explanation.evidence:
        text = (
            "If a page ought to answer this, name it with --expect ID to see what it lacks. If "
            "none ought to, the refusal is right."
        )
        advice.append(Advice("name-a-page", text))
    return tuple(advice)


def _advise_on_expected(
    engine: Engine[Bundle], explanation: Explanation, expected: ExpectedRank
) -> Advice:
    """Advise on a page or note that is not cited."""
    candidate = expected.candidate
    name, fate = candidate.id, candidate.fate
    if text := _LEFT_OUT.get(fate):
        text = text.format(by=candidate.by, language=explanation.language)
        return Advice(fate, f"{name} is left out. {text}")
    if expected.stream == "hints":
        if fate == "under-floor":
            text = (
                f"{name} is {expected.gap:.3f} under the note floor. A note is found by its sense "
                "alone: let its title or label say what readers look for, or split one of many "
                "subjects."
            )
            return Advice("note-under-floor", text)
        text = (
            f"{name} is above its floor, and the best hint is {-explanation.lead:.3f} behind the "
            "best passage in cosine: the pages answer. Correct them if they should not."
        )
        return Advice("note-behind", text)
    row = list(engine.store.passage_ids).index(name)
    edit = propose_edit(read_context(engine, explanation.question), row)
    if fate == "under-floor":
        lacks = ", ".join(f'"{word}"' for word in candidate.missing)
        finding = f"{name} is {expected.gap:.3f} under the floor"
        finding += f" and does not hold {lacks}" if lacks else ""
    elif fate == "evidence":
        finding = f"{name} is evidence, and other sentences come closer to the question"
    else:
        finding = f"{name} is above the floor, and better ones stand before it"
    return Advice("write", f"{_describe_place(edit)}, where {FACT} is the fact. {finding}.", edit)


def _describe_place(edit: PageEdit) -> str:
    if edit.heading:
        return (
            f'Write on {edit.page}, at the end of "{edit.under[-1]}", the heading '
            f'"{edit.heading}" and under it "{edit.sentence}"'
        )
    return f'Write on {edit.page}, under "{edit.under[-1]}", "{edit.sentence}"'


def propose_edit(context: QuestionContext, row: int) -> PageEdit:
    """Propose the sentence that the section of a passage lacks, in the question's own words.

    It begins with the sentence of the question that has most in common with the page, or with all
    of it where that has too few words, from its first content word on. A section that holds less
    than half of what the question's words weigh is about something else: there the sentence gets a
    heading of its own.
    """
    bundle = context.bundle
    language = bundle.site.language_of(row)
    page_rows = np.flatnonzero(bundle.passage_records == bundle.passage_records[row])
    absent = [{word.term for word in list_missing_words(context, int(r))} for r in page_rows]
    own = [word for word in context.words if word.language == language]
    on_page = [word for word in own if not all(word.term in missing for missing in absent)]
    weights = {word.term: word.share for word in on_page or own}

    forms = context.reading.forms[language]

    def weigh(sentence: str) -> float:
        return sum(weights.get(term, 0.0) for term in set(extract_terms(sentence, language, forms)))

    text = context.reading.text
    sentences = [sentence for sentence in _SENTENCE_END.split(text) if sentence.strip(_EDGES)]
    joined = " ".join(sentence.strip(_EDGES) for sentence in sentences)
    leads = [_trim(sentence, language) for sentence in (max(sentences, key=weigh), joined)]
    long_enough = (
        lead for lead in leads if len(set(extract_words(lead, language))) >= _MIN_LEAD_TERMS
    )
    lead = next(long_enough, leads[0])
    lacks = sum(word.share for word in list_missing_words(context, row))
    first = row
    while first and bundle.passage_urls[first - 1] == bundle.passage_urls[row]:
        first -= 1
    return PageEdit(
        bundle.record_ids[int(bundle.passage_records[first])],
        bundle.passage_ids[first],
        tuple(bundle.passage_titles[first].split(TITLE_SEPARATOR)),
        lead if lacks > _MOST_MISSING else "",
        f"{lead}: {FACT}",
    )


def _trim(sentence: str, language: str) -> str:
    """Trim a question's sentence to what begins with a content word; it opens with a capital."""
    tokens = sentence.split()
    while len(tokens) > 1 and not extract_words(tokens[0], language):
        tokens.pop(0)
    text = " ".join(tokens[:_MAX_LEAD_WORDS]).strip(_EDGES)
    return text[:1].upper() + text[1:]


def find_refusing_floors(engine: Engine[Bundle], explanation: Explanation) -> RefusingFloors | None:
    """Find the floors that refuse a question; None if it is refused already."""
    if not explanation.evidence or (explanation.outcome and explanation.outcome.reason):
        return None
    profile = explanation.profile
    floors = []
    for stream, floor in (
        (explanation.passages, profile.floor),
        (explanation.hints, profile.note_floor),
    ):
        distances = [candidate.to_floor for candidate in stream if candidate.fate != "under-floor"]
        # The lowest hundredth above the best of them.
        raised = (math.floor(100 * (floor + max(distances))) + 1) / 100 if distances else None
        floors.append(raised)
    signals = read_context(engine, explanation.question).signals
    # A site's options take no floor above 1.
    if signals.is_whole.any() or any(floor and floor > 1 for floor in floors):
        return RefusingFloors(None, None)
    return RefusingFloors(*floors)


def advise_refusal(
    engine: Engine[Bundle], explanation: Explanation, floors: RefusingFloors
) -> tuple[Advice, ...]:
    """List what would answer a question truly or refuse it, the most useful first."""
    outcome = explanation.outcome
    advice = []
    ids = list(engine.store.passage_ids)
    above = [passage for passage in explanation.passages if passage.fate != "under-floor"]
    if above:
        best = max(above, key=lambda candidate: candidate.base).id
        quoted = next((name for name in (outcome.cited if outcome else ()) if name in ids), best)
        context = read_context(engine, explanation.question)
        edit = propose_edit(context, ids.index(quoted))
        text = (
            f"{_describe_place(edit)}, where {FACT} says that there is no such thing, if readers "
            "ask for it."
        )
        advice.append(Advice("state-absence", text, edit))
    text = (
        "Hold the refusal by a gold query with `expectAnswerMode: not-found`, and with `requires: "
        "model` where no floor suits, since an answer model can decline."
    )
    advice.append(Advice("gold-query", text))
    values = {"floor": floors.floor, "note_floor": floors.note_floor}
    options = [f"`{name}: {value:.2f}`" for name, value in values.items() if value is not None]
    if options:
        text = (
            f"{' with '.join(options)} would refuse it: build with that, and `answerable eval` "
            "names what it refuses too."
        )
        advice.append(Advice("floor", text))
    else:
        text = (
            "No floor refuses it: a passage holds all of its content words, "
            "or it would take a floor above 1."
        )
        advice.append(Advice("no-floor", text))
    return tuple(advice)


def draft_gold_query(explanation: Explanation, floors: RefusingFloors) -> Mapping[str, str]:
    """Draft a gold query that holds the refusal of a question, by the field of the file."""
    words = re.findall(r"[a-z0-9]+", explanation.question.lower())[:_MAX_ID_WORDS]
    query = {
        "id": "-".join(words) or "refused",
        "query": explanation.question,
        "expectAnswerMode": "not-found",
    }
    if floors == RefusingFloors(None, None):
        query["requires"] = "model"
    return query
