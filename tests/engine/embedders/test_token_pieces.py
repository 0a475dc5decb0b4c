"""Our tokenizer against the package ``tokenizers`` with the same vocabulary."""

import random
import re
from collections.abc import Iterator
from functools import cache
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from answerable.engine.embedders.local_embedder import TokenPieces
from hatch_build import TOKENIZER_FILE, find_wheel_file
from support import sites
from support.fuzz_settings import DEEP, fuzzed

FILES = ("tests/site/**/*.md", "plugin/**/*.py", "plugin/**/*.js")
COMPARED_WORDS = 1_000_000 if DEEP else 10_000


@cache
def reference() -> Tokenizer:
    return Tokenizer.from_file(str(find_wheel_file(TOKENIZER_FILE)))


@cache
def ours() -> TokenPieces:
    return sites.local().pieces


def encode_by_reference(text: str) -> list[int]:
    ids: list[int] = reference().encode(text, add_special_tokens=False).ids
    return ids


def corpus() -> Iterator[str]:
    """The texts of the project and, where they are, of the sites and collections of real data."""
    for pattern in FILES:
        for path in sorted(sites.ROOT.glob(pattern)):
            yield path.read_text("utf-8")
    for pattern in ("sites/**/*.md", "questions/*.jsonl", "retrieval/*/*.jsonl"):
        for path in sorted(sites.DATA.glob(pattern)):
            yield path.read_text("utf-8")


def distinct_words(texts: Iterator[str]) -> Iterator[str]:
    """Words with the white space and the punctuation around them, none twice."""
    words: set[str] = set()
    for text in texts:
        for match in re.finditer(r"\s*\S+\s?", text):
            if match[0] not in words:
                words.add(match[0])
                yield match[0]


def test_words_of_real_texts_become_the_same_pieces() -> None:
    words = list(islice(distinct_words(corpus()), COMPARED_WORDS))
    assert len(words) >= min(COMPARED_WORDS, 10_000)
    for start in range(0, len(words), 10_000):
        batch = words[start : start + 10_000]
        encodings = reference().encode_batch(batch, add_special_tokens=False)
        for word, encoding in zip(batch, encodings, strict=True):
            assert ours().encode(word) == encoding.ids, word


SPECIAL = ["<s>", "</s>", "<unk>", "<s", "< s>", "<0x0A>", "\u2581", " ", "\n", "\r\n", "\t", "0"]


@fuzzed(many=20_000)
@given(st.lists(st.text() | st.sampled_from(SPECIAL), max_size=8))
def test_any_text_becomes_the_same_pieces(parts: list[str]) -> None:
    text = "".join(parts)
    assert ours().encode(text) == encode_by_reference(text)


@pytest.mark.parametrize("text", ["\ud800", "a\udfffb", "x \ud83d y"])
def test_a_lone_surrogate_becomes_a_question_mark(text: str) -> None:
    assert ours().encode(text) == encode_by_reference(re.sub("[\ud800-\udfff]", "?", text))


def test_a_word_of_100_000_letters_becomes_the_same_pieces() -> None:
    word = "".join(random.Random(3).choices("abcdefghij", k=100_000))
    assert ours().encode(word) == encode_by_reference(word)
