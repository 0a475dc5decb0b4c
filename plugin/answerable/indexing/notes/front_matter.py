"""Read a note's text and its YAML front matter, which is checked and may be in a sidecar file."""

import re
import stat
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from ...serve.errors import NotebookError
from ..yaml_reader import YamlError, find_duplicate_key, parse_yaml

FIELD_KEYS = ("label", "locator", "about", "title", "id")
_ALL_KEYS = frozenset((*FIELD_KEYS, "draft", "routes", "published_in", "first_page"))
_SWITCH = {None: True, True: True, "on": True, False: False, "off": False}
_FRONT_MATTER = re.compile(r"\A---[ \t]*\r?\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.M | re.S)
_TEXT_TAGS = tuple(f"tag:yaml.org,2002:{kind}" for kind in ("int", "float", "timestamp", "merge"))
# Reading more YAML takes minutes.
_MAX_LENGTH = 65_536


class _Loader(yaml.SafeLoader):
    """Load YAML in which a number, a time or a date is the text that its author wrote.

    Otherwise the locator `12:30` would be 750, and `1.10` another page than it says.
    """


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag not in _TEXT_TAGS]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.yaml_constructors = {
    tag: construct
    for tag, construct in yaml.SafeLoader.yaml_constructors.items()
    if tag not in _TEXT_TAGS
}


@dataclass(frozen=True, slots=True)
class NoteFile:
    """A note's front matter and text; ``meta_name`` is the file that holds the front matter.

    ``first_line`` is the number of the text's first line in its file.
    """

    meta_name: str
    meta: Mapping[str, object]
    text: str
    first_line: int

    @property
    def is_draft(self) -> bool:
        """Tell whether the note is to be kept out of the index."""
        return self.meta.get("draft") is True

    def is_routed(self) -> bool:
        """Tell whether readers may be led to the note; NotebookError for a wrong ``routes``."""
        value = self.meta.get("routes")
        if not isinstance(value, str | bool | None) or value not in _SWITCH:
            raise NotebookError(f"{self.meta_name}: routes has to be `on` or `off`; correct it")
        return _SWITCH[value]

    def read_field(self, key: str) -> str:
        """Read a field on one line, "" if it is not declared; NotebookError for no text."""
        value = self.meta.get(key)
        if value is None:
            return ""
        if not isinstance(value, str):
            raise NotebookError(f"{self.meta_name}: {key} has to be a text; put it in quotes")
        text = " ".join(value.split())
        if any(unicodedata.category(c) in ("Cc", "Cs") for c in text):
            raise NotebookError(f"{self.meta_name}: {key} holds a control character; remove it")
        return text

    def list_published_in(self) -> tuple[str, ...]:
        """List the pages that may repeat what the note says; NotebookError if one is no text."""
        value = self.meta.get("published_in")
        pages = value if isinstance(value, list) else [] if value is None else [value]
        texts = tuple(page.strip() for page in pages if isinstance(page, str) and page.strip())
        if len(texts) != len(pages):
            raise NotebookError(
                f"{self.meta_name}: published_in has to be a page such as `guide/deploy.md`, or a "
                "list of pages"
            )
        return texts


def read_note_file(path: Path, folder: Path, sidecar: Path | None) -> NoteFile:
    """Read a note and its front matter, which a sidecar may hold. NotebookError names the file."""
    name = path.relative_to(folder).as_posix()
    text = _read_text(path, name)
    match = _FRONT_MATTER.match(text)
    if sidecar is None:
        meta = _parse_front_matter(match[1], name, 2) if match else {}
        end = match.end() if match else 0
        return NoteFile(name, meta, text[end:], text.count("\n", 0, end) + 1)
    meta_name = sidecar.relative_to(folder).as_posix()
    if match:
        raise NotebookError(
            f"{name}: it has front matter, and so has {meta_name}; keep one of them"
        )
    content = _read_text(sidecar, meta_name)
    fenced = _FRONT_MATTER.match(content)
    yaml_text, first_line = (fenced[1], 2) if fenced else (content, 1)
    return NoteFile(meta_name, _parse_front_matter(yaml_text, meta_name, first_line), text, 1)


def _read_text(path: Path, name: str) -> str:
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            # Reading a named pipe would wait for someone to write into it.
            raise NotebookError(f"{name}: neither a file nor a folder; remove or rename it")
        return path.read_text(encoding="utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError:
        raise NotebookError(f"{name}: not UTF-8; save it as UTF-8") from None
    except OSError as error:
        raise NotebookError(f"{name}: cannot be read ({error.strerror})") from None


def _parse_front_matter(text: str, name: str, first_line: int) -> Mapping[str, object]:
    """Parse YAML. first_line: the number of the text's first line in its file."""
    if len(text) > _MAX_LENGTH:
        raise NotebookError(
            f"{name}: the front matter has more than {_MAX_LENGTH} characters; shorten it"
        )

    def check_keys(root: yaml.Node | None) -> None:
        if duplicate := find_duplicate_key(root):
            # Any other key may be the note's prose.
            line = duplicate.line + first_line - 1
            shown = duplicate.key if duplicate.key in _ALL_KEYS else f"the key in line {line}"
            raise NotebookError(f"{name}: {shown} appears in the front matter twice; remove one")

    try:
        meta = parse_yaml(text, check_keys, _Loader, empty={})
    except YamlError as error:
        where = f" in line {error.line + first_line - 1}" if error.line else ""
        raise NotebookError(f"{name}: the front matter is not YAML{where}; correct it") from None
    if not isinstance(meta, dict):
        raise NotebookError(
            f"{name}: the front matter is not a list of `key: value` lines; correct it"
        )
    return meta
