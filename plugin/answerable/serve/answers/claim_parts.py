"""Read the parts of a text that must be verbatim: numbers, code, addresses, options, names.

A claim and the sentences that it quotes are read by the same patterns, to the same forms. So a part
of the claim stands in the sentences if they have an equal part, and its edges and signs count.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..errors import Rule
from ..text.normalization import TYPOGRAPHY_TABLE, fold_typography, normalize_visible
from ..text.tokenization import STOPWORDS

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
