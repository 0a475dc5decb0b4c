"""Each stemmer of the browser gives the stems of Python's, for real words and made ones."""

import gettext
import importlib
import random
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import sphinx

from answerable.indexing.browser_index.recipe import (
    VERIFIED_ALGORITHMS,
    collect_recipe,
    find_unverified_languages,
    list_stemmer_files,
    select_stemmers,
)
from answerable.serve.text.tokenization import STEMMER_LANGUAGES, extract_terms, split_words
from support.engine_process import ENGINE, SITE, engine
from support.fuzz_settings import DEEP

DOCS = Path(__file__).parents[2] / "docs"
TRANSLATIONS = Path(sphinx.__file__).parent / "locale"
# In a deep run also those of the system's programs, tens of thousands of words in most languages.
ALL_TRANSLATIONS = (TRANSLATIONS, Path("/usr/share/locale")) if DEEP else (TRANSLATIONS,)
WORDS = 40_000 if DEEP else 500
LANGUAGES = sorted(
    language for language, name in STEMMER_LANGUAGES.items() if name in VERIFIED_ALGORITHMS
)


def read_words(language: str) -> set[str]:
    """Read the words of translations into a language; of English those of our own manual."""
    texts = [page.read_text("utf-8") for page in DOCS.glob("*.md")] if language == "en" else []
    locale = "nb" if language == "no" else language
    for folder in ALL_TRANSLATIONS:
        for path in folder.glob(f"{locale}*/LC_MESSAGES/*.mo"):
            # Some programs of the system declare one encoding and use another.
            with path.open("rb") as file, suppress(UnicodeDecodeError):
                catalog: dict[Any, Any] = vars(gettext.GNUTranslations(file))["_catalog"]
                texts += [text for text in catalog.values() if isinstance(text, str)]
    return {word.lower() for text in texts for word in split_words(text)}


def list_suffixes(language: str) -> list[str]:
    """List what the tables of a stemmer in Python look for."""
    module = importlib.import_module(f"snowballstemmer.{STEMMER_LANGUAGES[language]}_stemmer")
    stemmer = getattr(module, f"{STEMMER_LANGUAGES[language].capitalize()}Stemmer")
    rows = [row for table in vars(stemmer).values() if isinstance(table, list) for row in table]
    return sorted({row.s for row in rows if row.s.isalnum()})


def make_words(words: list[str], suffixes: list[str]) -> Iterator[str]:
    """Make words of parts of real ones, one to three suffixes, and letters between them."""
    source = random.Random(20)
    text = "".join([*words, *suffixes])
    while True:
        start = source.randrange(len(text))
        parts = [text[start : start + source.randint(0, 8)]]
        parts += [source.choice(suffixes) for _ in range(source.randint(1, 3))]
        if source.random() < 0.2:
            source.shuffle(parts)
        if source.random() < 0.1:
            parts.insert(1, source.choice("𐐨ßqx1"))
        yield "".join(parts)


@cache
def load_all_stemmers() -> None:
    """Load the stemmers of all languages into the process, by a recipe named ``stemmers``."""
    recipe = collect_recipe(SITE)
    recipe["tokenization"]["STEMMERS"] = select_stemmers(LANGUAGES)
    engine().call("recipe", "reviveRecipe", recipe, save="languages")
    engine().call("tokenization", "loadStemmers", {"$": "languages"})


@pytest.mark.parametrize("language", LANGUAGES)
def test_stems_are_those_of_python(language: str) -> None:
    load_all_stemmers()
    words = sorted(read_words(language))
    random.Random(20).shuffle(words)
    makers = make_words(words, list_suffixes(language))
    text = " ".join([*words[:WORDS], *(next(makers) for _ in range(WORDS))])
    terms = engine().call("tokenization", "extractTerms", {"$": "languages"}, text, language)
    assert len(terms) >= WORDS
    assert terms == extract_terms(text, language)


def test_every_stemmer_but_those_without_javascript_is_verified_and_a_file() -> None:
    assert set(STEMMER_LANGUAGES.values()) - VERIFIED_ALGORITHMS == {"czech", "polish"}
    folder = ENGINE / "snowball"
    assert sorted(list_stemmer_files(LANGUAGES)) == sorted(
        f"snowball/{path.name}" for path in folder.iterdir()
    )


def test_stemmers_follow_from_the_languages_of_a_site() -> None:
    assert select_stemmers(["pt-BR", "ja", "pl"]) == {"en": "english", "pt": "portuguese"}
    files = ["COPYING", "base-stemmer.js", "english-stemmer.js", "french-stemmer.js"]
    assert list_stemmer_files(["fr-CA", "fr"]) == [f"snowball/{name}" for name in files]
    assert find_unverified_languages(["en", "pl", "ja", "cs-CZ", "tr"]) == ["pl", "cs-CZ"]
