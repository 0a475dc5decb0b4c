"""The widget in a site: its files, its configuration, and the tags that load it."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from ..browser_index.index_files import AddressedFiles
from ..browser_index.staged_index import remove_stale_folders, write_addressed_files
from ..output.files import write_file
from .injection import WIDGET_FOLDER
from .scripts import ENTRY_MODULE, read_engine_files

WIDGET_CONFIG_PATH = f"{WIDGET_FOLDER}site.json"

# Ids, or folders, by language tag, if each language has a bundle of its own.
BundleIds = str | Mapping[str, str]


@dataclass(frozen=True, slots=True)
class BrowserFiles:
    """Name what a reader's browser answers from, below the widget's folder.

    ``engine``: the modules, first the one that the widget imports. ``index``: the index's folder,
    or one for each language.
    """

    engine: tuple[str, ...]
    index: BundleIds


def name_browser_files(engine: AddressedFiles, index: BundleIds) -> BrowserFiles:
    """Name the engine's modules and the index as the widget's configuration has them."""
    others = sorted(path for path in engine.files if path.endswith(".js") and path != ENTRY_MODULE)
    modules = (f"{engine.folder}/{path}" for path in (ENTRY_MODULE, *others))
    return BrowserFiles(tuple(modules), index)


@dataclass(frozen=True, slots=True)
class WidgetConfig:
    """Settings of the widget that the owner of a site has made.

    ``examples``: questions that it answers. ``search`` and ``authors``: addresses, relative to the
    site's root or absolute, in which ``{question}`` and ``{bundle}`` are filled in. ``feedback``:
    where an answer is called helpful or not. None: there is none. An empty ``search``: the widget
    looks in the page for the search of its theme.
    """

    examples: tuple[str, ...] = ()
    search: str | None = ""
    authors: str | None = None
    feedback: str | None = None


def format_widget_config(
    config: WidgetConfig, bundle: BundleIds | None, browser: BrowserFiles | None = None
) -> bytes:
    """Format the file.

    bundle: None before there is one, which is when the file is audited. browser: None where a
    function answers.
    """
    content = {
        "bundle": _sort_by_tag(bundle),
        **asdict(config),
        "engine": list(browser.engine) if browser else None,
        "index": _sort_by_tag(browser.index) if browser else None,
    }
    return f"{json.dumps(content, ensure_ascii=False, indent=1)}\n".encode()


def _sort_by_tag(ids: BundleIds | None) -> dict[str, str] | str | None:
    return dict(sorted(ids.items())) if isinstance(ids, Mapping) else ids


@dataclass(frozen=True, slots=True)
class PublishedIndex:
    """Name an index: the id of its bundle, and its folder for browsers, None where none answers."""

    bundle: str
    browser_index: str | None = None


def write_widget_files(
    folder: Path,
    config: WidgetConfig,
    indexes: Mapping[str, PublishedIndex],
    languages: Iterable[str],
) -> None:
    """Write the widget's files into a site's folder, and remove those of earlier builds.

    indexes: by language tag, where each language has its own, else one. languages: of the pages.
    """
    folders = {tag: index.browser_index for tag, index in indexes.items() if index.browser_index}
    browser = None
    current = list(folders.values())
    if folders:
        engine = read_engine_files(languages)
        write_addressed_files(engine, folder / WIDGET_FOLDER)
        browser = name_browser_files(engine, _unwrap_one(folders))
        current.append(engine.folder)
    bundle = _unwrap_one({tag: index.bundle for tag, index in indexes.items()})
    write_file(folder / WIDGET_CONFIG_PATH, format_widget_config(config, bundle, browser))
    # Last: until then the file of the last build names them.
    remove_stale_folders(folder / WIDGET_FOLDER, current)


def _unwrap_one(values: Mapping[str, str]) -> BundleIds:
    return values if len(values) > 1 else next(iter(values.values()))
