"""Read and check abbreviations and enrichment files: extra text by which pages are found."""

import re
from collections.abc import Collection
from difflib import get_close_matches
from functools import partial
from pathlib import Path

import yaml

from ...serve.errors import SiteError
from ..yaml_reader import YamlError, find_duplicate_key, parse_yaml

_ABBREVIATION_LINE = re.compile(r"^\*\[([^\]\n]+)\]:[ \t]*(\S.*?)[ \t]*$", re.MULTILINE)


def read_abbreviations(path: Path) -> dict[str, str]:
    """Map short forms to long ones, from lines such as ``*[SSO]: single sign-on``.

    Other lines are ignored; SiteError if the file cannot be read or holds no such line.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise SiteError(f"abbreviations: {path} cannot be read ({error})") from None
    lines = _ABBREVIATION_LINE.findall(text)
    abbreviations = {short.strip(): long for short, long in lines if short.strip()}
    if not abbreviations:
        raise SiteError(
            f"abbreviations: {path} holds no line such as `*[SSO]: single sign-on`; add one or "
            "drop the option"
        )
    return abbreviations


def read_enrichment(path: Path) -> dict[str, str]:
    """Map record ids to extra retrieval text; SiteError names the file and the id of a mistake.

    A value is a text or a list of texts, which become lines.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
        data = parse_yaml(text, partial(_reject_duplicate_key, path))
    except (OSError, UnicodeDecodeError) as error:
        raise SiteError(f"enrichment: {path} cannot be read ({error})") from None
    except YamlError as error:
        where = f" in line {error.line}" if error.line else ""
        raise SiteError(f"enrichment: {path} is not YAML{where}; correct it") from None
    if data is None:
        return {}
    if not isinstance(data, dict):
        raise SiteError(f"enrichment: {path} is not a list of `record id: text` lines; correct it")
    by_id = {_key_as_id(path, key): value for key, value in data.items()}
    return {name: _join_texts(path, name, value) for name, value in by_id.items()}


def check_enrichment_ids(enrichment: Collection[str], ids: Collection[str], path: Path) -> None:
    """Refuse ids that no record has; SiteError names the first and what comes close."""
    for name in enrichment:
        if name not in ids:
            near = get_close_matches(name, ids, 3, 0.5)
            hint = f"; close to it are {', '.join(near)}" if near else ""
            raise SiteError(
                f"enrichment: {path}: {name!r} is the id of no record: give a page's path in the "
                f"docs folder without its suffix, such as `guide/deploy`{hint}"
            )


def _reject_duplicate_key(path: Path, root: yaml.Node | None) -> None:
    """Refuse a key with two values: YAML keeps the last, and the first would be lost silently."""
    if duplicate := find_duplicate_key(root):
        raise SiteError(f"enrichment: {path}: {duplicate.key!r} stands there twice; join the two")


def _key_as_id(path: Path, key: object) -> str:
    try:
        return str(key)
    except ValueError:
        # Python refuses to format integers of thousands of digits.
        raise SiteError(f"enrichment: {path}: a number is the id of no record; drop it") from None


def _join_texts(path: Path, name: str, value: object) -> str:
    values = value if isinstance(value, list) else [value]
    lines = [line for line in values if isinstance(line, str) and line.strip()]
    if not lines or len(lines) < len(values):
        raise SiteError(
            f"enrichment: {path}: {name!r} has to be a text or a list of texts; put it in quotes"
        )
    return "\n".join(" ".join(line.split()) for line in lines)
