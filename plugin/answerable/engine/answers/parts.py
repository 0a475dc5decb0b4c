"""The exact parts of a text, in the forms by which claims and sources are compared.

They are addresses, paths, options, numbers and names. Code is split from prose, and into tokens.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..errors import Rule
from ..rules import compile_rule
from ..text.tokenization import (
    STOPWORDS,
    TYPOGRAPHY_TABLE,
    fold_typography,
    normalize_visible,
)

# What is written as code in the Markdown of a sentence, too.
_CODE_SPAN = compile_rule("markdown", "OWN_CODE")
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
_SIGNS_AFTER = rf"(?: ?(?:[%‰°]|percent\b))?(?:\+(?![\w+]))?(?: ?[{_CURRENCY}](?!\w))?"
_SCALES = {
    "dozen": 12, "hundred": 100, "thousand": 1_000, "million": 10**6, "billion": 10**9,
}  # fmt: skip
_SCALE = "|".join(_SCALES)
# A number with the letters that it is glued to, or with its signs.
_NUMBER = re.compile(
    rf"(?:(?<!\w)(?P<glued>[^\W\d_]+)|(?P<before>{_SIGNS_BEFORE})(?<!\w)(?<!\d[.,:]))"
    rf"(?P<digits>\d\w*(?:[.,:]\d\w*)*)(?P<after>{_SIGNS_AFTER})(?:[ -](?P<scale>{_SCALE})s?\b)?"
)
_UNIT = re.compile(r"(\d+(?:[.,:]\d+)*)([^\W\d_]*)")
# Units that a claim may write out. "5m" may be meters.
_UNITS = {"ms": "millisecond", "s": "second", "sec": "second", "min": "minute", "h": "hour"}
_IP_PORT = re.compile(r"(?:\d+\.){3}\d+:(\d+)")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_WORD_BEFORE = re.compile(r"([^\W\d_]+)[ -]$")
_WORD_AFTER = re.compile(r"[ -]([^\W\d_]+)")
# "3.10 or newer" is "3.10+".
_AT_LEAST = re.compile(
    r"\b(?i:at least|minimum(?: of)?|no (?:less|fewer) than)(?: (?:version|[A-Z]\w*))? $"
    r"|\b(?i:since version) $"
)
_OR_MORE = re.compile(r" (?:or|and) (?:above|greater|higher|later|more|newer|over|up)\b")
_CARDINALS = """zero one two three four five six seven eight nine ten eleven twelve thirteen
    fourteen fifteen sixteen seventeen eighteen nineteen""".split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_ORDINALS = """first second third fourth fifth sixth seventh eighth ninth tenth eleventh
    twelfth""".split()
# "Once" counts before a period of time, and "half" and "double" before what they are of.
_TIMES = (
    r"twice|once(?= (?:an?|per|every|each|daily|weekly|monthly)\b)"
    r"|(?:half|double)(?= (?:an?|as|its|of|that|the|their|this)\b)"
)
_NUMBER_WORD = re.compile(
    rf"(?<![\w'-])(?:(?P<times>{_TIMES})|(?P<ordinal>{'|'.join(_ORDINALS)})(?= )"
    rf"|(?:(?P<tens>{'|'.join(_TENS)})(?:-(?P<ones>{'|'.join(_CARDINALS[1:10])}))?"
    rf"|(?P<cardinal>{'|'.join(_CARDINALS)}))(?:[ -](?P<scale>{_SCALE})s?)?"
    rf"|(?<!\d )(?P<bare_scale>{_SCALE}))(?![\w'])",
    re.IGNORECASE,
)
# Letters of the scripts that have capitals.
CASED_WORD = re.compile(
    "[A-Za-z\u00c0-\u024f\u0370-\u03ff\u0400-\u052f\u0531-\u0587\u1e00-\u1fff]+"
)
_IDENTIFIER = re.compile(
    rf"(?<![\w.])(?:{_DOTTED_NAME.pattern}|\w+(?=\(\))|_*[^\W_]+(?:_+[^\W_]+)+)"
)
# A word after one of these begins a sentence, a cell or an item, unless an abbreviation ends so.
_SENTENCE_ENDS = frozenset(".!?:…。！？|·•")
_ABBREVIATION = re.compile(r"(?:^|[\s(])(?:e\.g|i\.e|vs|cf|ca|Dr|Mr|Mrs|Ms|Prof|St|[A-Z])\.$")
_ITEM = re.compile(r"\s*(?:[-*+>#]+|\d+[.)])?\s*")
# Languages that capitalize common nouns, and words that tell German where the tag does not.
_NOUN_CAPITALS = frozenset({"bar", "de", "gsw", "ksh", "lb", "nds"})
_GERMAN = frozenset(
    """auf aus bei dass dem den der die durch ein eine einem einen einer eines für ist kann mit nach
    nicht oder sich sie sind und vom von werden wenn wird zum zur über""".split()
)


@dataclass(frozen=True, slots=True)
class TextPart:
    """A part of a text, such as a number.

    ``rule`` names its kind, and ``words`` are as the text has them. Equal parts share one of their
    ``forms``. ``implied``: what a source with this part says too. ``rival``: a part with one has to
    be looked for only in a source that has this form, such as another number of the same things.
    """

    rule: Rule
    words: str
    forms: tuple[str, ...]
    implied: tuple[str, ...] = ()
    rival: str = ""


def split_code(claim: str) -> tuple[list[str], str]:
    """Split a claim into its spans of code, and its folded prose with gaps in their places."""
    return _CODE_SPAN.findall(claim), fold_lines(_CODE_SPAN.sub(_GAP, claim))


def fold_lines(text: str) -> str:
    """Fold each line of a text to what a reader sees, without typography."""
    return "\n".join(fold_typography(line).text for line in normalize_visible(text).split("\n"))


def tokenize_code(text: str) -> list[str]:
    """Split code into options, paths, names (``f()`` is ``f``), numbers, signs and line ends."""
    visible = normalize_visible(text).translate(TYPOGRAPHY_TABLE)
    return _CODE_TOKEN.findall(visible.replace("()", ""))


def list_name_ends(name: str) -> list[str]:
    """List the ends of a dotted name: ``b.c`` and ``c`` of ``a.b.c``."""
    labels = name.split(".") if _DOTTED_NAME.fullmatch(name) else []
    return [".".join(labels[start:]) for start in range(1, len(labels))]


def read_parts(text: str, *, is_english: bool) -> Iterator[TextPart]:
    """Read the parts of a folded text, but for code and for plain names."""
    for rule, pattern in _PATTERNS:
        for match in pattern.finditer(text):
            if rule != "path" or _is_path(match[0]):
                form = match[0] if rule in ("path", "option") else match[0].casefold()
                yield TextPart(rule, match[0], (form.rstrip("/\\") or form,))
    yield from _read_numbers(text, is_english)
    if is_english:
        yield from _read_number_words(text)
    for match in _IDENTIFIER.finditer(text):
        # "e.g." is none.
        if any(len(label) > 1 for label in match[0].split(".")):
            is_plain = "_" not in match[0]
            form = strip_plural(match[0]) if is_plain else match[0].casefold()
            yield TextPart("name", match[0], (form,))


def _is_path(text: str) -> bool:
    """True if a text is a path, and not "and/or", a date or a fraction."""
    segments = text.strip("/").split("/")
    if all(segment.isdigit() for segment in segments):
        return False
    is_rooted = text[0] in "/.~" or "\\" in text
    return is_rooted or text.count("/") > 1 or text[-1] == "/" or bool(re.search(r"[._@~%]", text))


def _read_numbers(text: str, is_english: bool) -> Iterator[TextPart]:
    """Read the numbers in digits, each with its signs and with the words beside it."""
    for match in _NUMBER.finditer(text):
        before = (match["before"] or "").replace("<=", "≤").replace(">=", "≥")
        after = match["after"].replace("+", "≥").replace("percent", "%")
        measure = _UNIT.fullmatch(match["digits"])
        digits, unit = measure.groups() if measure else (match["digits"], "")
        digits = _THOUSANDS.sub("", digits)
        if unit in ("st", "nd", "rd", "th"):
            digits, unit = f"{digits}th", ""
        if is_english and match["scale"]:
            digits = _scale_number(digits, match["scale"])
        # A currency and "at least" may stand on either side.
        signs = "".join(sorted(re.sub(rf"[^≥{_CURRENCY}]", "", before + after)))
        movable = rf"[ ≥{_CURRENCY}]"
        value = f"{re.sub(movable, '', before)}{signs}{digits}{re.sub(movable, '', after)}"
        yield _make_number(match, value, match["glued"] or "", unit)
        if port := _IP_PORT.fullmatch(digits):
            yield TextPart("number", port[1], (f"port {port[1]}",))


def _make_number(
    match: re.Match[str], value: str, glued: str = "", unit: str = "", *, is_weak: bool = False
) -> TextPart:
    """Make the part of a number that stands between words, or is glued to them."""
    text, start, end = match.string, *match.span()
    # "v3" is version 3, "v2.3" is 2.3, and a page that says "Python3.11" says 3.11 too.
    is_version = "." in value and bool(glued)
    is_glued = bool(glued) and not (is_version and glued.lower() == "v")
    noun = _WORD_AFTER.match(text, end)
    left = strip_plural(glued or "".join(_WORD_BEFORE.findall(text[:start])))
    # In an address, "v3" is a segment.
    left = "version" if left == "v" and text[start - 1 : start] != "/" else left
    right = strip_plural(unit or (noun[1] if noun else ""))
    right = _UNITS.get(right, right)
    values = [value]
    if _AT_LEAST.search(text[:start]) or _OR_MORE.match(text, end):
        values.append(f"≥{value}")
    forms: list[str] = []
    for number in values:
        whole = f"{left if is_glued else ''} {number} {right if unit else ''}".strip()
        forms += [whole, f"{left} {whole}", f"{whole} {right}"]
    is_counted = bool(right) and right not in STOPWORDS
    counted = f"{'order' if value.endswith('th') else 'count'} of {right}"
    implied = (*(values if is_version else ()), *([counted] if is_counted else ()))
    words = text[start : noun.end() if noun and is_counted else end].strip()
    return TextPart("number", words, tuple(forms), implied, counted if is_weak else "")


def _scale_number(digits: str, scale: str) -> str:
    """Multiply a whole number by an English scale, which any other number keeps as a word."""
    scale = scale.lower()
    return str(int(digits) * _SCALES[scale]) if digits.isdigit() else f"{digits} {scale}"


def _read_number_words(text: str) -> Iterator[TextPart]:
    """Read the English words of numbers. "One" and ordinals are often none, so they are weak."""
    for match in _NUMBER_WORD.finditer(text):
        words = {name: word.lower() for name, word in match.groupdict("").items()}
        tens = 10 * (_TENS.index(words["tens"]) + 2) if words["tens"] else 0
        ones = words["ones"] or words["cardinal"] or ("zero" if tens else "one")
        value = str(tens + _CARDINALS.index(ones))
        if scale := words["scale"] or words["bare_scale"]:
            value = _scale_number(value, scale)
        elif words["ordinal"]:
            value = f"{_ORDINALS.index(words['ordinal']) + 1}th"
        is_weak = bool(words["ordinal"]) or match[0].lower() == "one"
        yield _make_number(match, words["times"] or value, is_weak=is_weak)


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
                yield TextPart("name", word, (strip_plural(word),))


def _is_name(word: str, texts: Sequence[str]) -> bool:
    """True if texts use a word as a name: inside a sentence, and never in lower case."""
    lower = re.compile(rf"(?<!\w){re.escape(word.lower())}(?!\w)")
    inside = re.compile(rf"(?<=[a-z,] ){re.escape(word)}(?!\w)")
    return any(map(inside.search, texts)) and not any(map(lower.search, texts))


def strip_plural(word: str) -> str:
    """Lower the case of a word and strip an English plural's ending."""
    folded = word.casefold()
    return folded[:-1] if len(folded) > 2 and folded[-1] == "s" and folded[-2] != "s" else folded


def _begins_sentence(before: str) -> bool:
    """True if a sentence may begin after this part of a line."""
    if _ITEM.fullmatch(before):
        return True
    before = before.rstrip(" \"'([{")
    return not before or (before[-1] in _SENTENCE_ENDS and not _ABBREVIATION.search(before))
