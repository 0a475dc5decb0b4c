"""Grounding: quotes are located, and what a claim says exactly stands in them."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, product

from ..errors import Drop, Rule
from ..text.markdown import CELL_SEPARATOR, plain_text, read_markdown
from ..text.sentences import find_surrounding_ranges, is_line_of_code, list_code, list_code_spans
from ..text.tokenization import (
    count_words,
    fold_typography,
    is_visibly_blank,
    sanitize_text,
)
from ..types import TITLE_SEPARATOR, Evidence, Passage
from .parts import (
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
from .quotes import find_quotes, fold_quote, split_quote

# Fewer words occur in any text.
MIN_QUOTE_WORDS = 3

_CODE_LIKE = re.compile(
    r"(?=.*[^\W\d_])(?:.*[_(){}\[\]<>=/\\$@#].*|-.+|.*\w[.:]\w.*|.*[a-z][A-Z].*)"
)


@dataclass(frozen=True, slots=True)
class Quotation:
    """The place of a claim's quote in its passage."""

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


def locate_quote_parts(quote: str, passage: Passage) -> list[list[Quotation] | Drop]:
    """Locate a quote, or else its parts, and name the rule that what is no quote breaks."""
    readings = []
    for reading in _read_quote(quote):
        located = locate_quote(reading, passage)
        if located != "quote":
            return [Drop(located, part=quote) if isinstance(located, str) else located]
        readings.append(reading)
    for reading in dict.fromkeys(readings[1:]):
        places = [locate_quote(part, passage) for part in split_quote(reading, passage)]
        quotations: list[list[Quotation] | Drop] = [
            place for place in places if not isinstance(place, str)
        ]
        if quotations:
            return quotations
    return [Drop("quote", part=readings[1])]


def _read_quote(quote: str) -> Iterator[str]:
    """Read a quote as it is, as the Markdown that a model reads, and as rows that a model cuts."""
    yield quote
    yield plain_text(quote)
    if "|" in quote:
        # A row that is cut has lost a bar, without which it is none.
        rows = quote.split("\n")
        yield plain_text("\n".join(f"| {row.strip('| ')} |" if "|" in row else row for row in rows))


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
# The start of a call or a signature, and an argument with a type or a value: "retries: int = 3".
_CALL = re.compile(r"\w\(")
_ARGUMENT = re.compile(r" ?\*{0,2}\w+ ?[:=].*")
# A string, which the apostrophe of a number or of a lifetime does not begin, or one sign.
_CODE_SIGN = re.compile(r"""\"(?:\\.|[^"\\])*"|(?<![\w&<])'(?:\\.|[^'\\])*'|.""")
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
        if not source.contains_literal(literal):
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
            part for line in lines for part in (line.partition(" = ")[2], *_list_arguments(line))
        ]
        whole_code = [tokenize_code(_CODE_EDGE.sub("", line)) for line in lines]
        return bool(tokens) and tokens in whole_code

    def contains_literal(self, literal: str) -> bool:
        """True if a literal stands there as code does, or is a line or cell, too short to quote."""
        text = "\n".join(passage.text for passage in self.passages)
        cells = text.replace(CELL_SEPARATOR, "\n").split("\n")
        return literal in cells or self.contains_code(literal)

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


def _list_arguments(code: str) -> Iterator[str]:
    """List the arguments of calls and signatures that have a type or a value."""
    for call in _CALL.finditer(code):
        argument, depth = "", 0
        for sign in _CODE_SIGN.findall(code, call.end()):
            depth += (sign in "([{") - (sign in ")]}")
            if depth > 0 or (depth == 0 and sign != ","):
                argument += sign
                continue
            if _ARGUMENT.fullmatch(argument):
                yield argument
            argument = ""
            if depth < 0:
                break


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
