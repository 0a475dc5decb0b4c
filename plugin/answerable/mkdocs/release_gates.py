"""Release gates: what the gold set and a database say before a build is published."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from mkdocs.plugins import get_plugin_logger

from ..evaluate.gate import (
    FULL_PRECISION,
    GateCase,
    GateReport,
    JudgedSite,
    certify_contents,
    compute_verdict_key,
    find_store_regressions,
    load_gate_case,
    open_unpublished,
    summarize_gate_report,
)
from ..evaluate.gold import GoldQuery
from ..evaluate.report import EvalReport, make_report, read_report, write_report
from ..evaluate.runner import run_gold_set
from ..evaluate.sources import (
    NoteSources,
    check_gold_overlap,
    list_page_metadata,
    read_existing_files,
)
from ..indexing.index import SiteIndex
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

log = get_plugin_logger(__name__)

_UNCERTIFIED = "or set `uncertified: allow` under `bundle`"
_ENCODING_REMEDY = f"use int8 with all dimensions, {_UNCERTIFIED}"
SEARCH_REMEDY = f"use `search: exact`, {_UNCERTIFIED}"


@dataclass(frozen=True, slots=True)
class _GoldRequirement:
    """An option that needs a gold set. ``refusal``: of more functions than one."""

    option: str
    need: str
    refusal: str
    remedy: str
    remedy_apart: str


def require_gold_set(built: FinishedBuild, functions: int) -> None:
    """Refuse a build whose options need a gold set that cannot judge it; SiteError.

    functions: how many are written.
    """
    path = resolve_gold_path(built.options)
    for requirement in _list_requirements(built):
        if functions > 1:
            raise SiteError(
                f"{requirement.option} {requirement.refusal} `languages: apart`, where each "
                "language has a bundle and the gold set is of all of them: "
                f"{requirement.remedy_apart}"
            )
        if not path.is_file():
            raise SiteError(
                f"{requirement.option} {requirement.need}, and {path} does not exist: write one, "
                f"or {requirement.remedy}"
            )


def run_release_gates(built: FinishedBuild, staged: StagedFunction, notes: NoteSources) -> None:
    """Refuse a staged function that its gold set rejects; SiteError names the queries."""
    if built.options.gate != "none":
        _judge_retrieval(built, staged, notes)
    _judge_encoding(built, staged, notes)


def _list_requirements(built: FinishedBuild) -> Iterator[_GoldRequirement]:
    options = built.options
    certified = ("needs a gold set to certify it", "cannot be certified with")
    if _needs_certificate(options):
        label = f"bundle: {_encoding_label(options)}"
        yield _GoldRequirement(label, *certified, _ENCODING_REMEDY, _ENCODING_REMEDY)
    if options.store.url and needs_search_certificate(options):
        yield _GoldRequirement("store.search: hnsw", *certified, SEARCH_REMEDY, SEARCH_REMEDY)
    if options.gate != "none":
        yield _GoldRequirement(
            "gate: retrieval",
            "needs a gold set",
            "cannot judge",
            "set `gate: none`",
            "set `gate: none`, and run `answerable eval --bundle` for each",
        )


def _judge_encoding(built: FinishedBuild, staged: StagedFunction, notes: NoteSources) -> None:
    """Certify a lossy encoding, or measure int8, which needs no certificate."""
    options = built.options
    if _needs_certificate(options):
        _certify_encoding(built, staged, notes)
    elif _is_lossy(options):
        log.info("bundle: %s is published uncertified", _encoding_label(options))
    elif _is_measurable(built):
        _measure_encoding(built, staged, notes)


def _certify_encoding(built: FinishedBuild, staged: StagedFunction, notes: NoteSources) -> None:
    """Refuse an encoding that the gold set can tell from full precision, or fails with anyway."""
    report = _judge_contents(built, staged, notes)
    summary = summarize_gate_report(report)
    if not report.certified:
        remedies = _name_remedies(report, built.options)
        raise SiteError(f"bundle: {summary}; {remedies}, and {_ENCODING_REMEDY}")
    log.info("bundle: %s", summary)


def _measure_encoding(built: FinishedBuild, staged: StagedFunction, notes: NoteSources) -> None:
    """Judge an encoding that every site gets by default: a warning, an error in a strict build."""
    label = _encoding_label(built.options)
    try:
        report = _judge_contents(built, staged, notes)
    except GoldError as error:
        # A gold file that nothing asks for has never stopped a build.
        problem = f"bundle: {label} is not measured: {error}"
    else:
        summary = summarize_gate_report(report)
        if report.certified:
            log.info("bundle: %s", summary)
            return
        if not report.flipped:
            # Nothing that int8 could be blamed for: `gate: retrieval` is what makes it count.
            log.info("bundle: %s; %s", summary, _name_remedies(report, built.options))
            return
        problem = f"bundle: {summary}; {_name_remedies(report, built.options)}"
    if built.strict:
        raise SiteError(f"{problem}; build without --strict, {_UNCERTIFIED}")
    log.warning(problem)


def _name_remedies(report: GateReport, options: AnswerableConfig) -> str:
    """Name the queries that keep an encoding from being certified, and where to look."""
    # A flip may name a note's file, and a build's log may be public.
    remedies = []
    if report.failing:
        remedies.append(f"see `answerable eval --full` for {', '.join(report.failing)}")
    if report.flipped:
        command = f"answerable eval --encoding {resolve_encoding(options).name}"
        remedies.append(f"see `{command}` for {', '.join(report.flipped)}")
    return ", and ".join(remedies)


def _judge_contents(built: FinishedBuild, staged: StagedFunction, notes: NoteSources) -> GateReport:
    case = load_gold_case(built, staged.index, notes, full=answers_locally(built.options))
    site = make_judged_site(built, staged.index, case)
    return certify_contents(site, staged.contents, built.cache / "certificates")


def _judge_retrieval(built: FinishedBuild, staged: StagedFunction, notes: NoteSources) -> None:
    """Run the retrieval tier; a failing query is a warning, and in a strict build an error."""
    report = _read_or_run_report(built, staged, notes)
    count = len(report.verdicts)
    if report.holds:
        log.info("gate: %d of %d gold queries hold", count, count)
        return
    # An issue may name a note's file, and a build's log may be public.
    failures = (
        f"gate: {len(report.failed)} of {count} gold queries fail ({', '.join(report.failed)})"
    )
    if built.strict:
        raise SiteError(f"{failures}; build without --strict, and see `answerable eval`")
    log.warning("%s; see `answerable eval`, or `answerable why` for one of them", failures)


def _read_or_run_report(
    built: FinishedBuild, staged: StagedFunction, notes: NoteSources
) -> EvalReport:
    """Read the verdicts of the last build, or run the gold set where anything has changed."""
    case = load_gold_case(built, staged.index, notes, full=False)
    _check_added_texts(built.options, case.queries, staged.index)
    site = make_judged_site(built, staged.index, case)
    key = compute_verdict_key(site.compute_bundle_id(staged.contents), staged.index, case)
    path = built.cache / "verdicts" / f"{key}.json"
    with suppress(GoldError):
        return read_report(path)
    runnable = [query for query in case.queries if not query.requires_model]
    with open_unpublished(site, staged.contents) as engine:
        report = make_report(
            engine.store.manifest,
            run_gold_set(runnable, engine, case.notes, full=False),
            case.queries,
            runnable,
            tier="retrieval",
            answers=resolve_settings(built.options).answers,
        )
    write_report(path, report, None, private=True)
    return report


def _check_added_texts(
    options: AnswerableConfig, queries: Sequence[GoldQuery], index: SiteIndex
) -> None:
    """Refuse enrichment, abbreviations and metadata that were added to pages for one question."""
    paths = (options[option] for option in ("enrichment", "abbreviations"))
    texts = read_existing_files([Path(path) for path in paths if path])
    texts |= list_page_metadata(index.records)
    check_gold_overlap(queries, texts, index.site.name)


def load_gold_case(
    built: FinishedBuild,
    index: SiteIndex,
    notes: NoteSources,
    *,
    full: bool,
    gold: Path | None = None,
    ids: Sequence[str] = (),
) -> GateCase:
    """Load the gold set of a build, or another file, as the case for an index; GoldError.

    ids: the queries to ask, all by default.
    """
    return load_gate_case(
        gold or resolve_gold_path(built.options),
        built.author,
        index,
        notes,
        full=full,
        check_negation=built.options.evaluate.check_negation,
        ids=ids,
    )


def make_judged_site(built: FinishedBuild, index: SiteIndex, case: GateCase) -> JudgedSite:
    """Join a build's index with what opens it and the case that judges it."""
    profile = resolve_profile(built.options, index)
    return JudgedSite(index, built.embedder, profile, case, built.cache)


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
        or resolve_encoding(options).name == FULL_PRECISION
        or (options.languages == "apart" and len(built.sites) > 1)
        or not resolve_gold_path(options).is_file()
    ):
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


def needs_search_certificate(options: AnswerableConfig) -> bool:
    """Tell whether an approximate search has to be certified by the gold set."""
    return options.store.search != "exact" and options.bundle.uncertified == "refuse"


def _is_lossy(options: AnswerableConfig) -> bool:
    return resolve_encoding(options).needs_certificate(resolve_identity(options).dimensions)


def _encoding_label(options: AnswerableConfig) -> str:
    return resolve_encoding(options).label(resolve_identity(options).dimensions)


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
