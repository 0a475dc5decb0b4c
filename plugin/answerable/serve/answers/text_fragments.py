"""Add a text fragment (#:~:text=) to a url, by which a browser finds and highlights a quote.

The syntax and the matching are those of https://wicg.github.io/scroll-to-text-fragment/.
"""

import re
import unicodedata
import urllib.parse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from .statements import TextRange, strip_range

# A longer quote is linked by its first and last words, and no term is longer.
MAX_TERM_CHARACTERS = 300
_EDGE_WORDS = (5, 10, 20)
_CONTEXT_WORDS = (3, 6, 12)

# A term does not cross a line's end, where a block ends; the dot between the cells of a row, which
# the page does not have; or columns of code, whose spaces the page does not collapse.
_BREAK = re.compile(r"\n|(?<!\S)·(?!\S)|[^\S\n]{2,}")
_WORD = re.compile(r"\S+")
_MID_WORD = frozenset(".,:;'’·")
_QUOTE_MARKS = {**dict.fromkeys("‘’‚‛", "'"), **dict.fromkeys("“”„‟«»", '"')}
_QUOTE_MARKS_TABLE = str.maketrans(_QUOTE_MARKS)


@dataclass(frozen=True, slots=True)
class _FragmentTerm:
    """Locate the words of a term in a text, and the words around them that make it unique."""

    start: int
    end: int
    prefix: int
    suffix: int


def link_to_quote(url: str, quote: str, text: str, start: int = 0) -> str:
    """Add a text fragment for a quote to the url of the passage that it is from.

    start: the offset from which the quote is searched. Returns the url as it is where the quote is
    not in the text, has no word, or equals words before it. Only the passage is known: of equal
    words in an earlier section of the page, a browser finds those.
    """
    at = text.find(quote, start) if quote else -1
    if at < 0:
        return url
    terms = _choose_terms(
        text, _move_to_word_edge(text, at, -1), _move_to_word_edge(text, at + len(quote), 1)
    )
    try:
        directive = ",".join(part for term in terms for part in _encode_term(text, term))
    except UnicodeEncodeError:
        return url
    return f"{url}{'' if '#' in url else '#'}:~:text={directive}" if directive else url


def _choose_terms(text: str, start: int, end: int) -> Sequence[_FragmentTerm]:
    """Choose one term, or the first and last words of what is long or broken; none if not found."""
    pieces = [
        (run, *strip_range(text, max(run[0], start), min(run[1], end))) for run in _split_runs(text)
    ]
    pieces = [piece for piece in pieces if any(map(str.isalnum, text[piece[1] : piece[2]]))]
    if not pieces:
        return ()
    (run, first, stop), (last_run, begin, last) = pieces[0], pieces[-1]
    if run == last_run and last - first <= MAX_TERM_CHARACTERS:
        term = _choose_unique_term(text, [(first, last)], run)
        return (term,) if term else ()
    heads = [(first, end) for end in _find_word_ends(text, first, stop, _EDGE_WORDS)]
    head = _choose_unique_term(text, heads, (run[0], first))
    if head is None:
        return ()
    tails = [
        (start, last) for start in _find_word_starts(text, max(begin, head.end), last, _EDGE_WORDS)
    ]
    tail = _choose_unique_term(text, tails, (last, last_run[1]), since=head.end)
    return (head, tail) if tail else ()


def _choose_unique_term(
    text: str, ranges: Sequence[TextRange], room: TextRange, since: int = 0
) -> _FragmentTerm | None:
    """Choose the first range whose words occur once after an offset, else the last with context.

    room: where the words around a range may be from. None if equal words come first.
    """
    term = None
    for term in _list_term_candidates(text, ranges, room):
        if _is_once(text[since:], text[term.prefix : term.suffix]):
            return term
    if term and _is_once(text[since : term.suffix], text[term.prefix : term.suffix]):
        return term
    return None


def _list_term_candidates(
    text: str, ranges: Sequence[TextRange], room: TextRange
) -> Iterator[_FragmentTerm]:
    """List ranges alone, then the last one with ever more words before it, after it and both."""
    for start, end in ranges:
        yield _FragmentTerm(start, end, start, end)
    if not ranges:
        return
    start, end = ranges[-1]
    before = _find_word_starts(text, room[0], start) or [start]
    after = _find_word_ends(text, end, room[1]) or [end]
    for n in range(max(len(before), len(after))):
        prefix, suffix = before[min(n, len(before) - 1)], after[min(n, len(after) - 1)]
        for edges in ((prefix, end), (start, suffix), (prefix, suffix)):
            if edges != (start, end):
                yield _FragmentTerm(start, end, *edges)


def _encode_term(text: str, term: _FragmentTerm) -> Iterator[str]:
    """Encode a term as the comma-separated parts of a directive."""
    if term.prefix < term.start:
        yield _percent_encode(text[term.prefix : term.start]) + "-"
    yield _percent_encode(text[term.start : term.end])
    if term.suffix > term.end:
        yield "-" + _percent_encode(text[term.end : term.suffix])


def _percent_encode(words: str) -> str:
    """Percent-encode words for a directive, hyphens too."""
    return urllib.parse.quote(" ".join(words.split()), safe="").replace("-", "%2D")


def _find_word_starts(
    text: str, start: int, end: int, counts: Sequence[int] = _CONTEXT_WORDS
) -> list[int]:
    """Find where the last words of a part of a text begin, for each count without a repeat."""
    words = [match.start() for match in _WORD.finditer(text, start, end)]
    starts = dict.fromkeys(words[-min(n, len(words))] for n in counts if words)
    return [at for at in starts if end - at <= MAX_TERM_CHARACTERS]


def _find_word_ends(
    text: str, start: int, end: int, counts: Sequence[int] = _CONTEXT_WORDS
) -> list[int]:
    """Find where the first words of a part of a text end, for each count without a repeat."""
    words = [match.end() for match in _WORD.finditer(text, start, end)]
    ends = dict.fromkeys(words[min(n, len(words)) - 1] for n in counts if words)
    return [at for at in ends if at - start <= MAX_TERM_CHARACTERS]


@lru_cache(maxsize=64)
def _split_runs(text: str) -> tuple[TextRange, ...]:
    """Split a text at its breaks into runs."""
    breaks = [match.span() for match in _BREAK.finditer(text)]
    starts = [0, *(end for _, end in breaks)]
    ends = [*(start for start, _ in breaks), len(text)]
    return tuple(zip(starts, ends, strict=True))


def _move_to_word_edge(text: str, at: int, step: int) -> int:
    """Move an offset in a direction until it is not inside a word."""
    while 0 < at < len(text) and _is_inside_word(text, at):
        at += step
    return at


def _is_inside_word(text: str, at: int) -> bool:
    before, after = text[at - 1], text[at]
    if _is_word_character(before) and _is_word_character(after):
        return True
    if after in _MID_WORD:
        return (
            _is_word_character(before) and at + 1 < len(text) and _is_word_character(text[at + 1])
        )
    return (
        before in _MID_WORD
        and at > 1
        and _is_word_character(text[at - 2])
        and _is_word_character(after)
    )


def _is_word_character(character: str) -> bool:
    """Test whether a character makes one word with its neighbor: also U+200D in emoji."""
    return (
        character.isalnum() or character in "_\u200d" or unicodedata.category(character)[0] == "M"
    )


def _is_once(text: str, words: str) -> bool:
    """Test whether a browser finds words once in a text: whole, without case or accents."""
    haystack, needle = _fold_like_browser(text), _fold_like_browser(words)
    count, at = 0, haystack.find(needle)
    while at >= 0 and count < 2:
        count += not (
            _cuts_ascii_word(haystack, at) or _cuts_ascii_word(haystack, at + len(needle))
        )
        at = haystack.find(needle, at + 1)
    return count == 1


def _cuts_ascii_word(text: str, at: int) -> bool:
    """Test whether an offset is inside an ASCII word; other scripts may have no spaces."""
    return 0 < at < len(text) and all(c.isascii() and c.isalnum() for c in text[at - 1 : at + 1])


@lru_cache(maxsize=64)
def _fold_like_browser(text: str) -> str:
    """Fold case by upper letters, which JavaScript has too, unlike `casefold`; drop all marks."""
    if text.isascii():
        return " ".join(text.upper().split())
    plain = unicodedata.normalize("NFKD", text).translate(_QUOTE_MARKS_TABLE)
    letters = "".join(c for c in plain if unicodedata.category(c)[0] != "M")
    return " ".join(letters.upper().split())
