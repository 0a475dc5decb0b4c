"""Put the ask box into the pages of a built site, each page by a relative address of its script."""

from pathlib import Path, PurePosixPath
from urllib.parse import quote

from ..indexing.answer_place import AnswerPlace
from ..indexing.html_site.built_site import is_redirect, list_html_files
from ..indexing.output.atomic_files import write_file
from ..indexing.widget import injection
from ..indexing.widget.addresses import check_address
from ..indexing.widget.injection import inject_widget, read_widget_files
from ..serve.errors import SiteError
from ..serve.structure import is_safe_url


def inject_widget_into_site(folder: Path, base: str, endpoint: str | None) -> int:
    """Put the widget into every page of a built site; return how many have changed.

    base: the path of the site. endpoint: as of ``inject_widget``. A second run changes no byte.
    """
    for name, text in read_widget_files().items():
        write_file(folder / name, text.encode())
    changed = 0
    for name in list_html_files(folder):
        path = folder / name
        if path.is_symlink():
            # The page that it leads to is changed by itself if it is the site's.
            continue
        before = path.read_bytes()
        # Any byte is carried over, whatever the page's encoding is.
        html = before.decode("utf-8", errors="surrogateescape")
        if is_redirect(html):
            continue
        html = inject_widget(html, _script_url(name, base), endpoint=endpoint)
        after = html.encode("utf-8", errors="surrogateescape")
        write_file(path, after, keep_mode=True)
        changed += after != before
    return changed


def check_injection(
    inject: bool, endpoint: str | None, authors: str | None, answers_in: AnswerPlace | None
) -> None:
    """Refuse an address that cannot be followed, and options that need --inject without it."""
    options = {"--endpoint": endpoint, "--authors": authors, "--answers-in": answers_in}
    for name, value in options.items():
        if value is not None and not inject:
            raise SiteError(f"{name}: no page gets it without --inject; add that or drop it")
    if endpoint is not None and not is_safe_url(endpoint):
        raise SiteError(
            f"--endpoint: {endpoint!r} is neither an http(s) url nor a path from the root; "
            "correct it, for example /ask/"
        )
    if authors is not None and authors != "none":
        check_address("authors", "--authors", authors, "correct it, or write none")


def _script_url(name: str, base: str) -> str:
    """Return the script's url in a page: relative, but in 404.html, which any url may show."""
    if name == "404.html":
        return base + injection.WIDGET_SCRIPT
    depth = len(PurePosixPath(name).parts) - 1
    return quote("../" * depth + injection.WIDGET_SCRIPT)
