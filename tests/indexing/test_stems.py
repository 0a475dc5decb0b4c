"""One stemmer of the package gives what the whole package gives."""

import subprocess
import sys

import pytest
import snowballstemmer

from answerable.indexing.stems import ALGORITHMS, load_stemmer

WORDS = """running runs mooring moorings connection connected installieren installierte häuser
configuration configurer paramètres instalación instalado конфигурация настройки المكتبات
kurulum asennus instalacja εγκατάσταση""".split()


@pytest.mark.parametrize("language", ALGORITHMS)
def test_stems_equal_those_of_snowballstemmer_in_every_language(language: str) -> None:
    stem, whole = load_stemmer(language), snowballstemmer.stemmer(ALGORITHMS[language])
    assert [stem(word) for word in WORDS] == whole.stemWords(WORDS)


def test_only_the_stemmer_of_one_language_is_imported() -> None:
    code = (
        "import sys; from answerable.indexing.stems import load_stemmer;"
        "load_stemmer('en');"
        "print(*sorted(name for name in sys.modules if 'stemmer' in name))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [
        "answerable_snowball.basestemmer", "answerable_snowball.english_stemmer"
    ]  # fmt: skip
