"""``answerable index`` and ``build``: a site that any generator builds, made answerable."""

import logging
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, field, replace
from functools import wraps
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

from ..indexing.answer_place import ANSWER_PLACES
from ..indexing.caches import ProcessPool
from ..indexing.generators import (
    OPTIONS_FILE,
    Project,
    detect_generator,
    find_config_file,
    normalize_path,
    read_project,
    run_generator,
)
from ..indexing.output.files import format_count, format_error
from ..indexing.widget.injection import make_issue_form
from ..serve.errors import SiteError
from .context import SiteLocation

if TYPE_CHECKING:
    from ..mkdocs.built_sites import BuiltSiteConfig

# The command line's name of an option, and the option that it stands for.
_FLAGS: Mapping[str, str] = {
    "notebook": "notebook",
    "cache": "cache",
    "language": "language",
    "out": "function",
    "endpoint": "widget.endpoint",
    "authors": "widget.authors",
    "answers_in": "answers_in",
}
# Those of pages that have no ask box without --inject.
_INJECTED = ("endpoint", "authors", "answers_in")


@dataclass(frozen=True, slots=True)
class SiteSource:
    """A site that a generator builds: its project, and what the command line says of it.

    ``settings``: by MkDocs' names. ``options``: those of the plugin, by name. ``base_url``: an
    address, or a path.
    """

    project: Project
    base_url: str | None = None
    settings: Mapping[str, object] = field(default_factory=dict)
    options: Mapping[str, object] = field(default_factory=dict)

    def load_config(self) -> "BuiltSiteConfig":
        """Load the site's configuration, or raise SiteError if it cannot be read."""
        from ..mkdocs.built_sites import load_built_site_config

        return load_built_site_config(self.project, self.settings, self.options)


def find_site(config_file: Path | None, site_dir: Path | None) -> Project:
    """Find the project of the site in a folder, without options where no file is for it.

    site_dir: None for the folder that the configuration names. SiteError without either.
    """
    file = config_file or find_config_file()
    if file.is_file():
        project = read_project(file, detect_generator(file))
        if site_dir is None or project.site_dir == normalize_path(site_dir):
            return project
    elif site_dir is None:
        raise SiteError(
            f"there is no {file}: run this in the site's folder, name its configuration with "
            f"-f FILE, or write {OPTIONS_FILE} with `command` and `site_dir`"
        )
    return Project("other", Path(OPTIONS_FILE), Path.cwd(), {"site_dir": str(site_dir)})


def site_options(command: Callable[..., None]) -> Callable[..., None]:
    """Declare the options that `index` and `serve` share, which a command gets as a SiteSource."""

    @wraps(command)
    @click.pass_obj
    def run(location: SiteLocation, /, site_dir: Path | None, **values: Any) -> None:
        unused = [name for name in _INJECTED if values.get(name) is not None]
        if unused and not values.get("inject", True):
            flag = unused[0].replace("_", "-")
            raise SiteError(f"--{flag}: no page gets it without --inject; add that or drop it")
        base_url, settings = values.pop("base_url"), {"site_name": values.pop("site_name")}
        authors = values.get("authors") or ""
        if "{" not in authors and make_issue_form(authors):
            # The form for issues is made of a repository, as of the one that pages link to.
            settings["repo_url"] = values.pop("authors")
        options = {
            _FLAGS[name]: str(value.absolute()) if isinstance(value, Path) else value
            for name, value in values.items()
            if name in _FLAGS and value is not None
        }
        others = {name: value for name, value in values.items() if name not in _FLAGS}
        source = SiteSource(
            find_site(location[1], site_dir),
            base_url,
            {name: value for name, value in settings.items() if value},
            options,
        )
        command(source, site_dir=site_dir, **others)

    options = (
        click.argument("site_dir", required=False, type=click.Path(path_type=Path)),
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
            help="Where vectors are kept between runs. Default: .cache/plugin/answerable.",
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
def index_command(source: SiteSource, /, site_dir: Path | None, inject: bool) -> None:
    """Make a function for SITE_DIR, a site that any generator has built."""
    del site_dir
    index_built_site(source, inject=inject)


@click.command("build")
@click.option("--command", help="What builds the site, as you type it. Default: its generator's.")
@click.option("--site", type=click.Path(path_type=Path), help="The folder that it is built into.")
@click.option("--strict", is_flag=True, help="Fail for a warning of the generator or of a gate.")
@click.pass_obj
def build_command(
    location: SiteLocation, command: str | None, site: Path | None, strict: bool
) -> None:
    """Build the site with its own generator, then index it and put the ask box into its pages."""
    build_site(location[1], command, site, strict=strict)


def build_site(
    config_file: Path | None, command: str | None, site: Path | None, *, strict: bool
) -> None:
    """Build a site and make it answerable, or raise SiteError if a step fails.

    command: what builds it in a shell, None for its generator's own. site: the folder of that.
    """
    project = find_built_project(config_file, command, site)
    if project.generator == "mkdocs":
        from ..mkdocs.site_config import find_plugin, load_mkdocs_config

        # Without the plugin, MkDocs would make a site that nobody can ask.
        find_plugin(load_mkdocs_config(project.file))
    run_generator(project, command, strict=strict)
    # The plugin has done the rest.
    if project.generator != "mkdocs":
        index_built_site(SiteSource(project), inject=True, strict=strict)


def find_built_project(config_file: Path | None, command: str | None, site: Path | None) -> Project:
    """Find the project to build, where no MkDocs runs the plugin for a command of one's own."""
    is_alone = command is not None and not (config_file or find_config_file()).is_file()
    project = find_site(config_file, (site or Path("site")) if is_alone else None)
    if site:
        project = replace(project, settings={**project.settings, "site_dir": str(site.absolute())})
    return replace(project, generator="other") if command else project


def index_built_site(source: SiteSource, *, inject: bool = False, strict: bool = False) -> None:
    """Index a built site, write its function's folder and, if asked to, the widget into its pages.

    strict: a failing gate is an error. SiteError and NotebookError name what has to change.
    """
    from ..mkdocs.built_sites import inject_widget_into_site, read_built_pages
    from ..mkdocs.publish import publish_build
    from ..mkdocs.site_config import find_plugin

    if not inject:
        # No page asks, so a browser that could answer is never there.
        source = replace(source, options={**source.options, "answers_in": "function"})
    with closing(ProcessPool()) as pool, echo_log(), TemporaryDirectory() as unpublished:
        try:
            config = source.load_config()
            plugin = find_plugin(config)
            output = None if inject else Path(unpublished)
            pages = read_built_pages(
                config, plugin, pool, output=output, base_url=source.base_url, strict=strict
            )
            publish_build(pages.build, click.echo)
            if inject:
                changed = inject_widget_into_site(pages)
                files = format_count(changed, "file")
                click.echo(f"The Ask button is in the pages; {files} changed")
        except OSError as error:
            raise SiteError(format_error(error)) from None


def echo_log() -> AbstractContextManager[None]:
    """Print the messages of a build, which the plugin leaves to the log of MkDocs."""

    from ..mkdocs.site_config import take_log

    def echo(message: str) -> None:
        click.echo(message.removeprefix("answerable: "), err=True)

    return take_log("mkdocs.plugins", echo, logging.INFO)
