"""A build's last step where a database serves the site: its bundle is published there."""

from dataclasses import replace
from pathlib import Path

from mkdocs.plugins import get_plugin_logger

from ..build.notebook import Notebook
from ..build.site import Staged, count
from ..evaluate import gate, store_gate
from ..serve import provided
from ..serve.errors import SiteError
from ..serve.opening import open_bundle
from ..serve.settings import BUNDLE, Settings
from ..serve.store import Store
from . import choices
from .built import Built

log = get_plugin_logger(__name__)

_REMEDY = "use `search: exact`, or set `uncertified: allow` under `bundle`"


def check(built: Built, parts: int) -> None:
    """Refuse a search that no gold set can certify. parts: how many functions are written."""
    options = built.options
    if not options.store.url:
        if is_meant(built):
            log.warning("store.url: it is empty, so nothing is published to a database")
        return
    # Before anything is written: a package that is not installed.
    from ..build.database import publishing

    del publishing
    if not _is_judged(built):
        return
    path = choices.gold(options)
    if parts > 1:
        raise SiteError(
            "store.search: hnsw cannot be certified with `languages: apart`, where the gold set is "
            f"of all languages: {_REMEDY}"
        )
    if not path.is_file():
        raise SiteError(
            f"store.search: hnsw needs a gold set to certify it, and {path} does not exist: write "
            f"one, or {_REMEDY}"
        )


def is_meant(built: Built) -> bool:
    """Whether the site's owner has named an address, be it one that the environment lacks."""
    return built.options.store.url != ""


def settings(built: Built, folder: Path) -> Settings:
    """What the function in a folder is told."""
    told = choices.settings(built.options)
    return replace(told, store=_name(built, folder)) if is_meant(built) else told


def publish(built: Built, staged: Staged, private: Notebook) -> None:
    """Publish the bundle in a function's folder to the database, if there is one.

    SiteError if the gold set rejects how it is searched; StorageError if the database refuses.
    """
    options = built.options
    if not options.store.url:
        return
    from ..build.database import publishing
    from ..build.database.publishing import Target

    bundle = open_bundle(staged.folder / BUNDLE)
    search = choices.search(options)
    target = Target(
        options.store.url, _name(built, staged.folder), search, float(options.store.grace)
    )

    def certify(store: Store) -> None:
        profile_case = gate.case(
            choices.gold(options),
            built.author,
            staged.index,
            private,
            full=provided.answers_here(options.answers.provider),
        )
        flipped = store_gate.flipped(profile_case, built.embedder, bundle, store)
        if flipped:
            ids = ", ".join(flipped)
            raise SiteError(
                f"store.search: {search.label} rejected by the gold set, with other verdicts for "
                f"{ids}; raise ef_search, or {_REMEDY}"
            )
        log.info("store: %s certified by the gold set", search.label)

    done = publishing.publish(bundle, target, certify if _is_judged(built) else None)
    log.info(
        "store: %s published as %s; %s sent, %s as before, %s removed",
        bundle.manifest.id[:12],
        target.name,
        count(done.sent, "row"),
        count(done.kept, "row"),
        count(done.removed, "older bundle"),
    )


def _is_judged(built: Built) -> bool:
    options = built.options
    return options.store.search != "exact" and options.bundle.uncertified == "refuse"


def _name(built: Built, folder: Path) -> str:
    """What a function's bundle is called: one for each language or version of a site."""
    inner = folder.resolve().relative_to(Path(built.options.function).resolve())
    return "/".join([built.options.store.name, *inner.parts])
