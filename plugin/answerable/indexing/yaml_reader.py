"""Parse YAML, with the line of each error, and find the first key that a mapping holds twice."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import yaml

# The parser raises these too, for a date or a number that does not exist and for deep nesting.
_VALUE_ERRORS = (
    ValueError,
    LookupError,
    AttributeError,
    TypeError,
    ArithmeticError,
    RecursionError,
)


class YamlError(Exception):
    """Report where a text is not YAML; its message is the parser's, on one line.

    ``line`` and ``column`` count from 1; None where the parser does not know them.
    """

    def __init__(self, problem: str, line: int | None = None, column: int | None = None) -> None:
        super().__init__(problem)
        self.line = line
        self.column = column


@dataclass(frozen=True, slots=True)
class DuplicateKey:
    """A key that a mapping holds twice, and the lines of both, from 1."""

    key: str
    first_line: int
    line: int


class AnyTagLoader(yaml.SafeLoader):
    """Loader to which a value of an unknown tag, such as one that names code, is absent."""


AnyTagLoader.add_multi_constructor("", lambda *_: None)


def parse_yaml(
    text: str,
    check: Callable[[yaml.Node | None], None] | None = None,
    loader_class: type[yaml.SafeLoader] = yaml.SafeLoader,
    empty: Any = None,
) -> Any:
    """Parse a YAML text, ``empty`` where it holds nothing; YamlError says where it is not YAML.

    check: is called with the text's node, which knows its lines and duplicate keys, before a value
    is made of it: merge keys (``<<``) would add the keys of another mapping to the node.
    """
    with _translated_errors():
        loader = loader_class(text)
        root = loader.get_single_node()
    if check:
        check(root)
    with _translated_errors():
        return loader.construct_document(root) if root else empty


@contextmanager
def _translated_errors() -> Iterator[None]:
    try:
        yield
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problem = _on_one_line(", ".join(filter(None, (error.context, error.problem))))
        if mark is None:
            raise YamlError(problem) from None
        raise YamlError(problem, mark.line + 1, mark.column + 1) from None
    except (yaml.YAMLError, *_VALUE_ERRORS) as error:
        raise YamlError(_on_one_line(str(error))) from None


def find_duplicate_key(node: yaml.Node | None) -> DuplicateKey | None:
    """Find the first key that a mapping holds twice: YAML keeps the last value without a word."""
    first_lines: dict[str, int] = {}
    for key, _ in node.value if isinstance(node, yaml.MappingNode) else []:
        if not isinstance(key, yaml.ScalarNode):
            continue
        line = key.start_mark.line + 1
        if key.value in first_lines:
            return DuplicateKey(key.value, first_lines[key.value], line)
        first_lines[key.value] = line
    return None


def _on_one_line(text: str) -> str:
    return " ".join(text.split())
