"""Parse English text into sentences, clauses and negations: which words each negation is about."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from ..serve.text.normalization import fold_typography
from ..serve.text.tokenization import extract_terms
from . import negation_words as words
from .denial_frames import split_denials

_TOKEN = re.compile(r"[A-Za-z]+n't\b|\w+(?:[-./_:@'=]+\w+)*|[,;:()\[\]—–|·]|[.!?](?=\s)|--?(?=\s)")
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"')\]*_]*\s+(?=[\"'(\[`*_]*[A-Z0-9])")


# They stand in the wording of a sentence and are no terms.
NEGATION, BOUNDARY = "\N{NOT SIGN}", "|"


@dataclass(frozen=True, slots=True)
class Clause:
    """The terms of a clause, and those that no negation covers.

    ``opener``: the word that began it, such as "if"; "" for a main clause.
    """

    opener: str
    terms: frozenset[str]
    asserted_terms: frozenset[str]
    is_hedged: bool

    def has_same_role(self, other: "Clause") -> bool:
        """Test that both assert, or that both state a condition."""
        conditions = [each.opener in words.CONDITIONS for each in (self, other)]
        return conditions[0] == conditions[1]


@dataclass(frozen=True, slots=True)
class Negation:
    """A negation in its clause. ``heads``: the terms that it denies; ``scope``: all it may cover.

    ``is_explicit``: it is a word of negation and surely about its heads; any other only excuses
    one of the other side.
    """

    clause: Clause
    heads: frozenset[str]
    scope: frozenset[str]
    is_explicit: bool = True

    @property
    def is_elliptic(self) -> bool:
        """Tell whether what it denies is left out, as in "Caddy does not"."""
        return not (self.is_explicit or self.scope)

    def matches(self, other: "Negation") -> bool:
        """Test whether the two may deny the same thing, in whatever words."""
        if self.is_elliptic or other.is_elliptic:
            return True
        return bool(
            self.heads & (other.scope | other.clause.terms)
            or other.heads & (self.scope | self.clause.terms)
        )


@dataclass(frozen=True)
class Sentence:
    """A sentence, or a part of one that is denied as a whole, without the words that deny it.

    ``text``: the sentence with these words. ``tokens``: words and signs in lower case.
    """

    text: str
    tokens: tuple[str, ...]
    is_denied: bool = False
    clauses: tuple[Clause, ...] = field(default=(), repr=False)
    negations: tuple[Negation, ...] = field(default=(), repr=False)

    @cached_property
    def wording(self) -> tuple[str, ...]:
        """The content terms in order, with ``NEGATION`` and ``BOUNDARY`` between them."""
        wording: list[str] = []
        for at, token in enumerate(self.tokens):
            if token == "," or token in words.BOUNDARIES:
                wording.append(BOUNDARY)
            elif _is_negation(self.tokens, at):
                wording.append(NEGATION)
            else:
                wording += _extract_token_terms(token)
        return tuple(wording)

    @property
    def is_limited(self) -> bool:
        """Tell whether it says until when, or except for what."""
        return not words.LIMITS.isdisjoint(self.tokens)

    @cached_property
    def terms(self) -> frozenset[str]:
        """The content terms of all clauses."""
        return frozenset().union(*(clause.terms for clause in self.clauses))

    def contains_run(self, other: "Sentence") -> bool:
        """Test whether it holds the tokens of another sentence in one run."""
        return f" {' '.join(other.tokens)} " in f" {' '.join(self.tokens)} "


def parse_sentences(text: str) -> list[Sentence]:
    """Parse the sentences of an English text that have a content term; a line ends a sentence."""
    lines = (fold_typography(line).text for line in text.splitlines())
    pieces = [piece for line in lines for piece in _SENTENCE_END.split(line) if piece.strip()]
    sentences = []
    for statement in split_denials(pieces):
        tokens = tuple(_tokenize(statement.text))
        clauses, negations = _parse_clauses(tokens)
        if any(clause.terms for clause in clauses):
            sentences.append(
                Sentence(statement.sentence, tokens, statement.is_denied, clauses, negations)
            )
    return sentences


def _tokenize(sentence: str) -> Iterator[str]:
    for match in _TOKEN.finditer(sentence):
        # Within a sentence it is Python's value.
        yield match[0] if match[0] == "None" and match.start() else match[0].lower()


@lru_cache(maxsize=4096)
def _extract_token_terms(token: str) -> tuple[str, ...]:
    """Extract the content terms of a token; a negation and its fillers have none."""
    is_empty = token in words.FILLERS or _is_negation_word(token)
    return () if is_empty else tuple(extract_terms(token))


def _is_negation_word(token: str) -> bool:
    return token in words.VERB_NEGATIONS | words.NOUN_NEGATIONS | words.PRONOUNS or token.endswith(
        "n't"
    )


def _parse_clauses(tokens: Sequence[str]) -> tuple[tuple[Clause, ...], tuple[Negation, ...]]:
    """Cut a sentence into clauses, and find the negations of each."""
    clauses: list[Clause] = []
    negations: list[Negation] = []
    for opener, start, end in _cut_clauses(tokens):
        clause, own = _parse_clause(opener, tokens[start:end], tokens[end : end + 1])
        clauses.append(clause)
        negations += own
    return tuple(clauses), tuple(negations)


def _cut_clauses(tokens: Sequence[str]) -> Iterator[tuple[str, int, int]]:
    """Yield the opener, the start and the end of each clause.

    A comma before "or" divides alternatives that one negation covers, so it does not end a clause.
    An "and" ends one only after enough words for a clause.
    """
    opener, start = "", 0
    for at, token in enumerate(tokens):
        is_end = token in words.BOUNDARIES
        if token == ",":
            is_end = not _leads_to_alternative(tokens, start, at)
        elif token == "and":
            so_far = tokens[start:at]
            n_terms = sum(len(_extract_token_terms(each)) for each in so_far)
            is_end = n_terms >= 2 or not words.AUXILIARIES.isdisjoint(so_far)
        if is_end:
            yield opener, start, at
            opener, start = _read_opener(tokens, at), at + 1
    yield opener, start, len(tokens)


def _leads_to_alternative(tokens: Sequence[str], start: int, comma: int) -> bool:
    """Test whether a negation before a comma goes on to an "or" after it."""
    if not any(_is_negation(tokens, at) for at in range(start, comma)):
        return False
    for token in tokens[comma + 1 :]:
        if token in words.ALTERNATIVES:
            return True
        if token in words.BOUNDARIES or token == "and" or _is_negation_word(token):
            return False
    return False


def _read_opener(tokens: Sequence[str], at: int) -> str:
    """Read what a boundary says of the clause after it; "that" after a noun is as "which"."""
    if tokens[at] == "that":
        return "" if at and tokens[at - 1] in words.COMPLEMENT_HEADS else "which"
    return tokens[at]


def _parse_clause(
    opener: str, tokens: Sequence[str], after: Sequence[str]
) -> tuple[Clause, list[Negation]]:
    terms = [_extract_token_terms(token) for token in tokens]
    places = [at for at in range(len(tokens)) if _is_negation(tokens, at)]
    covered = [_find_scope(tokens, terms, at) for at in places]
    scopes = frozenset().union(*(scope for _, scope in covered)) if covered else frozenset()
    everything = frozenset(term for each in terms for term in each)
    clause = Clause(
        opener,
        everything,
        everything - scopes,
        is_hedged=not words.HEDGES.isdisjoint((opener, *tokens)),
    )
    # "Not until the build" says when, and "Caddy does not" leaves out what.
    is_limited = not words.LIMITS.isdisjoint(after)
    negations = [
        Negation(clause, heads, scope, is_explicit=bool(heads) and not is_limited)
        for at, (heads, scope) in zip(places, covered, strict=True)
        if heads or tokens[at] not in words.NOUN_NEGATIONS
    ]
    if not words.IMPLICIT_NEGATIONS.isdisjoint(tokens):
        negations.append(Negation(clause, frozenset(), everything, is_explicit=False))
    return clause, negations


def _is_negation(tokens: Sequence[str], at: int) -> bool:
    """Test whether a token negates: "not only", "whether or not" and "no more than" do not."""
    token = tokens[at]
    if not _is_negation_word(token):
        return False
    following = tokens[at + 1] if at + 1 < len(tokens) else ""
    if (token, following) in words.HARMLESS_PAIRS or (token == "no" and following.isdigit()):
        return False
    return not (at and token == "not" and tokens[at - 1] in words.HARMLESS_BEFORE_NOT)


def _find_scope(
    tokens: Sequence[str], terms: Sequence[tuple[str, ...]], at: int
) -> tuple[frozenset[str], frozenset[str]]:
    """Find the terms that a negation denies, and all that it may cover, both within its clause."""
    after = [each for each in terms[at + 1 :] if each]
    count = 2 if tokens[at] in words.NOUN_NEGATIONS else 1
    heads = after[:count]
    if not heads and tokens[at] in words.PRONOUNS:
        heads = [each for each in terms[:at] if each][-1:]
    scope = frozenset(term for each in (*after, *heads) for term in each)
    return frozenset(term for each in heads for term in each), scope
