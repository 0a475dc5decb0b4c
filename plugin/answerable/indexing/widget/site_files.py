"""The widget in a site: its files, its configuration, and the tags that load it."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from ...engine.retrieval.question import clean_question
from ..browser_files import (
    MODEL_FOLDER,
    BrowserIndex,
    name_index,
    remove_stale_files,
)
from ..files import write_file, write_folder
from ..pages.page_index import PageIndex
from ..questions import SectionQuestions, list_allowed_questions, list_sections
from .injection import (
    WIDGET_FOLDER,
    read_engine_script,
    read_widget_files,
    write_offline_scripts,
)

# Examples that the ask box shows.
MAX_EXAMPLES = 3
# Pages for those who make the project, and on what it was: no reader begins with them.
_INSIDE_PAGE = re.compile(
    r"\b(?:contribut|internals?\b|develop|changelog|changes\b|history|releases?\b|news\b|blog)",
    re.I,
)
WIDGET_CONFIG_PATH = f"{WIDGET_FOLDER}site.json"


@dataclass(frozen=True, slots=True)
class WidgetConfig:
    """Settings of the widget that the owner of a site has made.

    ``examples``: questions that it answers, by language tag where each has its own.
    ``page_examples``: in place of them, those of the page that the reader is on, by its path.
    ``search`` and ``authors``: addresses, relative to the site's root or absolute, in which
    ``{question}`` and ``{bundle}`` are filled in. ``feedback``: where a reader may send a question
    that is not answered. None: there is none. An empty ``search``: the widget looks in the page for
    the search of its theme. ``preview``: a development server shows the site.
    """

    examples: Sequence[str] | Mapping[str, Sequence[str]] = ()
    page_examples: Mapping[str, Sequence[str]] = field(default_factory=dict)
    search: str | None = ""
    authors: str | None = None
    feedback: str | None = None
    preview: bool = False


def suggest_page_examples(
    pages: Iterable[PageIndex], questions: Mapping[str, SectionQuestions]
) -> dict[str, list[str]]:
    """Suggest known questions of each page, one of a section, by the path of the page's address."""
    examples: dict[str, list[str]] = {}
    for page in pages if questions else ():
        for section in list_sections(entry.passage for entry in page.passages):
            line = questions.get(section.id)
            if line and line.hash == section.hash and not page.record.metadata.excluded:
                path = urlsplit(page.record.url).path
                examples.setdefault(path, []).extend(list_allowed_questions(line, section)[:1])
    return {path: listed[:MAX_EXAMPLES] for path, listed in examples.items() if listed}


def suggest_site_examples(
    pages: Iterable[PageIndex], page_examples: Mapping[str, Sequence[str]]
) -> dict[str, tuple[str, ...]]:
    """Suggest by language a known question of each page, as many as are shown.

    Pages on the making of the project or on its history have none.
    """
    by_language: dict[str, list[str]] = {}
    for record in (page.record for page in pages):
        if not record.metadata.excluded and not _INSIDE_PAGE.search(f"{record.id} {record.title}"):
            questions = by_language.setdefault(record.language, [])
            questions += page_examples.get(urlsplit(record.url).path, ())[:1]
    # A page that is not translated stands among those of another language too.
    return {
        language: tuple(dict.fromkeys(map(clean_question, questions)))[:MAX_EXAMPLES]
        for language, questions in by_language.items()
    }


def format_widget_config(
    config: WidgetConfig,
    bundle: str | None,
    engine: str | None = None,
    index: Mapping[str, str] | None = None,
) -> bytes:
    """Format the file.

    bundle: None before there is one, which is when the file is audited. engine: the script that
    answers, and index: its first files and the folder of its model, below the widget's folder; None
    where a function answers.
    """
    content = {"bundle": bundle, **asdict(config), "engine": engine, "index": index}
    return f"{json.dumps(content, ensure_ascii=False, indent=1)}\n".encode()


def write_widget_files(
    folder: Path,
    config: WidgetConfig,
    bundle: str,
    index: BrowserIndex | None,
    *,
    is_offline: bool = False,
) -> None:
    """Write the widget's files into a site's folder, and remove those of earlier builds.

    bundle: its id. index: what the site publishes of it, if browsers answer. is_offline: for pages
    of a disk too.
    """
    content = format_widget_config(config, bundle)
    current: set[str] = set()
    if index:
        script, data = read_engine_script()
        path = folder / WIDGET_FOLDER / script
        write_folder(path.parent, {path.name: data})
        files = (f"{index.folder}/{name}" for name in index.files)
        current = {script.removesuffix(f"/{path.name}"), MODEL_FOLDER, *files}
        content = format_widget_config(config, bundle, script, name_index(index))
    write_file(folder / WIDGET_CONFIG_PATH, content)
    # Last: until then the file of the last build names them.
    remove_stale_files(folder / WIDGET_FOLDER, current)
    if is_offline and index:
        home = folder / WIDGET_FOLDER
        own = [folder / name for name in (*read_widget_files(), WIDGET_CONFIG_PATH)]
        kinds = ("engine", "index", "model")
        listed = (path for kind in kinds for path in (home / kind).rglob("*"))
        write_offline_scripts(home, [*own, *listed])
