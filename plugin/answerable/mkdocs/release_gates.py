"""Release gates: what the gold set and a database say before a build is published."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from mkdocs.plugins import get_plugin_logger

from ..indexing.index import SiteIndex
from ..indexing.notes.notebook import Notebook
from ..indexing.output.files import format_count
from ..indexing.pipeline import StagedFunction
from ..serve.errors import GoldError, SiteError
from ..serve.provider_registry import answers_in_process, embeds_in_process
from ..serve.retrieval.store import Store
from ..serve.settings import BUNDLE_FOLDER, FunctionSettings
from ..serve.stores.bundle import open_bundle
from .options import (
    AnswerableConfig,
    resolve_encoding,
    resolve_gold_path,
    resolve_identity,
    resolve_profile,
    resolve_search,
    resolve_settings,
)
from .pages import FinishedBuild

# What judges is imported late, by the functions that judge: most builds have no gold set.
if TYPE_CHECKING:
    from ..evaluate.gate import JudgedSite

log = get_plugin_logger(__name__)

_UNCERTIFIED = "or set `uncertified: allow` under `bundle`"
_ENCODING_REMEDY = f"use int8 with all dimensions, {_UNCERTIFIED}"
_SEARCH_REMEDY = f"use `search: exact`, {_UNCERTIFIED}"


def require_gold_set(built: FinishedBuild, functions: int) -> None:
    """Refuse a build whose options need a gold set that cannot judge it; SiteError.

    functions: how many are written.
    """
    options, path = built.options, resolve_gold_path(built.options)
    remedies = {}
    if _needs_certificate(options):
        remedies[f"bundle: {_encoding_label(options)}"] = _ENCODING_REMEDY
    if options.store.url and _needs_search_certificate(options):
        remedies["store.search: hnsw"] = _SEARCH_REMEDY
    if options.gate != "none":
        remedies["gate: retrieval"] = "set `gate: none`, and run `answerable eval --bundle`"
    for option, remedy in remedies.items():
        if functions > 1:
            raise SiteError(
                f"{option} cannot be certified with `languages: apart`, where each language has a "
                f"bundle and the gold set is of all of them: {remedy}"
            )
        if not path.is_file():
            raise SiteError(
                f"{option} needs a gold set to certify it, and {path} does not exist: write one, "
                f"or {remedy}"
            )


def run_release_gates(built: FinishedBuild, staged: StagedFunction, notebook: Notebook) -> None:
    """Refuse a staged function that its gold set rejects; SiteError names the queries."""
    options = built.options
    if options.gate != "none":
        _judge_retrieval(built, staged, notebook)
    if _is_lossy(options) and not _needs_certificate(options):
        log.info("bundle: %s is published uncertified", _encoding_label(options))
    elif _is_lossy(options) or _is_measurable(built):
        _judge_encoding(built, staged, notebook)


def _judge_encoding(built: FinishedBuild, staged: StagedFunction, notebook: Notebook) -> None:
    """Refuse a lossy encoding that the gold set does not certify; SiteError.

    What int8, which every site gets by default, makes worse is a warning, and in a strict build
    an error.
    """
    from ..evaluate.gate import judge_contents, summarize_gate_report

    options, is_required = built.options, _needs_certificate(built.options)
    remedy = _ENCODING_REMEDY if is_required else f"build without --strict, {_UNCERTIFIED}"
    try:
        site = make_judged_site(built, staged.index.open(), notebook, full=answers_locally(options))
        report = judge_contents(site, staged.index.contents)
    except GoldError as error:
        if is_required:
            raise
        # A gold file that nothing asks for has never stopped a build.
        problem = f"bundle: {_encoding_label(options)} is not measured: {error}"
    else:
        problem = f"bundle: {summarize_gate_report(report)}"
        # A flip may name a note's file, and a build's log may be public.
        looks = []
        if report.failing:
            looks.append(f"see `answerable eval --full` for {', '.join(report.failing)}")
        if report.flipped:
            command = f"answerable eval --encoding {resolve_encoding(options).name}"
            looks.append(f"see `{command}` for {', '.join(report.flipped)}")
        if looks:
            problem = f"{problem}; {', and '.join(looks)}"
        if report.certified or not (is_required or report.flipped):
            # Nothing that int8 could be blamed for: `gate: retrieval` is what makes it count.
            log.info(problem)
            return
    if is_required or built.strict:
        joint = ", and" if is_required else ";"
        raise SiteError(f"{problem}{joint} {remedy}")
    log.warning(problem)


def _judge_retrieval(built: FinishedBuild, staged: StagedFunction, notebook: Notebook) -> None:
    """Run the retrieval tier; a failing query is a warning, and in a strict build an error."""
    from ..evaluate.gate import open_unpublished
    from ..evaluate.runner import run_gold_set

    site = make_judged_site(built, staged.index.open(), notebook, full=False)
    runnable = [query for query in site.queries if not query.requires_model]
    with open_unpublished(site, staged.index.contents) as engine:
        verdicts = list(run_gold_set(runnable, engine, site.notes, full=False))
    failed = [verdict.id for verdict in verdicts if not verdict.holds]
    if not failed:
        log.info("gate: %d of %d gold queries hold", len(verdicts), len(verdicts))
        return
    # An issue may name a note's file, and a build's log may be public.
    failures = f"gate: {len(failed)} of {len(verdicts)} gold queries fail ({', '.join(failed)})"
    if built.strict:
        raise SiteError(f"{failures}; build without --strict, and see `answerable eval`")
    log.warning("%s; see `answerable eval`, or `answerable why` for one of them", failures)


def make_judged_site(
    built: FinishedBuild,
    index: SiteIndex,
    notebook: Notebook,
    *,
    full: bool,
    gold: Path | None = None,
    ids: Sequence[str] = (),
) -> "JudgedSite":
    """Join a build's index with what opens it and the gold set that judges it; GoldError.

    gold: another file than the build's. ids: the queries to ask, all by default.
    """
    from ..evaluate.gate import JudgedSite, load_gate_queries
    from ..evaluate.sources import make_note_sources

    options, notes = built.options, make_note_sources(notebook.ids, notebook.unrouted_paths)
    path, negation = gold or resolve_gold_path(options), options.evaluate.check_negation
    selected = load_gate_queries(path, built.author, index, notes, check_negation=negation, ids=ids)
    profile = resolve_profile(options, len(index.hint_owners))
    return JudgedSite(index, built.embedder, profile, *selected, notes.ids, full)


def answers_locally(options: AnswerableConfig) -> bool:
    """Tell whether answers cost nothing, so that a gate can judge them too."""
    return answers_in_process(options.answers.provider)


def _needs_certificate(options: AnswerableConfig) -> bool:
    return _is_lossy(options) and options.bundle.uncertified == "refuse"


def _is_measurable(built: FinishedBuild) -> bool:
    """Tell whether int8 can be measured, at no cost that the options do not ask for."""
    options = built.options
    if (
        options.bundle.uncertified != "refuse"
        or (options.languages == "apart" and len(built.sites) > 1)
        or not resolve_gold_path(options).is_file()
    ):
        return False
    from ..evaluate.gate import FULL_PRECISION

    if resolve_encoding(options).name == FULL_PRECISION:
        return False
    if options.gate == "none" and not embeds_in_process(built.embedder.identity.provider):
        log.info(
            "bundle: %s is not measured by the gold set, which takes a call to embed its "
            "questions; `answerable eval --encoding` measures it, and so does a build with "
            "`gate: retrieval`",
            _encoding_label(options),
        )
        return False
    return True


def _needs_search_certificate(options: AnswerableConfig) -> bool:
    """Tell whether an approximate search has to be certified by the gold set."""
    return options.store.search != "exact" and options.bundle.uncertified == "refuse"


def _is_lossy(options: AnswerableConfig) -> bool:
    return resolve_encoding(options).needs_certificate(resolve_identity(options).dimensions)


def _encoding_label(options: AnswerableConfig) -> str:
    return resolve_encoding(options).label(resolve_identity(options).dimensions)


def publish_to_database(built: FinishedBuild, staged: StagedFunction, notebook: Notebook) -> None:
    """Publish the bundle in a function's folder to the database, if there is one.

    SiteError if the gold set rejects how it is searched; StorageError if the database refuses.
    """
    options = built.options
    if not options.store.url:
        return
    from ..evaluate.gate import find_store_regressions
    from ..postgres.publication import DatabaseTarget, publish_bundle_rows

    bundle = open_bundle(staged.folder / BUNDLE_FOLDER)
    search = resolve_search(options)
    name = _store_name(built, staged.folder)
    target = DatabaseTarget(options.store.url, name, search, float(options.store.grace))

    def certify_search(store: Store) -> None:
        site = make_judged_site(built, staged.index.open(), notebook, full=answers_locally(options))
        regressions = find_store_regressions(site, bundle, store)
        if regressions:
            raise SiteError(
                f"store.search: {search.label} rejected by the gold set, with other verdicts for "
                f"{', '.join(regressions)}; raise ef_search, or {_SEARCH_REMEDY}"
            )
        log.info("store: %s certified by the gold set", search.label)

    done = publish_bundle_rows(
        bundle, target, certify_search if _needs_search_certificate(options) else None
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
