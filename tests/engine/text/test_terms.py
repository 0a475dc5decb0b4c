"""Words to terms, in any number of threads."""

import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
import snowballstemmer

from answerable.engine.retrieval.store import find_nearest_term
from answerable.engine.text.tokenization import extract_terms, split_lowercase_words, split_words
from answerable.indexing.stems import extract_stems, load_stemmer

THREADS = 8
ENDINGS = ("ization", "fulness", "ically", "ements", "ousli", "ingly", "ations", "ness")


@pytest.fixture
def impatient() -> Iterator[None]:
    """Threads change places as often as they can, and nothing is stemmed yet."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    load_stemmer.cache_clear()
    yield
    sys.setswitchinterval(interval)
    load_stemmer.cache_clear()


@pytest.mark.usefixtures("impatient")
def test_stemming_is_thread_safe() -> None:
    batches = [
        [f"qu{chr(97 + n)}{chr(97 + m)}t{ending}" for m in range(26) for ending in ENDINGS]
        for n in range(THREADS)
    ]
    together = threading.Barrier(THREADS)

    def extract_batch(words: list[str]) -> list[str]:
        together.wait()
        return extract_stems(" ".join(words))

    with ThreadPoolExecutor(THREADS) as pool:
        stems = list(pool.map(extract_batch, batches))
    stemmer = snowballstemmer.stemmer("english")
    assert stems == [[stemmer.stemWord(word) for word in words] for words in batches]


def test_connectives_are_stopwords() -> None:
    assert extract_stems("Although anyone ran into something, a floor was found, however") == [
        "ran",
        "floor",
        "found",
    ]


def test_contractions_typed_without_an_apostrophe_are_stopwords() -> None:
    assert extract_stems("whats a floor and why doesnt it, cant it, isnt it") == ["floor"]


def test_letters_with_dots_between_them_are_one_word() -> None:
    assert extract_stems("a store, e.g. Redis, i.e. memory") == ["store", "redi", "memori"]
    assert extract_stems("U.S. 3.1", "und") == ["u.s", "3", "1"]
    assert split_words("e.g.x z.B. httpx.Client") == ["e.g.x", "z.B", "httpx", "Client"]
    assert split_lowercase_words("z.B. so") == split_lowercase_words("z.B. so é")[:2]


FORMS = {
    "configuration": "configur", "configure": "configur", "plane": "plane", "planes": "plane",
    "portugal": "portug", "queries": "queri", "time": "time", "trust": "trust", "x509": "x509",
}  # fmt: skip


@pytest.mark.parametrize(
    ("word", "term"),
    [
        ("configurable", "configur"), ("configured", "configur"), ("query", "queri"),
        ("trustworthy", "trustworthy"), ("trusted", "trust"), ("port", "port"), ("tim", "tim"),
        ("timing", "timing"), ("x5091", "x5091"), ("plans", "plane"), ("zeppelin", "zeppelin"),
    ],
)  # fmt: skip
def test_a_form_that_no_page_has_stands_for_the_one_that_begins_most_like_it(
    word: str, term: str
) -> None:
    words = sorted(filter(str.isalpha, FORMS))
    assert find_nearest_term(FORMS, words, word) == term


def test_words_of_a_text_count_in_the_forms_that_are_known() -> None:
    forms = {"moors": "moor", "moored": "moor"}
    assert extract_terms("The boat moored; it moors", "en", forms) == ["boat", "moor", "moor"]
    assert extract_terms("mooring", "en", forms) == ["mooring"]
