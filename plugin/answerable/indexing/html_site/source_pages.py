"""Sources of built pages: the files that a generator made them from, and their front matter."""

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from ...engine.errors import SiteError
from ..pages.page_index import read_published_transcript, resolve_transcript_path
from ..pages.records import Transcript
from ..yaml_reader import AnyTagLoader, YamlError, parse_yaml

# Hugo's front matter is TOML between lines of plus signs.
_FRONT_MATTER = re.compile(
    r"\A\ufeff?(?P<fence>---|\+\+\+)[ \t]*\r?\n(?P<text>.*?)"
    r"^(?:(?P=fence)|\.\.\.)[ \t]*(?:\r?\n|\Z)",
    re.M | re.S,
)


@dataclass(frozen=True, slots=True)
class SourcePage:
    """The source of a built page: its path in the docs folder, and its front matter."""

    path: str
    meta: Mapping[str, Any]

    @property
    def id(self) -> str:
        """Return the record's id, which is that of a build by MkDocs."""
        return str(PurePosixPath(self.path).with_suffix(""))

    @property
    def title(self) -> str:
        """Return the title of its front matter, "" without one."""
        title = self.meta.get("title")
        return " ".join(title.split()) if isinstance(title, str) else ""


def find_source_page(docs: Path, names: Iterable[str]) -> SourcePage | None:
    """Find the source of a page by the names that it may have, or None without one.

    SiteError for front matter that cannot be read.
    """
    path = next((name for name in names if (docs / name).is_file()), None)
    if path is None:
        return None
    text = (docs / path).read_text(encoding="utf-8", errors="replace")
    return SourcePage(path, parse_front_matter(text, path))


def parse_front_matter(text: str, name: str) -> Mapping[str, Any]:
    """Parse the front matter of a source, {} without one. name: of the page, in a SiteError."""
    match = _FRONT_MATTER.match(text)
    if match is None:
        return {}
    try:
        if match["fence"] == "+++":
            return tomllib.loads(match["text"])
        data = parse_yaml(match["text"], loader_class=AnyTagLoader)
    except (YamlError, tomllib.TOMLDecodeError) as error:
        raise SiteError(f"{name}: its front matter cannot be read ({error}); correct it") from None
    return data if isinstance(data, dict) else {}


def read_source_transcript(page: SourcePage, docs: Path, site: Path) -> Transcript | None:
    """Read the transcript that front matter names, None without one, or raise SiteError."""

    def find_file(path: str) -> Path | None:
        # A generator copies what it publishes.
        return docs / path if (docs / path).is_file() and (site / path).is_file() else None

    path, media = page.meta.get("transcript"), page.meta.get("media")
    return None if path is None else read_published_transcript(page.path, path, media, find_file)


def locate_transcript(page: SourcePage) -> str | None:
    """Locate the transcript of a page in the site by its path, or None without one."""
    path = page.meta.get("transcript")
    return resolve_transcript_path(page.path, path) if isinstance(path, str) else None
