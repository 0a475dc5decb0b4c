"""The MkDocs plugin: reads the built site, publishes the bundle, serves the live ask box."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from jinja2 import Environment
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.livereload import LiveReloadServer
from mkdocs.plugins import BasePlugin, event_priority, get_plugin_logger
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from mkdocs.utils import get_relative_url

from ..build import bundle_writer, function_writer, index, notebook, places, site
from ..build.index import Index, SiteInfo
from ..build.passages import Window
from ..serve import providers, routes
from ..serve.bundle import open_bundle
from ..serve.embedder import Embedder
from ..serve.engine import Engine
from ..serve.errors import AnswerableError
from ..serve.manifest import Manifest
from . import choices, injection, live, progress, reading
from .config import AnswerableConfig

log = get_plugin_logger(__name__)


class AnswerablePlugin(BasePlugin[AnswerableConfig]):
    """Makes a site answerable while MkDocs builds it."""

    def __init__(self) -> None:
        self._command = "build"
        self._preview = False
        self._site: reading.Site | None = None
        self._embedder: Embedder | None = None
        self._engine: Engine | None = None

    def on_startup(self, *, command: str, dirty: bool) -> None:
        """Remember the command; a plugin with this event lives across the rebuilds of `serve`."""
        del dirty
        self._command = command

    def on_config(self, config: MkDocsConfig) -> MkDocsConfig:
        """Refuse a notebook or a function folder in a published place."""
        self._preview = self._is_preview(config)
        published = {"docs_dir": Path(config.docs_dir), "site_dir": Path(config.site_dir)}
        published |= {f"theme folder {n}": Path(d) for n, d in enumerate(config.theme.dirs, 1)}
        function = Path(self.config.function)
        private = {**published, "the function folder": function}
        try:
            choices.check(self.config)
            places.check_outside("function", function, published)
            places.check_outside("cache", Path(self.config.cache), private)
            if self.config.notebook:
                places.check_notebook(Path(self.config.notebook), private)
        except (AnswerableError, OSError) as error:
            raise PluginError(f"answerable: {error}") from None
        return config

    def on_files(self, files: Files, *, config: MkDocsConfig) -> Files:
        """Add the widget to the site's files."""
        files.append(File.generated(config, injection.SCRIPT, content=injection.script()))
        return files

    @event_priority(-100)
    def on_env(self, env: Environment, *, config: MkDocsConfig, files: Files) -> Environment:
        """Read the pages once every other plugin has had its say on them."""
        self._site = None
        if reading.has_unread_pages(files):
            log.info("A dirty build has not read every page: the last bundle stays as it is.")
            return env
        with self._failing():
            self._site = reading.read(files, config)
        return env

    @event_priority(-100)
    def on_post_page(self, output: str, *, page: Page, config: MkDocsConfig) -> str:
        """Put the widget into a page."""
        del config
        return self._inject(output, get_relative_url(injection.SCRIPT, page.url))

    @event_priority(-100)
    def on_post_template(
        self, output_content: str, *, template_name: str, config: MkDocsConfig
    ) -> str:
        """Put the widget into a page of the theme, such as 404.html, which any url may show."""
        if not template_name.endswith(".html"):
            return output_content
        return self._inject(output_content, reading.site_path(config) + injection.SCRIPT)

    @event_priority(-100)
    def on_post_build(self, *, config: MkDocsConfig) -> None:
        """Index what was built and publish the bundle; a failure leaves the last one in place."""
        if self._site is None:
            return
        with self._failing():
            self._publish(self._site, config)
        self._site = None

    @event_priority(-100)
    def on_serve(
        self, server: LiveReloadServer, *, config: MkDocsConfig, builder: object
    ) -> LiveReloadServer:
        """Answer under the site's own path and watch the notebook."""
        del builder
        base = unquote(reading.site_path(config)) + live.BASE
        app: Any = server.get_app()
        server.set_app(live.wrap(app, base, config.dev_addr.host, lambda: self._engine))
        if self.config.notebook:
            server.watch(self.config.notebook)
        log.info("The ask box answers at %sanswer", _base_url(config))
        return server

    @contextmanager
    def _failing(self) -> Iterator[None]:
        """One sentence for a failure; under `serve`, raising would leave every page hanging."""
        try:
            yield
        except (AnswerableError, OSError) as error:
            if not self._preview:
                raise PluginError(f"answerable: {error}") from None
            kept = "answers come from the last good index" if self._engine else "no answers yet"
            log.warning("%s (%s)", error, kept)

    def _publish(self, built: reading.Site, config: MkDocsConfig) -> None:
        embedder = self._opened()
        made = self._index(built, config, embedder)
        profile = choices.profile(self.config)
        settings = choices.settings(self.config)
        now = bundle_writer.build_time(os.environ.get("SOURCE_DATE_EPOCH"))
        if self._preview:
            folder = Path(self.config.cache) / "serve"
            manifest = bundle_writer.write(made, folder, embedder.identity, profile, now)
            self._engine = providers.engine(open_bundle(folder, verify=False), embedder, settings)
        else:
            folder = Path(self.config.function)
            manifest = site.publish(made, folder, embedder.identity, profile, settings, now)
        _report(manifest, made, folder)

    def _index(self, built: reading.Site, config: MkDocsConfig, embedder: Embedder) -> Index:
        notes = notebook.read(Path(self.config.notebook)) if self.config.notebook else []
        if self.config.notebook and not notes:
            log.warning("notebook: %s holds no note; write one or drop it", self.config.notebook)
        window = Window(self.config.passages.words, self.config.passages.overlap)
        language = self._language(config)
        info = SiteInfo(
            config.site_name,
            config.site_url or None,
            language,
            self.config.answers.route or routes.template(language),
        )
        with progress.reporting() as report:
            return index.build(
                info,
                built.records,
                notes,
                reading.resolver(built),
                embedder,
                cache_folder=Path(self.config.cache),
                window=window,
                progress=report,
            )

    def _inject(self, html: str, script_url: str) -> str:
        return injection.inject(
            html,
            script_url,
            # A preview asks the dev server, which knows what was edited a moment ago.
            endpoint=None if self._preview else self.config.widget.endpoint,
            element=self.config.widget.placement == "button",
        )

    def _language(self, config: MkDocsConfig) -> str:
        found = self.config.language or config.theme.get("language") or config.theme.get("locale")
        return str(found or "en")

    def _opened(self) -> Embedder:
        """The embedder that the options name; it is opened once for all builds of a preview."""
        identity = choices.identity(self.config)
        if self._embedder is None or self._embedder.identity != identity:
            self._embedder = providers.embedder(
                identity, function_writer.model_folder(), choices.settings(self.config)
            )
            if self.config.notebook and identity.provider != "local":
                host = self.config.embedding.base_url or "https://api.openai.com/v1"
                log.info("The embedding host %s receives the text of notes and pages.", host)
        return self._embedder

    def _is_preview(self, config: MkDocsConfig) -> bool:
        """Whether this is `mkdocs serve`; `serve --clean` reports its command as `build`."""
        folder = Path(config.site_dir)
        temporary = folder.parent == Path(tempfile.gettempdir())
        return self._command == "serve" or (temporary and folder.name.startswith("mkdocs_"))


def _base_url(config: MkDocsConfig) -> str:
    host, port = config.dev_addr
    return f"http://{host}:{port}{reading.site_path(config)}{live.BASE}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _report(manifest: Manifest, made: Index, folder: Path) -> None:
    counts = manifest.counts
    size = sum(file.bytes for file in manifest.files.values())
    log.info(
        "%s, %s, %s; %s embedded; bundle of %.1f kB in %s",
        _count(counts["records"], "page"),
        _count(counts["passages"], "passage"),
        _count(counts["hints"], "note"),
        _count(made.embedded, "text"),
        size / 1000,
        os.path.relpath(folder),
    )
