"""Every pattern of the recipe matches in JavaScript as in Python: on a manual and odd questions."""

import os
import re
import unicodedata
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from answerable.indexing.browser_index.recipe import COLLECTED, translate_pattern
from answerable.serve.retrieval.question import clean_question, compile_frames
from answerable.serve.types import Passage
from support import sites
from support.engine_process import ENGINE, SITE, engine
from support.fuzz_settings import DEEP
from support.hard_questions import generate_questions

_SPANS = os.path.relpath(Path(__file__).parents[1] / "support" / "pattern_spans", ENGINE)
# A mark that JavaScript takes for a letter where case is ignored, since iota is its upper case.
_IOTA_SUBSCRIPT = "\u0345"
_SENTENCE = re.compile(r"\S.+?[.:](?=\s|$)")


def list_patterns() -> Iterator[tuple[str, re.Pattern[str]]]:
    """List the patterns by module and name."""
    for module, names in COLLECTED.items():
        stem = module.__name__.rpartition(".")[2]
        for name in names:
            value = getattr(module, name)
            called = value() if callable(value) else value
            yield from _find_patterns(f"{stem}.{name.lstrip('_')}", called)
    yield from _find_patterns("question_text.FRAMES", compile_frames(SITE.names))


def _find_patterns(name: str, value: Any) -> Iterator[tuple[str, re.Pattern[str]]]:
    if isinstance(value, re.Pattern):
        yield name, value
    elif isinstance(value, Mapping):
        for key, each in value.items():
            yield from _find_patterns(f"{name}.{key}", each)
    elif isinstance(value, list | tuple):
        for place, each in enumerate(value):
            yield from _find_patterns(f"{name}.{place}", each)


PATTERNS = dict(list_patterns())


@cache
def list_texts() -> list[str]:
    """List paragraphs of this manual, lines of its code, and hard questions about it."""
    pages = [path.read_text("utf-8") for path in sorted((sites.ROOT / "docs").glob("*.md"))]
    paragraphs = [text for page in pages for text in re.split(r"\n{2,}|(?<=\.)\n", page)]
    passages = [
        Passage("p", "p", "/p/", text[:60], text, tuple(m.span() for m in _SENTENCE.finditer(text)))
        for text in paragraphs
    ]
    questions = generate_questions(passages, 2000 if DEEP else 210)
    texts = [text for each in questions for text in (each.text, clean_question(each.text))]
    texts += paragraphs if DEEP else paragraphs[::20]
    # Of a character that is new in Unicode only one of the two knows what it is.
    return ["".join(c for c in text if c != _IOTA_SUBSCRIPT and is_assigned(c)) for text in texts]


def is_assigned(character: str) -> bool:
    """Test whether Python knows a character, and it is no half of a pair."""
    return unicodedata.category(character) not in ("Cn", "Cs")


def count_units(text: str, end: int) -> int:
    """Count the UTF-16 units before an offset."""
    return len(text[:end].encode("utf-16-le", "surrogatepass")) // 2


@pytest.mark.parametrize("name", PATTERNS)
def test_pattern_of_the_recipe_finds_what_python_finds(name: str) -> None:
    pattern = PATTERNS[name]
    texts = list_texts()
    actual = engine().call(_SPANS, "findSpans", translate_pattern(pattern), texts)
    for text, matches in zip(texts, actual, strict=True):
        expected = [
            [count_units(text, match.start()), match.group(), *match.groups()]
            for match in pattern.finditer(text)
        ]
        assert matches == expected, repr(text)
