"""``answerable index``: index a site that any generator has built and write its function."""

from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass, replace
from functools import wraps
from itertools import chain
from pathlib import Path, PurePosixPath
from urllib.parse import quote

import click

from ..indexing.build_time import read_build_time
from ..indexing.error_messages import format_error
from ..indexing.html_site.built_site import (
    BuiltSite,
    BuiltSiteOptions,
    is_redirect,
    list_html_files,
    read_built_site,
)
from ..indexing.index import SiteIndex, SiteInfo, build_index
from ..indexing.leak_audit.artifacts import Artifact, walk_artifacts
from ..indexing.leak_audit.audit import audit_artifacts, check_published_in
from ..indexing.notes import note_ids
from ..indexing.notes.note import Note, Notebook
from ..indexing.notes.note_places import make_about_resolver
from ..indexing.notes.notebook import read_notebook
from ..indexing.notes.routing_hints import check_about
from ..indexing.output.atomic_files import write_file
from ..indexing.output.folder_overlap import check_notebook_location, check_private_location
from ..indexing.output.function_writer import find_model_folder
from ..indexing.pages.page_cache import index_pages
from ..indexing.pages.page_index import CuttingRules
from ..indexing.pipeline import (
    AuditArtifacts,
    format_count,
    publish_function,
    stage_function,
    summarize_build,
)
from ..indexing.process_pool import ProcessPool
from ..indexing.progress import show_progress
from ..indexing.widget import injection, widget_config
from ..indexing.widget.injection import inject_widget, read_widget_files
from ..indexing.widget.widget_config import WidgetConfig, format_widget_config
from ..serve.bundle_format.manifest import Manifest
from ..serve.bundle_format.profile import LOCAL_PROFILE
from ..serve.embedders import local_embedder
from ..serve.embedders.embedder import Embedder
from ..serve.errors import SiteError
from ..serve.providers import make_embedder
from ..serve.settings import FunctionSettings
from ..serve.structure import is_safe_url
from ..serve.text.languages import get_translation
from ..serve.vectors.encodings import encode_all_dimensions

LOCAL_ENCODING = encode_all_dimensions(local_embedder.LOCAL_IDENTITY.dimensions)


@dataclass(frozen=True, slots=True)
class IndexOptions:
    """Options of one built site: its folder, its notes, the cache and what to read of its pages."""

    folder: Path
    notebook: Path | None
    cache: Path
    reading: BuiltSiteOptions


def site_options(command: Callable[..., None]) -> Callable[..., None]:
    """Declare the options that `index` and `serve` share; a command gets them as IndexOptions."""

    @wraps(command)
    def run(
        site_dir: Path,
        notebook: Path | None,
        base_url: str | None,
        site_name: str | None,
        language: str | None,
        cache: Path,
        **others: object,
    ) -> None:
        reading = BuiltSiteOptions(base_url, site_name, language)
        command(IndexOptions(site_dir, notebook, cache, reading), **others)

    options = (
        click.argument("site_dir", type=click.Path(path_type=Path)),
        click.option(
            "--notebook", type=click.Path(path_type=Path), help="The private notes. Default: none."
        ),
        click.option(
            "--base-url",
            help="Where the site is published. Default: its first page's canonical link, else /.",
        ),
        click.option("--site-name", help="The site's name. Default: as its pages say."),
        click.option("--language", help="The language of all pages. Default: as each page says."),
        click.option(
            "--cache",
            type=click.Path(path_type=Path),
            default=Path(".cache", "plugin", "answerable"),
            show_default=True,
            help="Where vectors are kept between runs.",
        ),
    )
    declared: Callable[..., None] = run
    for option in reversed(options):
        declared = option(declared)
    return declared


@click.command("index")
@site_options
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("function"),
    show_default=True,
    help="Where the function is written.",
)
@click.option("--inject", is_flag=True, help="Put the Ask button into every page of SITE_DIR.")
@click.option("--endpoint", help="Where the button asks. Default: _answerable/ under the site.")
def command(options: IndexOptions, out: Path, inject: bool, endpoint: str | None) -> None:
    """Make a function for SITE_DIR, a site that any generator has built."""
    index_built_site(options, out, inject=inject, endpoint=endpoint)


def index_built_site(
    options: IndexOptions, out: Path, *, inject: bool = False, endpoint: str | None = None
) -> None:
    """Index a built site, write its function's folder and, if asked to, the widget into its pages.

    SiteError and NotebookError name what has to change.
    """
    try:
        check_folders(options, out)
        check_endpoint(inject, endpoint)
        site, manifest = write_function_folder(options, out)
        if inject:
            changed = inject_widget_into_site(options.folder, site.base, endpoint)
            write_file(
                options.folder / widget_config.WIDGET_CONFIG_PATH,
                format_widget_config(WidgetConfig(), manifest.id),
            )
            click.echo(f"The Ask button is in the pages; {format_count(changed, 'file')} changed")
    except OSError as error:
        raise SiteError(format_error(error)) from None


def write_function_folder(options: IndexOptions, out: Path) -> tuple[BuiltSite, Manifest]:
    """Index a built site and write its function's folder; the site as read, and its bundle."""
    read = read_built_site(options.folder, options.reading)
    private = read_site_notes(options, read)
    made = index_site_pages(options, read, private, open_local_embedder())

    identity = local_embedder.LOCAL_IDENTITY
    staged = stage_function(
        made, out, FunctionSettings(), LOCAL_ENCODING, make_auditor(options, read, private)
    )
    manifest = publish_function(staged, identity, LOCAL_PROFILE, read_build_time())
    click.echo(summarize_build(manifest, made, out))
    return read, manifest


def check_folders(options: IndexOptions, out: Path | None) -> None:
    """Refuse folders of ours in the site, and a notebook in a published place."""
    where = {"SITE_DIR": options.folder}
    private = {**where, "the function folder": out} if out else where
    if out:
        check_private_location("--out", out, where)
    check_private_location("--cache", options.cache, private)
    if options.notebook:
        check_notebook_location(options.notebook, private)


def read_site_notes(options: IndexOptions, read: BuiltSite) -> Notebook:
    """The notes and drafts, each with the files of the site that it says publish it."""
    if not options.notebook:
        return Notebook()
    resolve, pages = make_about_resolver(read.targets), _html_outputs(read)
    checks = (
        lambda note: check_about(note, resolve, read.language),
        lambda note: check_published_in(_resolve_published_in(note, read), pages),
    )
    found = read_notebook(options.notebook, checks, writes_key=True)
    if found.new_key:
        click.echo(note_ids.NEW_KEY_MESSAGE % found.new_key, err=True)
    if not found.notes:
        text = f"--notebook: {options.notebook} holds no note; write one or drop the option"
        click.echo(text, err=True)
    return replace(
        found,
        notes=tuple(_resolve_published_in(note, read) for note in found.notes),
        drafts=tuple(_resolve_published_in(note, read) for note in found.drafts),
        unrouted=tuple(_resolve_published_in(note, read) for note in found.unrouted),
    )


def _resolve_published_in(note: Note, read: BuiltSite) -> Note:
    names = (name.removeprefix("/") for name in note.published_in)
    return replace(note, published_in=tuple(read.files.get(name, name) for name in names))


def make_auditor(options: IndexOptions, read: BuiltSite, private: Notebook) -> AuditArtifacts:
    """The leak audit of the site together with what is made from it."""

    def check(more: Iterable[Artifact]) -> None:
        with closing(ProcessPool()) as workers:
            written = chain(list_published_artifacts(options, read), more)
            audit_artifacts(private.notes, written, options.cache, workers, private.unindexed)

    return check


def list_published_artifacts(options: IndexOptions, read: BuiltSite) -> Iterable[Artifact]:
    """All that the site publishes, for the leak audit."""
    return walk_artifacts(options.folder, options.folder.resolve().name, _html_outputs(read))


def _html_outputs(read: BuiltSite) -> dict[str, str]:
    return {file: file for file in read.files.values() if file.endswith(".html")}


def open_local_embedder() -> Embedder:
    """The keyless embedder."""
    return make_embedder(local_embedder.LOCAL_IDENTITY, find_model_folder(), FunctionSettings())


def index_site_pages(
    options: IndexOptions, read: BuiltSite, private: Notebook, chosen: Embedder
) -> SiteIndex:
    """The index of a site that was read."""
    info = SiteInfo(
        name=read.name,
        url=read.url,
        language=read.language,
        route=get_translation(read.language).route,
        names=(read.name,),
    )
    with show_progress() as report:
        return build_index(
            info,
            index_pages(read.sources, CuttingRules(), options.cache),
            private.notes,
            make_about_resolver(read.targets),
            chosen,
            cache_folder=options.cache,
            progress=report,
        )


def inject_widget_into_site(folder: Path, base: str, endpoint: str | None) -> int:
    """Put the widget into every page of a built site; how many have changed.

    base: the path of the site. A second run changes no byte.
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
        return base + injection.WIDGET_SCRIPT
    depth = len(PurePosixPath(name).parts) - 1
    return quote("../" * depth + injection.WIDGET_SCRIPT)
