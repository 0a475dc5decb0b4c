"""Count the English negators of a claim and of its quotes: a heuristic, no proof of entailment."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ..serve.answers.statements import find_surrounding_sentences
from ..serve.text.languages import base_language
from ..serve.text.normalization import fold_typography
from ..serve.types import Reply

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
# These look like a negation and are none.
_HARMLESS = re.compile(
    r"\b(?:(?:or|if|why) not|not (?:all|always|every|just|merely|necessarily|only|simply)|"
    r"no (?:doubt|fewer|later|less|matter|more|problem|sooner|wonder)|nothing (?:but|else))\b"
)


@dataclass(frozen=True, slots=True)
class NegationConflict:
    """A claim, and the quoted sentences that it disagrees with."""

    claim: str
    source: str


def find_negation_conflicts(reply: Reply) -> tuple[NegationConflict, ...]:
    """Find the claims of a reply that disagree with the whole sentences that they quote from."""
    texts = {passage.id: passage for passage in reply.passages}
    pairs = []
    for claim in reply.answer.claims:
        cited = [each for each in claim.citations if base_language(each.language) == "en"]
        spans = [(texts[c.id], c.start, c.start + len(c.quote)) for c in cited if c.id in texts]
        sources = [find_surrounding_sentences(*span) for span in spans] or [c.quote for c in cited]
        pairs.append((claim.text, sources))
    conflicting = (pair for pair in pairs if pair[1] and contradicts(*pair))
    return tuple(NegationConflict(text, " … ".join(quoted).strip()) for text, quoted in conflicting)


def contradicts(claim: str, sources: Sequence[str]) -> bool:
    """Test whether a claim has more negators than its sources, or fewer in the same words."""
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
