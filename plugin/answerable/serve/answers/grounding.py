"""Check that a claim's exact parts occur in the sentences it quotes; name the rule it breaks."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, islice, product

from ..errors import Rule
from ..text.normalization import (
    count_visible_characters,
    fold_typography,
    is_visibly_blank,
    normalize_visible,
)
from ..text.sanitization import sanitize_text
from ..types import Evidence
from .claim_parts import CASED_WORD, NUMBER_WORDS, ClaimPart, extract_parts
from .quotations import Quotation
from .statements import find_surrounding_sentences

# Characters of a claim, and visible ones of a claim that is its own quotes.
MAX_CLAIM_CHARACTERS = 600
MAX_EXCERPT_CHARACTERS = 1_200
# How many placements of a claim's quotes are tried, and of how many quotes: beyond these each
# quote is placed where it occurs first.
MAX_PLACEMENTS = 16
MAX_PLACED = 4

_NUMBER_EDGES = (r"(?<!\w)(?<!\d[.,:])", r"(?!\w)(?![.,:]\d)")
# What may come neither directly before a part nor directly after it.
_PART_EDGES: dict[Rule, tuple[str, str]] = {
    "code": _NUMBER_EDGES,
    "url": (r"(?<!\w)", r"/?(?![\w/#?&=%~+@-]|[.,:;!?][\w/])"),
    "email": (r"(?<![\w.+%-])", r"(?![\w-]|\.\w)"),
    "host": (r"(?<![\w.-])", r"(?![\w-]|\.\w|:\d)"),
    "path": (r"(?<![\w./\\~-])", r"[/\\]?(?![\w/\\-]|\.\w)"),
    "option": (r"(?<![\w-])", r"(?![\w-])"),
    "name": (r"(?<!\w)", r"(?!\w)"),
}
_CASE_INSENSITIVE: frozenset[Rule] = frozenset({"url", "email", "host", "name"})


@dataclass(frozen=True, slots=True)
class _GroundingSource:
    """Hold the folded words that a claim may use.

    ``sentences``: those that it quotes from. ``names``: these, and all else that may name things.
    ``evidence``: the texts of all passages.
    """

    sentences: str
    names: str
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

    names: texts that a name may also come from: the question, the site's names. A claim that is one
    of its quotes only has to be short; each exact part of any other has to occur in the sentences
    that it quotes from.
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
    source = _fold_source(quotations, evidence, names)
    parts = extract_parts(text, [quotation.passage.language for quotation in quotations])
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
    """Test whether a text is the words of some quotes in order, sanitized as claims are."""
    remaining = fold_typography(text).text.strip()
    for n, quotation in enumerate(quotations):
        words = quotation.passage.text[quotation.start : quotation.end]
        quote = fold_typography(sanitize_text(words)).text.strip()
        remaining = remaining.removeprefix("…").lstrip() if n else remaining
        if not remaining.startswith(quote):
            return False
        remaining = remaining[len(quote) :].lstrip()
    return not remaining


def _fold_source(
    quotations: Sequence[Quotation], evidence: Evidence, names: Sequence[str]
) -> _GroundingSource:
    """Fold the words that a claim with these quotes may use."""
    spans = [(each.passage, each.start, each.end) for each in quotations]
    sentences = _fold_texts([find_surrounding_sentences(*span) for span in spans])
    return _GroundingSource(
        sentences,
        f"{sentences}\n{_fold_texts(chain((each.passage.title for each in quotations), names))}",
        [passage.text for passage in evidence.passages],
        any(each.passage.language.startswith("en") for each in quotations),
    )


def _fold_texts(texts: Sequence[str] | chain[str]) -> str:
    return "\n".join(fold_typography(normalize_visible(text)).text for text in texts)


def _contains_part(source: _GroundingSource, part: ClaimPart) -> bool:
    """Test whether a source contains a part of a claim, by the rule of its kind."""
    if part.rule == "number":
        return _contains_number(source, part)
    if part.rule == "name":
        return _contains_name(source, part)
    return _contains_whole(source.sentences, part.rule, part.text)


def _contains_whole(text: str, rule: Rule, words: str) -> bool:
    """Test whether a folded text contains whole words."""
    words = fold_typography(words).text.strip()
    if rule in ("url", "path"):
        words = words.rstrip("/\\") or words
    before, after = _PART_EDGES[rule]
    flags = re.IGNORECASE if rule in _CASE_INSENSITIVE else 0
    return bool(words) and bool(re.search(before + re.escape(words) + after, text, flags))


def _contains_number(source: _GroundingSource, part: ClaimPart) -> bool:
    """Test whether the quoted sentences contain a number, in digits or in a word.

    Letters and a number may be glued together or side by side, but in the same order.
    """
    before, after = _NUMBER_EDGES
    digits = re.escape(part.text) + after
    word = part.glued or part.beside
    if word and re.search(rf"(?<!\w)(?i:{re.escape(word)})[\s-]?{digits}", source.sentences):
        return True
    if part.glued and not _contains_whole(source.names, "name", part.glued):
        return False
    # A number keeps its sign; a version may occur without the letters that it is glued to.
    glue = r"(?:(?<!\w)[^\W\d_]+)?" if "." in part.text else ""
    if re.search(rf"(?<!\s-)(?<!\(-)(?<!^-){before}{glue}{digits}", source.sentences):
        return True
    if part.glued or not part.text.isdigit() or len(part.text) > 2:
        return False
    spelled = NUMBER_WORDS[int(part.text)] if int(part.text) < len(NUMBER_WORDS) else None
    return bool(spelled and re.search(rf"\b{spelled}\b", source.sentences, re.IGNORECASE))


def _contains_name(source: _GroundingSource, part: ClaimPart) -> bool:
    """Test whether a source contains a name, in another case or inflection."""
    if not CASED_WORD.fullmatch(part.text):
        return _contains_whole(source.names, "name", part.text)
    if part.begins and not _is_name(part.text, source.evidence):
        return True
    name = _strip_plural(part.text)
    stems = {_strip_plural(word) for word in CASED_WORD.findall(source.names)}
    return name in stems or (
        not source.is_english and any(_is_inflected(name, stem) for stem in stems)
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
