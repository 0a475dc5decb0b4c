"""A real `mkdocs serve` of the harbour's site, whose words are far below their headings."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from support import server_processes, sites

# So long that the words are not seen where a heading is.
PAGES = {
    **sites.PAGES,
    "mooring.md": sites.PAGES["mooring.md"].replace(
        "The chain", '<div style="height: 3000px"></div>\n\nThe chain'
    ),
}


@contextmanager
def serving(folder: Path, theme: dict[str, Any], **options: object) -> Iterator[str]:
    """Serve the site with a theme and options of the plugin; the address of its first page."""
    sites.write_site(
        folder,
        PAGES,
        notes=sites.NOTES,
        theme=theme,
        # Scripts of the built-in theme fail without the search they expect.
        plugins=["search", {"answerable": {"notebook": "notebook", **options}}],
        site_url="https://harbour.example/docs/",
    )
    with server_processes.mkdocs(folder) as server:
        yield f"http://127.0.0.1:{server.port}/docs/"
