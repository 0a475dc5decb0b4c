"""List all strings of JSON or JSON lines with their paths, keys too, and join adjacent ones."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..notes.captions import SOFT_BREAK
from .markup import strip_tags

_PLAIN_KEY = re.compile(r"[A-Za-z_][\w-]{0,30}", re.A)
_NUMBER = re.compile(r"\d+")
# Characters at either end of a string, in which a sentence may begin or end that others share.
_EDGE_LENGTH = 200


@dataclass(frozen=True, slots=True)
class JsonString:
    """A string of a JSON value and the path to it. is_key: whether it is the key of a member."""

    text: str
    path: str
    is_key: bool = False


def extract_json_strings(text: str) -> list[JsonString]:
    """List every string of JSON or of JSON lines, in order; none if the text is neither."""
    if not text.lstrip("\ufeff \t\r\n").startswith(("{", "[", '"')):
        return []
    value = _parse(text)
    if value is not None:
        return list(_iter_strings(value, ""))
    values = [_parse(line) if line.strip() else "" for line in text.split("\n")]
    if any(value is None for value in values):
        return []
    strings: list[JsonString] = []
    for number, value in enumerate(values, 1):
        identity = value.get("id") if isinstance(value, dict) else None
        line = f"line {number}"
        place = f"{line} (id {identity})" if isinstance(identity, str) else line
        strings += _iter_strings(value, place)
    return strings


def join_adjacent_strings(strings: Sequence[JsonString]) -> Iterator[str]:
    """Join the strings of each path, its numbers aside, and then all that are not keys.

    So a transcript is read whose words stand in many segments. The middle of a long string is
    left out; where it was, the next text begins.
    """
    by_path: dict[str, list[str]] = {}
    for string in strings:
        if not string.is_key and string.text:
            by_path.setdefault(_NUMBER.sub("", string.path), []).append(string.text)
    for texts in by_path.values():
        yield from _join(texts)
    if len(by_path) > 1:
        yield from _join(string.text for string in strings if not string.is_key)


def _join(texts: Iterable[str]) -> Iterator[str]:
    parts: list[str] = []
    for text in texts:
        visible = strip_tags(text) if "<" in text or "&" in text else text
        if len(visible) <= 2 * _EDGE_LENGTH:
            parts.append(visible)
            continue
        yield SOFT_BREAK.join((*parts, visible[:_EDGE_LENGTH]))
        parts = [visible[-_EDGE_LENGTH:]]
    if len(parts) > 1:
        yield SOFT_BREAK.join(parts)


def _parse(text: str) -> Any:
    try:
        return json.loads(text.lstrip("\ufeff"))
    except (ValueError, RecursionError):
        return None


def _iter_strings(root: Any, line: str) -> Iterator[JsonString]:
    """Yield every string of a JSON value, keys too. line: where it stands in JSON lines."""
    stack: list[tuple[Any, str, bool]] = [(root, "", False)]
    while stack:
        value, path, is_key = stack.pop()
        if isinstance(value, str):
            yield JsonString(value, ", ".join(part for part in (line, path) if part), is_key)
        elif isinstance(value, list):
            stack += [(item, f"{path}[{n}]", False) for n, item in enumerate(value)][::-1]
        elif isinstance(value, dict):
            members = enumerate(value.items(), 1)
            values = [(item, _member_path(path, n, key), False) for n, (key, item) in members]
            keys = [(key, f"{path} key {n}".strip(), True) for n, key in enumerate(value, 1)]
            stack += (keys + values)[::-1]


def _member_path(path: str, number: int, key: str) -> str:
    """Extend a path by a key; one that is prose is numbered, since it could be the note's."""
    if not _PLAIN_KEY.fullmatch(key):
        return f"{path}{{{number}}}"
    return f"{path}.{key}" if path else key
