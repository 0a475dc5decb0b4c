"""``answerable index``: a built site, by any generator, as a function folder."""

from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path, PurePosixPath
from urllib.parse import quote

import click

from ..build import (
    audit,
    built_site,
    corpus,
    facts,
    files,
    function_writer,
    injection,
    note_ids,
    notebook,
    places,
    site,
    targets,
)
from ..build import index as indexes
from ..build.artifacts import Artifact
from ..build.built_site import BuiltSite
from ..build.cutting import Rules
from ..build.facts import Facts
from ..build.index import Index, SiteInfo
from ..build.notebook import Note, Notebook
from ..build.workers import Workers
from ..faces import clock, failing, progress
from ..serve import encoding, local_embedder, providers, routes
from ..serve.embedder import Embedder
from ..serve.errors import SiteError
from ..serve.manifest import Manifest
from ..serve.profile import LOCAL
from ..serve.settings import Settings
from ..serve.urls import is_safe_url

ENCODING = encoding.whole(local_embedder.IDENTITY.dimensions)


@dataclass(frozen=True, slots=True)
class Options:
    """What is asked of one built site: where it is, what goes with it and where things are put."""

    folder: Path
    notebook: Path | None
    cache: Path
    reading: built_site.Options


def index(
    options: Options, out: Path, *, inject: bool = False, endpoint: str | None = None
) -> None:
    """Index a built site, write its function's folder and, if asked to, the widget into its pages.

    SiteError and NotebookError name what has to change.
    """
    try:
        check(options, out)
        check_endpoint(inject, endpoint)
        read, manifest = write(options, out)
        if inject:
            changed = put_widget(options.folder, read.base, endpoint)
            files.write(options.folder / facts.PATH, facts.contents(Facts(), manifest.id))
            click.echo(f"The Ask button is in the pages; {site.count(changed, 'file')} changed")
    except OSError as error:
        raise SiteError(failing.sentence(error)) from None


def write(options: Options, out: Path) -> tuple[BuiltSite, Manifest]:
    """Index a built site and write its function's folder; the site as read, and its bundle."""
    read = built_site.read(options.folder, options.reading)
    private = read_notes(options, read)
    made = indexed(options, read, private, embedder())

    identity = local_embedder.IDENTITY
    staged = site.stage(made, out, Settings(), ENCODING, auditor(options, read, private))
    manifest = site.publish(staged, identity, LOCAL, clock.now())
    click.echo(site.summary(manifest, made, out))
    return read, manifest


def check(options: Options, out: Path | None) -> None:
    """Refuse folders of ours in the site, and a notebook in a published place."""
    where = {"SITE_DIR": options.folder}
    private = {**where, "the function folder": out} if out else where
    if out:
        places.check_outside("--out", out, where)
    places.check_outside("--cache", options.cache, private)
    if options.notebook:
        places.check_notebook(options.notebook, private)


def read_notes(options: Options, read: BuiltSite) -> Notebook:
    """The notes and drafts, each with the files of the site that it says publish it."""
    if not options.notebook:
        return Notebook()
    resolve, pages = targets.resolver(read.targets), _pages(read)
    checks = (
        lambda note: targets.check(note, resolve, read.language),
        lambda note: audit.check_pages(_with_files(note, read), pages),
    )
    found = notebook.read_all(options.notebook, checks, writes_key=True)
    if found.new_key:
        click.echo(note_ids.NEW_KEY % found.new_key, err=True)
    if not found.notes:
        text = f"--notebook: {options.notebook} holds no note; write one or drop the option"
        click.echo(text, err=True)
    return replace(
        found,
        notes=tuple(_with_files(note, read) for note in found.notes),
        drafts=tuple(_with_files(note, read) for note in found.drafts),
        unrouted=tuple(_with_files(note, read) for note in found.unrouted),
    )


def _with_files(note: Note, read: BuiltSite) -> Note:
    names = (name.removeprefix("/") for name in note.published_in)
    return replace(note, published_in=tuple(read.files.get(name, name) for name in names))


def auditor(options: Options, read: BuiltSite, private: Notebook) -> site.Audit:
    """The leak audit of the site together with what is made from it."""

    def check(more: Iterable[Artifact]) -> None:
        with closing(Workers()) as workers:
            written = chain(published(options, read), more)
            audit.check(private.notes, written, options.cache, workers, private.withheld)

    return check


def published(options: Options, read: BuiltSite) -> Iterable[Artifact]:
    """All that the site publishes, for the leak audit."""
    return audit.folder(options.folder, options.folder.resolve().name, _pages(read))


def _pages(read: BuiltSite) -> dict[str, str]:
    return {file: file for file in read.files.values() if file.endswith(".html")}


def embedder() -> Embedder:
    """The keyless embedder."""
    return providers.embedder(local_embedder.IDENTITY, function_writer.model_folder(), Settings())


def indexed(options: Options, read: BuiltSite, private: Notebook, chosen: Embedder) -> Index:
    """The index of a site that was read."""
    info = SiteInfo(
        name=read.name,
        url=read.url,
        language=read.language,
        route=routes.template(read.language),
        names=(read.name,),
    )
    with progress.reporting() as report:
        return indexes.build(
            info,
            corpus.read(read.sources, Rules(), options.cache),
            private.notes,
            targets.resolver(read.targets),
            chosen,
            cache_folder=options.cache,
            progress=report,
        )


def put_widget(folder: Path, base: str, endpoint: str | None) -> int:
    """Put the widget into every page of a built site; how many have changed.

    base: the path of the site. A second run changes no byte.
    """
    for name, text in injection.assets().items():
        files.write(folder / name, text.encode())
    changed = 0
    for name in built_site.html_files(folder):
        path = folder / name
        if path.is_symlink():
            # The page that it leads to is changed by itself if it is the site's.
            continue
        before = path.read_bytes()
        # Any byte is carried over, whatever the page's encoding is.
        html = before.decode("utf-8", errors="surrogateescape")
        if built_site.is_redirect(html):
            continue
        html = injection.inject(html, _script_url(name, base), endpoint=endpoint)
        after = html.encode("utf-8", errors="surrogateescape")
        files.write(path, after, keep_mode=True)
        changed += after != before
    return changed


def check_endpoint(inject: bool, endpoint: str | None) -> None:
    """Refuse an address that no page can ask at, or that no page is told."""
    if endpoint is not None and not inject:
        raise SiteError("--endpoint: no page is told of it without --inject; add that or drop it")
    if endpoint is not None and not is_safe_url(endpoint):
        raise SiteError(
            f"--endpoint: {endpoint!r} is neither an http(s) url nor a path from the root; "
            "correct it, for example /ask/"
        )


def _script_url(name: str, base: str) -> str:
    """The script's url in a page: relative, but in 404.html, which any url may show."""
    if name == "404.html":
        return base + injection.SCRIPT
    depth = len(PurePosixPath(name).parts) - 1
    return quote("../" * depth + injection.SCRIPT)
