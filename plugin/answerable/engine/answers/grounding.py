"""Grounding: quotes are located, and what a claim says exactly stands in them."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, product

from ..errors import Drop, Rule
from ..rules import compile_rule
from ..text.markdown import plain_text, read_markdown
from ..text.sentences import find_surrounding_ranges, is_line_of_code, list_code, list_code_spans
from ..text.tokenization import (
    STOPWORDS,
    TYPOGRAPHY_TABLE,
    count_words,
    fold_typography,
    is_visibly_blank,
    normalize_visible,
    sanitize_text,
)
from ..types import TITLE_SEPARATOR, Evidence, Passage
from .quotes import find_quotes, fold_quote, split_quote

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


def locate_quote(quote: str, passage: Passage) -> list[Quotation] | Rule:
    """Locate a quote wherever it occurs in a passage, or name the rule that it breaks."""
    if quote == passage.text:
        return [Quotation(passage, 0, len(quote))]
    quotations = [Quotation(passage, *span) for span in find_quotes(quote, passage.text)]
    if not quotations:
        return "quote"
    return check_quote(quotations[0]) or quotations


def locate_support(quote: str, passage: Passage) -> list[list[Quotation] | Drop]:
    """Locate a quote, or else its parts, and name the rule that what is no quote breaks.

    A quote is looked for as it is, then as the Markdown that a model reads, and then as rows of a
    table that a model has cut.
    """
    readings = [quote, plain_text(quote), plain_text(_close_rows(quote))]
    for reading in dict.fromkeys(readings):
        located = locate_quote(reading, passage)
        if located != "quote":
            return [Drop(located, part=quote) if isinstance(located, str) else located]
    for reading in dict.fromkeys(readings[1:]):
        places = [locate_quote(part, passage) for part in split_quote(reading, passage)]
        if any(not isinstance(each, str) for each in places):
            return [each for each in places if not isinstance(each, str)]
    return [Drop("quote", part=readings[1])]


def _close_rows(quote: str) -> str:
    """Add the bars that rows of a table have lost where a model cuts them."""
    lines = quote.split("\n")
    return "\n".join(f"| {line.strip('| ')} |" if "|" in line else line for line in lines)


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
        place in list_code_spans(passage)
        or any(
            placed.block.detail == "header" and placed[1:] == place
            for placed in read_markdown(passage.markdown).blocks
        )
        or any(_CODE_LIKE.fullmatch(word) for word in words)
        or f"`{quote}`" in passage.text
        or is_line_of_code(passage, *place)
    )
    return (
        None if is_whole or quote == fold_typography(passage.text).text.strip() else "short-quote"
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
    """A part of a text; ``rule`` names its kind, and ``words`` are as the text has them.

    Equal parts share one of their ``forms``. ``implied``: what a source with this part says too.
    ``rival``: a part with one has to be looked for only in a source that has this form, such as
    another number of the same things.
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
    """Test that a text is a path, and not "and/or", a date or a fraction."""
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
        before, after = (re.sub(rf"[ ≥{_CURRENCY}]", "", each) for each in (before, after))
        yield _make_number(match, f"{before}{signs}{digits}{after}", match["glued"] or "", unit)
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
    for each in values:
        whole = f"{left if is_glued else ''} {each} {right if unit else ''}".strip()
        forms += [whole, f"{left} {whole}", f"{whole} {right}"]
    is_counted = bool(right) and right not in STOPWORDS
    counted = f"{'order' if value.endswith('th') else 'count'} of {right}"
    implied = (*(values if is_version else ()), *([counted] if is_counted else ()))
    words = text[start : noun.end() if noun and is_counted else end].strip()
    return TextPart("number", words, tuple(forms), implied, counted if is_weak else "")


def _scale_number(digits: str, scale: str) -> str:
    """Multiply a whole number by an English scale; any other number keeps the scale as a word."""
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


# Characters of a claim, and visible ones of a claim that is its own quotes.
MAX_CLAIM_CHARACTERS = 600
MAX_EXCERPT_CHARACTERS = 1_200
# How many placements of a claim's quotes are tried, and of how many quotes: beyond these each
# quote is placed where it occurs first.
MAX_PLACEMENTS = 16
MAX_PLACED = 4

# A word such as CLI or APIs, but no method of HTTP or level of a log, which are values.
_ACRONYM = re.compile(
    r"(?<!\w)(?!(?:GET|HEAD|PATCH|POST|PUT|DEBUG|ERROR|FATAL|INFO|TRACE|WARN)s?\b)"
    r"[A-Z]{2,5}(?=s?(?!\w))"
)
# A value that an English sentence has between quotation marks; a label begins with a capital.
_LITERAL = re.compile(r'(?<!\w)"([a-z][\w./:-]*\w)"')
_OPTION_WITH_VALUE = re.compile(r"--?[A-Za-z][\w-]* \S+")
# The arguments of a call or a signature, and one that has a type or a value: "retries: int = 3".
_ARGUMENTS = re.compile(r"\w\((.*)\)")
_ARGUMENT = re.compile(r" ?\*{0,2}\w+ ?[:=].*")
# What a line of code may lose: a prompt, a comment and the sign that divides it from the next.
_CODE_EDGE = re.compile(r"^\s*(?:\$|>>>|\.\.\.) |(?:\s+#\s.*|[,;:{])$")
# Two pieces of one option, path or name.
_JOINED = re.compile(r"[A-Za-z0-9][-/:@\\][A-Za-z0-9]|[a-z0-9]\.[a-z0-9]")


@dataclass(frozen=True, slots=True)
class Grounds:
    """Sources of the words of a draft's claims, beside the sentences that a claim quotes.

    ``names``: those of the site. ``question``: in the reader's own words.
    """

    evidence: Evidence
    names: Sequence[str] = ()
    question: str = ""


def choose_quotations(
    text: str, located: Sequence[Sequence[Quotation] | Drop], grounds: Grounds
) -> Sequence[Quotation] | Drop:
    """Choose the place of each quote of a claim, or say what breaks which rule.

    located: for each quote the places where its words occur, of which the first is chosen that
    supports the claim, or the rule that the quote breaks.
    """
    placements = [each for each in located if not isinstance(each, Drop)]
    if not placements:
        return next(each for each in located if isinstance(each, Drop))
    ordered = _place_in_order(placements)
    if len(ordered) == len(located) and find_excerpt(text, ordered):
        return check_claim(text, ordered, grounds) or ordered
    # A quote that is given twice stands in one place, but twice in an excerpt.
    placements = list({id(each): each for each in placements}.values())
    drop: Drop | None = None
    limit = MAX_PLACEMENTS if len(placements) <= MAX_PLACED else 1
    for quotations in islice(product(*placements), limit):
        broken = check_claim(text, quotations, grounds)
        if broken is None:
            return quotations
        drop = drop or broken
    return drop or Drop("quote")


def check_claim(text: str, quotations: Sequence[Quotation], grounds: Grounds) -> Drop | None:
    """Say which part of a claim breaks which rule, else None.

    A claim that is one of its quotes only has to be short, or all of its passage. Any other is one
    line, and each exact part of it has to stand in the sentences that it quotes from, in the titles
    of their passages, or both in the question and in one of these passages.
    """
    if is_visibly_blank(text):
        return Drop("blank")
    excerpt = find_excerpt(text, quotations)
    # A passage may begin with the indent of its code, or end with an empty cell.
    is_passage = len(excerpt) == 1 and (
        excerpt[0].passage.text[excerpt[0].start : excerpt[0].end].strip()
        == excerpt[0].passage.text.strip()
    )
    # White space indents the code of an excerpt.
    if not is_passage and len("".join(text.split())) > MAX_EXCERPT_CHARACTERS:
        return Drop("length")
    if excerpt:
        return None
    if len(text) > MAX_CLAIM_CHARACTERS:
        return Drop("length")
    source = _ClaimSource(quotations, grounds)
    code, prose = split_code(text)
    for span in code:
        if not source.contains_code(span):
            return Drop("code", part=span)
    for literal in _LITERAL.findall(prose) if source.is_english else ():
        if not source.mentions(literal):
            return Drop("name", part=literal)
    languages = [quotation.passage.language for quotation in quotations]
    texts = [passage.text for passage in grounds.evidence.passages]
    parts = (*read_parts(prose, is_english=source.is_english), *read_names(prose, languages, texts))
    for part in parts:
        if not source.contains_part(part):
            return Drop(part.rule, part=part.words)
    lines = text.strip().split("\n")
    return Drop("lines", part=lines[1]) if lines[1:] else None


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
    """True if a text is the words of some quotes in order, sanitized as claims are.

    Code that only the claim marks as such is not excused, nor is a part of an option or a path.
    """
    edges = [(q.passage.text, edge) for q in quotations for edge in (q.start, q.end)]
    if any(_JOINED.search(text, max(0, edge - 2), edge + 2) for text, edge in edges):
        return False
    words = [sanitize_text(q.passage.text[q.start : q.end]) for q in quotations]
    if [text] == words:
        return True
    if text.count("`") != sum(quote.count("`") for quote in words):
        return False
    remaining = fold_quote(text).text.strip()
    for n, quote in enumerate(fold_quote(quote).text.strip() for quote in words):
        remaining = remaining.removeprefix("…").lstrip() if n else remaining
        if not remaining.startswith(quote):
            return False
        remaining = remaining[len(quote) :].lstrip()
    return not remaining


class _ClaimSource:
    """The sentences, titles and names that one claim may take its parts from."""

    def __init__(self, quotations: Sequence[Quotation], grounds: Grounds) -> None:
        self.passages = list({id(q.passage): q.passage for q in quotations}.values())
        self.is_english = any(passage.language.startswith("en") for passage in self.passages)
        self.ranges = [
            (q.passage, *each)
            for q in quotations
            for each in find_surrounding_ranges(q.passage, q.start, q.end)
        ]
        self.titles = [heading for p in self.passages for heading in p.title.split(TITLE_SEPARATOR)]
        sentences = [passage.text[start:end] for passage, start, end in self.ranges]
        self.quoted = "\n".join([*sentences, *self.titles])
        self.question = grounds.question
        question_parts = _read_source(self.question, self.is_english)
        cited = [_read_source(passage.text, self.is_english) for passage in self.passages]
        names = _read_source("\n".join(grounds.names), False)
        self.parts = _read_source(self.quoted, self.is_english).union(
            *(question_parts & parts for parts in cited),
            (part for part in names if part[0] == "name"),
        )
        pages = [f"{page.title} {page.text}" for page in grounds.evidence.passages]
        self.acronyms = set(_ACRONYM.findall("\n".join([self.question, *pages])))

    def contains_code(self, code: str) -> bool:
        """True if code stands there: of a command all of it, but an option with its value."""
        tokens = tokenize_code(_CODE_EDGE.sub("", code))
        is_asked = _contains_tokens(self.question, tokens)
        if len(code.split()) == 1 or _OPTION_WITH_VALUE.fullmatch(code):
            return _contains_tokens(self.quoted, tokens) or (
                is_asked and any(_contains_tokens(each.text, tokens) for each in self.passages)
            )
        whole = [(each, 0, len(each.text)) for each in self.passages]
        ranges = self.ranges + (whole if is_asked else [])
        lines = [*self.titles, *(line for each in ranges for line in list_code(*each))]
        # The value of "name = value" is whole, too, and so is an argument.
        lines += [
            part for line in lines for part in (line.partition(" = ")[2], *_split_arguments(line))
        ]
        whole_code = [tokenize_code(_CODE_EDGE.sub("", line)) for line in lines]
        return bool(tokens) and tokens in whole_code

    def mentions(self, literal: str) -> bool:
        """True if the passages that are cited, their titles or the question have a literal."""
        texts = (self.question, self.quoted, *(passage.text for passage in self.passages))
        return any(_contains_tokens(text, tokenize_code(literal)) for text in texts)

    def contains_part(self, part: TextPart) -> bool:
        """True if a part of a claim stands there, by the rule of its kind."""
        if part.rival and (part.rule, part.rival) not in self.parts:
            return True
        if any((part.rule, form) in self.parts for form in part.forms):
            return True
        if part.rule != "name":
            return False
        names = [] if self.is_english else [name for rule, name in self.parts if rule == "name"]
        return part.words.removesuffix("s") in self.acronyms or any(
            _is_inflected(part.forms[0], name) for name in names
        )


def _split_arguments(code: str) -> list[str]:
    """Split the arguments of a call or a signature that have a type or a value."""
    match = _ARGUMENTS.search(code)
    arguments, depth = [""], 0
    for sign in match[1] if match else "":
        depth += (sign in "([{") - (sign in ")]}")
        if sign == "," and depth == 0:
            arguments.append("")
        else:
            arguments[-1] += sign
    return [argument for argument in arguments if _ARGUMENT.fullmatch(argument)]


def _contains_tokens(text: str, code: list[str]) -> bool:
    """True if code stands in a text, where a dotted name may lose its first parts."""
    tokens = tokenize_code(text)
    return bool(code) and any(
        code[0] in (token, *list_name_ends(token)) and code[1:] == tokens[n + 1 : n + len(code)]
        for n, token in enumerate(tokens)
    )


@lru_cache(maxsize=128)
def _read_source(text: str, is_english: bool) -> frozenset[tuple[Rule, str]]:
    """Read the forms of the parts of a text, and its names, as what a claim may say."""
    folded = fold_lines(text)
    parts = list(read_parts(folded, is_english=is_english))
    labels = [form for part in parts if part.rule == "name" for form in part.forms]
    words = [strip_plural(word) for word in CASED_WORD.findall(folded)]
    names = {*labels, *words, *(end for name in labels for end in list_name_ends(name))}
    forms = {(part.rule, form) for part in parts for form in (*part.forms, *part.implied)}
    return frozenset(forms | {("name", name) for name in names})


def _is_inflected(word: str, other: str) -> bool:
    """True if two words share all but short endings, as cases of one name do."""
    shared = max(4, len(word) - 3, len(other) - 3)
    return word.isalpha() and other.isalpha() and word[:shared] == other[:shared]
