"""Our tokenizer against the package ``tokenizers`` with the same vocabulary."""

import json
import random
import re
from collections.abc import Iterator
from functools import cache
from itertools import islice
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from answerable.serve.embedders.local_embedder import FIRST_MERGED, SPACE, TokenPieces
from hatch_build import TOKENIZER_FILE, find_wheel_file
from support import sites
from support.fuzz_settings import DEEP, fuzzed

FILES = ("docs/**/*.md", "plugin/**/*.py", "plugin/**/*.js", "tests/**/*.py")
COMPARED_WORDS = 1_000_000 if DEEP else 20_000
RANDOM_TEXTS = 200_000 if DEEP else 2_000


@cache
def definition() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(find_wheel_file(TOKENIZER_FILE).read_bytes())
    return loaded


@cache
def vocabulary() -> list[str]:
    ids = definition()["model"]["vocab"]
    return sorted(ids, key=ids.__getitem__)


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


def altered_words(words: list[str], chance: random.Random) -> Iterator[str]:
    """Words with swapped, doubled, joined and foreign characters."""
    characters = [*sorted(set("".join(vocabulary()[FIRST_MERGED:]))), *"\t\r\n\x00 𝒜🙂\ufffd"]
    while True:
        word = chance.choice(words)
        place = chance.randrange(len(word) + 1)
        kind = chance.randrange(4)
        if kind == 0:
            yield word[:place] + chance.choice(characters) + word[place:]
        elif kind == 1:
            yield word[place:] + word[:place]
        elif kind == 2:
            yield word + chance.choice(words)
        else:
            yield word.upper() if chance.random() < 0.5 else word.swapcase()


def test_words_of_real_texts_become_the_same_pieces() -> None:
    words = list(islice(distinct_words(corpus()), COMPARED_WORDS))
    words += islice(altered_words(words, random.Random(7)), COMPARED_WORDS - len(words))
    assert len(words) == COMPARED_WORDS
    for start in range(0, len(words), 10_000):
        batch = words[start : start + 10_000]
        encodings = reference().encode_batch(batch, add_special_tokens=False)
        for word, encoding in zip(batch, encodings, strict=True):
            assert ours().encode(word) == encoding.ids, word


def test_whole_texts_become_the_same_pieces() -> None:
    for text in islice(corpus(), None if DEEP else 40):
        assert ours().encode(text) == encode_by_reference(text)


def test_random_pieces_in_a_row_become_the_same_pieces() -> None:
    chance = random.Random(11)
    pieces = [piece.replace(SPACE, " ") for piece in vocabulary()]
    for _ in range(RANDOM_TEXTS):
        text = "".join(chance.choices(pieces, k=chance.randrange(1, 12)))
        assert ours().encode(text) == encode_by_reference(text), text


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


def test_the_merges_of_the_tokenizer_follow_from_its_vocabulary() -> None:
    """By the id of what a merge makes, runs of spaces last, then by the id of its left half."""
    pieces = vocabulary()
    ids = {piece: number for number, piece in enumerate(pieces)}
    merges = sorted(
        (set(piece) == {SPACE}, number, ids[piece[:end]], piece[:end], piece[end:])
        for number, piece in enumerate(pieces[FIRST_MERGED:], FIRST_MERGED)
        for end in range(1, len(piece))
        if piece[:end] in ids and piece[end:] in ids
    )
    listed = [tuple(merge.split(" ")) for merge in definition()["model"]["merges"]]
    assert len(listed) == 61_249
    assert [(left, right) for *_, left, right in merges] == listed


def test_every_piece_is_encoded_as_itself() -> None:
    """A word that is a piece takes no merging."""
    for number, piece in enumerate(vocabulary()[FIRST_MERGED:], FIRST_MERGED):
        text = piece.replace(SPACE, " ")
        if text.startswith(" ") and text.strip():
            assert encode_by_reference(text[1:]) == [number]
