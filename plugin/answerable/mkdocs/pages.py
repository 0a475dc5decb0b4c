"""Turn MkDocs' pages into sources, index them while it builds, and merge a site's languages."""

import html
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import get_plugin_logger
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from ..engine.errors import SiteError
from ..engine.index.columns import SiteMetadata
from ..engine.text.languages import get_translation
from ..engine.vectors import Embedder
from ..indexing.html_site.source_pages import parse_front_matter
from ..indexing.pages.cache import start_indexing_pages
from ..indexing.pages.page_index import (
    CuttingRules,
    PageIndex,
    read_published_transcript,
    resolve_transcript_path,
)
from ..indexing.pages.records import PageSource, Transcript, parse_metadata
from ..indexing.widget.site_files import WidgetConfig
from .options import AnswerableConfig, resolve_site_path

log = get_plugin_logger(__name__)

_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")


@dataclass(frozen=True, slots=True)
class SitePages:
    """The pages that one build has published in one language.

    ``targets``: the url and the anchors of each file, by docs path. ``sources``: the docs path of
    each record. ``outputs``: the docs path of the page in each file of the site. ``enrichment``:
    what the site's owner adds to records, by id. ``page_names``: further names of pages. Of a site
    that another generator has built, docs paths are those of its files.
    """

    info: SiteMetadata
    pages: tuple[PageIndex, ...]
    targets: Mapping[str, tuple[str, frozenset[str]]]
    sources: Mapping[str, str]
    outputs: Mapping[str, str]
    enrichment: Mapping[str, str]
    page_names: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FinishedBuild:
    """A site that was written: its pages in all languages, its folder and its options.

    ``output``: where files for readers are written, which is ``folder`` but in a preview of what
    another generator has built. ``author``: the site_author. ``is_offline``: pages that are opened
    from a disk have to answer too.
    """

    options: AnswerableConfig
    site: SitePages
    folder: Path
    output: Path
    embedder: Embedder
    author: str | None
    widget_config: WidgetConfig
    is_offline: bool


def start_reading_pages(
    files: Files,
    config: MkDocsConfig,
    info: SiteMetadata,
    rules: CuttingRules,
    cache_folder: Path,
) -> Callable[[], SitePages]:
    """Begin to read every published page; drafts and excluded pages are not among them.

    The pages are indexed while MkDocs writes them. Returns a function that waits for that, with
    SiteError if one cannot be read. UnreadPageError if a dirty build has left out a page that no
    earlier build has kept.
    """
    sources = (
        _read_source(file, file.page, config, info.language, files)
        for file in files.documentation_pages()
        if file.page
    )
    published = (file for file in files if file.inclusion.is_included())
    urls = {file.src_uri: _page_url(file.url, config) for file in published}
    names = {_record_id(file): file.src_uri for file in files.documentation_pages()}
    outputs = map_outputs(files)
    collect_pages = start_indexing_pages(sources, rules, cache_folder)

    def collect() -> SitePages:
        pages = collect_pages()
        anchors = {names[page.record.id]: page.record.anchors for page in pages}
        targets = {name: (url, anchors.get(name, frozenset())) for name, url in urls.items()}
        return SitePages(info, pages, targets, names, outputs, rules.enrichment)

    return collect


def map_outputs(files: Files) -> dict[str, str]:
    """Map each file of the site to the docs path of its page, which publishes a transcript too."""
    pages = files.documentation_pages()
    declared = ((page, page.page.meta.get("transcript")) for page in pages if page.page)
    transcripts = (
        (files.get_file_from_path(resolve_transcript_path(page.src_uri, path)), page.src_uri)
        for page, path in declared
        if isinstance(path, str)
    )
    return {
        **{file.dest_uri: name for file, name in transcripts if file},
        **{file.dest_uri: file.src_uri for file in pages},
    }


def merge_languages(sites: Iterable[SitePages]) -> SitePages:
    """Merge the languages of a site; a page in place of a missing translation counts once."""
    whole, *others = sites
    for site in others:
        ids = {page.record.id for page in whole.pages}
        added = (page for page in site.pages if page.record.id not in ids)
        # One file has the enrichment for all languages.
        whole = replace(
            whole,
            pages=(*whole.pages, *added),
            targets={**site.targets, **whole.targets},
            sources={**site.sources, **whole.sources},
            outputs={**site.outputs, **whole.outputs},
        )
    return whole


def describe_site(
    config: MkDocsConfig, options: AnswerableConfig, name: str, url: str | None, language: str
) -> SiteMetadata:
    """Describe a site to its index. name, url, language: those of its pages as they were built."""
    translation = get_translation(language)
    contact = " ".join((options.contact or config.site_author or "").split())
    return SiteMetadata(
        name,
        url,
        language,
        translation.ask.replace("{contact}", contact) if contact else translation.route,
        tuple(filter(None, (name, config.site_author, *options.aliases))),
        " ".join((config.site_author or "").split()) or None,
    )


def resolve_language(files: Files, config: MkDocsConfig, option: str | None) -> str:
    """Resolve the language that is being built. option: ``language`` of the plugin.

    The i18n plugin builds one language after another, and marks each file with the current one.
    """
    locales = (getattr(file, "locale_alternate_of", None) for file in files.documentation_pages())
    configured = option or config.theme.get("language") or config.theme.get("locale")
    return str(next(filter(None, locales), configured or "en"))


def _read_source(
    file: File, page: Page, config: MkDocsConfig, language: str, files: Files
) -> PageSource:
    if not page.meta:
        # MkDocs prints front matter that it cannot read on the page, and says nothing of it.
        try:
            parse_front_matter(file.content_string, file.src_uri)
        except SiteError as error:
            log.warning("%s, since nothing of it counts, and MkDocs prints it on the page", error)
    # MkDocs gives a title as HTML.
    title = " ".join(html.unescape(_TAG.sub("", str(page.title or ""))).split())
    return PageSource(
        id=_record_id(file),
        url=_page_url(page.url, config),
        title=title or file.name,
        html=page.content,
        metadata=parse_metadata(page.meta),
        # The i18n plugin marks a file with the language of its text: a page without a translation
        # is not in the language of the build.
        language=str(getattr(file, "locale", None) or language),
        transcript=_read_transcript(file, page, files),
    )


def _read_transcript(file: File, page: Page, files: Files) -> Transcript | None:
    """Read the transcript that a page's front matter names, None without one; SiteError."""

    def find_file(path: str) -> Path | None:
        other = files.get_file_from_path(path)
        is_published = other is not None and other.inclusion.is_included()
        return Path(other.abs_src_path) if other and is_published and other.abs_src_path else None

    path, media = page.meta.get("transcript"), page.meta.get("media")
    return None if path is None else read_published_transcript(file.src_uri, path, media, find_file)


def _record_id(file: File) -> str:
    return str(PurePosixPath(file.src_uri).with_suffix(""))


def _page_url(url: str, config: MkDocsConfig) -> str:
    return resolve_site_path(config) + url.removeprefix("./").removeprefix("/")
