"""Tell the dev server's builds apart from those that are published."""

import tempfile
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig

# What MkDocs and ProperDocs call the folders that they serve.
_PREFIXES = ("mkdocs_", "properdocs_")


def is_preview(config: MkDocsConfig, command: str) -> bool:
    """Whether a build is that of `mkdocs serve`. command: as MkDocs reports it.

    `serve --clean` reports `build`. A published build may go into a folder of any name, so it is
    a preview only where its site's url is that of the dev server, too.
    """
    folder = Path(config.site_dir)
    is_temporary = folder.parent == Path(tempfile.gettempdir())
    host, port = config.dev_addr
    is_local = (config.site_url or "").startswith(f"http://{host}:{port}/")
    return command == "serve" or (is_temporary and is_local and folder.name.startswith(_PREFIXES))
