"""Format what the widget is told as one JSON file of the site: its settings, and the build's.

By the id the widget notices that site and index differ. In a page it would change every page with
every index.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from ..browser_index.addressed_files import AddressedFiles
from .engine_files import ENTRY_MODULE
from .injection import WIDGET_FOLDER

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
