"""Check that the exact parts of a claim stand in the sentences it quotes; name the broken rule."""

import re
from collections.abc import Sequence, Set
from dataclasses import dataclass
from itertools import islice, product

from ..errors import Rule
from ..text.normalization import count_visible_characters, fold_typography, is_visibly_blank
from ..text.sanitization import sanitize_text
from ..types import Evidence
from .claim_parts import (
    CASED_WORD,
    TextPart,
    fold_lines,
    list_name_ends,
    read_names,
    read_parts,
    split_code,
    tokenize_code,
)
from .quotations import Quotation
from .statements import find_surrounding_sentences

# Characters of a claim, and visible ones of a claim that is its own quotes.
MAX_CLAIM_CHARACTERS = 600
MAX_EXCERPT_CHARACTERS = 1_200
# How many placements of a claim's quotes are tried, and of how many quotes: beyond these each
# quote is placed where it occurs first.
MAX_PLACEMENTS = 16
MAX_PLACED = 4


@dataclass(frozen=True, slots=True)
class _QuotedParts:
    """Hold the parts that a claim may have.

    ``parts``: of the sentences that it quotes, and the names of the title and the site.
    ``numbers``: each with the word before it. ``stems``: of all words that may name things.
    ``evidence``: the texts of all passages.
    """

    parts: Set[tuple[Rule, str]]
    numbers: Set[tuple[str, str]]
    stems: Set[str]
    evidence: Sequence[str]
    is_english: bool


def choose_quotations(
    text: str,
    located: Sequence[Sequence[Quotation] | Rule],
    evidence: Evidence,
    names: Sequence[str] = (),
) -> Sequence[Quotation] | Rule:
    """Choose the place of each quote of a claim, or name the rule that the claim breaks.

    located: for each quote the places where its words occur, of which the first is chosen that
    supports the claim, or the rule that the quote breaks. names: see ``check_claim``.
    """
    placements = [each for each in located if not isinstance(each, str)]
    if not placements:
        return next(each for each in located if isinstance(each, str))
    ordered = _place_in_order(placements)
    if len(ordered) == len(located) and _is_excerpt(text, ordered):
        return check_claim(text, ordered, evidence, names) or ordered
    # A quote that is given twice stands in one place, but twice in an excerpt.
    placements = list({id(each): each for each in placements}.values())
    broken: Rule | None = None
    limit = MAX_PLACEMENTS if len(placements) <= MAX_PLACED else 1
    for quotations in islice(product(*placements), limit):
        rule = check_claim(text, quotations, evidence, names)
        if rule is None:
            return quotations
        broken = broken or rule
    return broken or "quote"


def check_claim(
    text: str, quotations: Sequence[Quotation], evidence: Evidence, names: Sequence[str] = ()
) -> Rule | None:
    """Name the rule that a claim breaks, else None.

    names: those of the site, which a claim may use. A claim that is one of its quotes only has to
    be short; each exact part of any other has to stand in the sentences that it quotes from.
    """
    if is_visibly_blank(text):
        return "blank"
    # White space indents the code of an excerpt.
    if count_visible_characters(text) > MAX_EXCERPT_CHARACTERS:
        return "length"
    if _is_excerpt(text, quotations):
        return None
    if len(text) > MAX_CLAIM_CHARACTERS:
        return "length"
    quoted = "\n".join(find_surrounding_sentences(q.passage, q.start, q.end) for q in quotations)
    tokens = tokenize_code(quoted)
    code, prose = split_code(text)
    if not all(_contains_code(tokens, tokenize_code(span)) for span in code):
        return "code"
    languages = [quotation.passage.language for quotation in quotations]
    is_english = any(language.startswith("en") for language in languages)
    titles = "\n".join([*(quotation.passage.title for quotation in quotations), *names])
    source = _read_source(fold_lines(quoted), fold_lines(titles), evidence, is_english)
    parts = (*read_parts(prose, is_english=is_english), *read_names(prose, languages))
    return next((part.rule for part in parts if not _contains_part(source, part)), None)


def _place_in_order(located: Sequence[Sequence[Quotation]]) -> list[Quotation]:
    """Place each quote where its words first occur after those of the quote before it."""
    placed: list[Quotation] = []
    for quotations in located:
        last = placed[-1] if placed else None
        following = (
            each
            for each in quotations
            if last is None or each.passage is not last.passage or each.start >= last.end
        )
        placed.append(next(following, quotations[0]))
    return placed


def _is_excerpt(text: str, quotations: Sequence[Quotation]) -> bool:
    """Test whether a claim is one of its quotes, or all of them in order, with "…" between."""
    return _consists_of(text, quotations) or any(_consists_of(text, [q]) for q in quotations)


def _consists_of(text: str, quotations: Sequence[Quotation]) -> bool:
    """Test whether a text is the words of some quotes in order, sanitized as claims are.

    Code that only the claim marks as such is not excused.
    """
    words = [sanitize_text(q.passage.text[q.start : q.end]) for q in quotations]
    if text.count("`") != sum(quote.count("`") for quote in words):
        return False
    remaining = fold_typography(text).text.strip()
    for n, quote in enumerate(fold_typography(quote).text.strip() for quote in words):
        remaining = remaining.removeprefix("…").lstrip() if n else remaining
        if not remaining.startswith(quote):
            return False
        remaining = remaining[len(quote) :].lstrip()
    return not remaining


def _contains_code(tokens: list[str], code: list[str]) -> bool:
    """Test whether code stands in a text's tokens; a dotted name may lose its first parts."""
    starts = range(len(tokens) - len(code) + 1 if code else 0)
    return any(
        code[0] in (tokens[start], *list_name_ends(tokens[start]))
        and code[1:] == tokens[start + 1 : start + len(code)]
        for start in starts
    )


def _read_source(sentences: str, titles: str, evidence: Evidence, is_english: bool) -> _QuotedParts:
    """Read the parts of some folded sentences, and the names in titles."""
    quoted = list(read_parts(sentences, is_english=is_english))
    named = [part for part in read_parts(titles, is_english=False) if part.rule == "name"]
    # A version may be quoted without the letters that it is glued to, a number may not.
    parts = {
        (part.rule, part.text)
        for part in (*quoted, *named)
        if not part.is_glued or "." in part.text
    }
    ends = {end for part in (*quoted, *named) for end in list_name_ends(part.text)}
    return _QuotedParts(
        parts | {("name", end) for end in ends},
        {(part.word, part.text) for part in quoted if part.rule == "number"},
        {_strip_plural(word) for word in CASED_WORD.findall(f"{sentences}\n{titles}")},
        [passage.text for passage in evidence.passages],
        is_english,
    )


def _contains_part(source: _QuotedParts, part: TextPart) -> bool:
    """Test whether a source contains a part of a claim, by the rule of its kind."""
    is_equal = (
        part.rule,
        part.text.casefold() if part.rule == "name" else part.text,
    ) in source.parts
    if part.rule == "number":
        # Letters and a number may be glued together or side by side, but in the same order.
        is_named = not part.is_glued or _strip_plural(part.word) in source.stems
        is_pair = bool(part.word) and (part.word, part.text) in source.numbers
        return part.is_weak or is_pair or (is_named and is_equal)
    if part.rule != "name" or is_equal:
        return is_equal
    if part.is_weak and not _is_name(part.text, source.evidence):
        return True
    name = _strip_plural(part.text)
    return name in source.stems or (
        not source.is_english
        and name.isalpha()
        and any(_is_inflected(name, stem) for stem in source.stems)
    )


def _is_name(word: str, texts: Sequence[str]) -> bool:
    """Test whether texts use a word as a name: inside a sentence, and never in lower case."""
    lower = re.compile(rf"(?<!\w){re.escape(word.lower())}(?!\w)")
    inside = re.compile(rf"(?<=[a-z,] ){re.escape(word)}(?!\w)")
    return any(map(inside.search, texts)) and not any(map(lower.search, texts))


def _strip_plural(word: str) -> str:
    """Lower the case of a word and strip an English plural's ending."""
    folded = word.casefold()
    return folded[:-1] if len(folded) > 2 and folded[-1] == "s" and folded[-2] != "s" else folded


def _is_inflected(word: str, other: str) -> bool:
    """Test whether two words share all but short endings, as cases of one name do."""
    common = 0
    while common < min(len(word), len(other)) and word[common] == other[common]:
        common += 1
    return common >= 4 and max(len(word), len(other)) - common <= 3
