"""Snowball stems of a site's words, made at build time, and the forms that each term stands for."""

import importlib
import importlib.util
import sys
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from types import ModuleType

from ..engine.text.languages import base_language
from ..engine.text.tokenization import extract_words

_SNOWBALL_ALIAS = "answerable_snowball"

ALGORITHMS = {
    "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german",
    "el": "greek", "en": "english", "es": "spanish", "et": "estonian", "eu": "basque",
    "fi": "finnish", "fr": "french", "ga": "irish", "hi": "hindi", "hu": "hungarian",
    "hy": "armenian", "id": "indonesian", "it": "italian", "lt": "lithuanian",
    "ne": "nepali", "nl": "dutch", "no": "norwegian", "nb": "norwegian", "pl": "polish",
    "pt": "portuguese", "ro": "romanian", "ru": "russian", "sr": "serbian", "sv": "swedish",
    "ta": "tamil", "tr": "turkish",
}  # fmt: skip


@cache
def _alias_snowball() -> str:
    """Make snowballstemmer importable under a name of ours, so that its ``__init__`` does not run.

    That imports every language, which takes longer than a small site needs for all its words.
    """
    spec = importlib.util.find_spec("snowballstemmer")
    # It is a dependency of the package, so that no installation lacks it.
    assert spec is not None
    package = ModuleType(_SNOWBALL_ALIAS)
    package.__path__ = list(spec.submodule_search_locations or ())
    sys.modules[_SNOWBALL_ALIAS] = package
    return _SNOWBALL_ALIAS


@lru_cache(maxsize=8)
def load_stemmer(language: str) -> Callable[[str], str]:
    """Load what stems a word of a language; a language without a stemmer keeps its words."""
    algorithm = ALGORITHMS.get(base_language(language))
    if algorithm is None:
        return str
    module = importlib.import_module(f"{_alias_snowball()}.{algorithm}_stemmer")
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
