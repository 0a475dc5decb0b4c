"""Format the widget's settings and the bundle's id as one JSON file of the site.

By the id the widget notices that site and index differ. In a page it would change every page with
every index.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from .injection import WIDGET_FOLDER

WIDGET_CONFIG_PATH = f"{WIDGET_FOLDER}site.json"

# Ids by language tag, if each language has a bundle of its own.
BundleIds = str | Mapping[str, str]


@dataclass(frozen=True, slots=True)
class WidgetConfig:
    """Settings of the widget that the owner of a site has made.

    ``examples``: questions that it answers. ``search`` and ``authors``: addresses, relative to the
    site's root or absolute, in which ``{question}`` and ``{bundle}`` are filled in. ``feedback``:
    where an answer is called helpful or not. None: there is none.
    """

    examples: tuple[str, ...] = ()
    search: str | None = None
    authors: str | None = None
    feedback: str | None = None


def format_widget_config(config: WidgetConfig, bundle: BundleIds | None) -> bytes:
    """Format the file. bundle: None before there is one, which is when the file is audited."""
    ids = dict(sorted(bundle.items())) if isinstance(bundle, Mapping) else bundle
    text = json.dumps({"bundle": ids, **asdict(config)}, ensure_ascii=False, indent=1)
    return f"{text}\n".encode()
