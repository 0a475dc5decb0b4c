"""Tokenize text by language into words and terms, without English stopwords; count words."""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from types import MappingProxyType

from ..rules import RULES, compile_rule

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
        if not word.isascii() and unspaced_pattern().search(word):
            yield from _character_pairs(word)
            continue
        yield word.lower()
        parts = _CAMEL_CASE_PART.findall(word)
        if 1 < len(parts) < len(word) / 2:
            yield from (part.lower() for part in parts)


def _character_pairs(word: str) -> Iterator[str]:
    if len(word) == 1:
        yield word
    yield from (word[i : i + 2] for i in range(len(word) - 1))


def extract_words(text: str, language: str = "en") -> list[str]:
    """Extract the content words of a text in order, with repeats: in lower case, no stopwords."""
    stop = STOPWORDS if language.startswith("en") else frozenset()
    return [word for word in _index_words(text) if word not in stop]


# Each word is a term of its own.
NO_FORMS: Mapping[str, str] = MappingProxyType({})


def extract_terms(text: str, language: str, terms_by_form: Mapping[str, str]) -> list[str]:
    """Extract the terms of a text in order, with repeats.

    terms_by_form: the terms of some forms of words. Any other word is a term of its own.
    """
    return [terms_by_form.get(word, word) for word in extract_words(text, language)]


def split_words(text: str) -> list[str]:
    """Split a text into runs of letters and digits, in their case."""
    return _WORD.findall(text)


def is_space_delimited(word: str) -> bool:
    """Test whether a word's script divides words by spaces."""
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
