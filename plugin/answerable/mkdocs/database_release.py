"""Publish a build's bundle to PostgreSQL, certified by the gold set where its search may miss."""

from dataclasses import replace
from pathlib import Path

from mkdocs.plugins import get_plugin_logger

from ..evaluate.gate import find_store_regressions
from ..evaluate.sources import NoteSources
from ..indexing.pipeline import StagedFunction
from ..indexing.plurals import format_count
from ..serve.errors import SiteError
from ..serve.retrieval.store import Store
from ..serve.settings import BUNDLE_FOLDER, FunctionSettings
from ..serve.stores.bundle_reader import open_bundle
from .options import resolve_search, resolve_settings
from .pages import FinishedBuild
from .release_gates import (
    SEARCH_REMEDY,
    answers_locally,
    load_gold_case,
    needs_search_certificate,
)

log = get_plugin_logger(__name__)


def publish_to_database(built: FinishedBuild, staged: StagedFunction, notes: NoteSources) -> None:
    """Publish the bundle in a function's folder to the database, if there is one.

    SiteError if the gold set rejects how it is searched; StorageError if the database refuses.
    """
    options = built.options
    if not options.store.url:
        return
    from ..postgres.publication import DatabaseTarget, publish_bundle_rows

    bundle = open_bundle(staged.folder / BUNDLE_FOLDER)
    search = resolve_search(options)
    name = _store_name(built, staged.folder)
    target = DatabaseTarget(options.store.url, name, search, float(options.store.grace))

    def certify_search(store: Store) -> None:
        case = load_gold_case(built, staged.index, notes, full=answers_locally(options))
        regressions = find_store_regressions(case, built.embedder, bundle, store)
        if regressions:
            raise SiteError(
                f"store.search: {search.label} rejected by the gold set, with other verdicts for "
                f"{', '.join(regressions)}; raise ef_search, or {SEARCH_REMEDY}"
            )
        log.info("store: %s certified by the gold set", search.label)

    done = publish_bundle_rows(
        bundle, target, certify_search if needs_search_certificate(options) else None
    )
    log.info(
        "store: %s published as %s; %s sent, %s removed",
        bundle.manifest.id[:12],
        target.name,
        format_count(done.sent, "row"),
        format_count(done.removed, "older bundle"),
    )


def _names_database(built: FinishedBuild) -> bool:
    """Tell whether the site's owner has named an address, even one that the environment lacks."""
    return built.options.store.url != ""


def check_database_options(built: FinishedBuild) -> None:
    """Warn of an empty database address, and import what a database needs before a file is written.

    PolicyError names the extra to install.
    """
    if built.options.store.url:
        from ..postgres import publication

        del publication
    elif _names_database(built):
        log.warning("store.url: it is empty, so nothing is published to a database")


def resolve_stored_settings(built: FinishedBuild, folder: Path) -> FunctionSettings:
    """Resolve the settings of the function in a folder, with its name in the database."""
    settings = resolve_settings(built.options)
    if not _names_database(built):
        return settings
    return replace(settings, store=_store_name(built, folder))


def _store_name(built: FinishedBuild, folder: Path) -> str:
    """Name a function's bundle in the database: one for each language or version of a site."""
    inner = folder.resolve().relative_to(Path(built.options.function).resolve())
    return "/".join([built.options.store.name, *inner.parts])
