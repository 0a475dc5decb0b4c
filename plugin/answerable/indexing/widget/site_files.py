"""The widget in a site: its files, its configuration, and the tags that load it."""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import islice
from pathlib import Path
from urllib.parse import urlsplit

from ...engine.retrieval.question import clean_question
from ...engine.retrieval.sections import WINDOW_SUFFIX
from ...engine.types import TITLE_SEPARATOR
from ..browser_files import (
    MODEL_FOLDER,
    BrowserIndex,
    name_index,
    remove_stale_files,
    write_addressed_files,
)
from ..files import write_file
from ..pages.page_index import PageIndex
from ..questions import SectionQuestions, list_allowed_questions, list_sections
from .injection import (
    WIDGET_FOLDER,
    read_engine_files,
    read_widget_files,
    write_offline_scripts,
)

# Examples that the ask box shows, and questions that are tried for them.
MAX_EXAMPLES = 3
_MAX_CANDIDATES = 12
# Pages for those who make the project, and on what it was: no reader begins with them.
_INSIDE_PAGE = re.compile(
    r"\b(?:contribut|internals?\b|develop|changelog|changes\b|history|releases?\b|news\b|blog)",
    re.I,
)
_QUESTION = re.compile(r"[?？؟]$|^how (?:to|do|does|can|should)\b", re.I)
WIDGET_CONFIG_PATH = f"{WIDGET_FOLDER}site.json"


@dataclass(frozen=True, slots=True)
class WidgetConfig:
    """Settings of the widget that the owner of a site has made.

    ``examples``: questions that it answers, by language tag where each has its own.
    ``page_examples``: in place of them, those of the page that the reader is on, by its path.
    ``sources``: the section that a suggested example comes from, which ``check_examples`` reads.
    ``search`` and ``authors``: addresses, relative to the site's root or absolute, in which
    ``{question}`` and ``{bundle}`` are filled in. ``feedback``: where a reader may send a question
    that is not answered. None: there is none. An empty ``search``: the widget looks in the page for
    the search of its theme. ``preview``: a development server shows the site.
    """

    examples: Sequence[str] | Mapping[str, Sequence[str]] = ()
    page_examples: Mapping[str, Sequence[str]] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict)
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
) -> tuple[dict[str, tuple[str, ...]], dict[str, str]]:
    """Suggest questions by language: a known one of each page, or headings where none is known.

    Returns the section that a heading comes from, too. Pages on the making of the project or on
    its history have none.
    """
    by_language: dict[str, list[PageIndex]] = {}
    for page in pages:
        record = page.record
        if not record.metadata.excluded and not _INSIDE_PAGE.search(f"{record.id} {record.title}"):
            by_language.setdefault(record.language, []).append(page)
    suggested: dict[str, tuple[str, ...]] = {}
    sources: dict[str, str] = {}
    for language, own in by_language.items():
        paths = [urlsplit(page.record.url).path for page in own]
        firsts = (clean_question(page_examples[path][0]) for path in paths if path in page_examples)
        # A page that is not translated stands among those of another language too.
        suggested[language] = tuple(dict.fromkeys(firsts))[:_MAX_CANDIDATES]
        if not suggested[language]:
            headings = suggest_headings(own)
            suggested[language] = tuple(headings)
            sources.update(headings)
    return suggested, sources


def suggest_headings(pages: Iterable[PageIndex]) -> dict[str, str]:
    """Suggest headings of different pages that ask for their section, each with its id.

    A heading is a question of three to nine words and stands on one page only.
    """
    places: dict[str, dict[str, str]] = {}
    for page in pages:
        for entry in page.passages:
            title, _, heading = entry.passage.title.rpartition(TITLE_SEPARATOR)
            if title and 3 <= len(heading.split()) <= 9 and _QUESTION.search(heading):
                section = WINDOW_SUFFIX.sub("", entry.passage.id)
                places.setdefault(clean_question(heading), {}).setdefault(page.record.id, section)
    headings: dict[str, str] = {}
    taken: set[str] = set()
    for heading, sections in places.items():
        if len(sections) == 1 and taken.isdisjoint(sections):
            headings[heading] = next(iter(sections.values()))
            taken.update(sections)
    return dict(islice(headings.items(), _MAX_CANDIDATES))


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
    del content["sources"]
    return f"{json.dumps(content, ensure_ascii=False, indent=1)}\n".encode()


def check_examples(
    config: WidgetConfig, find_section: Callable[[str, str | None], str | None]
) -> WidgetConfig:
    """Keep the suggested examples whose first card is the section that they come from.

    find_section: from a question and its language to the section of the first card. An example
    that the owner has named, or a section's known question, is kept.
    """

    def choose(questions: Sequence[str], language: str | None) -> tuple[str, ...]:
        kept = (
            question
            for question in questions
            if question not in config.sources
            or config.sources[question] == find_section(question, language)
        )
        return tuple(islice(kept, MAX_EXAMPLES))

    if isinstance(config.examples, Mapping):
        by_language = {tag: choose(listed, tag) for tag, listed in config.examples.items()}
        return replace(config, examples=by_language)
    return replace(config, examples=choose(config.examples, None))


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
        engine = read_engine_files()
        write_addressed_files(engine, folder / WIDGET_FOLDER)
        files = (f"{index.folder}/{name}" for name in index.files)
        current = {engine.folder, MODEL_FOLDER, *files}
        (script,) = engine.files
        engine_path = f"{engine.folder}/{script}"
        content = format_widget_config(config, bundle, engine_path, name_index(index))
    write_file(folder / WIDGET_CONFIG_PATH, content)
    # Last: until then the file of the last build names them.
    remove_stale_files(folder / WIDGET_FOLDER, current)
    if is_offline and index:
        home = folder / WIDGET_FOLDER
        own = [folder / name for name in (*read_widget_files(), WIDGET_CONFIG_PATH)]
        kinds = ("engine", "index", "model")
        listed = (path for kind in kinds for path in (home / kind).rglob("*"))
        write_offline_scripts(home, [*own, *listed])
