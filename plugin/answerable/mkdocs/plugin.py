"""The MkDocs plugin: indexes pages, adds the ask box, publishes a bundle or serves a preview."""

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from jinja2 import Environment
from mkdocs.config.base import ConfigErrors, ConfigWarnings, ValidationError
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.livereload import LiveReloadServer
from mkdocs.plugins import BasePlugin, event_priority, get_plugin_logger
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from mkdocs.utils import get_relative_url

from ..engine.errors import AnswerableError
from ..engine.providers import find_provider
from ..engine.vectors import Embedder
from ..indexing.files import format_error
from ..indexing.local_model import make_build_embedder
from ..indexing.pages.cache import UnreadPageError
from ..indexing.widget import injection
from ..indexing.widget.injection import inject_tags, read_widget_files
from .options import (
    AnswerableConfig,
    explain_unknown_option,
    is_offline_build,
    is_preview_build,
    list_input_files,
    read_cutting_rules,
    resolve_endpoint,
    resolve_identity,
    resolve_settings,
    resolve_site_path,
    resolve_site_url,
)
from .pages import (
    FinishedBuild,
    SitePages,
    describe_site,
    map_outputs,
    merge_languages,
    resolve_language,
    start_reading_pages,
)
from .publish import audit_unindexed_site, check_site_options, preview_build, publish_build
from .widget import find_theme_search, make_widget_config, write_widget_tags

if TYPE_CHECKING:
    from ..engine.engine import Engine

log = get_plugin_logger(__name__)


class AnswerablePlugin(BasePlugin[AnswerableConfig]):
    """Make a site answerable while MkDocs builds it."""

    def __init__(self) -> None:
        self._command = "build"
        self._preview = False
        self._script = injection.WIDGET_SCRIPT
        self._nested_builds = 0
        self._pending: list[Callable[[], SitePages]] = []
        self._complete = True
        # The docs path of each page by its path in the site, also of pages that were not read.
        self._outputs: dict[str, str] = {}
        self._endpoint: str | None = None
        self._embedder: Embedder | None = None
        self._engine: Engine | None = None

    def load_config(
        self, options: dict[str, Any], config_file_path: str | None = None
    ) -> tuple[ConfigErrors, ConfigWarnings]:
        """Load the options, and name the one that an unknown name may mean."""
        errors, warnings = super().load_config(options, config_file_path)
        explained: ConfigWarnings = []
        for key, warning in warnings:
            text, is_error = explain_unknown_option(key, warning)
            if is_error:
                errors.append((key, ValidationError(text)))
            else:
                explained.append((key, text))
        return errors, explained

    def on_startup(self, *, command: str, dirty: bool) -> None:
        """Remember the command; a plugin with this event lives across the rebuilds of `serve`."""
        del dirty
        self._command = command

    def on_config(self, config: MkDocsConfig) -> MkDocsConfig:
        """Refuse a notebook or a function folder in a published place."""
        self._preview = is_preview_build(config, self._command)
        published = {"docs_dir": Path(config.docs_dir), "site_dir": Path(config.site_dir)}
        published |= {f"theme folder {n}": Path(d) for n, d in enumerate(config.theme.dirs, 1)}
        if self.config.offline:
            # Links to folders lead to no page on a disk. Material's plugin does the same.
            config.use_directory_urls = False
        is_offline = not self._preview and is_offline_build(config, self.config)
        self._script = injection.OFFLINE_SCRIPT if is_offline else injection.WIDGET_SCRIPT
        try:
            check_site_options(self.config, published)
        except (AnswerableError, OSError) as error:
            raise PluginError(f"answerable: {format_error(error)}") from None
        return config

    def on_pre_build(self, *, config: MkDocsConfig) -> None:
        """Begin a site, or one more language of it: i18n plugins build those inside the first."""
        del config
        if self._nested_builds == 0:
            self._pending = []
            self._complete = True
            self._outputs = {}
        self._nested_builds += 1

    def on_build_error(self, *, error: Exception) -> None:
        """Forget a build that has failed."""
        del error
        self._nested_builds = 0

    # After the i18n plugin, which looks at every file's source; the widget's have none.
    @event_priority(-200)
    def on_files(self, files: Files, *, config: MkDocsConfig) -> Files:
        """Add the widget to the site's files."""
        for path, text in read_widget_files().items():
            files.append(File.generated(config, path, content=text))
        return files

    @event_priority(-100)
    def on_env(self, env: Environment, *, config: MkDocsConfig, files: Files) -> Environment:
        """Read the pages once every other plugin has changed them."""
        try:
            with self._reporting_failure():
                self._outputs |= map_outputs(files)
                rules = read_cutting_rules(self.config)
                tag = resolve_language(files, config, self.config.language)
                url = resolve_site_url(config)
                info = describe_site(config, self.config, config.site_name, url, tag)
                self._endpoint = resolve_endpoint(self.config)
                cache = Path(self.config.cache)
                pages = start_reading_pages(files, config, info, rules, cache)
                self._pending.append(pages)
        except UnreadPageError as error:
            self._complete = False
            log.info("The last bundle stays as it is (%s).", error)
        return env

    @event_priority(-100)
    def on_post_page(self, output: str, *, page: Page, config: MkDocsConfig) -> str:
        """Put the widget into a page."""
        del config
        return self._inject(output, get_relative_url(self._script, page.url))

    @event_priority(-100)
    def on_post_template(
        self, output_content: str, *, template_name: str, config: MkDocsConfig
    ) -> str:
        """Put the widget into a page of the theme, such as 404.html, which any url may show."""
        if not template_name.endswith(".html"):
            return output_content
        script_url = resolve_site_path(config) + self._script
        return self._inject(output_content, script_url, is_page=False)

    # After the i18n plugin, which builds the other languages in its own, and after whatever else
    # writes files then: the leak audit reads them.
    @event_priority(-10_000)
    def on_post_build(self, *, config: MkDocsConfig) -> None:
        """Index what was built and publish the bundle; a failure leaves the last one in place.

        What was written is audited in any case, also where no index can be made of it.
        """
        self._nested_builds -= 1
        if self._nested_builds > 0:
            return
        with self._reporting_failure():
            if self._pending and self._complete:
                self._publish(config)
            else:
                folder = Path(config.site_dir)
                audit_unindexed_site(self.config, folder, self._outputs)
        self._pending = []

    @event_priority(-100)
    def on_serve(
        self, server: LiveReloadServer, *, config: MkDocsConfig, builder: object
    ) -> LiveReloadServer:
        """Mount the ask route, and watch the notes and the other files beside the pages."""
        # Imported late: a build does not serve.
        from ..function import dev
        from ..function.logs import REFUSAL_LOG_FILE, LineFile, RefusalLog

        del builder
        base = unquote(resolve_site_path(config)) + dev.ASK_BASE
        app: Any = server.get_app()
        options = self.config
        refusals = RefusalLog(
            # An edit of mkdocs.yml counts from the next question on.
            lambda: self.config.log_refusals,
            LineFile(Path(options.cache) / REFUSAL_LOG_FILE, log.warning).append,
            secrets.token_hex(32),
        )
        host = config.dev_addr.host
        ask_app = dev.create_dev_app(base, host, lambda: self._engine, refusals, log.warning)
        server.set_app(dev.mount_ask_route(app, ask_app, base))
        for path in list_input_files(options):
            if path.exists():
                server.watch(str(path))
        url = f"http://{host}:{config.dev_addr.port}{resolve_site_path(config)}{dev.ASK_BASE}"
        log.info("The ask box answers at %sanswer", url)
        log.info("To let a coding agent ask this site: %s", dev.format_agent_command(url))
        return server

    def open_embedder(self) -> Embedder:
        """Open the embedder that the options name, once for all builds of a preview."""
        options = self.config
        identity = resolve_identity(options)
        if self._embedder is None or self._embedder.identity != identity:
            self._embedder = make_build_embedder(identity, resolve_settings(options))
            default_host = find_provider("embedder", identity.provider).host
            if options.notebook and default_host:
                host = options.embedding.base_url or default_host
                log.info("The embedding host %s receives the text of notes and pages.", host)
        return self._embedder

    @contextmanager
    def _reporting_failure(self) -> Iterator[None]:
        """Report a failure in one sentence; raising under `serve` would leave pages hanging."""
        try:
            yield
        except UnreadPageError:
            raise
        except (AnswerableError, OSError) as error:
            self._complete = False
            if not self._preview:
                raise PluginError(f"answerable: {format_error(error)}") from None
            state = "answers come from the last good index" if self._engine else "no answers yet"
            log.warning("%s (%s)", format_error(error), state)

    def _publish(self, config: MkDocsConfig) -> None:
        site = merge_languages(collect() for collect in self._pending)
        search = find_theme_search(config)
        widget_config = make_widget_config(config, self.config, site.pages, search)
        built = FinishedBuild(
            options=self.config,
            site=site,
            folder=Path(config.site_dir),
            output=Path(config.site_dir),
            embedder=self.open_embedder(),
            author=config.site_author,
            widget_config=replace(widget_config, preview=self._preview),
            is_offline=self._script == injection.OFFLINE_SCRIPT,
        )
        if self._preview:
            self._engine = preview_build(built)
        else:
            publish_build(built)

    def _inject(self, html: str, script_url: str, *, is_page: bool = True) -> str:
        # A preview asks the dev server, which knows what was edited a moment ago.
        endpoint = None if self._preview else self._endpoint
        return inject_tags(
            html, write_widget_tags(script_url, endpoint, self.config, is_page=is_page)
        )
