"""Tell the dev server's builds apart from those that are published.

Versions of a site that mike deploys: where they are served and where their functions go.
"""

import os
import tempfile
from pathlib import Path
from urllib.parse import quote

from mkdocs.config.defaults import MkDocsConfig

# What MkDocs and ProperDocs call the folders that they serve.
_PREVIEW_PREFIXES = ("mkdocs_", "properdocs_")


def is_preview_build(config: MkDocsConfig, command: str) -> bool:
    """Whether a build is that of `mkdocs serve`. command: as MkDocs reports it.

    `serve --clean` reports `build`. A published build may go into a folder of any name, so it is
    a preview only where its site's url is that of the dev server, too.
    """
    folder = Path(config.site_dir)
    is_temporary = folder.parent == Path(tempfile.gettempdir())
    host, port = config.dev_addr
    is_local = (config.site_url or "").startswith(f"http://{host}:{port}/")
    return command == "serve" or (
        is_temporary and is_local and folder.name.startswith(_PREVIEW_PREFIXES)
    )


def read_mike_version() -> str | None:
    """The version that is being built, None in a build that mike has not started."""
    return os.environ.get("MIKE_DOCS_VERSION") or None


def resolve_site_url(config: MkDocsConfig) -> str | None:
    """The address this build will be served at.

    With a `canonical_version`, mike gives every build that version's address instead of its own.
    """
    url, version = config.site_url or None, read_mike_version()
    mike = config.plugins.get("mike")
    canonical = mike.config.get("canonical_version") if mike and version else None
    if url and version and canonical:
        return url.rstrip("/").removesuffix(str(canonical)) + quote(version)
    return url


def resolve_function_folder(folder: Path) -> Path:
    """The function's folder, which each version has for itself below the one that is named."""
    version = read_mike_version()
    return folder / version if version else folder
