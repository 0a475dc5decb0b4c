"""Snowball stems of a site's words, made at build time, and the forms that each term stands for."""

import importlib
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache

from ..engine.text.tokenization import base_language, extract_words

ALGORITHMS = {
    "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german",
    "el": "greek", "en": "english", "es": "spanish", "et": "estonian", "eu": "basque",
    "fi": "finnish", "fr": "french", "ga": "irish", "hi": "hindi", "hu": "hungarian",
    "hy": "armenian", "id": "indonesian", "it": "italian", "lt": "lithuanian",
    "ne": "nepali", "nl": "dutch", "no": "norwegian", "nb": "norwegian", "pl": "polish",
    "pt": "portuguese", "ro": "romanian", "ru": "russian", "sr": "serbian", "sv": "swedish",
    "ta": "tamil", "tr": "turkish",
}  # fmt: skip


@lru_cache(maxsize=8)
def load_stemmer(language: str) -> Callable[[str], str]:
    """Load what stems a word of a language; a language without a stemmer keeps its words."""
    algorithm = ALGORITHMS.get(base_language(language))
    if algorithm is None:
        return str
    module = importlib.import_module(f"snowballstemmer.{algorithm}_stemmer")
    stem_word: Callable[[str], str] = getattr(module, f"{algorithm.capitalize()}Stemmer")().stemWord
    lock = threading.Lock()

    @lru_cache(maxsize=200_000)
    def stem(word: str) -> str:
        # A stemmer is not thread-safe: it holds the word it works on.
        with lock:
            return stem_word(word)

    return stem


def extract_stems(text: str, language: str = "en") -> list[str]:
    """Extract the stems of the content words of a text, in order and with repeats."""
    return list(map(load_stemmer(language), extract_words(text, language)))


def list_forms(
    terms: Sequence[str], pages: Iterable[tuple[str, Mapping[str, str]]]
) -> dict[str, tuple[str, ...]]:
    """List the other forms of each term by language, sorted and with spaces between them.

    pages: the language of each page, and the stem of each of its words that is not its own stem.
    """
    rows = {term: row for row, term in enumerate(terms)}
    forms_by_language: dict[str, dict[int, set[str]]] = {}
    for language, stems in pages:
        forms = forms_by_language.setdefault(language, {})
        for form, stem in stems.items():
            forms.setdefault(rows[stem], set()).add(form)
    return {
        language: tuple(" ".join(sorted(forms.get(row, ()))) for row in range(len(terms)))
        for language, forms in forms_by_language.items()
    }
