"""A site and notebook of any size, made up with the statistics of a large real one.

Text is a chain of word pairs from this repository's manual, so that it compresses as prose does.
Vectors are about subjects, and their leading dimensions carry the most, as those of models do that
are trained to be truncated.
"""

import random
import re
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate
from pathlib import Path

import numpy as np

from answerable.engine.index.columns import Index, SiteMetadata
from answerable.engine.text.markdown import Block
from answerable.engine.vectors import EmbedderIdentity, Floats
from answerable.indexing.build import build_index, encode_vectors
from answerable.indexing.notes.notebook import Note
from answerable.indexing.pages.page_index import CuttingRules, index_record
from answerable.indexing.pages.passages import PassageWindow
from answerable.indexing.pages.records import PageMetadata, Record, Section

DOCS = Path(__file__).parents[2] / "docs"
IDENTITY = EmbedderIdentity("openai", "text-embedding-3-large", 3072)

# The reference's production site.
RECORDS, WORDS, HINTS = 777, 186_000, 9_777


def make_index(
    records: int = RECORDS,
    hints: int = HINTS,
    words: int = WORDS // RECORDS,
    dimensions: int = IDENTITY.dimensions,
) -> tuple[Index, Floats]:
    """Make an index with one passage a record, of so many words, and one window a hint.

    Returns its vectors too, of passages and then of hints, in full precision.
    """
    chain = _Chain(random.Random(7))
    pages = [_record(number, chain, words) for number in range(records)]
    notes = [_note(number, chain) for number in range(hints)]
    with tempfile.TemporaryDirectory() as cache:
        whole, _ = build_index(
            SiteMetadata("Made up", "https://docs.example/", "en"),
            [index_record(page, CuttingRules(PassageWindow(words=4 * words))) for page in pages],
            notes,
            lambda about: about,
            _Nothing(),
            Path(cache),
        )
    rows = make_vectors(records + hints, dimensions)
    codes, hint_codes = (
        encode_vectors(stream, dimensions) for stream in (rows[:records], rows[records:])
    )
    return replace(whole, codes=codes, hint_codes=hint_codes), rows


def make_vectors(count: int, dimensions: int, seed: int = 0) -> Floats:
    """Draw unit vectors about subjects, (count, dimensions)."""
    numbers = np.random.default_rng(seed)
    scales = ((1 + np.arange(dimensions) / 256) ** -0.5).astype(np.float32)
    subjects = np.random.default_rng(1).standard_normal((300, dimensions), dtype=np.float32)
    rows = numbers.standard_normal((count, dimensions), dtype=np.float32)
    rows += subjects[numbers.integers(0, len(subjects), count)]
    rows *= scales
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows


def make_questions(rows: Floats) -> Floats:
    """Draw a unit vector near each of some rows, as a question is near its passage."""
    near: Floats = rows + make_vectors(len(rows), rows.shape[1], seed=2)
    near /= np.linalg.norm(near, axis=1, keepdims=True)
    return near


# A manual of 186,000 words has some 9,000 stems, most of them rare names.
NAMES, NAMED = 8_000, 0.06
_SYLLABLES = [a + b for a in ("b", "cr", "d", "f", "gl", "k", "l", "m", "n", "p", "r", "st", "t")
              for b in ("a", "en", "i", "o", "ur")]  # fmt: skip


class _Chain:
    """A chain of words as they follow each other in the manual, with rare names among them."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self._names = ["".join(chance.choices(_SYLLABLES, k=4)) for _ in range(NAMES)]
        # Zipf's law.
        self._weights = list(accumulate(1 / (rank + 10) for rank in range(NAMES)))
        text = " ".join(path.read_text(encoding="utf-8") for path in sorted(DOCS.glob("*.md")))
        self._words = re.findall(r"[A-Za-z]+(?:'[a-z]+)?", text)
        self._next: dict[str, list[str]] = {}
        for word, after in zip(self._words, self._words[1:], strict=False):
            self._next.setdefault(word.lower(), []).append(after)

    def words(self, count: int) -> list[str]:
        word = self.chance.choice(self._words)
        drawn_words = []
        for _ in range(count):
            if self.chance.random() < NAMED:
                drawn_words += self.chance.choices(self._names, cum_weights=self._weights)
                continue
            drawn_words.append(word)
            word = self.chance.choice(self._next.get(word.lower(), self._words))
        return drawn_words

    def sentences(self, count: int) -> str:
        parts = []
        while count > 0:
            length = min(count, self.chance.randint(8, 24))
            parts.append(" ".join(self.words(length)).capitalize() + ".")
            count -= length
        return " ".join(parts)


def _record(number: int, chain: _Chain, words: int) -> Record:
    title = " ".join(chain.words(chain.chance.randint(2, 5))).capitalize()
    slug = re.sub(r"\W+", "-", title.lower())
    section = Section((), "", (Block("text", chain.sentences(words)),))
    url = f"/guide/{slug}-{number}/"
    return Record(f"guide/{slug}-{number}", url, title, PageMetadata(), (section,))


def _note(number: int, chain: _Chain) -> Note:
    name = f"note:{chain.chance.randrange(16**10):010x}"
    label = " ".join(chain.words(chain.chance.randint(3, 7))).capitalize()
    locator = f"p. {chain.chance.randint(1, 400)}"
    about = f"https://archive.example/item/{chain.chance.randint(1, 900)}/"
    return Note(f"{number}.md", name, label, locator, about, "", f"Note {number}.")


class _Nothing:
    """An embedder whose vectors are replaced."""

    identity = EmbedderIdentity("test", "zeros", 1)
    max_question_tokens = 0

    def word_rank(self, word: str) -> int | None:
        del word
        return None

    def embed(self, texts: Sequence[str]) -> Floats:
        return np.zeros((len(texts), 1), dtype=np.float32)
