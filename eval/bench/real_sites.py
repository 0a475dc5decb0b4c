"""Real sites with the questions that their readers asked, in the folder of the data.

``sites/NAME`` holds a site, ``questions/NAME.jsonl`` its readers' questions, and where there is
``gold/NAME.jsonl``, it holds the spans of the site that answer them. The folder is what
ANSWERABLE_DATA or ``--data`` names; a site that is not whole is skipped.
"""

import argparse
import json
import logging
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.exceptions import Abort, ConfigurationError
from mkdocs.utils.yaml import yaml_load
from tables import Row, print_rows

_DATA = Path(__file__).parents[3] / "shared" / "data"
_PLUGIN = MappingProxyType({"answerable": {"function": "function"}})


class DataError(Exception):
    """A site that lacks what a benchmark needs: a sentence that names the file."""


@dataclass(frozen=True, slots=True)
class Gold:
    """The spans that a good answer to a question holds."""

    spans: tuple[str, ...]
    alternatives: tuple[str, ...]
    needs_all: bool

    def is_held(self, text: str) -> bool:
        """True if a text holds the spans; white space does not count, as code is laid out anew."""
        dense = "".join(text.split())
        if any("".join(span.split()) in dense for span in self.alternatives):
            return True
        held = ["".join(span.split()) in dense for span in self.spans]
        return all(held) if self.needs_all else any(held)


@dataclass(frozen=True, slots=True)
class RealSite:
    """A site and the questions of its readers."""

    name: str
    data: Path
    questions: Sequence[Row]
    gold: Mapping[str, Gold]

    @contextmanager
    def copy(self) -> Iterator[Path]:
        """Copy the site into a folder that is removed afterwards."""
        source = self.data / "sites" / self.name
        with tempfile.TemporaryDirectory() as folder:
            yield shutil.copytree(source, Path(folder, "site"))


def make_parser(title: str | None) -> argparse.ArgumentParser:
    """Make a parser of the options that every benchmark of real sites has."""
    parser = argparse.ArgumentParser(
        description=title, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    data = Path(os.environ.get("ANSWERABLE_DATA") or _DATA)
    parser.add_argument("--data", type=Path, default=data, metavar="DIR")
    parser.add_argument("--sites", metavar="NAMES", help="names, with commas between them")
    parser.add_argument("--limit", type=int, metavar="N", help="questions of each site")
    parser.add_argument("--json", action="store_true")
    return parser


def run_benchmark(
    title: str,
    arguments: argparse.Namespace,
    measure: Callable[[RealSite], Sequence[Row]],
    summarize: Callable[[], Sequence[Row]] = list,
) -> None:
    """Measure every site and print one table of all rows. summarize: makes the last rows."""
    rows: list[Row] = []
    skipped = []
    for name in list_sites(arguments):
        try:
            rows += measure(read_site(name, arguments.data, arguments.limit))
        except DataError as error:
            skipped.append(f"{name}: skipped, {error}")
    rows += summarize()
    if not rows:
        skipped.append(f"no site was measured in {arguments.data} (set ANSWERABLE_DATA or --data)")
    print_rows(title, rows, as_json=arguments.json, skipped=skipped)


def list_sites(arguments: argparse.Namespace) -> list[str]:
    """List the sites that are asked for, or all for which there are questions."""
    if arguments.sites:
        return list(arguments.sites.split(","))
    return sorted(path.stem for path in (arguments.data / "questions").glob("*.jsonl"))


def read_site(name: str, data: Path, limit: int | None = None) -> RealSite:
    """Read the questions of a site; DataError if it is not whole."""
    for path in (data / "sites" / name / "mkdocs.yml", data / "questions" / f"{name}.jsonl"):
        if not path.is_file():
            raise DataError(f"{path} is missing")
    questions = read_lines(data / "questions" / f"{name}.jsonl")[:limit]
    gold_file = data / "gold" / f"{name}.jsonl"
    gold = {
        row["id"]: Gold(
            tuple(row["answer_spans"]),
            tuple(row.get("alt_spans", ())),
            row.get("need", "all") == "all",
        )
        for row in (read_lines(gold_file) if gold_file.is_file() else ())
        if not row.get("bad")
    }
    asked = {row["id"] for row in questions}
    return RealSite(name, data, questions, {name: gold[name] for name in gold if name in asked})


def read_lines(path: Path) -> list[Row]:
    """Parse a file of JSON lines."""
    # Not splitlines(): a JSON string may hold U+2028.
    lines = path.read_text(encoding="utf-8").split("\n")
    return [json.loads(line) for line in lines if line.strip()]


def build_site(folder: Path, plugin: Mapping[str, Any] = _PLUGIN) -> str:
    """Build a site with a plugin added to its own; return the path that it is served under."""
    logging.getLogger("mkdocs").setLevel(logging.ERROR)
    file = folder / "mkdocs.yml"
    try:
        config = load_config(str(file), plugins=add_plugin(file, plugin))
    except (Abort, ConfigurationError):
        raise DataError("MkDocs cannot load its mkdocs.yml here, as its error says") from None
    build(config)
    path = (config.site_url or "/").split("//", 1)[-1].partition("/")[2].strip("/")
    return f"/{path}/" if path else "/"


def add_plugin(file: Path, plugin: Mapping[str, Any]) -> list[Any]:
    """Return the plugins of a configuration with one more, or as they are without one."""
    with file.open(encoding="utf-8") as stream:
        plugins = yaml_load(stream).get("plugins", ["search"])
    if isinstance(plugins, dict):
        plugins = [{name: options or {}} for name, options in plugins.items()]
    return [*plugins, *([dict(plugin)] if plugin else [])]


def list_pages(urls: Iterable[str], root: str) -> list[str]:
    """List the pages of addresses in their order, as the questions name pages."""
    pages = (url.removeprefix(root).partition("#")[0].partition("?")[0] for url in urls)
    return list(dict.fromkeys(page.lstrip("/").removesuffix("index.html") for page in pages))
