"""Deployment of a build: preview or published, its version of mike, its url and its folder."""

import os
import tempfile
from pathlib import Path
from urllib.parse import quote, urlsplit

from mkdocs.config.defaults import MkDocsConfig

# What MkDocs and ProperDocs call the folders that they serve.
_PREVIEW_PREFIXES = ("mkdocs_", "properdocs_")


def is_preview_build(config: MkDocsConfig, command: str) -> bool:
    """Tell whether a build is one of `mkdocs serve`. command: as MkDocs reports it.

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
    """Read the version that is being built; None in a build that mike has not started."""
    return os.environ.get("MIKE_DOCS_VERSION") or None


def resolve_site_url(config: MkDocsConfig) -> str | None:
    """Resolve the address that this build will be served at.

    With a `canonical_version`, mike gives every build that version's address instead of its own.
    """
    url, version = config.site_url or None, read_mike_version()
    mike = config.plugins.get("mike")
    canonical = mike.config.get("canonical_version") if mike and version else None
    if url and version and canonical:
        return url.rstrip("/").removesuffix(str(canonical)) + quote(version)
    return url


def resolve_site_path(config: MkDocsConfig) -> str:
    """Resolve the path that the site is served under, with a slash at both ends."""
    url = resolve_site_url(config) or "/"
    path = quote(urlsplit(url).path.strip("/"), safe="/%:@!$&'()*+,;=~")
    return f"/{path}/" if path else "/"


def resolve_function_folder(folder: Path) -> Path:
    """Resolve the function's folder: below the configured one, each version has one of its own."""
    version = read_mike_version()
    return folder / version if version else folder
