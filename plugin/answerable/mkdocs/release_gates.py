"""The gate in a build: an encoding that loses something is published if the gold set admits it.

The gold set in a build: a page that has lost its answer is noticed before it is published.

A build's last step where a database serves the site: its bundle is published there.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from mkdocs.plugins import get_plugin_logger

from ..evaluate import gate, runner
from ..evaluate.certificates import certificate_key, read_certificate, write_certificate
from ..evaluate.gate import (
    GateReport,
    find_store_regressions,
    load_gate_case,
    open_unpublished,
    summarize_gate_report,
)
from ..evaluate.gold import GoldQuery
from ..evaluate.overlap_lint import check_gold_overlap, read_existing_files
from ..evaluate.report_files import EvalReport, make_report, read_report, write_report
from ..indexing.notes.note import Notebook
from ..indexing.output.bundle_writer import make_manifest, read_build_time
from ..indexing.pipeline import StagedFunction, format_count
from ..serve.bundle_format.profile import Profile
from ..serve.embedders.embedder import Embedder
from ..serve.errors import GoldError, SiteError
from ..serve.provider_registry import is_answerer_local
from ..serve.retrieval.store import Store
from ..serve.settings import BUNDLE_FOLDER, FunctionSettings
from ..serve.stores.bundle_reader import open_bundle
from .config import AnswerableConfig
from .options import (
    resolve_encoding,
    resolve_gold_path,
    resolve_identity,
    resolve_profile,
    resolve_search,
    resolve_settings,
)
from .pages import FinishedBuild

log = get_plugin_logger(__name__)

_ENCODING_REMEDY = "use int8 with all dimensions, or set `uncertified: allow` under `bundle`"


def require_gold_for_encoding(built: FinishedBuild, parts: int) -> None:
    """Refuse an encoding that no gold set can certify. parts: how many functions are written."""
    if not _needs_certificate(built.options):
        return
    what = f"bundle: {_encoding_label(built.options)}"
    path = resolve_gold_path(built.options)
    if parts > 1:
        raise SiteError(
            f"{what} cannot be certified with `languages: apart`, where each language has a bundle "
            f"and the gold set is of all of them: {_ENCODING_REMEDY}"
        )
    if not path.is_file():
        raise SiteError(
            f"{what} needs a gold set to certify it, and {path} does not exist: write one, or "
            f"{_ENCODING_REMEDY}"
        )


def certify_encoding(built: FinishedBuild, staged: StagedFunction, private: Notebook) -> None:
    """Refuse what is staged if the gold set rejects its encoding; SiteError names the verdicts."""
    options = built.options
    if not _needs_certificate(options):
        if _is_lossy(options):
            log.info("bundle: %s is published uncertified", _encoding_label(options))
        return
    report = _certify_or_read(built, staged, private)
    if not report.certified:
        # What has flipped may name a note's file, and a build's log may be public.
        ids = ", ".join(found.id for found in report.comparisons if not found.holds)
        raise SiteError(
            f"bundle: {summarize_gate_report(report)}; see `answerable gate` for {ids}, and "
            f"{_ENCODING_REMEDY}"
        )
    log.info("bundle: %s", summarize_gate_report(report))


def _certify_or_read(built: FinishedBuild, staged: StagedFunction, private: Notebook) -> GateReport:
    profile = resolve_profile(built.options, staged.index)
    full = is_answerer_local(built.options.answers.provider)
    path = resolve_gold_path(built.options)
    case = load_gate_case(path, built.author, staged.index, private, full=full)
    kept = built.cache / "certificates"
    name = certificate_key(compute_bundle_id(staged, built.embedder, profile), staged.index, case)
    if known := read_certificate(kept, name):
        return known
    report = gate.judge_contents(
        staged.index, staged.contents, built.embedder, profile, case, built.cache
    )
    write_certificate(kept, name, report)
    return report


def compute_bundle_id(staged: StagedFunction, embedder: Embedder, profile: Profile) -> str:
    """The id that what is staged would be published under."""
    now = read_build_time("0")
    made = staged.contents
    return make_manifest(staged.index, made, embedder.identity, profile, now).id


def _needs_certificate(options: AnswerableConfig) -> bool:
    return _is_lossy(options) and options.bundle.uncertified == "refuse"


def _is_lossy(options: AnswerableConfig) -> bool:
    return resolve_encoding(options).needs_certificate(resolve_identity(options).dimensions)


def _encoding_label(options: AnswerableConfig) -> str:
    return resolve_encoding(options).label(resolve_identity(options).dimensions)


judging_log = get_plugin_logger(__name__)


def require_gold_for_gate(built: FinishedBuild, parts: int) -> None:
    """Refuse a gate without a gold set for it. parts: how many functions are written."""
    if built.options.gate == "none":
        return
    path = resolve_gold_path(built.options)
    if parts > 1:
        raise SiteError(
            "gate: retrieval cannot judge `languages: apart`, where each language has a bundle and "
            "the gold set is of all of them: set `gate: none`, and run `answerable eval --bundle` "
            "for each"
        )
    if not path.is_file():
        raise SiteError(
            f"gate: retrieval needs a gold set, and {path} does not exist: write one, or set "
            "`gate: none`"
        )


def run_gold_gate(built: FinishedBuild, staged: StagedFunction, private: Notebook) -> None:
    """Run the retrieval tier over what is staged.

    A failure is a warning, and in a strict build a SiteError, so that nothing is published.
    """
    if built.options.gate == "none":
        return
    report = _judge_or_read(built, staged, private)
    asked = len(report.rows)
    if report.holds:
        judging_log.info("gate: %d of %d gold queries hold", asked, asked)
        return
    # An issue may name a note's file, and a build's log may be public.
    told = f"gate: {len(report.failed)} of {asked} gold queries fail ({', '.join(report.failed)})"
    if built.strict:
        raise SiteError(f"{told}; build without --strict, and see `answerable eval`")
    judging_log.warning("%s; see `answerable eval`, or `answerable why` for one of them", told)


def _judge_or_read(built: FinishedBuild, staged: StagedFunction, private: Notebook) -> EvalReport:
    """The verdicts, from the last build if nothing that they depend on has changed."""
    profile = resolve_profile(built.options, staged.index)
    case = load_gate_case(
        resolve_gold_path(built.options), built.author, staged.index, private, full=False
    )
    _refuse_overlap(built, case.queries, staged.index.site.name)
    bundle = compute_bundle_id(staged, built.embedder, profile)
    kept = _verdicts_path(built, certificate_key(bundle, staged.index, case))
    try:
        return read_report(kept)
    except GoldError:
        pass
    asked = [query for query in case.queries if not query.requires_model]
    work = built.cache
    with open_unpublished(staged.index, staged.contents, built.embedder, profile, work) as engine:
        report = make_report(
            engine.store.manifest,
            runner.run_gold_set(asked, engine, case.notes, full=False),
            case.queries,
            asked,
            tier="retrieval",
            answers=resolve_settings(built.options).answers,
        )
    write_report(kept, report, None, private=True)
    return report


def _refuse_overlap(built: FinishedBuild, queries: Sequence[GoldQuery], name: str) -> None:
    """Refuse what was added to the pages for one question."""
    given = (built.options[option] for option in ("enrichment", "abbreviations"))
    check_gold_overlap(queries, read_existing_files([Path(each) for each in given if each]), name)


def _verdicts_path(built: FinishedBuild, name: str) -> Path:
    return built.cache / "verdicts" / f"{name}.json"


storing_log = get_plugin_logger(__name__)

_SEARCH_REMEDY = "use `search: exact`, or set `uncertified: allow` under `bundle`"


def require_gold_for_store(built: FinishedBuild, parts: int) -> None:
    """Refuse a search that no gold set can certify. parts: how many functions are written."""
    options = built.options
    if not options.store.url:
        if names_database(built):
            storing_log.warning("store.url: it is empty, so nothing is published to a database")
        return
    # Before anything is written: a package that is not installed.
    from ..indexing.postgres import publisher

    del publisher
    if not _needs_search_certificate(built):
        return
    path = resolve_gold_path(options)
    if parts > 1:
        raise SiteError(
            "store.search: hnsw cannot be certified with `languages: apart`, where the gold set is "
            f"of all languages: {_SEARCH_REMEDY}"
        )
    if not path.is_file():
        raise SiteError(
            f"store.search: hnsw needs a gold set to certify it, and {path} does not exist: write "
            f"one, or {_SEARCH_REMEDY}"
        )


def names_database(built: FinishedBuild) -> bool:
    """Whether the site's owner has named an address, be it one that the environment lacks."""
    return built.options.store.url != ""


def resolve_stored_settings(built: FinishedBuild, folder: Path) -> FunctionSettings:
    """What the function in a folder is told."""
    told = resolve_settings(built.options)
    return replace(told, store=_store_name(built, folder)) if names_database(built) else told


def publish_to_database(built: FinishedBuild, staged: StagedFunction, private: Notebook) -> None:
    """Publish the bundle in a function's folder to the database, if there is one.

    SiteError if the gold set rejects how it is searched; StorageError if the database refuses.
    """
    options = built.options
    if not options.store.url:
        return
    from ..indexing.postgres.publisher import DatabaseTarget, publish_bundle_rows

    bundle = open_bundle(staged.folder / BUNDLE_FOLDER)
    search = resolve_search(options)
    target = DatabaseTarget(
        options.store.url, _store_name(built, staged.folder), search, float(options.store.grace)
    )

    def certify(store: Store) -> None:
        profile_case = load_gate_case(
            resolve_gold_path(options),
            built.author,
            staged.index,
            private,
            full=is_answerer_local(options.answers.provider),
        )
        flipped = find_store_regressions(profile_case, built.embedder, bundle, store)
        if flipped:
            ids = ", ".join(flipped)
            raise SiteError(
                f"store.search: {search.label} rejected by the gold set, with other verdicts for "
                f"{ids}; raise ef_search, or {_SEARCH_REMEDY}"
            )
        storing_log.info("store: %s certified by the gold set", search.label)

    done = publish_bundle_rows(
        bundle, target, certify if _needs_search_certificate(built) else None
    )
    storing_log.info(
        "store: %s published as %s; %s sent, %s as before, %s removed",
        bundle.manifest.id[:12],
        target.name,
        format_count(done.sent, "row"),
        format_count(done.reused, "row"),
        format_count(done.removed, "older bundle"),
    )


def _needs_search_certificate(built: FinishedBuild) -> bool:
    options = built.options
    return options.store.search != "exact" and options.bundle.uncertified == "refuse"


def _store_name(built: FinishedBuild, folder: Path) -> str:
    """What a function's bundle is called: one for each language or version of a site."""
    inner = folder.resolve().relative_to(Path(built.options.function).resolve())
    return "/".join([built.options.store.name, *inner.parts])
