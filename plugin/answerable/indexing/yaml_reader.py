"""Parse YAML, with the line of each error, and refuse a key that a mapping holds twice."""

from collections.abc import Iterator
from contextlib import contextmanager
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
    """A text that is not YAML; the message is the parser's, on one line.

    ``line`` and ``column`` count from 1; None where the parser does not know them.
    """

    def __init__(self, problem: str, line: int | None = None, column: int | None = None) -> None:
        super().__init__(problem)
        self.line = line
        self.column = column


class DuplicateKeyError(YamlError):
    """A key that a mapping holds twice. ``lines``: where it stands, from 1."""

    def __init__(self, key: str, first_line: int, line: int) -> None:
        super().__init__(f"the key {key} stands there twice", line)
        self.key, self.lines = key, (first_line, line)


class StrictLoader(yaml.SafeLoader):
    """Loader that refuses a key that a mapping holds twice: YAML keeps the last without a word."""

    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        """Check a mapping's own keys: merge keys (``<<``) add those of another to its value."""
        node = super().compose_mapping_node(anchor)
        lines: dict[str, int] = {}
        for key in (key for key, _ in node.value if isinstance(key, yaml.ScalarNode)):
            line = key.start_mark.line + 1
            if lines.setdefault(key.value, line) != line:
                raise DuplicateKeyError(key.value, lines[key.value], line)
        return node


class AnyTagLoader(yaml.SafeLoader):
    """Loader to which a value of an unknown tag, such as one that names code, is absent."""


AnyTagLoader.add_multi_constructor("", lambda *_: None)


def parse_yaml(
    text: str, loader_class: type[yaml.SafeLoader] = StrictLoader, empty: Any = None
) -> Any:
    """Parse a YAML text, ``empty`` where it holds nothing; YamlError says where it is not YAML."""
    with _translated_errors():
        loader = loader_class(text)
        root = loader.get_single_node()
        return loader.construct_document(root) if root else empty


def list_key_lines(text: str) -> dict[str, int]:
    """List the lines, from 1, of the keys of a YAML mapping; YamlError if it is not YAML."""
    with _translated_errors():
        root = yaml.compose(text, yaml.SafeLoader)
    pairs = root.value if isinstance(root, yaml.MappingNode) else ()
    return {str(key.value): key.start_mark.line + 1 for key, _ in pairs}


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


def _on_one_line(text: str) -> str:
    return " ".join(text.split())
