"""``answerable index``: index an HTML site of any generator and write its function's folder."""

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from functools import partial, wraps
from pathlib import Path, PurePosixPath
from urllib.parse import quote

import click

from ..indexing.error_messages import format_error
from ..indexing.html_site.built_site import (
    BuiltSite,
    BuiltSiteOptions,
    is_redirect,
    list_html_files,
    read_built_site,
)
from ..indexing.index import SiteInfo
from ..indexing.leak_audit.artifacts import walk_artifacts
from ..indexing.local_model import open_local_embedder
from ..indexing.notes import note_ids
from ..indexing.notes.note import Notebook
from ..indexing.output.atomic_files import write_file
from ..indexing.output.folder_overlap import check_notebook_location, check_private_location
from ..indexing.pages.page_cache import start_indexing_pages
from ..indexing.pages.page_index import CuttingRules
from ..indexing.pipeline import (
    NO_ADDRESS_MESSAGE,
    FunctionPlan,
    SiteBuild,
    publish_site,
    read_site_notes,
)
from ..indexing.plurals import format_count
from ..indexing.process_pool import ProcessPool
from ..indexing.widget import injection, widget_config
from ..indexing.widget.injection import inject_widget, read_widget_files
from ..indexing.widget.widget_config import WidgetConfig, format_widget_config
from ..serve.bundle_format.manifest import Manifest
from ..serve.bundle_format.profile import LOCAL_PROFILE
from ..serve.embedders import local_embedder
from ..serve.embedders.embedder import Embedder
from ..serve.errors import SiteError
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
    """Index a built site and write its function's folder; return the site and the manifest."""
    built = read_built_site(options.folder, options.reading)
    with closing(ProcessPool()) as pool:
        site = describe_site(options, built, open_local_embedder(), pool)
        plan = FunctionPlan(out, site, FunctionSettings())
        notes = read_notes(options, site)
        if built.url is None:
            click.echo(NO_ADDRESS_MESSAGE % "--base-url", err=True)
        [(_, manifest)] = publish_site(site, [plan], notes, click.echo)
    return built, manifest


def check_folders(options: IndexOptions, out: Path | None) -> None:
    """Refuse folders of ours in the site, and a notebook in a published place."""
    where = {"SITE_DIR": options.folder}
    private = {**where, "the function folder": out} if out else where
    if out:
        check_private_location("--out", out, where)
    check_private_location("--cache", options.cache, private)
    if options.notebook:
        check_notebook_location(options.notebook, private)


def describe_site(
    options: IndexOptions, built: BuiltSite, embedder: Embedder, pool: ProcessPool
) -> SiteBuild:
    """Describe a built site to the publishing pipeline; its pages are cut here."""
    outputs = {file: file for file in built.files.values() if file.endswith(".html")}
    return SiteBuild(
        info=SiteInfo(
            name=built.name,
            url=built.url,
            language=built.language,
            route=get_translation(built.language).route,
            names=(built.name,),
        ),
        pages=start_indexing_pages(built.sources, CuttingRules(), options.cache, pool).collect(),
        targets=built.targets,
        outputs=outputs,
        list_artifacts=partial(
            walk_artifacts, options.folder, options.folder.resolve().name, outputs
        ),
        cache=options.cache,
        pool=pool,
        embedder=embedder,
        encoding=LOCAL_ENCODING,
        choose_profile=lambda _: LOCAL_PROFILE,
        page_names=built.files,
    )


def read_notes(options: IndexOptions, site: SiteBuild) -> Notebook:
    """Read the notes of a site, if it has any, and say what its author has to know of them."""
    if not options.notebook:
        return Notebook()
    notebook = read_site_notes(site, options.notebook)
    if notebook.new_key:
        click.echo(note_ids.NEW_KEY_MESSAGE % notebook.new_key, err=True)
    if not notebook.notes:
        text = f"--notebook: {options.notebook} holds no note; write one or drop the option"
        click.echo(text, err=True)
    return notebook


def inject_widget_into_site(folder: Path, base: str, endpoint: str | None) -> int:
    """Put the widget into every page of a built site; return how many have changed.

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
    """Refuse an endpoint that is not a safe url, or that --inject does not put into a page."""
    if endpoint is not None and not inject:
        raise SiteError("--endpoint: no page gets it without --inject; add that or drop it")
    if endpoint is not None and not is_safe_url(endpoint):
        raise SiteError(
            f"--endpoint: {endpoint!r} is neither an http(s) url nor a path from the root; "
            "correct it, for example /ask/"
        )


def _script_url(name: str, base: str) -> str:
    """Return the script's url in a page: relative, but in 404.html, which any url may show."""
    if name == "404.html":
        return base + injection.WIDGET_SCRIPT
    depth = len(PurePosixPath(name).parts) - 1
    return quote("../" * depth + injection.WIDGET_SCRIPT)
