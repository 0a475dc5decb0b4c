"""Read the rows of a YAML gold file; errors name the file, the line and a duplicate key."""

from collections.abc import Iterator
from pathlib import Path

import yaml

from ..indexing.yaml_reader import YamlError, find_duplicate_key, parse_yaml
from ..serve.errors import GoldError
from .gold_fields import suggest_spelling
from .gold_schema import QUERIES_KEY


def read_gold_rows(path: Path) -> list[object]:
    """Read the list under ``queries:``, or the file's own list, of at least one item of any type.

    GoldError names the file and, where YAML is broken, the line and the column.
    """

    def check_keys(root: yaml.Node | None) -> None:
        for where, mapping in _iterate_mappings(root):
            if duplicate := find_duplicate_key(mapping):
                raise GoldError(
                    f"{path}{where}: duplicate key {duplicate.key} in lines "
                    f"{duplicate.first_line} and {duplicate.line}; keep one"
                )

    try:
        rows = parse_yaml(_read_text(path), check_keys)
    except YamlError as error:
        if error.line is None:
            raise GoldError(f"{path} is not YAML ({error}): put texts in quotes") from None
        raise GoldError(
            f"{path}: line {error.line}, column {error.column} is not YAML ({error}): put a text "
            "with `: `, `#`, `{{` or a backslash in it into single quotes"
        ) from None
    if isinstance(rows, dict):
        for key in rows:
            if key != QUERIES_KEY:
                suggestion = suggest_spelling(str(key), (QUERIES_KEY,))
                raise GoldError(f"{path}: {key} is not a field of a gold file{suggestion}; drop it")
        rows = rows.get(QUERIES_KEY)
    if not isinstance(rows, list) or not rows:
        raise GoldError(
            f"{path}: it has to hold a list `{QUERIES_KEY}:` of at least one query; write one"
        )
    return rows


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise GoldError(f"{path} does not exist: write one, or name it with --gold") from None
    except UnicodeDecodeError as error:
        raise GoldError(f"{path} is not UTF-8 (byte {error.start}): save it as UTF-8") from None
    except OSError as error:
        raise GoldError(f"{path} cannot be read ({error.strerror}): name a file") from None


def _iterate_mappings(root: yaml.Node | None) -> Iterator[tuple[str, yaml.MappingNode]]:
    """Yield the file's mapping and every query's, each with the words that an error adds."""
    rows = root
    if isinstance(root, yaml.MappingNode):
        yield "", root
        rows = next((value for key, value in root.value if key.value == QUERIES_KEY), None)
    if isinstance(rows, yaml.SequenceNode):
        for number, node in enumerate(rows.value, 1):
            if isinstance(node, yaml.MappingNode):
                ids = [value.value for key, value in node.value if key.value == "id"]
                yield f": query {number}" + (f" ({ids[0]!r})" if ids else ""), node
