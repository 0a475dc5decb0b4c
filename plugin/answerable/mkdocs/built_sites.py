"""Sites that another generator builds: their configuration, and what it has built, indexed."""

from collections.abc import Callable
from pathlib import Path, PurePosixPath
from urllib.parse import quote

from mkdocs.config import config_options as c
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.livereload import LiveReloadServer
from mkdocs.plugins import get_plugin_logger

from ..engine.errors import SiteError
from ..indexing.files import write_file
from ..indexing.generators import OPTIONS_FILE, Project
from ..indexing.html_site.articles import is_redirect
from ..indexing.html_site.built_site import list_html_files, read_built_site
from ..indexing.pages.cache import start_indexing_pages
from ..indexing.widget import injection
from ..indexing.widget.injection import inject_tags, read_widget_files
from .options import read_cutting_rules
from .pages import FinishedBuild, SitePages, describe_site
from .plugin import AnswerablePlugin
from .publish import check_site_options
from .widget import make_widget_config, write_widget_tags

log = get_plugin_logger(__name__)


class BuiltSiteConfig(MkDocsConfig):
    """Settings of a site that another generator builds, by the names and types of MkDocs."""

    site_name = c.Type(str, default="")
    # Sphinx's sources are often in the project's own folder.
    docs_dir = c.Optional(c.Dir(exists=True))  # type: ignore[assignment]
    site_dir = c.Dir(default="site")


def load_built_site_config(project: Project) -> BuiltSiteConfig:
    """Load what a project's file says of its site and of the plugin, which is always in it.

    SiteError in the words of MkDocs for a value of another type.
    """
    config = BuiltSiteConfig(config_file_path=str(project.folder / OPTIONS_FILE))
    settings = {name: value for name, value in project.settings.items() if name != "command"}
    # A published site has pages of its own, so neither a theme nor another plugin matters.
    plugins = {"answerable": dict(project.options)}
    config.load_dict({**settings, "plugins": plugins})
    errors, warnings = config.validate()
    for name, warning in warnings:
        log.warning("%s: %s: %s", project.file, name, warning)
    if errors:
        problems = "; ".join(f"{name}: {error}" for name, error in errors)
        file = f"{project.file} cannot be read: " if project.file.is_file() else ""
        raise SiteError(f"{file}{problems}; correct that")
    return config


def list_published_folders(config: MkDocsConfig) -> dict[str, Path]:
    """List the folders whose files are published, by the names of their options.

    Sources that lie beside the configuration are not published with all that lies there.
    """
    published = {"site_dir": Path(config.site_dir)}
    file = Path(config.config_file_path)
    if config.docs_dir and not file.is_relative_to(config.docs_dir):
        published = {"docs_dir": Path(config.docs_dir), **published}
    return published


def read_built_pages(
    config: MkDocsConfig, plugin: AnswerablePlugin, *, output: Path | None = None
) -> tuple[FinishedBuild, str]:
    """Read what a generator has built into site_dir, with the front matter of its sources.

    output: where files for readers are written; None for the site's own folder. Returns the path
    that the site is served under too, with slashes around it. SiteError for a site that cannot be
    read.
    """
    options = plugin.config
    check_site_options(options, list_published_folders(config))
    folder = Path(config.site_dir)
    built = read_built_site(
        folder,
        base_url=config.site_url or None,
        name=config.site_name or None,
        language=options.language,
        docs=Path(config.docs_dir) if config.docs_dir else None,
    )
    rules = read_cutting_rules(options)
    site = SitePages(
        info=describe_site(config, options, built.name, built.url, built.language),
        pages=start_indexing_pages(built.sources, rules, Path(options.cache))(),
        targets=built.targets,
        sources=built.records,
        outputs=built.outputs,
        enrichment=rules.enrichment,
        page_names=built.files,
    )
    build = FinishedBuild(
        options=options,
        site=site,
        folder=folder,
        output=output or folder,
        embedder=plugin.open_embedder(),
        author=config.site_author,
        widget_config=make_widget_config(config, options, site.pages, ""),
        is_offline=bool(options.offline) and output is None,
    )
    return build, built.base


def inject_widget_into_site(build: FinishedBuild, base: str, endpoint: str | None) -> int:
    """Put the widget into every page of a built site, and return how many files have changed.

    A second run changes no byte. base: the path that the site is served under. endpoint: None
    leaves it to the page.
    """
    folder, options = build.output, build.options
    for name, text in read_widget_files().items():
        write_file(folder / name, text.encode())
    script = injection.OFFLINE_SCRIPT if build.is_offline else injection.WIDGET_SCRIPT
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
        depth = len(PurePosixPath(name).parts) - 1
        up = base if name == "404.html" else quote("../" * depth)
        html = inject_tags(html, write_widget_tags(up + script, endpoint, options))
        after = html.encode("utf-8", errors="surrogateescape")
        write_file(path, after)
        changed += after != before
    return changed


def make_preview_server(
    rebuild: Callable[[], None], host: str, port: int, folder: Path, base: str
) -> LiveReloadServer:
    """Make MkDocs' own development server of the pages in a folder, with their page of errors."""

    def read_error_page(code: int) -> bytes | None:
        page = folder / f"{code}.html"
        return page.read_bytes() if page.is_file() else None

    server = LiveReloadServer(rebuild, host, port, str(folder), base)
    server.error_handler = read_error_page
    return server
