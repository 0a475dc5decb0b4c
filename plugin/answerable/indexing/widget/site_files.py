"""Write what the widget reads into a site: the engine where browsers answer, and at last site.json.

The indexes for browsers are written before, with the functions that hold the same.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ..output.atomic_files import write_file
from ..output.browser_writer import remove_stale_folders, write_addressed_files
from .engine_files import read_engine_files
from .injection import WIDGET_FOLDER
from .widget_config import (
    WIDGET_CONFIG_PATH,
    BundleIds,
    WidgetConfig,
    format_widget_config,
    name_browser_files,
)


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
