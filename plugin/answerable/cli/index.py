"""``answerable index``: a site that any generator has built, made answerable."""

import shutil
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial, wraps
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote

import click

from ..indexing.answer_place import (
    ANSWER_PLACES,
    BROWSER_MESSAGE,
    ENDPOINT_REASON,
    NOTEBOOK_REASON,
    AnswerPlace,
    choose_answer_place,
    describe_function_needs,
    locate_unpublished_function,
    need_of_option,
)
from ..indexing.caches import ProcessPool
from ..indexing.html_site.built_site import (
    BuiltSite,
    BuiltSiteOptions,
    is_redirect,
    list_html_files,
    read_built_site,
)
from ..indexing.index import SiteInfo, choose_embedder_profile
from ..indexing.leak_audit.audit import walk_artifacts
from ..indexing.local_model import open_local_embedder
from ..indexing.notes import notebook as note_ids
from ..indexing.notes.notebook import Notebook
from ..indexing.output.files import (
    check_notebook_location,
    check_private_location,
    format_count,
    format_error,
    write_file,
)
from ..indexing.pages.page_index import CuttingRules, start_indexing_pages
from ..indexing.pipeline import (
    NO_ADDRESS_MESSAGE,
    FunctionPlan,
    SiteBuild,
    publish_site,
    read_site_notes,
)
from ..indexing.widget import injection
from ..indexing.widget.injection import (
    check_address,
    inject_widget,
    make_issue_form,
    read_widget_files,
)
from ..indexing.widget.site_files import (
    PublishedIndex,
    WidgetConfig,
    suggest_examples,
    write_widget_files,
)
from ..serve.embedders import local_embedder
from ..serve.embedders.embedder import Embedder
from ..serve.errors import SiteError
from ..serve.settings import FunctionSettings
from ..serve.structure import is_safe_url
from ..serve.text.languages import get_translation
from ..serve.vectors import encode_all_dimensions
from .context import DEFAULT_CACHE, DEFAULT_FUNCTION


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
        # Relative, but in 404.html, which any url may show.
        up = base if name == "404.html" else quote("../" * (len(PurePosixPath(name).parts) - 1))
        html = inject_widget(html, up + injection.WIDGET_SCRIPT, endpoint=endpoint)
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
    def run(site_dir: Path, notebook: Path | None, cache: Path, **others: Any) -> None:
        reading = BuiltSiteOptions(*map(others.pop, ("base_url", "site_name", "language")))
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
            default=DEFAULT_CACHE,
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
    help="Where the function is written. Default: function/, and none where the browser answers.",
)
@click.option("--inject", is_flag=True, help="Put the Ask button into every page of SITE_DIR.")
@click.option("--endpoint", help="Where the button asks. Default: _answerable/ under the site.")
@click.option(
    "--authors",
    help="Where a refusal leads: a repository, an address with {question}, or none. Default: the "
    "repository that the pages link to.",
)
@click.option(
    "--answers-in",
    type=click.Choice(ANSWER_PLACES),
    help="Where its questions are answered. Default: browser, unless something needs a function.",
)
def command(options: IndexOptions, /, **values: Any) -> None:
    """Make a function for SITE_DIR, a site that any generator has built."""
    index_built_site(options, **values)


def index_built_site(
    options: IndexOptions,
    out: Path | None,
    inject: bool = False,
    endpoint: str | None = None,
    authors: str | None = None,
    answers_in: AnswerPlace | None = None,
) -> None:
    """Index a built site, write its function's folder and, if asked to, the widget into its pages.

    out: None for the default folder, which is only written where a function answers. SiteError and
    NotebookError name what has to change.
    """
    try:
        check_folders(options, out or DEFAULT_FUNCTION)
        check_injection(inject, endpoint, authors, answers_in)
        place = _choose_place(options, endpoint, answers_in) if inject else "function"
        built, site, published = write_function_folder(options, out, place)
        if inject:
            # A browser that answers has no endpoint, also not that of an earlier run.
            link = "" if site.browser_folder else endpoint
            changed = inject_widget_into_site(options.folder, built.base, link)
            indexes = {built.language: published}
            # The form for issues of a repository, or an address as it is.
            form = None if "{" in (authors or "") else make_issue_form(authors or built.repository)
            config = WidgetConfig(
                examples=suggest_examples(site.pages),
                authors=None if authors == "none" else form or authors,
            )
            write_widget_files(options.folder, config, indexes)
            click.echo(f"The Ask button is in the pages; {format_count(changed, 'file')} changed")
    except OSError as error:
        raise SiteError(format_error(error)) from None


def write_function_folder(
    options: IndexOptions, out: Path | None, place: AnswerPlace
) -> tuple[BuiltSite, SiteBuild, PublishedIndex]:
    """Index a built site and write its function's folder, and its index where browsers answer."""
    built = read_built_site(options.folder, options.reading)
    with closing(ProcessPool()) as pool:
        site = describe_site(options, built, open_local_embedder(), pool)
        if place == "browser":
            site = replace(site, browser_folder=options.folder)
        has_function = out is not None or site.browser_folder is None
        unpublished = locate_unpublished_function(options.cache)
        folder = (out or DEFAULT_FUNCTION) if has_function else unpublished
        plan = FunctionPlan(folder, site, FunctionSettings(), has_function)
        notes = read_notes(options, site)
        if built.url is None and site.browser_folder is None:
            click.echo(NO_ADDRESS_MESSAGE % "--base-url", err=True)
        [(staged, manifest)] = publish_site(site, [plan], notes, click.echo)
    if has_function:
        shutil.rmtree(unpublished, ignore_errors=True)
    return built, site, PublishedIndex(manifest.id, manifest.built_at, staged.index.browser)


def _choose_place(
    options: IndexOptions, endpoint: str | None, answers_in: AnswerPlace | None
) -> AnswerPlace:
    """Choose where the button's questions are answered, and say what needs a function."""
    reasons = {
        "--notebook": options.notebook and NOTEBOOK_REASON,
        "--endpoint": endpoint is not None and ENDPOINT_REASON,
    }
    needs = [need_of_option(option, reason) for option, reason in reasons.items() if reason]
    place = choose_answer_place(answers_in, needs, "--answers-in")
    if place == "function" and answers_in is None and endpoint is None:
        setup = "deploy the function and set --endpoint"
        click.echo(describe_function_needs(needs, setup, "--answers-in"), err=True)
    if place == "browser":
        click.echo(BROWSER_MESSAGE % "--answers-in", err=True)
    return place


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
        choose_profile=partial(choose_embedder_profile, "local"),
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
