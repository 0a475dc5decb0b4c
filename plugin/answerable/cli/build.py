"""``answerable build``: a site that any generator builds, made answerable."""

import logging
from dataclasses import replace
from pathlib import Path

import click

from ..engine.errors import SiteError
from ..indexing.files import format_count
from ..indexing.generators import (
    OPTIONS_FILE,
    Project,
    normalize_path,
    read_project,
    run_generator,
)
from ..mkdocs.built_sites import inject_widget_into_site, load_built_site_config, read_built_pages
from ..mkdocs.options import resolve_endpoint
from ..mkdocs.publish import publish_build
from ..mkdocs.site_config import find_plugin, load_site
from .context import SiteLocation


def find_site(config_file: Path, site_dir: Path | None) -> Project:
    """Find the project of the site in a folder, without options where no file is for it.

    site_dir: None for the folder that the configuration names. SiteError without either.
    """
    if config_file.is_file():
        project = read_project(config_file)
        if site_dir is None or project.site_dir == normalize_path(site_dir):
            return project
    elif site_dir is None:
        raise SiteError(
            f"there is no {config_file}: run this in the site's folder, name its configuration "
            f"with -f FILE, or write {OPTIONS_FILE} with `command` and `site_dir`"
        )
    return Project("other", Path(OPTIONS_FILE), Path.cwd(), {"site_dir": str(site_dir)})


@click.command("build")
@click.option("--command", help="What builds the site, as you type it. Default: its generator's.")
@click.option("--site", type=click.Path(path_type=Path), help="The folder of the built site.")
@click.option("--strict", is_flag=True, help="Fail for a warning of the generator.")
@click.pass_obj
def command(location: SiteLocation, command: str | None, site: Path | None, strict: bool) -> None:
    """Build the site with its own generator, then index it and put the ask box into its pages."""
    project = find_built_project(location[1], command, site)
    if project.generator == "mkdocs":
        # Without the plugin, MkDocs would make a site that nobody can ask.
        load_site(project.file)
        run_generator(project, strict=strict)
        return
    if command or project.has_generator:
        run_generator(project, command, strict=strict)
    echo_log()
    config = load_built_site_config(project)
    build, base = read_built_pages(config, find_plugin(config))
    publish_build(build, click.echo)
    changed = inject_widget_into_site(build, base, resolve_endpoint(build.options))
    click.echo(f"The Ask button is in the pages; {format_count(changed, 'file')} changed")


def find_built_project(config_file: Path, command: str | None, site: Path | None) -> Project:
    """Find the project to build, where no MkDocs runs the plugin for a command of one's own."""
    is_alone = (command or site) is not None and not config_file.is_file()
    project = find_site(config_file, (site or Path("site")) if is_alone else None)
    if site:
        project = replace(project, settings={**project.settings, "site_dir": str(site.absolute())})
    return replace(project, generator="other") if command else project


class _EchoHandler(logging.Handler):
    """A handler that prints the messages of the plugin as the command's own."""

    def emit(self, record: logging.LogRecord) -> None:
        click.echo(record.getMessage().removeprefix("answerable: "), err=True)


def echo_log() -> None:
    """Print the messages of a build from now on, which the plugin leaves to the log of MkDocs."""
    log = logging.getLogger("mkdocs")
    log.handlers, log.propagate = [_EchoHandler()], False
    log.setLevel(logging.INFO)
