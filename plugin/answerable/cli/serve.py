"""``answerable serve``: a site with a live ask box, built again when its sources change."""

import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

import click

from ..engine.engine import Engine
from ..engine.errors import AnswerableError, SiteError
from ..function.dev import (
    ASK_BASE,
    Environ,
    StartResponse,
    create_dev_app,
    decode_path,
    format_agent_command,
    mount_ask_route,
)
from ..indexing.generators import Project, run_generator, serve_by_mkdocs
from ..mkdocs.built_sites import (
    BuiltSiteConfig,
    inject_widget_into_site,
    load_built_site_config,
    make_preview_server,
    read_built_pages,
)
from ..mkdocs.options import list_input_files
from ..mkdocs.publish import choose_preview_place, preview_build
from ..mkdocs.site_config import find_plugin
from .build import echo_log, find_site
from .context import SiteLocation


@dataclass(slots=True)
class SitePreview:
    """A copy of a built site with the ask box, and the engine of its last good index.

    ``site_dir``: the folder that was named, or None for the configuration's. ``command``: what
    builds the site instead of its generator's own command. ``is_built_here``: whether its sources
    are watched and built here; otherwise what another program builds is watched.
    """

    config_file: Path
    site_dir: Path | None
    command: str | None
    is_built_here: bool
    engine: Engine | None = None
    project: Project = field(init=False)
    config: BuiltSiteConfig = field(init=False)

    @property
    def folder(self) -> Path:
        """The folder of the copy, which is served: the site's own folder is only read."""
        return Path(find_plugin(self.config).config.cache) / "preview"

    def build(self) -> str:
        """Build, copy and index the site, and return the path that it is served under.

        SiteError if it cannot be built or read. An index that fails is an error printed.
        """
        self.project = find_site(self.config_file, self.site_dir)
        self.config = load_built_site_config(self.project)
        if self.is_built_here:
            run_generator(self.project, self.command)
        plugin = find_plugin(self.config)
        build, base = read_built_pages(self.config, plugin, output=self.folder)
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(self.config.site_dir, self.folder, ignore=_list_unserved)
        try:
            self.engine = preview_build(build, click.echo)
        except (AnswerableError, OSError) as error:
            self.print_error(str(error))
        in_browser = choose_preview_place(build.options) == "browser"
        inject_widget_into_site(build, base, None if in_browser else base + ASK_BASE)
        return unquote(base)

    def rebuild(self) -> None:
        """Build the site again; an error is printed and leaves the last engine."""
        try:
            self.build()
        except (AnswerableError, OSError) as error:
            self.print_error(str(error))
        except Exception as error:
            # Its own text may hold words of a note.
            name = type(error).__name__
            self.print_error(f"the site could not be indexed: {name}; please report it")

    def print_error(self, message: str) -> None:
        """Print an error, and what answers nevertheless."""
        state = "answers come from the last good index" if self.engine else "no answers yet"
        click.echo(f"{message} ({state})", err=True)

    def list_watched(self) -> Iterator[Path]:
        """List the folders and files that the site and its index are made from.

        A generator that writes among its sources would build forever.
        """
        options = find_plugin(self.config).config
        yield from (self.project.file, *list_input_files(options))
        if not self.is_built_here:
            yield Path(self.config.site_dir)
            return
        written = (self.config.site_dir, options.cache, options.function)
        top = Path(self.config.docs_dir or self.project.folder)
        if self.config.docs_dir and not any(Path(name).is_relative_to(top) for name in written):
            yield top
            return
        for path in top.iterdir():
            is_written = any(Path(name).is_relative_to(path) for name in written)
            is_library = path.name == "node_modules" or (path / "pyvenv.cfg").exists()
            if not (path.name.startswith(".") or is_written or is_library):
                yield path


def _list_unserved(folder: str, names: Iterable[str]) -> list[str]:
    """List the files of a folder that are not served: hidden files and symbolic links."""
    return [
        name
        for name in names
        if (name.startswith(".") and name != ".well-known") or Path(folder, name).is_symlink()
    ]


@click.command("serve")
@click.argument("site_dir", required=False, type=click.Path(path_type=Path))
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(1, 65_535),
    default=8000,
    show_default=True,
    help="The port to listen on.",
)
@click.option("--command", help="What builds the site, as you type it. Default: its generator's.")
@click.pass_obj
def command(
    location: SiteLocation, site_dir: Path | None, host: str, port: int, command: str | None
) -> None:
    """Serve the site with a live ask box, and build it again when its sources change.

    SITE_DIR alone is served as it is: a folder that a generator builds elsewhere.
    """
    project = find_site(location[1], site_dir)
    is_built_here = command is not None or (site_dir is None and project.has_generator)
    if is_built_here and project.generator == "mkdocs" and command is None:
        # The plugin does all of it.
        serve_by_mkdocs(project, f"{host}:{port}")
    echo_log()
    _serve(SitePreview(location[1], site_dir, command, is_built_here), host, port)


def _serve(preview: SitePreview, host: str, port: int) -> None:
    """Serve until Ctrl-C; SiteError if the site cannot be built or read, or the port is taken."""
    base = preview.build()
    server = make_preview_server(preview.rebuild, host, port, preview.folder, base)
    ask_app = create_dev_app(base + ASK_BASE, host, lambda: preview.engine)

    def serve_page(environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        path = decode_path(environ)
        # Docusaurus and others link to pages without the suffix, and hosts add it.
        if (preview.folder / f"{path.removeprefix(base)}.html").is_file():
            environ["PATH_INFO"] += ".html"
        return server.serve_request(environ, start_response)

    server.set_app(mount_ask_route(serve_page, ask_app, base + ASK_BASE))
    for path in preview.list_watched():
        if path.exists():
            server.watch(str(path))
    click.echo(
        f"To let a coding agent ask this site: {format_agent_command(server.url + ASK_BASE)}"
    )
    try:
        server.serve()  # type: ignore[no-untyped-call]
    except KeyboardInterrupt:
        pass
    except OSError as error:
        raise SiteError(
            f"--port: {host}:{port} cannot be listened on ({error.strerror}); choose another"
        ) from None
    finally:
        server.shutdown()
