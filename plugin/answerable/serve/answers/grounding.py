"""Grounding: quotes are located, and what a claim says exactly stands in them."""

import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import islice, product

from ..errors import Rule
from ..text.normalization import (
    TYPOGRAPHY_TABLE,
    count_visible_characters,
    fold_typography,
    is_visibly_blank,
    normalize_visible,
)
from ..text.sanitization import sanitize_text
from ..text.tokenization import STOPWORDS, count_words
from ..types import Evidence, Passage
from .quotes import ends_at_words, find_quotes
from .statements import find_surrounding_sentences, is_line_of_code

# Fewer words occur in any text.
MIN_QUOTE_WORDS = 3

_CODE_LIKE = re.compile(
    r"(?=.*[^\W\d_])(?:.*[_(){}\[\]<>=/\\$@#].*|-.+|.*\w[.:]\w.*|.*[a-z][A-Z].*)"
)


@dataclass(frozen=True, slots=True)
class Quotation:
    """Locate the quote of a claim in its passage."""

    passage: Passage
    start: int
    end: int


def locate_quote(quote: str, passage: Passage, start: int | None = None) -> list[Quotation] | Rule:
    """Locate a quote wherever it occurs in a passage, or name the rule that it breaks.

    start: where its words are said to begin, which comes first if they stand there to the letter.
    """
    quotations = [Quotation(passage, *span) for span in find_quotes(quote, passage.text)]
    if not quotations:
        return "quote"
    words = quote.strip()
    if start is not None and start >= 0 and passage.text.startswith(words, start):
        end = start + len(words)
        if ends_at_words(passage.text, start, end):
            quotations.insert(0, Quotation(passage, start, end))
    return check_quote(quotations[0]) or quotations


def check_quote(quotation: Quotation) -> Rule | None:
    """Refuse a quote of fewer than three words, unless it is whole.

    That is code, the column names of a table, or all of its passage.
    """
    passage = quotation.passage
    quote = fold_typography(passage.text[quotation.start : quotation.end]).text.strip()
    words = [word for word in quote.split() if not is_visibly_blank(word)]
    if count_words(" ".join(words)) >= MIN_QUOTE_WORDS:
        return None
    place = quotation.start, quotation.end
    is_whole = (
        any(span.kind == "code" and (span.start, span.end) == place for span in passage.spans)
        or any(
            block.detail == "header" and (block.start, block.end) == place
            for block in passage.blocks
        )
        or any(_CODE_LIKE.fullmatch(word) for word in words)
        or f"`{quote}`" in passage.text
        or is_line_of_code(passage, *place)
    )
    return (
        None if is_whole or quote == fold_typography(passage.text).text.strip() else "short-quote"
    )


# What the ask box draws as code in a sentence; its pattern is the same.
CODE_SPAN = re.compile(r"`([^`\n]+)`")
# Stands for a span of code, so that no pattern matches over its edges.
_GAP = "\ufffc"
# A line's end, an option, a path, a name or a number with all that belongs to it, or one sign.
_CODE_TOKEN = re.compile(r"\n|[\w@%+~./\\:-]*[\w@%+~-]|\S")
_DOTTED_NAME = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)+")

_TOP_LEVEL = (
    "ai|app|au|biz|br|ca|cloud|cn|co|com|de|dev|edu|es|eu|example|fr|gg|gov|in|info|io|jp|ly|net|"
    "nl|online|org|pl|ru|site|tech|test|tv|uk|us|wiki|xyz"
)
_SEGMENT = r"[\w.@%+~*-]"
# In the order in which a broken rule is named: a part of an address may be a host or a name too.
_PATTERNS: tuple[tuple[Rule, re.Pattern[str]], ...] = (
    (
        "url",
        re.compile(
            r"(?<!\w)(?:[a-z][a-z0-9+.-]*://|(?:data|file|javascript|mailto|tel|vbscript):)"
            r"[^\s<>\"`]*[^\s<>\"`.,;:!?)\]}'*_]",
            re.IGNORECASE,
        ),
    ),
    ("email", re.compile(r"(?<![\w.+%-])[\w.+%-]+@[\w-]+(?:\.[\w-]+)+")),
    (
        "host",
        re.compile(
            rf"(?<![\w.-])(?<![^/]/)(?:www\.[\w.-]*\w|(?:[\w-]+\.)+(?:{_TOP_LEVEL})|localhost)"
            r"(?![\w-]|\.\w)(?::\d+)?",
            re.IGNORECASE,
        ),
    ),
    (
        "path",
        re.compile(
            r"(?<![\w/\\.<~@-])"
            rf"(?:(?:~?/|\.\.?/|[A-Za-z]:\\){_SEGMENT}*\w(?:[/\\]+{_SEGMENT}*\w)*[/\\]?"
            rf"|(?:{_SEGMENT}*\w/+)+(?:{_SEGMENT}*\w)?|(?<!\*)\.[A-Za-z][\w-]+(?:\.\w+)*)"
        ),
    ),
    ("option", re.compile(r"(?<![^\s(\[{,;:=|/\"'*<>])--?[A-Za-z](?:[\w-]*\w)?")),
)

_CURRENCY = "$\u00a2-\u00a5\u20a0-\u20cf"
# A comparison, a minus or plus and a currency. The end of an arrow is no comparison.
_SIGNS_BEFORE = (
    r"(?:(?:(?<![-=])[<>]=?|[≤≥≈~±]) ?)?(?:(?<![^\s(<>=≤≥≈~±])[-+])?" rf"(?:[{_CURRENCY}] ?)?"
)
_SIGNS_AFTER = rf"(?: ?[%‰°])?(?:\+(?![\w+]))?(?: ?[{_CURRENCY}](?!\w))?"
_SCALES = {
    "dozen": 12, "hundred": 100, "thousand": 1_000, "million": 10**6, "billion": 10**9,
}  # fmt: skip
_SCALE = "|".join(_SCALES)
# A number with the letters that it is glued to, or with its signs.
_NUMBER = re.compile(
    rf"(?:(?<!\w)(?P<glued>[^\W\d_]+)|(?P<before>{_SIGNS_BEFORE})(?<!\w)(?<!\d[.,:]))"
    rf"(?P<digits>\d\w*(?:[.,:]\d\w*)*)(?P<after>{_SIGNS_AFTER})(?:[ -](?P<scale>{_SCALE})s?\b)?"
)
_WORD_BEFORE = re.compile(r"([^\W\d_]+)[ -]$")
_CARDINALS = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve",
)  # fmt: skip
# "One" is a pronoun after these words, and before anything but a noun.
_PRONOUN = (
    r"(?:the|this|that|no|any|every|each|which|another|new|old|right|wrong|same|other|first|last) "
    r"one|one(?! [^\W\d_])|one(?= (?:after|and|another|as|at|before|but|by|can|could|does|each|"
    r"every|for|from|has|if|in|is|may|must|needs|of|on|or|per|should|than|that|the|to|was|when|"
    r"which|while|who|will|with|would)\b)"
)
# "Once" counts before a period of time and at the end of a clause, and is a conjunction elsewhere.
_ONCE = r"(?<!at )once(?= (?:an?|per|every|each|in|more|and|or|daily|weekly|monthly)\b|[.,;:!?)]|$)"
_NUMBER_WORD = re.compile(
    rf"(?<![\w'-])(?:(?P<pronoun>{_PRONOUN})|(?P<times>twice|half|double(?!-)|{_ONCE})"
    rf"|(?P<cardinal>{'|'.join(_CARDINALS)})(?:[ -](?P<scale>{_SCALE})s?)?"
    rf"|(?<!\d )(?P<bare_scale>{_SCALE}))(?![\w'])",
    re.IGNORECASE | re.MULTILINE,
)
# Letters of the scripts that have capitals.
CASED_WORD = re.compile(
    "[A-Za-z\u00c0-\u024f\u0370-\u03ff\u0400-\u052f\u0531-\u0587\u1e00-\u1fff]+"
)
_IDENTIFIER = re.compile(
    rf"(?<![\w.])(?:{_DOTTED_NAME.pattern}|\w+(?=\(\))|_*[^\W_]+(?:_+[^\W_]+)+)"
)
# A word after one of these begins a sentence, a cell or an item, unless an abbreviation ends so.
_SENTENCE_ENDS = frozenset(".!?:…。！？|·•>#")
_ABBREVIATION = re.compile(r"(?:^|[\s(])(?:e\.g|i\.e|vs|cf|ca|Dr|Mr|Mrs|Ms|Prof|St|[A-Z])\.$")
_ITEM = re.compile(r"\s*(?:[-*+]|\d+[.)])?\s*")
# Languages that capitalize common nouns, and words that tell German where the tag does not.
_NOUN_CAPITALS = frozenset({"bar", "de", "gsw", "ksh", "lb", "nds"})
_GERMAN = frozenset(
    """auf aus bei dass dem den der die durch ein eine einem einen einer eines für ist kann mit nach
    nicht oder sich sie sind und vom von werden wenn wird zum zur über""".split()
)


@dataclass(frozen=True, slots=True)
class TextPart:
    """Hold a part of a text in the form that equal parts share; ``rule`` names its kind.

    Of a number ``text`` holds the signs and the digits, ``word`` the word before it, and
    ``is_glued`` tells whether it follows that word directly. ``is_weak`` marks a pronoun.
    """

    rule: Rule
    text: str
    word: str = ""
    is_glued: bool = False
    is_weak: bool = False


def split_code(claim: str) -> tuple[list[str], str]:
    """Split a claim into its spans of code, and its folded prose with gaps in their places."""
    return CODE_SPAN.findall(claim), fold_lines(CODE_SPAN.sub(_GAP, claim))


def fold_lines(text: str) -> str:
    """Fold each line of a text to what a reader sees, without typography."""
    return "\n".join(fold_typography(line).text for line in normalize_visible(text).split("\n"))


def tokenize_code(text: str) -> list[str]:
    """Split code into options, paths, names, numbers and single signs, with the ends of lines."""
    return _CODE_TOKEN.findall(normalize_visible(text).translate(TYPOGRAPHY_TABLE))


def list_name_ends(name: str) -> list[str]:
    """List the ends of a dotted name: ``b.c`` and ``c`` of ``a.b.c``."""
    labels = name.split(".") if _DOTTED_NAME.fullmatch(name) else []
    return [".".join(labels[start:]) for start in range(1, len(labels))]


def read_parts(text: str, *, is_english: bool) -> Iterator[TextPart]:
    """Read the parts of a folded text, but for code and for plain names."""
    for rule, pattern in _PATTERNS:
        for match in pattern.finditer(text):
            if rule != "path" or _is_path(match[0]):
                words = match[0] if rule in ("path", "option") else match[0].casefold()
                yield TextPart(rule, words.rstrip("/\\") or words)
    yield from _read_numbers(text, is_english)
    if is_english:
        yield from _read_number_words(text)
    for match in _IDENTIFIER.finditer(text):
        # "e.g." is none.
        if any(len(label) > 1 for label in match[0].split(".")):
            yield TextPart("name", strip_plural(match[0]))


def _is_path(text: str) -> bool:
    """Test that a text is a path, and not "and/or", a date or a fraction."""
    segments = text.strip("/").split("/")
    if all(segment.isdigit() for segment in segments):
        return False
    is_rooted = text[0] in "/.~" or "\\" in text
    return is_rooted or text.count("/") > 1 or text[-1] == "/" or bool(re.search(r"[._@~%]", text))


def _read_numbers(text: str, is_english: bool) -> Iterator[TextPart]:
    """Read the numbers in digits, each with its signs and with the word before it."""
    for match in _NUMBER.finditer(text):
        glued, digits, after = match["glued"] or "", match["digits"], match["after"]
        before = (match["before"] or "").replace("<=", "≤").replace(">=", "≥")
        if is_english and match["scale"]:
            digits = _scale_number(digits, match["scale"])
        # The currency of an amount may stand on either side.
        currency = re.sub(f"[^{_CURRENCY}]", "", before + after)
        before, after = (re.sub(f"[ {_CURRENCY}]", "", signs) for signs in (before, after))
        beside = glued or "".join(_WORD_BEFORE.findall(text[: match.start()]))
        signed = f"{before}{currency}{digits}{after}"
        yield TextPart("number", signed, strip_plural(beside), is_glued=bool(glued))


def _scale_number(digits: str, scale: str) -> str:
    """Multiply a whole number by an English scale; any other number keeps the scale as a word."""
    scale = scale.lower()
    return str(int(digits) * _SCALES[scale]) if digits.isdigit() else f"{digits} {scale}"


def _read_number_words(text: str) -> Iterator[TextPart]:
    """Read the English words of numbers."""
    for match in _NUMBER_WORD.finditer(text):
        cardinal, scale = match["cardinal"] or "one", match["scale"] or match["bare_scale"]
        digits = str(_CARDINALS.index(cardinal.lower()))
        number = _scale_number(digits, scale) if scale else (match["times"] or digits).lower()
        yield TextPart("number", number, is_weak=match["pronoun"] is not None)


def read_names(text: str, languages: Sequence[str], evidence: Sequence[str]) -> Iterator[TextPart]:
    """Read the words of a folded claim with a capital that makes them a name.

    languages: those of the passages that it cites. evidence: all texts that may use a name.
    """
    tags = {language.split("-")[0].lower() for language in languages}
    has_capital_nouns = tags & _NOUN_CAPITALS or len(_GERMAN & set(text.split())) > 1
    for line in text.split("\n"):
        for match in CASED_WORD.finditer(line):
            word = match[0]
            begins = _begins_sentence(line[: match.start()]) and not _is_name(word, evidence)
            is_name = word[1:] != word[1:].lower() or not (has_capital_nouns or begins)
            if is_name and word != word.lower() and word.lower() not in STOPWORDS:
                yield TextPart("name", strip_plural(word))


def _is_name(word: str, texts: Sequence[str]) -> bool:
    """Test whether texts use a word as a name: inside a sentence, and never in lower case."""
    lower = re.compile(rf"(?<!\w){re.escape(word.lower())}(?!\w)")
    inside = re.compile(rf"(?<=[a-z,] ){re.escape(word)}(?!\w)")
    return any(map(inside.search, texts)) and not any(map(lower.search, texts))


def strip_plural(word: str) -> str:
    """Lower the case of a word and strip an English plural's ending."""
    folded = word.casefold()
    return folded[:-1] if len(folded) > 2 and folded[-1] == "s" and folded[-2] != "s" else folded


def _begins_sentence(before: str) -> bool:
    """Test whether a sentence may begin after this part of a line."""
    if _ITEM.fullmatch(before):
        return True
    before = before.rstrip(" \"'([{")
    return not before or (before[-1] in _SENTENCE_ENDS and not _ABBREVIATION.search(before))


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
    if len(ordered) == len(located) and find_excerpt(text, ordered):
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
    if find_excerpt(text, quotations):
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


def find_excerpt(text: str, quotations: Sequence[Quotation]) -> Sequence[Quotation]:
    """Find what a claim consists of: all of its quotes in order, with "…" between, or one of them.

    Nothing for a claim with words of its own.
    """
    choices = [quotations, *([quotation] for quotation in quotations)]
    return next((choice for choice in choices if _consists_of(text, choice)), ())


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
