"""The front matter of a note: what its author declares, checked by the types of its fields."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from typing import Annotated, Any

import msgspec

from ...engine.errors import NotebookError
from ..yaml_reader import DuplicateKeyError, YamlError, list_key_lines, parse_yaml

_Line = Annotated[str, msgspec.Meta(pattern=r"\A[^\x00-\x1f\x7f-\x9f\ud800-\udfff]*\Z")]
_Page = Annotated[str, msgspec.Meta(pattern=r"\S")]


class FrontMatter(msgspec.Struct, frozen=True, kw_only=True):
    """What the front matter of a note may declare; any other key is its author's own."""

    label: _Line = ""
    about: _Line = ""
    locator: _Line = ""
    title: _Line = ""
    id: Annotated[str, msgspec.Meta(pattern=r"\A[\w.:-]*\Z")] = ""
    published_in: _Page | list[_Page] = msgspec.field(default_factory=list[_Page])
    first_page: Annotated[int, msgspec.Meta(ge=0, lt=10**9)] | None = None
    draft: bool = False
    routes: bool = True

    @property
    def pages(self) -> tuple[str, ...]:
        """The pages that may repeat what the note says."""
        pages = self.published_in
        return (pages,) if isinstance(pages, str) else tuple(pages)


_LINE = "a text on one line, in quotes where it could be a number or a date"
_EXPECTED = {
    **dict.fromkeys(("label", "about", "locator", "title"), _LINE),
    "id": "a text of letters, digits, `.`, `_`, `:` and `-`, in quotes where it could be a number",
    "published_in": "a page such as `guide/deploy.md`, or a list of pages",
    "first_page": "a whole number such as 1",
    "draft": "`true` or `false`",
    "routes": "`on` or `off`",
}
# If one of these is misspelled, a note is published that its author keeps back.
_SWITCHES = ("draft", "routes")
_FENCED = re.compile(r"\A---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.M | re.S)
# Reading more YAML takes minutes.
_MAX_LENGTH = 65_536


@dataclass(frozen=True, slots=True)
class NoteFile:
    """The file of a note: its front matter as it is read and as it is written, and its text.

    ``first_line`` is the number of the text's first line.
    """

    name: str
    front_matter: FrontMatter
    header: str
    text: str
    first_line: int

    def locate(self, key: str) -> str:
        """Name the file, the line of a key and the key, as an error begins."""
        lines = _list_lines(self.header)
        line = f", line {lines[key]}" if key in lines else ""
        return f"{self.name}{line}: {key}"


# Its public fields are located one after the other.
@lru_cache(maxsize=1)
def _list_lines(header: str) -> Mapping[str, int]:
    """List the line of each key in its file, which only an error names."""
    return {key: line + 1 for key, line in list_key_lines(header).items()}


def split_front_matter(content: str, name: str) -> NoteFile:
    """Split a note's file; NotebookError says where its front matter is wrong, and repeats none.

    name: of the file, for errors, which are written to logs.
    """
    match = _FENCED.match(content)
    if match is None:
        return NoteFile(name, FrontMatter(), "", content, 1)
    if len(match[1]) > _MAX_LENGTH:
        raise NotebookError(
            f"{name}: the front matter has more than {_MAX_LENGTH} characters; shorten it"
        )
    try:
        meta = parse_yaml(match[1], empty={})
    except DuplicateKeyError as error:
        raise NotebookError(
            f"{name}, line {error.lines[1] + 1}: this key stands there twice; remove one"
        ) from None
    except YamlError as error:
        place = f", line {error.line + 1}" if error.line else ""
        raise NotebookError(f"{name}{place}: the front matter is not YAML; correct it") from None
    if not isinstance(meta, dict):
        raise NotebookError(f"{name}, line 2: write front matter as `key: value`, line by line")
    front_matter = _convert(meta, name, match[1])
    first_line = content.count("\n", 0, match.end()) + 1
    return NoteFile(name, front_matter, match[1], content[match.end() :], first_line)


def _convert(meta: Mapping[object, Any], name: str, header: str) -> FrontMatter:
    """Convert the keys of notes in front matter; NotebookError names the first wrong one."""
    for unknown in (key for key in meta if isinstance(key, str) and key not in _EXPECTED):
        for switch in get_close_matches(unknown.lower(), _SWITCHES, 1, 0.75):
            line = _list_lines(header)[unknown]
            raise NotebookError(
                f"{name}, line {line}: {unknown} is not a key of notes; write "
                f"`{switch}`, or drop it"
            )
    try:
        return msgspec.convert({key: meta[key] for key in _EXPECTED if key in meta}, FrontMatter)
    except msgspec.ValidationError as error:
        path = re.search(r"\$\.(\w+)", str(error))
        key = path[1] if path else ""
        line = _list_lines(header)[key]
        raise NotebookError(
            f"{name}, line {line}: {key} has to be {_EXPECTED[key]}; correct it or take it out"
        ) from None
