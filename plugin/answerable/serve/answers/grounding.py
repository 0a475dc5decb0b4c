"""Check that the exact parts of a claim stand in the sentences it quotes; name the broken rule."""

import re
from collections.abc import Sequence, Set
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
    strip_plural,
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

# Two pieces of one option, path or name.
_JOINED = re.compile(r"[A-Za-z0-9][-/:@\\][A-Za-z0-9]|[a-z0-9]\.[a-z0-9]")


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
    source = _read_source(fold_lines(quoted), fold_lines(titles), is_english)
    texts = [passage.text for passage in evidence.passages]
    parts = (*read_parts(prose, is_english=is_english), *read_names(prose, languages, texts))
    return next((part.rule for part in parts if not _contains_part(source, part, is_english)), None)


def _place_in_order(located: Sequence[Sequence[Quotation]]) -> list[Quotation]:
    """Place each quote where its words first occur after those of the quote before it."""
    placed: list[Quotation] = []
    for places in located:
        last = placed[-1] if placed else None
        following = [
            q for q in places if not last or q.passage is not last.passage or q.start >= last.end
        ]
        placed.append((following or places)[0])
    return placed


def _is_excerpt(text: str, quotations: Sequence[Quotation]) -> bool:
    """Test whether a claim is one of its quotes, or all of them in order, with "…" between."""
    return _consists_of(text, quotations) or any(_consists_of(text, [q]) for q in quotations)


def _consists_of(text: str, quotations: Sequence[Quotation]) -> bool:
    """Test whether a text is the words of some quotes in order, sanitized as claims are.

    Code that only the claim marks as such is not excused, nor is a part of an option or a path.
    """
    edges = [(q.passage.text, edge) for q in quotations for edge in (q.start, q.end)]
    if any(_JOINED.search(text, max(0, edge - 2), edge + 2) for text, edge in edges):
        return False
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
    return bool(code) and any(
        code[0] in (token, *list_name_ends(token)) and code[1:] == tokens[n + 1 : n + len(code)]
        for n, token in enumerate(tokens)
    )


def _read_source(sentences: str, titles: str, is_english: bool) -> set[tuple[Rule, str]]:
    """Read the parts of folded sentences, and of titles the names, as what a claim may say."""
    quoted = list(read_parts(sentences, is_english=is_english))
    labels = [part.text for part in read_parts(titles, is_english=False) if part.rule == "name"]
    labels += [part.text for part in quoted if part.rule == "name"]
    words = [strip_plural(word) for word in CASED_WORD.findall(f"{sentences}\n{titles}")]
    names = {*labels, *words, *(end for name in labels for end in list_name_ends(name))}
    # A version may be quoted without the letters that it is glued to, a number may not.
    parts = {(part.rule, part.text) for part in quoted if not part.is_glued or "." in part.text}
    pairs = {(part.rule, f"{part.word} {part.text}") for part in quoted if part.word}
    return parts | pairs | {("name", name) for name in names}


def _contains_part(source: Set[tuple[Rule, str]], part: TextPart, is_english: bool) -> bool:
    """Test whether a source contains a part of a claim, by the rule of its kind."""
    # Letters and a number may be glued together or side by side, but in the same order.
    if part.is_weak or (part.word and (part.rule, f"{part.word} {part.text}") in source):
        return True
    if part.is_glued and ("name", part.word) not in source:
        return False
    return (part.rule, part.text) in source or (
        part.rule == "name"
        and not is_english
        and any(rule == "name" and _is_inflected(part.text, name) for rule, name in source)
    )


def _is_inflected(word: str, other: str) -> bool:
    """Test whether two words share all but short endings, as cases of one name do."""
    shared = max(4, len(word) - 3, len(other) - 3)
    return word.isalpha() and other.isalpha() and word[:shared] == other[:shared]
