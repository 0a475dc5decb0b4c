"""The engine's modules take each constant, word list and pattern from the recipe, and all of it."""

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from answerable.indexing.browser_index.recipe import COLLECTED, to_json_value
from support.engine_process import ENGINE

MODULES = sorted(ENGINE.glob("*.js"))
TWINS = {module.__name__.rpartition(".")[2]: module for module in COLLECTED}

_COMMENT = re.compile(r"/\*.*?\*/|(?<![:\"'`\\/])//[^\n]*", re.DOTALL)
# A slash opens a pattern where no value stands before it.
_PATTERN = re.compile(
    r"(?<=[(,=:\[!&|?{};\n>])\s*/((?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+)/[a-z]*"
)
_STRING = re.compile(r"\"((?:[^\"\\\n]|\\.)*)\"")
_ARRAY = re.compile(r"[\[(]\s*((?:\"(?:[^\"\\\n]|\\.)*\"\s*,?\s*){2,})[\])]")
_CONSTANT = re.compile(r"^(?:export )?const ([A-Z][A-Z0-9_]+)\b", re.MULTILINE)


def read_code(path: Path) -> str:
    """Read a module without its comments."""
    return _COMMENT.sub("", path.read_text(encoding="utf-8"))


def list_values(value: Any) -> Iterator[Any]:
    """List a constant and all that is in it."""
    yield value
    if isinstance(value, dict):
        for each in value.values():
            yield from list_values(each)
    elif isinstance(value, list):
        for each in value:
            yield from list_values(each)


def list_collected() -> list[Any]:
    """List all values of the recipe, those within others included."""
    return [
        inner
        for module, names in COLLECTED.items()
        for name in names
        for inner in list_values(to_json_value(getattr(module, name)))
    ]


def find_repeated_patterns(code: str) -> list[str]:
    """Find the patterns of a code that the recipe holds too."""
    sources = {
        value["source"]
        for value in list_collected()
        if isinstance(value, dict) and set(value) == {"source", "flags"}
    } | {
        value.pattern
        for module, names in COLLECTED.items()
        for name in names
        if isinstance(value := getattr(module, name), re.Pattern)
    }
    return [match[1] for match in _PATTERN.finditer(code) if match[1] in sources]


def find_repeated_words(code: str) -> list[list[str]]:
    """Find the lists of words of a code whose words a list of the recipe holds too."""
    lists = [
        set(value)
        for value in list_collected()
        if isinstance(value, list) and value and all(isinstance(each, str) for each in value)
    ]
    lists_of_code = [_STRING.findall(match[1]) for match in _ARRAY.finditer(code)]
    return [words for words in lists_of_code if any(set(words) <= other for other in lists)]


def list_constants(module: Any) -> set[str]:
    """List the constants that a module defines itself, without leading underscores."""
    tree = ast.parse(inspect.getsource(module))
    names = [
        target.id
        for node in tree.body
        if isinstance(node, ast.Assign | ast.AnnAssign)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name)
    ]
    return {name.lstrip("_") for name in names if name.isupper()}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_no_constant_is_written_again(path: Path) -> None:
    code = read_code(path)
    assert find_repeated_patterns(code) == []
    assert find_repeated_words(code) == []
    if path.stem in TWINS:
        assert not list_constants(TWINS[path.stem]) & set(_CONSTANT.findall(code))


@pytest.mark.parametrize("name", sorted(TWINS))
def test_engine_reads_each_constant_that_is_collected(name: str) -> None:
    # What several modules need of Python stands in a module of its own there.
    twin = ENGINE / f"{name}.js"
    code = " ".join(read_code(path) for path in ([twin] if twin.exists() else MODULES))
    names_of_code = set(re.findall(r"\b[A-Z][A-Z0-9_]*\b", code))
    assert {each.lstrip("_").upper() for each in COLLECTED[TWINS[name]]} - names_of_code == set()


def test_repetitions_are_recognized() -> None:
    stopwords = sorted(to_json_value(TWINS["tokenization"].STOPWORDS))[:3]
    words = ", ".join(f'"{word}"' for word in stopwords)
    assert find_repeated_words(f"const few = new Set([{words}]);") == [stopwords]
    assert find_repeated_words('const few = ["harbour", "buoy"];') == []
    assert read_code(ENGINE / "recipe.js").count("reviveRecipe") > 1
    assert _PATTERN.findall("x = text.replace(/[/\\]]+/g, y / 2)") == ["[/\\]]+"]
    assert _CONSTANT.findall("const K1 = 1.2;\nexport const B = 2, few = 3;") == ["K1"]
    assert "BACKGROUND_PASSAGES" in list_constants(TWINS["bm25"])
