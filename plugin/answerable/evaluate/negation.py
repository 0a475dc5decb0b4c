"""Compare a claim with the sentences it quotes: detect an English negation that only one has.

A heuristic over words, not a proof of entailment: `docs/evaluate.md` states the rule and its
limits.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..serve.answers.wire_blocks import GAP_MARK
from ..serve.text.languages import base_language
from ..serve.types import Claim, Passage, RecordCitation, Reply
from .negation_clauses import BOUNDARY, NEGATION, Clause, Negation, Sentence, parse_sentences

# Sentences that share nearly as many terms as the best one are compared too.
_NEXT_TO_BEST = 0.8
# The share of a claim's clause in the source's from which only a negation can tell them apart.
_NEAR_SHARE = 0.8
# The share of a denied statement that the source has to contain for the denial to be about it.
_DENIED_SHARE = 0.5
_MIN_SHARED_TERMS = 2
# As many words in the same order are a wording of their own.
_MIN_SAME_WORDS = 3


@dataclass(frozen=True, slots=True)
class NegationConflict:
    """A claim, and the quoted sentence that one of its sentences disagrees with."""

    claim: str
    source: str


def find_negation_conflicts(reply: Reply) -> tuple[NegationConflict, ...]:
    """Find, for each claim of a reply in English, the first conflict with what it quotes.

    A quote stands for the whole sentences that hold it, so that it cannot leave out their "not".
    """
    passages = {passage.id: passage for passage in reply.passages}
    conflicts = []
    for claim in reply.answer.claims:
        if _consists_of_quotes(claim):
            continue
        sources = [
            read_quoted_sentences(citation, passages.get(citation.id))
            for citation in claim.citations
            if base_language(citation.language) == "en"
        ]
        conflicts.append(find_negation_conflict(claim.text, sources))
    return tuple(filter(None, conflicts))


def _consists_of_quotes(claim: Claim) -> bool:
    """Test whether a claim is its quotes in order, each to the ends of its sentences.

    Such an excerpt cannot deny what it quotes, whatever the words of its code look like.
    """
    text = " ".join(GAP_MARK.split(claim.text))
    quotes = " ".join(citation.quote for citation in claim.citations)
    return text.split() == quotes.split()


def read_quoted_sentences(citation: RecordCitation, passage: Passage | None) -> str:
    """Read the sentences of a passage that hold any part of a quote; without it, the quote."""
    if passage is None:
        return citation.quote
    start, end = citation.start, citation.start + len(citation.quote)
    touched = [(first, last) for first, last in passage.sentences if first < end and last > start]
    bounds = [start, end, *(place for sentence in touched for place in sentence)]
    return passage.text[min(bounds) : max(bounds)]


def find_negation_conflict(claim: str, sources: Sequence[str]) -> NegationConflict | None:
    """Find the first sentence of a claim that negates what it quotes, or drops its negation.

    sources: the whole sentences that hold the quotes, one text for each quote.
    """
    quoted = [sentence for text in sources for sentence in parse_sentences(text)]
    for sentence in parse_sentences(claim):
        aligned = _align(sentence, quoted)
        outcomes = [_compare_wording(sentence, each) for each in aligned]
        if sentence.is_denied or outcomes.count(None) == len(outcomes):
            conflict = next(_find_conflicts(sentence, aligned), None)
        elif False in outcomes:
            conflict = None
        else:
            conflict = aligned[outcomes.index(True)]
        if sentence.is_denied != any(each.is_denied for each in aligned):
            # Denied as a whole: what agrees word by word then disagrees, and the reverse.
            conflict = None if conflict else _find_denied(sentence, aligned)
        if conflict:
            return NegationConflict(claim, conflict.text)
    return None


def _align(sentence: Sentence, quoted: Sequence[Sentence]) -> list[Sentence]:
    """List the quoted sentences that a sentence repeats verbatim, else those nearest in terms."""
    verbatim = [each for each in quoted if each.contains_run(sentence)]
    if verbatim:
        return verbatim
    shared = [len(sentence.terms & each.terms) for each in quoted]
    most = max(shared, default=0)
    return [
        each
        for each, count in zip(quoted, shared, strict=True)
        if count and count >= _NEXT_TO_BEST * most
    ]


def _compare_wording(sentence: Sentence, quoted: Sentence) -> bool | None:
    """Test whether the same words in the same order have another number of negations.

    None where the words are not the same, or too few to tell.
    """
    words, counts = _split_wording(sentence)
    quoted_words, quoted_counts = _split_wording(quoted)
    if len(words) < _MIN_SAME_WORDS or sentence.is_limited or quoted.is_limited:
        return None
    outcomes = [
        sum(quoted_counts[start : start + len(words)]) != sum(counts)
        for start in range(len(quoted_words) - len(words) + 1)
        if quoted_words[start : start + len(words)] == words
    ]
    return all(outcomes) if outcomes else None


def _split_wording(sentence: Sentence) -> tuple[list[str], list[int]]:
    """Split a wording into its terms and the number of negations about each.

    A negation is about the next term, or about the one before it at the end of a clause.
    """
    terms: list[str] = []
    counts: list[int] = []
    pending = 0
    for word in sentence.wording:
        if word == NEGATION:
            pending += 1
        elif word == BOUNDARY:
            if counts:
                counts[-1] += pending
                pending = 0
        else:
            terms.append(word)
            counts.append(pending)
            pending = 0
    if counts:
        counts[-1] += pending
    return terms, counts


def _find_denied(sentence: Sentence, aligned: Sequence[Sentence]) -> Sentence | None:
    """Find the quoted sentence that holds most of a denied statement."""
    least = _DENIED_SHARE * len(sentence.terms)
    return next((each for each in aligned if len(sentence.terms & each.terms) >= least), None)


def _find_conflicts(sentence: Sentence, aligned: Sequence[Sentence]) -> Iterator[Sentence]:
    """Yield each aligned sentence that has a negation more or less about the same words."""
    quoted_negations = [negation for each in aligned for negation in each.negations]
    claimed = [negation for negation in sentence.negations if negation.is_explicit]
    for each in aligned:
        is_near = len(sentence.terms & each.terms) >= _MIN_SHARED_TERMS
        pairs = [
            *_pair_unmatched(claimed, quoted_negations, each.clauses),
            *_pair_unmatched(each.negations, sentence.negations, sentence.clauses),
        ]
        if any(
            _contradicts(negation, clause, is_claimed=negation in claimed, is_near=is_near)
            for negation, clause in pairs
        ):
            yield each


def _pair_unmatched(
    negations: Sequence[Negation], others: Sequence[Negation], clauses: Sequence[Clause]
) -> list[tuple[Negation, Clause]]:
    """Pair each negation that has no counterpart with every clause of the other side."""
    return [
        (negation, clause)
        for negation in negations
        if negation.is_explicit and not any(map(negation.matches, others))
        for clause in clauses
    ]


def _contradicts(negation: Negation, other: Clause, *, is_claimed: bool, is_near: bool) -> bool:
    """Test whether a clause of the other side asserts what a negation denies.

    is_claimed: the negation is the claim's. is_near: the two sentences share several terms.
    """
    own = negation.clause
    if not negation.heads & other.asserted_terms or not own.has_same_role(other):
        return False
    shared = own.terms & other.terms
    of_claim = own if is_claimed else other
    if is_near and len(shared) >= _NEAR_SHARE * len(of_claim.terms):
        return True
    is_close = len(shared) >= _MIN_SHARED_TERMS or (is_near and own.terms <= other.terms)
    return is_close and not other.is_hedged
