"""MkDocs' pages and files as records and link targets."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePosixPath
from urllib.parse import quote, urlsplit

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page

from ..build import pages, records
from ..build.records import Record
from ..serve.errors import NotebookError, SiteError


@dataclass(frozen=True, slots=True)
class Site:
    """What one build has published: its records, and every file's url with the page's ids."""

    records: tuple[Record, ...]
    targets: dict[str, tuple[str, frozenset[str]]]


def read(files: Files, config: MkDocsConfig) -> Site:
    """Read every published page and file; drafts and excluded pages are not among them."""
    found = [_record(file.page, config) for file in files.documentation_pages() if file.page]
    anchors = {record.id: record.anchors for record in found}
    targets = {
        file.src_uri: (_url(file.url, config), anchors.get(_id(file.src_uri), frozenset()))
        for file in files
        if file.inclusion.is_included()
    }
    return Site(tuple(found), targets)


def has_unread_pages(files: Files) -> bool:
    """Whether a dirty build has skipped pages, whose text is then unknown."""
    return any(file.page and file.page.content is None for file in files.documentation_pages())


def resolver(site: Site) -> Callable[[str], str]:
    """From a note's ``about`` to a url: a docs path with or without an anchor, or an https url."""

    def resolve(about: str) -> str:
        address = urlsplit(about)
        if address.scheme == "https" and address.hostname:
            if address.username or address.password:
                raise NotebookError("the url holds a user name or a password; leave it out")
            return about
        path, _, anchor = about.partition("#")
        target = site.targets.get(path.removeprefix("/"))
        if target is None:
            raise NotebookError(
                f"{path!r} is not a published file of the docs folder; give its path there, such "
                "as `guide/deploy.md`, or an https url"
            )
        url, anchors = target
        if anchor and anchor not in anchors:
            named = sorted(name for name in anchors if not name.startswith("__"))
            near = ", ".join(named[:8]) or "none"
            raise NotebookError(f"{path} has no anchor {anchor!r}; it has {near}")
        return f"{url}#{anchor}" if anchor else url

    return resolve


def site_path(config: MkDocsConfig) -> str:
    """The path that the site is served under, with a slash at both ends."""
    path = quote(urlsplit(config.site_url or "/").path.strip("/"), safe="/%:@!$&'()*+,;=~")
    return f"/{path}/" if path else "/"


def _record(page: Page, config: MkDocsConfig) -> Record:
    title = str(page.title or page.file.name)
    try:
        article = pages.read(page.content or "", title)
    except RecursionError:
        raise SiteError(f"{page.file.src_uri}: its HTML is nested too deep; flatten it") from None
    return Record(
        id=_id(page.file.src_uri),
        url=_url(page.url, config),
        title=title,
        metadata=records.metadata(page.meta),
        sections=article.sections,
        anchors=article.anchors,
        abbreviations=article.abbreviations,
    )


def _id(src_uri: str) -> str:
    return str(PurePosixPath(src_uri).with_suffix(""))


def _url(url: str, config: MkDocsConfig) -> str:
    return site_path(config) + url.removeprefix("./").removeprefix("/")
