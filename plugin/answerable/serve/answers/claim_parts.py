"""Extract the parts of a claim that must be verbatim: numbers, code, addresses, options, names."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..errors import Rule
from ..text.normalization import fold_typography, normalize_visible
from ..text.tokenization import STOPWORDS

# Replaces an extracted part, so that no later pattern matches over its edges.
_GAP = "\ufffc"
_TOP_LEVEL = (
    "ai|app|au|biz|br|ca|cloud|cn|co|com|de|dev|edu|es|eu|example|fr|gg|gov|in|info|io|jp|ly|net|"
    "nl|online|org|pl|ru|site|tech|test|tv|uk|us|wiki|xyz"
)
_SEGMENT = r"[\w.@%+~*-]"
# In this order, because a part of an address may look like a path, a host or a name.
_PATTERNS: tuple[tuple[Rule, re.Pattern[str]], ...] = (
    ("code", re.compile(r"`([^`]+)`")),
    (
        "url",
        re.compile(
            r"(?<!\w)((?:[a-z][a-z0-9+.-]*://|(?:data|file|javascript|mailto|tel|vbscript):)"
            r"[^\s<>\"`]*[^\s<>\"`.,;:!?)\]}'*_])",
            re.IGNORECASE,
        ),
    ),
    ("email", re.compile(r"(?<![\w.+%-])([\w.+%-]+@[\w-]+(?:\.[\w-]+)+)")),
    (
        "host",
        re.compile(
            rf"(?<![\w./-])((?:www\.[\w.-]*\w|(?:[\w-]+\.)+(?:{_TOP_LEVEL})|localhost)(?![\w-]|\.\w)"
            r"(?::\d+)?)",
            re.IGNORECASE,
        ),
    ),
    (
        "path",
        re.compile(
            r"(?<![\w/\\.:<~@-])"
            rf"((?:~?/|\.\.?/|[A-Za-z]:\\){_SEGMENT}*\w(?:[/\\]+{_SEGMENT}*\w)*[/\\]?"
            rf"|(?:{_SEGMENT}*\w/+)+(?:{_SEGMENT}*\w)?|(?<!\*)\.[A-Za-z][\w-]+(?:\.\w+)*)"
        ),
    ),
    ("option", re.compile(r"(?<![^\s(\[{,;=|/\"'*])(--?[A-Za-z][\w-]*)")),
)
# A number with the letters that it is glued to, or with its sign.
_NUMBER = re.compile(
    r"(?<!\w)(?:(?P<glued>[^\W\d_]+)|(?<![^\s(])(?P<sign>-)|(?<!\d[.,:]))"
    r"(?P<digits>\d\w*(?:[.,:]\d\w*)*)"
)
_WORD_BEFORE = re.compile(r"([^\W\d_]+)[\s-]$")
NUMBER_WORDS = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve",
)  # fmt: skip
_NUMBER_WORD = re.compile(rf"(?<![\w'-])({'|'.join(NUMBER_WORDS)})(?![\w'])", re.IGNORECASE)
# "One" is a pronoun after these words, and before anything but a noun.
_DETERMINER = re.compile(
    r"\b(?:the|this|that|no|any|every|each|which|another|new|old|right|wrong|same|other|first|last)"
    r"\s$",
    re.IGNORECASE,
)
_NOUN_AFTER = re.compile(
    r"\s(?!(?:after|and|another|as|at|before|but|by|can|could|does|each|every|for|from|has|if|in|is|"
    r"may|must|needs|of|on|or|per|should|than|that|the|to|was|when|which|while|who|will|with|would)"
    r"\b)[^\W\d_]"
)
# Letters of the scripts that have capitals.
CASED_WORD = re.compile(
    "[A-Za-z\u00c0-\u024f\u0370-\u03ff\u0400-\u052f\u0531-\u0587\u1e00-\u1fff]+"
)
_IDENTIFIER = re.compile(
    r"(?<![\w.])([^\W\d]\w*(?:\.[^\W\d]\w*)+(?:\(\))?|\w+\(\)|_*[^\W_]+(?:_+[^\W_]+)+)"
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
class ClaimPart:
    """Hold a part of a claim that its source must contain; ``rule`` names its kind.

    Of a number ``text`` holds the digits, ``glued`` the letters they follow directly and
    ``beside`` the word before them. ``begins`` marks a word whose capital a sentence may demand.
    """

    rule: Rule
    text: str
    glued: str = ""
    beside: str = ""
    begins: bool = False


def extract_parts(claim: str, languages: Sequence[str] = ("en",)) -> list[ClaimPart]:
    """Extract the exact parts of a claim. languages: those of the passages that it cites."""
    text = normalize_visible(claim)
    parts: list[ClaimPart] = []
    for rule, pattern in _PATTERNS:
        matches = [m for m in pattern.finditer(text) if rule != "path" or _is_path(m[1])]
        parts += [ClaimPart(rule, match[1]) for match in matches]
        for match in reversed(matches):
            text = text[: match.start()] + _GAP + text[match.end() :]
    text = "\n".join(fold_typography(line).text for line in text.split("\n"))
    parts += _find_numbers(text)
    if any(language.startswith("en") for language in languages):
        parts += _find_number_words(text)
    names, text = _extract_identifiers(text)
    return [*parts, *names, *_find_names(text, languages)]


def _is_path(text: str) -> bool:
    """Test that a text is a path, and not "and/or", a date or a fraction."""
    segments = text.strip("/").split("/")
    if all(segment.isdigit() for segment in segments):
        return False
    is_rooted = text[0] in "/.~" or "\\" in text
    return is_rooted or text.count("/") > 1 or text[-1] == "/" or bool(re.search(r"[._@~%]", text))


def _find_numbers(text: str) -> Iterator[ClaimPart]:
    """Find the numbers in digits, each with the letters or the word before it."""
    for match in _NUMBER.finditer(text):
        beside = _WORD_BEFORE.search(text, 0, match.start())
        digits = (match["sign"] or "") + match["digits"]
        yield ClaimPart("number", digits, match["glued"] or "", beside[1] if beside else "")


def _find_number_words(text: str) -> Iterator[ClaimPart]:
    """Find the English words of small numbers; "one" is a pronoun in most places."""
    for match in _NUMBER_WORD.finditer(text):
        word = match[1].lower()
        is_pronoun = word == "one" and (
            _DETERMINER.search(text, 0, match.start()) or not _NOUN_AFTER.match(text, match.end())
        )
        if not is_pronoun:
            yield ClaimPart("number", str(NUMBER_WORDS.index(word)))


def _extract_identifiers(text: str) -> tuple[list[ClaimPart], str]:
    """Extract the names of code, and return the text without them; "e.g." is none."""
    matches = [
        m for m in _IDENTIFIER.finditer(text) if any(len(label) > 1 for label in m[1].split("."))
    ]
    for match in reversed(matches):
        text = text[: match.start()] + _GAP + text[match.end() :]
    return [ClaimPart("name", match[1].removesuffix("()")) for match in matches], text


def _find_names(text: str, languages: Sequence[str]) -> Iterator[ClaimPart]:
    """Find the words with a capital inside, and those that begin with one inside a sentence."""
    has_capital_nouns = _has_capital_nouns(text, languages)
    for line in text.split("\n"):
        for match in CASED_WORD.finditer(line):
            word = match.group()
            is_shaped = word[1:] != word[1:].lower()
            if word == word.lower() or word.lower() in STOPWORDS:
                continue
            if is_shaped or not has_capital_nouns:
                begins = not is_shaped and _begins_sentence(line[: match.start()])
                yield ClaimPart("name", word, begins=begins)


def _begins_sentence(before: str) -> bool:
    """Test whether a sentence may begin after this part of a line."""
    if _ITEM.fullmatch(before):
        return True
    before = before.rstrip(" \"'([{")
    return not before or (before[-1] in _SENTENCE_ENDS and not _ABBREVIATION.search(before))


def _has_capital_nouns(text: str, languages: Sequence[str]) -> bool:
    """Test whether a claim capitalizes common nouns, by its sources' language or its own words."""
    tags = {language.split("-")[0].lower() for language in languages}
    return bool(tags & _NOUN_CAPITALS) or len(_GERMAN & set(text.split())) > 1
