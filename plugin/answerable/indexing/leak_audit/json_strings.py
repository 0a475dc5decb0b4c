"""The strings of JSON, each by itself and those that follow one another."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from . import markup
from .markup import strip_tags

_PLAIN_KEY = re.compile(r"[A-Za-z_][\w-]{0,30}", re.A)
_NUMBER = re.compile(r"\d+")
# Characters at either end of a string in which a sentence may begin or end that others share.
_EDGE = 200


@dataclass(frozen=True, slots=True)
class JsonString:
    """A string of a JSON value and the path to it. is_key: whether it is the key of a member."""

    text: str
    path: str
    is_key: bool = False


def extract_json_strings(text: str) -> list[JsonString]:
    """Every string of JSON or of JSON lines, in order; nothing of what is neither."""
    if not text.lstrip("\ufeff \t\r\n").startswith(("{", "[", '"')):
        return []
    value = _loaded(text)
    if value is not None:
        return list(_strings(value, ""))
    values = [_loaded(line) if line.strip() else "" for line in text.split("\n")]
    if any(value is None for value in values):
        return []
    lines: list[JsonString] = []
    for number, value in enumerate(values, 1):
        identity = value.get("id") if isinstance(value, dict) else None
        line = f"line {number}"
        lines += _strings(value, f"{line} (id {identity})" if isinstance(identity, str) else line)
    return lines


def join_adjacent_strings(found: Sequence[JsonString]) -> Iterator[str]:
    """Strings that follow one another, joined: those of one path but for numbers, and all.

    So a transcript is read whose words stand in many segments. The middle of a long string is
    left out; where it was, the next text begins.
    """
    by_path: dict[str, list[str]] = {}
    for string in found:
        if not string.is_key and string.text:
            by_path.setdefault(_NUMBER.sub("", string.path), []).append(string.text)
    for texts in by_path.values():
        yield from _joined(texts)
    if len(by_path) > 1:
        yield from _joined(string.text for string in found if not string.is_key)


def _joined(texts: Iterable[str]) -> Iterator[str]:
    parts: list[str] = []
    for text in texts:
        shown = strip_tags(text) if "<" in text or "&" in text else text
        if len(shown) <= 2 * _EDGE:
            parts.append(shown)
            continue
        yield markup.SOFT_BREAK.join((*parts, shown[:_EDGE]))
        parts = [shown[-_EDGE:]]
    if len(parts) > 1:
        yield markup.SOFT_BREAK.join(parts)


def _loaded(text: str) -> Any:
    try:
        return json.loads(text.lstrip("\ufeff"))
    except (ValueError, RecursionError):
        return None


def _strings(root: Any, line: str) -> Iterator[JsonString]:
    """Every string of a JSON value, keys too. line: where the value stands in JSON lines."""
    waiting: list[tuple[Any, str, bool]] = [(root, "", False)]
    while waiting:
        value, path, is_key = waiting.pop()
        if isinstance(value, str):
            yield JsonString(value, ", ".join(part for part in (line, path) if part), is_key)
        elif isinstance(value, list):
            waiting += [(item, f"{path}[{n}]", False) for n, item in enumerate(value)][::-1]
        elif isinstance(value, dict):
            members = value.items()
            inner = [(item, _step(path, n, key), False) for n, (key, item) in enumerate(members)]
            keys = [(key, f"{path} key {n}".strip(), True) for n, key in enumerate(value, 1)]
            waiting += (keys + inner)[::-1]


def _step(path: str, number: int, key: str) -> str:
    """The path to a value; a key that is prose is counted, since it could be the note's."""
    if not _PLAIN_KEY.fullmatch(key):
        return f"{path}{{{number + 1}}}"
    return f"{path}.{key}" if path else key
