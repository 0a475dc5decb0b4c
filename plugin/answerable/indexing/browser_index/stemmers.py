"""Name the languages whose stemmer in JavaScript gives the stems of the one in Python."""

from collections.abc import Iterable

from ...serve.text.languages import base_language
from ...serve.text.tokenization import STEMMER_LANGUAGES

# By tests/engine/test_snowball.py. The Snowball project's JavaScript has no Czech or Polish one.
VERIFIED_ALGORITHMS = frozenset(
    """arabic armenian basque catalan danish dutch english estonian finnish french german greek
    hindi hungarian indonesian irish italian lithuanian nepali norwegian portuguese romanian
    russian serbian spanish swedish tamil turkish""".split()
)

# Of any site: a window of code is chosen by English terms, whatever its page is written in.
ALWAYS_READ = "en"

FOLDER = "snowball"
# Copies of the stemmers carry their license.
_BASE_FILES = ("COPYING", "base-stemmer.js")


def select_stemmers(tags: Iterable[str]) -> dict[str, str]:
    """Select the stemmers of a site by the languages of its tags; none for one without any."""
    languages = sorted({base_language(tag) for tag in (*tags, ALWAYS_READ)})
    return {
        language: algorithm
        for language in languages
        if (algorithm := STEMMER_LANGUAGES.get(language)) in VERIFIED_ALGORITHMS
    }


def list_stemmer_files(tags: Iterable[str]) -> list[str]:
    """List the files of the stemmers of a site, below the folder of the engine."""
    algorithms = sorted(set(select_stemmers(tags).values()))
    return [f"{FOLDER}/{name}" for name in (*_BASE_FILES, *map(_name_file, algorithms))]


def find_unverified_languages(tags: Iterable[str]) -> list[str]:
    """List the tags of languages that have a stemmer in Python only.

    A language without any stemmer is not among them: neither engine stems it.
    """
    return [
        tag
        for tag in tags
        if STEMMER_LANGUAGES.get(base_language(tag), "english") not in VERIFIED_ALGORITHMS
    ]


def _name_file(algorithm: str) -> str:
    return f"{algorithm}-stemmer.js"
