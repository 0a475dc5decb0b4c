"""Counts and words of the index: phrases, terms and stems."""

import random
from collections import Counter

import pytest
import snowballstemmer

from answerable.engine.text.tokenization import normalize_phrase
from answerable.indexing.build import count_pages_with_phrases, index_passage_terms
from answerable.indexing.pages.page_index import count_terms
from answerable.indexing.stems import ALGORITHMS, extract_stems, load_stemmer

WORDS = "rope Chain über naïve C++ 3.11 a-b x_y ² Ⅷ it's 嵐 İ _ — ok".split()


def text(choice: random.Random, length: int) -> str:
    return choice.choice((" ", "  ", "\n", "-")).join(choice.choices(WORDS, k=length))


def test_phrases_are_counted_as_by_looking_for_each_in_each_page() -> None:
    choice = random.Random(4)
    for _ in range(30):
        pages = [text(choice, choice.randint(0, 60)) for _ in range(20)]
        drawn = {normalize_phrase(text(choice, choice.randint(1, 4))) for _ in range(50)} - {""}
        counts_by_phrase = count_pages_with_phrases(drawn, pages)
        assert {phrase: counts_by_phrase[phrase] for phrase in drawn} == {
            phrase: sum(f" {phrase} " in f" {normalize_phrase(page)} " for page in pages)
            for phrase in drawn
        }


def test_terms_are_counted_as_they_are_read() -> None:
    choice = random.Random(5)
    texts = [text(choice, 80) for _ in range(20)]
    counts_by_phrase = index_passage_terms(count_terms(passage, "en") for passage in texts)
    counts = [Counter(extract_stems(passage, "en")) for passage in texts]
    assert counts_by_phrase.lengths.tolist() == [count.total() for count in counts]
    for number, term in enumerate(counts_by_phrase.terms):
        start, end = counts_by_phrase.edges[number], counts_by_phrase.edges[number + 1]
        rows = counts_by_phrase.passages[start:end].tolist()
        assert dict(zip(rows, counts_by_phrase.counts[start:end].tolist(), strict=True)) == {
            row: count[term] for row, count in enumerate(counts) if term in count
        }


INFLECTED = """running runs mooring moorings connection connected installieren installierte häuser
configuration configurer paramètres instalación instalado конфигурация настройки المكتبات
kurulum asennus instalacja εγκατάσταση""".split()


@pytest.mark.parametrize("language", ALGORITHMS)
def test_stems_equal_those_of_snowballstemmer_in_every_language(language: str) -> None:
    stem, whole = load_stemmer(language), snowballstemmer.stemmer(ALGORITHMS[language])
    assert [stem(word) for word in INFLECTED] == whole.stemWords(INFLECTED)
