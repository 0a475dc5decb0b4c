"""MkDocs' pages and files as what an index is made of."""

import html
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from pathlib import Path, PurePosixPath
from urllib.parse import quote, urlsplit

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from ..build import corpus, records
from ..build.corpus import Pending
from ..build.cutting import CutRecord, Rules
from ..build.index import SiteInfo
from ..build.records import Source
from ..build.workers import Workers
from ..serve import routes
from . import versions
from .config import AnswerableConfig

_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")


@dataclass(frozen=True, slots=True)
class Site:
    """What one build has published: its pages, where links to them lead, and its own files.

    ``targets``: by docs path. ``sources``: the docs path of each record; ``outputs``: that of the
    page in each file of the site. ``enrichment``: what its owner adds, by record.
    """

    info: SiteInfo
    pages: tuple[CutRecord, ...]
    targets: Mapping[str, tuple[str, frozenset[str]]]
    sources: Mapping[str, str]
    outputs: Mapping[str, str]
    enrichment: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Reading:
    """A build whose pages are being cut while MkDocs writes them.

    ``urls``: of each published file, by docs path; the rest as a site's.
    """

    info: SiteInfo
    pending: Pending
    urls: Mapping[str, str]
    sources: Mapping[str, str]
    outputs: Mapping[str, str]
    enrichment: Mapping[str, str]

    def site(self) -> Site:
        """The site, once its pages are cut. SiteError if one cannot be read."""
        pages = self.pending.pages()
        anchors = {self.sources[page.record.id]: page.record.anchors for page in pages}
        return Site(
            info=self.info,
            pages=pages,
            targets={
                name: (url, anchors.get(name, frozenset())) for name, url in self.urls.items()
            },
            sources=self.sources,
            outputs=self.outputs,
            enrichment=self.enrichment,
        )


def begin(
    files: Files,
    config: MkDocsConfig,
    info: SiteInfo,
    rules: Rules,
    cache_folder: Path,
    workers: Workers,
) -> Reading:
    """Begin to read every published page; drafts and excluded pages are not among them.

    UnreadPageError if a dirty build has left out a page that no earlier build has kept.
    """
    sources = _sources(files, config, info.language)
    return Reading(
        info=info,
        pending=corpus.start(sources, rules, cache_folder, workers),
        urls={f.src_uri: _url(f.url, config) for f in files if f.inclusion.is_included()},
        sources={_id(file): file.src_uri for file in files.documentation_pages()},
        outputs=outputs(files),
        enrichment=rules.enrichment,
    )


def outputs(files: Files) -> dict[str, str]:
    """The docs path of the page in each file of the site."""
    return {file.dest_uri: file.src_uri for file in files.documentation_pages()}


def merge(sites: Iterable[Site]) -> Site:
    """Several languages of a site as one; a page that stands in for another language's is not
    repeated.
    """
    return reduce(_merged, sites)


def _merged(first: Site, second: Site) -> Site:
    known = {page.record.id for page in first.pages}
    more = (page for page in second.pages if page.record.id not in known)
    return Site(
        info=first.info,
        pages=(*first.pages, *more),
        targets={**second.targets, **first.targets},
        sources={**second.sources, **first.sources},
        outputs={**second.outputs, **first.outputs},
        # One file has it for all languages.
        enrichment=first.enrichment,
    )


def site_path(config: MkDocsConfig) -> str:
    """The path that the site is served under, with a slash at both ends."""
    url = versions.site_url(config) or "/"
    path = quote(urlsplit(url).path.strip("/"), safe="/%:@!$&'()*+,;=~")
    return f"/{path}/" if path else "/"


def info(files: Files, config: MkDocsConfig, options: AnswerableConfig) -> SiteInfo:
    """What an index is told of the site, in the language that is being built."""
    tag = language(files, config, options.language)
    names = (config.site_name, config.site_author, *options.aliases)
    return SiteInfo(
        config.site_name,
        versions.site_url(config),
        tag,
        options.answers.route or routes.template(tag),
        tuple(name for name in names if name),
    )


def language(files: Files, config: MkDocsConfig, given: str | None) -> str:
    """The language that is being built. given: the option.

    An i18n plugin builds one language after another, and tells which one by each file.
    """
    told = (getattr(file, "locale_alternate_of", None) for file in files.documentation_pages())
    theme = config.theme.get("language") or config.theme.get("locale") or "en"
    return str(next(filter(None, told), given or theme))


def _sources(files: Files, config: MkDocsConfig, language: str) -> Iterator[Source]:
    for file in files.documentation_pages():
        if file.page:
            yield _source(file, file.page, config, language)


def _source(file: File, page: Page, config: MkDocsConfig, language: str) -> Source:
    return Source(
        id=_id(file),
        url=_url(page.url, config),
        title=_plain(str(page.title or "")) or file.name,
        html=page.content,
        metadata=records.metadata(page.meta),
        # The i18n plugin says of a file in which language its text is, which for a page that is
        # not translated yet is not the language of the build.
        language=str(getattr(file, "locale", None) or language),
    )


def _plain(title: str) -> str:
    """A title as a page shows it: MkDocs has it as HTML."""
    return " ".join(html.unescape(_TAG.sub("", title)).split())


def _id(file: File) -> str:
    return str(PurePosixPath(file.src_uri).with_suffix(""))


def _url(url: str, config: MkDocsConfig) -> str:
    return site_path(config) + url.removeprefix("./").removeprefix("/")
