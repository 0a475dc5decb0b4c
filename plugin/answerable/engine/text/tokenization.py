"""Normalize and tokenize text: what a reader sees, words, terms and phrases, and language tags."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache

from ..rules import RULES, compile_rule

_LINE_ENDS = compile_rule("sanitization", "LINE_ENDS")
# C0 but the line feed, DEL and C1, bidirectional overrides and isolates, and lone surrogates.
_UNSAFE = compile_rule("sanitization", "UNSAFE")


def sanitize_text(text: str) -> str:
    """Remove control characters, bidirectional overrides and lone surrogates.

    Every kind of line end becomes a line feed, which code needs; a tab becomes four spaces.
    """
    return _UNSAFE.sub("", _LINE_ENDS.sub("\n", text).replace("\t", "    "))


_WORD = compile_rule("tokenization", "WORD")
# Scripts written without spaces: a run of them is read as overlapping pairs of characters.
UNSPACED = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff"
_CAMEL_CASE_PART = compile_rule("tokenization", "CAMEL_CASE_PART")

# Common English function words, question words included: they say nothing about a subject.
STOPWORDS = frozenset(RULES["stopwords"].split())


# Patterns of so many characters take milliseconds to compile, which a cold start that reads only
# ASCII does not need.
@cache
def unspaced_pattern() -> re.Pattern[str]:
    """Match a run of a script that is written without spaces."""
    return compile_rule("tokenization", "UNSPACED_PATTERN")


@cache
def word_or_letter_pattern() -> re.Pattern[str]:
    """Match a word, or a letter of a script without spaces."""
    return compile_rule("tokenization", "WORD_OR_LETTER_PATTERN")


def _index_words(text: str) -> Iterator[str]:
    for match in _WORD.finditer(unicodedata.normalize("NFKC", text)):
        word = match.group()
        if not is_space_delimited(word):
            pairs = (word[i : i + 2] for i in range(len(word) - 1))
            yield from pairs if len(word) > 1 else word
            continue
        yield word.lower()
        parts = _CAMEL_CASE_PART.findall(word)
        if 1 < len(parts) < len(word) / 2:
            yield from (part.lower() for part in parts)


def extract_words(text: str, language: str = "en") -> list[str]:
    """Extract the content words of a text in order, with repeats: in lower case, no stopwords."""
    stop = STOPWORDS if language.startswith("en") else frozenset()
    return [word for word in _index_words(text) if word not in stop]


def extract_terms(text: str, language: str, terms_by_form: Mapping[str, str]) -> list[str]:
    """Extract the terms of a text in order, with repeats.

    terms_by_form: the terms of some forms of words. Any other word is a term of its own.
    """
    return [terms_by_form.get(word, word) for word in extract_words(text, language)]


def split_words(text: str) -> list[str]:
    """Split a text into runs of letters and digits, in their case."""
    return _WORD.findall(text)


def is_space_delimited(word: str) -> bool:
    """True if a word's script divides words by spaces."""
    return word.isascii() or not unspaced_pattern().search(word)


def split_lowercase_words(text: str) -> list[str]:
    """Split a text into lower-case words; in a script without spaces, into letters."""
    pattern = _WORD if text.isascii() else word_or_letter_pattern()
    return pattern.findall(text.lower())


def count_words(text: str) -> int:
    """Count words; in a script without spaces, two characters count for one."""
    if text.isascii():
        return len(text.split())
    unspaced = sum(len(run) for run in unspaced_pattern().findall(text))
    return len(unspaced_pattern().sub(" ", text).split()) + -(-unspaced // 2)


def detect_scripts(text: str) -> frozenset[str]:
    """List the scripts of a text's letters, by the first word of their Unicode names."""
    return frozenset(read_script(c) for c in set(text) if c.isalpha())


@lru_cache(maxsize=4096)
def read_script(character: str) -> str:
    """Return the script of a letter: the first word of its Unicode name."""
    return unicodedata.name(character, "UNKNOWN").split()[0].split("-")[0]


TYPOGRAPHY_TABLE = str.maketrans(
    {
        **dict.fromkeys("‘’‚‛′`´", "'"),
        **dict.fromkeys("“”„‟″«»", '"'),
        **dict.fromkeys("‐‑‒–—―−", "-"),
    }
)
# Between word characters an underscore is part of a name and an asterisk a product or a power, not
# emphasis. A run is taken whole, and only from its first character: long ones stay linear.
_EMPHASIS = re.compile(r"`+|(?<![\w*])[*_]+|(?<![*_])[*_]+(?![\w*])")


@dataclass(frozen=True, slots=True)
class FoldedText:
    """Hold a folded text, the offset that each character came from, and offsets of emphasis."""

    text: str
    offsets: tuple[int, ...]
    marks: frozenset[int] = frozenset()


def fold_typography(text: str) -> FoldedText:
    """Fold white space, quote marks, dashes and Markdown emphasis, and nothing else."""
    emphasis = frozenset(i for match in _EMPHASIS.finditer(text) for i in range(*match.span()))
    characters: list[str] = []
    offsets: list[int] = []
    for offset, character in enumerate(text.translate(TYPOGRAPHY_TABLE)):
        if offset in emphasis:
            continue
        folded = " " if character.isspace() else character
        if folded == " " and (not characters or characters[-1] == " "):
            continue
        characters.append(folded)
        offsets.append(offset)
    return FoldedText("".join(characters), tuple(offsets), emphasis)


# Shown as nothing though Unicode counts them as letters or symbols: Hangul fillers, blank Braille.
_BLANK_CHARACTERS = frozenset("\u115f\u1160\u2800\u3164\uffa0")
_NUMERIC_CATEGORIES = frozenset({"Nd", "Nl", "No"})


def normalize_visible(text: str) -> str:
    """Rewrite a text so that what looks alike is written alike.

    Invisible characters are removed; full-width and mathematical letters become plain ones, and
    digits of any script, circled or raised ones too, ASCII digits. A fraction is written with a
    slash and a raised digit after a caret. A Latin word or a number within a script that is written
    without spaces gets spaces around it.
    """
    if text.isascii():
        return text
    return _script_edge_pattern().sub(
        " ", unicodedata.normalize("NFC", "".join(map(_plain_character, text)))
    )


def is_visibly_blank(text: str) -> bool:
    """Tell whether a text shows no letter and no digit."""
    return not any(character.isalnum() for character in normalize_visible(text))


@cache
def _script_edge_pattern() -> re.Pattern[str]:
    """Match between a script without spaces and a word, a number or an address."""
    return re.compile(rf"(?<=[{UNSPACED}])(?=[A-Za-z0-9./~_-])|(?<=[A-Za-z0-9/_)])(?=[{UNSPACED}])")


def _plain_character(character: str) -> str:
    category = unicodedata.category(character)
    if (
        category == "Cf"
        or character in _BLANK_CHARACTERS
        or ("\ufe00" <= character <= "\ufe0f" or "\U000e0100" <= character <= "\U000e01ef")
    ):
        return ""
    if character.isascii():
        return character
    if category in _NUMERIC_CATEGORIES:
        return _ascii_digits(character, category)
    if unicodedata.decomposition(character).startswith(("<wide>", "<font>")):
        return unicodedata.normalize("NFKC", character)
    return character


def _ascii_digits(character: str, category: str) -> str:
    """Write a numeric character in ASCII digits; with spaces around a value of its own."""
    if category == "Nd":
        return str(unicodedata.digit(character))
    value = unicodedata.numeric(character)
    if not value.is_integer():
        return " " + unicodedata.normalize("NFKC", character).replace("\u2044", "/") + " "
    if unicodedata.decomposition(character).startswith(("<super>", "<sub>")):
        return f"^{int(value)}"
    return f" {int(value)} "


def normalize_phrase(text: str) -> str:
    """Lower-case a text and divide its runs of letters and digits by single spaces."""
    characters = (c if unicodedata.category(c)[0] in "LN" else " " for c in text.lower())
    return " ".join("".join(characters).split())


def split_ngrams(text: str, lengths: Iterable[int]) -> Iterator[str]:
    """Yield the n-grams of a normalized text, of each of the lengths in words."""
    words = normalize_phrase(text).split()
    for length in lengths:
        for start in range(len(words) - length + 1):
            yield " ".join(words[start : start + length])


MAX_TAG_LENGTH = 35

# The shape of BCP 47, with the underscore that gettext's locales have.
_LANGUAGE_TAG = re.compile(r"[A-Za-z]{2,8}([-_][A-Za-z0-9]{1,8})*")


def is_language_tag(text: str) -> bool:
    """True if a text may name a language, such as ``fr`` or ``fr-CA``."""
    return len(text) <= MAX_TAG_LENGTH and _LANGUAGE_TAG.fullmatch(text) is not None


def match_languages(tag: str | None, languages: Iterable[str]) -> frozenset[str]:
    """Find the languages that a reader of a language can read; none if the site has none of them.

    The most specific match wins, as in RFC 4647's lookup: ``fr-CA`` takes ``fr-CA``, else ``fr``,
    else every variety of French.
    """
    if tag is None:
        return frozenset()
    parts_of = {language: _split_tag(language) for language in languages}
    asked_parts = _split_tag(tag)
    for length in range(len(asked_parts), 0, -1):
        matches = {name for name, parts in parts_of.items() if parts == asked_parts[:length]}
        if matches:
            return frozenset(matches)
    return frozenset(name for name, parts in parts_of.items() if parts[0] == asked_parts[0])


def base_language(language: str) -> str:
    """Return the language of a tag, without its region."""
    return _split_tag(language)[0]


def _split_tag(tag: str) -> list[str]:
    return re.split("[-_]", tag.lower())
