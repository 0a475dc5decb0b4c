"""The judge: what was retrieved and answered, against what a gold query requires.

An issue names no pattern and no note, so that anybody may read it.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from ..engine.answers.contract import EvidenceItem
from ..engine.answers.wire import format_answer
from ..engine.text.sentences import find_surrounding_sentences
from ..engine.text.tokenization import base_language, fold_typography
from ..engine.types import Mode, Passage, Reason, RecordCitation, Reply
from .gold import GoldQuery
from .sources import list_cited_sources, matches_source

# "Isn't" is two tokens, and words that a sign joins are one, such as "not-found".
_TOKEN = re.compile(r"\w+?(?=n't\b)|n't\b|\w+(?:[-./_:@'=]+\w+)*|[,;:!?()|·]|\.(?=\s|$)|-+(?=\s)")
_NEGATORS = frozenset(
    """not n't no never nor neither none nothing nobody noone nowhere cannot without contrary false
    incorrect mistake mistaken myth opposite untrue wrong wrongly""".split()
)
# Where a page denies something by one of these, a claim may deny it by a negator.
_DENIAL = re.compile(
    r"absent|avoid|bans?$|banned|den[iy]|disabl|disallow|exclu[ds]|except|fail|fewer|forbid|ignor|"
    r"impossib|lack|missing|neglect|omit|only|prevent|prohibit|refus|reject|remov|skip|stop|unless"
)
# These look like negations, but are not.
_HARMLESS = re.compile(
    r"\b(?:(?:or|if|why) not|not (?:all|always|every|just|merely|necessarily|only|simply)|"
    r"no (?:doubt|fewer|later|less|matter|more|problem|sooner|wonder)|nothing (?:but|else))\b"
)


# A claim, and the quoted sentences that it disagrees with.
NegationConflict = tuple[str, str]


def find_negation_conflicts(reply: Reply) -> tuple[NegationConflict, ...]:
    """Find the claims of a reply that disagree with the whole sentences that they quote from.

    A whole passage cannot: it stands as the page has it, and its citation quotes but a line of it.
    """
    texts = {passage.id: passage for passage in reply.passages}
    conflicts = []
    for claim in reply.answer.claims:
        cited = [
            citation for citation in claim.citations if base_language(citation.language) == "en"
        ]
        if any(c.id in texts and texts[c.id].text == claim.text for c in cited):
            continue
        sources = [_find_sentences(c, texts[c.id]) if c.id in texts else c.quote for c in cited]
        if sources and contradicts(claim.text, sources):
            conflicts.append((claim.text, " … ".join(sources).strip()))
    return tuple(conflicts)


def _find_sentences(citation: RecordCitation, passage: Passage) -> str:
    """Find the whole sentences of a passage that a citation quotes from."""
    start = passage.text.find(citation.quote)
    if start < 0:
        return citation.quote
    return find_surrounding_sentences(passage, start, start + len(citation.quote))


def contradicts(claim: str, sources: Sequence[str]) -> bool:
    """True if a claim has more negators than its sources, or fewer in the same words."""
    words, counts = _count_negators(claim)
    readings = [_count_negators(source) for source in sources]
    denials = {word for quoted, _ in readings for word in quoted if _DENIAL.match(word)}
    if sum(counts) > sum(sum(each) for _, each in readings) + len(denials.difference(words)):
        return True
    end = max((n for n, word in enumerate(words, 1) if word[0].isalnum()), default=0)
    # Three words in the same order are a wording of their own.
    runs = [
        sum(quoted_counts[start : start + end])
        for quoted, quoted_counts in readings
        for start in range(len(quoted) - end + 1 if end >= 3 else 0)
        if quoted[start : start + end] == words[:end]
    ]
    return min(runs, default=0) > sum(counts)


def _count_negators(text: str) -> tuple[list[str], list[int]]:
    """Split a text into the other words and signs, and count the negators right before each."""
    words: list[str] = []
    counts = [0]
    for token in _TOKEN.findall(_HARMLESS.sub(" ", fold_typography(text).text.lower())):
        if token in _NEGATORS:
            counts[-1] += 1
        else:
            words.append(token)
            counts.append(0)
    return words, counts


# Characters of a sentence in an issue.
_MAX_SHOWN = 100


@dataclass(frozen=True, slots=True)
class JudgedAnswer:
    """The judged parts of an answer; unlike an Answer they can hold a contradiction.

    ``cited``: every name that a gold file may give to something that the answer cites.
    ``conflicts``: where a claim and a sentence that it quotes disagree in negation.
    ``is_fallback``: it is the keyless reply in the place of a model's.
    """

    mode: Mode
    text: str
    cites_records: bool
    cites_hints: bool
    reason: Reason | None = None
    cited: frozenset[str] = frozenset()
    conflicts: tuple[NegationConflict, ...] = ()
    is_fallback: bool = False


def summarize_reply(reply: Reply, route: str, notes: Mapping[str, str]) -> JudgedAnswer:
    """Reduce a reply to what is judged of it.

    route: the template of a route's sentence. notes: from a note's path to its id.
    """
    answer = reply.answer
    return JudgedAnswer(
        answer.mode,
        format_answer(answer, route),
        cites_records=bool(answer.claims),
        cites_hints=bool(answer.routes),
        reason=reply.reason,
        cited=list_cited_sources(answer.citations, notes),
        conflicts=find_negation_conflicts(reply),
        is_fallback=reply.failure is not None,
    )


def judge_retrieval(
    query: GoldQuery,
    ranked: Sequence[EvidenceItem],
    notes: Mapping[str, str],
    public: Collection[str],
) -> list[str]:
    """List the issues with a retrieval, best item first over both streams; [] is a pass.

    notes: from a note's path to its id. public: the names of pages and passages; any other source
    may be the path of a note.
    """

    def is_retrieved(source: str) -> bool:
        return any(matches_source(item, source, notes) for item in ranked)

    issues = [
        f"expected source {_name_sources([source], public)} not retrieved"
        for source in query.expect_sources
        if not is_retrieved(source)
    ]
    issues += [
        f"forbidden source {_name_sources([source], public)} was retrieved"
        for source in query.forbid_sources
        if is_retrieved(source)
    ]
    alternatives = query.expect_any_source
    if alternatives and not any(map(is_retrieved, alternatives)):
        issues.append(f"none of the sources {_name_sources(alternatives, public)} was retrieved")
    top = query.top_source
    if top and not (ranked and matches_source(ranked[0], top, notes)):
        issues.append(f"top source is not {_name_sources([top], public)}")
    if query.expect_reason == "no-evidence" and ranked:
        issues.append("expected nothing above the floors")
    return issues


def judge_answer(query: GoldQuery, answer: JudgedAnswer, public: Collection[str] = ()) -> list[str]:
    """List the issues with an answer; [] is a pass.

    Those that the reference pipeline has too come first, in its order. public: as for
    ``judge_retrieval``.
    """
    modes = query.expected_modes
    issues = []
    if modes and answer.mode not in modes:
        listed = " or ".join(repr(mode) for mode in modes)
        issues.append(f"answer mode '{answer.mode}' (expected {listed})")
    if query.forbid_record_citations and answer.cites_records:
        issues.append("answer must not cite public records for this query")
    mode = modes[0] if len(modes) == 1 else answer.mode if answer.mode in modes else None
    if mode == "partial" and answer.cites_hints:
        issues.append("partial mode requires record-only citations")
    if mode == "related-material" and answer.cites_records:
        issues.append("related-material mode requires hint-only citations")
    for patterns, is_wanted, complaint in (
        (query.forbid_answer_patterns, False, "answer matched forbidden pattern"),
        (query.require_answer_patterns, True, "answer lacks required pattern"),
    ):
        for number, pattern in enumerate(patterns, 1):
            if (re.search(pattern, answer.text, re.I) is not None) != is_wanted:
                # By its number: a pattern may spell words of a note.
                issues.append(f"{complaint} number {number}")
    # Below the floor and above that of calls a model is asked, which may decline.
    reasons = {"declined", query.expect_reason}
    if query.expect_reason and answer.reason not in reasons:
        issues.append(f"reason '{answer.reason}' (expected '{query.expect_reason}')")
    if answer.reason == "contract" or answer.is_fallback:
        issues.append("the answerer broke the contract twice")
    issues += [
        f"expected source {_name_sources([source], public)} not cited"
        for source in query.expect_cited
        if source not in answer.cited
    ]
    if base_language(query.language or "en") == "en":
        issues += [
            f"claim {_shorten(claim)} and the quoted sentence {_shorten(quoted)} "
            "disagree in negation"
            for claim, quoted in answer.conflicts
        ]
    return issues


def _shorten(text: str) -> str:
    return repr(text if len(text) <= _MAX_SHOWN else f"{text[: _MAX_SHOWN - 1]}…")


def _name_sources(sources: Sequence[str], public: Collection[str]) -> str:
    """Name the sources that are pages or passages."""
    return ", ".join(repr(source) if source in public else "(a note)" for source in sources)
