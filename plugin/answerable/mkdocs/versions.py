"""Versions of a site that mike deploys: where they are served and where their functions go."""

import os
from pathlib import Path
from urllib.parse import quote

from mkdocs.config.defaults import MkDocsConfig


def deployed() -> str | None:
    """The version that is being built, None in a build that mike has not started."""
    return os.environ.get("MIKE_DOCS_VERSION") or None


def site_url(config: MkDocsConfig) -> str | None:
    """The address this build will be served at.

    With a `canonical_version`, mike gives every build that version's address instead of its own.
    """
    url, version = config.site_url or None, deployed()
    mike = config.plugins.get("mike")
    canonical = mike.config.get("canonical_version") if mike and version else None
    if url and version and canonical:
        return url.rstrip("/").removesuffix(str(canonical)) + quote(version)
    return url


def function_folder(folder: Path) -> Path:
    """The function's folder, which each version has for itself below the one that is named."""
    version = deployed()
    return folder / version if version else folder
