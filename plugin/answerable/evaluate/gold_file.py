"""A gold file as YAML; what YAML itself passes over in silence is a mistake here."""

from collections.abc import Collection, Iterator
from difflib import get_close_matches
from pathlib import Path

import yaml

from ..serve.errors import GoldError

QUERIES_KEY = "queries"

# What the parser raises beside its own errors, by a date or a number that there is not.
_YAML_VALUE_ERRORS = (
    ValueError,
    LookupError,
    AttributeError,
    TypeError,
    ArithmeticError,
    RecursionError,
)


def read_gold_rows(path: Path) -> list[object]:
    """What stands under ``queries:``, at least one thing of any type.

    A file may also hold the list alone. GoldError names the file and, where YAML is broken, the
    line and the column.
    """
    text = _read_gold_text(path)
    try:
        root = yaml.compose(text, yaml.SafeLoader)
        data = yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f": line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        what = ", ".join(filter(None, (error.context, error.problem)))
        raise GoldError(
            f"{path}{where} is not YAML ({' '.join(what.split())}): put a text with `: `, `#`, "
            "`{{` or a backslash in it into single quotes"
        ) from None
    except (yaml.YAMLError, *_YAML_VALUE_ERRORS) as error:
        what = " ".join(str(error).split())
        raise GoldError(f"{path} is not YAML ({what}): put texts in quotes") from None
    _check_duplicate_keys(root, path)
    if isinstance(data, dict):
        for key in data:
            if key != QUERIES_KEY:
                raise GoldError(
                    f"{path}: {key} is not a field of a gold "
                    f"file{suggest_spelling(str(key), (QUERIES_KEY,))}; drop it"
                )
        data = data.get(QUERIES_KEY)
    if not isinstance(data, list) or not data:
        raise GoldError(
            f"{path}: it has to hold a list `{QUERIES_KEY}:` of at least one query; write one"
        )
    return data


def suggest_spelling(wrong: str, known: Collection[str], most: int = 1) -> str:
    """What may have been meant, as the end of a sentence; nothing if nothing is close."""
    found = get_close_matches(wrong, known, most)
    return f", did you mean {' or '.join(found)}?" if found else ""


def _read_gold_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise GoldError(f"{path} does not exist: write one, or name it with --gold") from None
    except UnicodeDecodeError as error:
        raise GoldError(f"{path} is not UTF-8 (byte {error.start}): save it as UTF-8") from None
    except OSError as error:
        raise GoldError(f"{path} cannot be read ({error.strerror}): name a file") from None


def _check_duplicate_keys(root: yaml.Node | None, path: Path) -> None:
    """YAML keeps the last of two values of one key, and the first would be lost unseen."""
    for where, mapping in _iterate_mappings(root):
        lines: dict[str, int] = {}
        for key, _ in mapping.value:
            line = key.start_mark.line + 1
            if not isinstance(key, yaml.ScalarNode):
                continue
            if key.value in lines:
                raise GoldError(
                    f"{path}{where}: {key.value} stands there twice, in lines {lines[key.value]} "
                    f"and {line}; keep one"
                )
            lines[key.value] = line


def _iterate_mappings(root: yaml.Node | None) -> Iterator[tuple[str, yaml.MappingNode]]:
    """The file itself and every query, each with the words that an error names it by."""
    found = root
    if isinstance(root, yaml.MappingNode):
        yield "", root
        found = next((value for key, value in root.value if key.value == QUERIES_KEY), None)
    if isinstance(found, yaml.SequenceNode):
        for number, node in enumerate(found.value, 1):
            if isinstance(node, yaml.MappingNode):
                names = [v.value for k, v in node.value if k.value == "id"]
                yield f": query {number}" + (f" ({names[0]!r})" if names else ""), node
