"""Publication of a build: what is written where, and what a site needs a function for."""

import logging
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from mkdocs.plugins import get_plugin_logger

from ..engine.bundle import open_bundle
from ..engine.errors import SiteError
from ..engine.settings import BUNDLE_FOLDER, FunctionSettings
from ..indexing.answer_place import (
    BROWSER_MESSAGE,
    AnswerPlace,
    choose_answer_place,
    describe_function_needs,
    locate_unpublished_function,
)
from ..indexing.answers import CheckedAnswers, check_answers, read_answers
from ..indexing.audit.audit import Artifact, audit_artifacts, walk_artifacts
from ..indexing.files import (
    check_notebook_location,
    check_private_location,
    format_count,
    join_problems,
)
from ..indexing.notes.note_key import NEW_KEY_MESSAGE
from ..indexing.notes.note_lint import lint_public_field
from ..indexing.notes.notebook import Notebook, read_notebook
from ..indexing.page_weights import check_weight_patterns
from ..indexing.pages.page_index import check_enrichment_ids
from ..indexing.publish import (
    NO_ADDRESS_MESSAGE,
    FunctionPlan,
    SiteBuild,
    StagedIndex,
    preview_site,
    publish_site,
    read_site_notes,
)
from ..indexing.questions import SectionQuestions, list_sections
from ..indexing.widget import site_files
from ..indexing.widget.site_files import (
    format_widget_config,
    write_widget_files,
)
from .options import (
    AnswerableConfig,
    check_options,
    is_absolute_endpoint,
    read_known_questions,
    read_mike_version,
    resolve_answers_path,
    resolve_dimensions,
    resolve_identity,
    resolve_profile,
    resolve_settings,
)
from .pages import FinishedBuild
from .widget import check_widget_options

if TYPE_CHECKING:
    from ..engine.engine import Engine
    from ..postgres.publication import DatabaseTarget

log = get_plugin_logger(__name__)


def list_function_needs(config: AnswerableConfig) -> dict[str, str]:
    """List the options for which a function has to answer, each with the reason."""
    drops_dimensions = resolve_dimensions(config) != resolve_identity(config).dimensions
    needs = {
        "notebook": config.notebook and "private notes stay on a server",
        "embedding.provider": config.embedding.provider != "local"
        and "only the local model is published",
        "answers.provider": config.answers.provider != "extractive"
        and "only the extractive answerer runs in the browser",
        "bundle.dimensions": drops_dimensions and "the browser reads all dimensions",
        # Also where its environment variable is missing in this build.
        "store.url": "url" in config.store.written and "a database needs a server",
        "widget.endpoint": config.widget.endpoint is not None and "the ask box asks there",
        "log_refusals": config.log_refusals != "none" and "a question in the browser leaves no log",
    }
    return {option: reason for option, reason in needs.items() if reason}


def check_site_options(config: AnswerableConfig, published: Mapping[str, Path]) -> None:
    """Refuse options that cannot be followed, and private folders that are published, by SiteError.

    published: folders by the name of their option.
    """
    check_options(config)
    check_widget_options(config)
    choose_answer_place(config.answers_in, list_function_needs(config))
    function = Path(config.function)
    private = {**published, "the function folder": function}
    check_private_location("function", function, published)
    check_private_location("cache", Path(config.cache), private)
    if config.notebook:
        check_notebook_location(Path(config.notebook), private)


def publish_build(built: FinishedBuild, report: Callable[[str], object] = log.info) -> None:
    """Audit and index a site, and write its function's folder.

    Where readers' browsers answer, and no option names a folder for a function, the cache holds
    what commands ask. report: is told what was published.
    """
    place = _choose_answer_place(built)
    site = _describe_site(built, place)
    notebook = _read_checked_notebook(built, site)
    configured = Path(built.options.function)
    unpublished = locate_unpublished_function(Path(built.options.cache))
    has_function = place == "function" or "function" in built.options.written
    # Each version of a site has a folder of its own.
    folder = (configured if has_function else unpublished) / (read_mike_version() or "")
    database = _find_database(built, folder)
    plan = FunctionPlan(folder, _resolve_stored_settings(built, folder), has_function)
    # An address is the function's concern: a browser knows where its page is.
    if site.info.url is None and place == "function":
        log.info(NO_ADDRESS_MESSAGE)
    gate = partial(_judge_gold_set, built, notebook=notebook)
    staged = publish_site(site, plan, notebook, report, gate)
    if has_function:
        shutil.rmtree(unpublished, ignore_errors=True)
    elif configured.exists():
        log.info("function: %s is an earlier build's, and nothing asks it; delete it", configured)
    if database:
        _publish_to_database(database, folder)
    bundle_id = staged.packed.manifest.id
    write_widget_files(
        built.output, built.widget_config, bundle_id, staged.browser, is_offline=built.is_offline
    )


def preview_build(built: FinishedBuild, report: Callable[[str], object] = log.info) -> "Engine":
    """Audit and index a site for the dev server; nothing is published. report: as for a build.

    The dev server answers, unless the options ask for the browser.
    """
    # Imported late: only a dev server answers.
    from ..engine.providers import make_engine

    site = _describe_site(built, choose_preview_place(built.options))
    notebook = _read_checked_notebook(built, site)
    bundle, index = preview_site(site, notebook, Path(built.options.cache, "serve"), report)
    write_widget_files(built.output, built.widget_config, bundle.manifest.id, index)
    return make_engine(bundle, built.embedder, resolve_settings(built.options))


def choose_preview_place(options: AnswerableConfig) -> AnswerPlace:
    """Choose where questions to a preview are answered: by its server, unless options differ."""
    return choose_answer_place(options.answers_in or "function", list_function_needs(options))


def audit_unindexed_site(
    options: AnswerableConfig, folder: Path, outputs: Mapping[str, str]
) -> None:
    """Audit what a build has written if no index can be made of it; nothing is published.

    outputs: the docs path of the page in each file of the site.
    """
    if options.notebook:
        notebook = read_notebook(Path(options.notebook), writes_key=True)
        if notebook.new_key:
            log.info(NEW_KEY_MESSAGE, notebook.new_key)
        written = walk_artifacts(folder, folder.name, outputs)
        audit_artifacts(notebook.notes, written, Path(options.cache), notebook.unindexed)


def _choose_answer_place(built: FinishedBuild) -> AnswerPlace:
    """Choose where a published site's questions are answered, and say what needs a function.

    Nothing is said to an owner who knows: one who has set the option, or the function's address.
    """
    options, needs = built.options, list_function_needs(built.options)
    place = choose_answer_place(options.answers_in, needs)
    if place == "function" and options.offline:
        needs = needs or {"answers_in": "it asks for one"}
        raise SiteError(describe_function_needs(needs, "remove `offline`", "offline"))
    if place == "function" and options.answers_in is None and options.widget.endpoint is None:
        # A published ask box that nobody answers is a mistake, and without one it is news.
        has_box = options.widget.placement != "none"
        level = logging.WARNING if has_box else logging.INFO
        log.log(level, describe_function_needs(needs))
    if is_absolute_endpoint(options.widget.endpoint) and not built.site.info.url:
        log.warning(
            "widget.endpoint: it is on another host, and without site_url the function cannot tell "
            "which pages may ask it; set site_url"
        )
    if place == "browser" and not built.is_offline:
        log.info(BROWSER_MESSAGE)
    return place


def _read_stored_answers(
    built: FinishedBuild, questions: Mapping[str, SectionQuestions]
) -> CheckedAnswers:
    """Read the stored answers of a site's questions that still hold, and name the others."""
    path = resolve_answers_path(built.options)
    written = read_answers(path)
    if not written:
        return {}
    public = (page for page in built.site.pages if not page.record.metadata.excluded)
    sections = list_sections(entry.passage for page in public for entry in page.passages)
    names = built.site.info.claim_names
    answers, faults = check_answers(written, questions, sections, names)
    if faults:
        log.warning(
            "%s: %s left out (%s); correct or drop them, or write them anew by `answerable "
            "questions --export --answers`",
            path.name,
            format_count(len(faults), "stored answer"),
            join_problems([f"{fault.section}: {fault.problem}" for fault in faults]),
        )
    return answers


def _describe_site(built: FinishedBuild, place: AnswerPlace) -> SiteBuild:
    pages, questions = built.site, read_known_questions(built.options)
    return SiteBuild(
        info=pages.info,
        pages=pages.pages,
        targets=pages.targets,
        list_artifacts=partial(_list_artifacts, built),
        cache=Path(built.options.cache),
        embedder=built.embedder,
        dimensions=resolve_dimensions(built.options),
        choose_profile=partial(resolve_profile, built.options),
        weights=built.options.retrieval.weights,
        questions=questions,
        answers=_read_stored_answers(built, questions),
        browser_folder=built.output if place == "browser" else None,
        page_names=pages.page_names,
    )


def _read_checked_notebook(built: FinishedBuild, site: SiteBuild) -> Notebook:
    """Check what the options say about pages, and read the notebook."""
    options = built.options
    ids = [page.record.id for page in site.pages if not page.record.metadata.excluded]
    check_weight_patterns(options.retrieval.weights, ids)
    if options.enrichment:
        check_enrichment_ids(built.site.enrichment, ids, Path(options.enrichment))
    notebook = Notebook()
    if options.notebook:
        notebook = read_site_notes(site, Path(options.notebook))
        if notebook.new_key:
            log.info(NEW_KEY_MESSAGE, notebook.new_key)
        for note in notebook.notes:
            lint_public_field(options.contact or "", note.text, "contact")
        if not notebook.notes:
            log.warning("notebook: %s holds no note; write one or drop it", options.notebook)
    if not notebook.notes and not any(page.passages for page in site.pages):
        log.warning(
            "docs_dir: no page of the site holds text, so every question is refused; write one, "
            "or check exclude_docs and the front matter of pages"
        )
    return notebook


def _list_artifacts(built: FinishedBuild) -> Iterator[Artifact]:
    """List all that a build has written, or was configured with besides the notes."""
    for option in ("enrichment", "abbreviations", "questions"):
        if built.options[option] and (path := Path(built.options[option])).is_file():
            yield Artifact(option, path.read_bytes)
    if (answers := resolve_answers_path(built.options)).is_file():
        yield Artifact(answers.name, answers.read_bytes)
    config = Artifact(
        f"{built.folder.name}/{site_files.WIDGET_CONFIG_PATH}",
        partial(format_widget_config, built.widget_config, None),
    )
    yield config
    # The file of an earlier build, which a dirty build leaves there, is replaced by it.
    written = walk_artifacts(built.folder, built.folder.name, built.site.outputs)
    yield from (artifact for artifact in written if artifact.name != config.name)
    for page in built.site.pages:
        # What a page is found by need not stand on it, and its terms are in the bundle.
        contexts = "\n".join(dict.fromkeys(passage.context for passage in page.passages))
        source = built.site.sources[page.record.id]
        yield Artifact(f"the front matter of {source}", contexts.encode, source)


def _judge_gold_set(built: FinishedBuild, staged: StagedIndex, notebook: Notebook) -> None:
    """Refuse a staged index whose gold set fails by what is retrieved; SiteError names why."""
    path = Path(built.options.gold)
    if not built.options.gate:
        return
    if not path.is_file():
        raise SiteError(f"gate: {path} does not exist: write a gold set, or take `gate` out")
    # Imported late: most builds have no gold set.
    from ..check.gate import judge_bundle
    from ..check.gold import load_gold_queries
    from ..check.sources import make_note_sources

    queries = load_gold_queries(path, built.author)
    notes = make_note_sources(notebook.ids, notebook.unrouted_paths)
    verdicts = judge_bundle(staged.bundle, built.embedder, queries, path, notes)
    # An issue may name a note's file, and a build's log may be public.
    if failed := [verdict.id for verdict in verdicts if not verdict.holds]:
        raise SiteError(
            f"gate: {len(failed)} of {len(verdicts)} gold queries fail ({', '.join(failed)}), so "
            "nothing is published: take `gate` out, build, and ask `answerable eval` why"
        )
    log.info("gate: %d of %d gold queries hold", len(verdicts), len(verdicts))


def _find_database(built: FinishedBuild, folder: Path) -> "DatabaseTarget | None":
    """Find where a bundle is published as rows, before a file is written; None for nowhere.

    PolicyError names the extra to install. A warning tells of an empty address.
    """
    store = built.options.store
    if store.url:
        from ..postgres.publication import DatabaseTarget

        return DatabaseTarget(store.url, _name_in_database(built, folder), store.search)
    if "url" in store.written:
        log.warning("store.url: it is empty, so nothing is published to a database")
    return None


def _publish_to_database(target: "DatabaseTarget", folder: Path) -> None:
    """Publish the bundle in a function's folder to the database; StorageError if it refuses."""
    from ..postgres.publication import publish_bundle_rows

    bundle = open_bundle(folder / BUNDLE_FOLDER)
    sent = publish_bundle_rows(bundle, target)
    rows = f"published as {target.name}; {format_count(sent, 'row')} sent"
    log.info("store: %s %s", bundle.manifest.id[:12], rows if sent else "is there already")


def _resolve_stored_settings(built: FinishedBuild, folder: Path) -> FunctionSettings:
    """Resolve the settings of the function in a folder, with its name in the database."""
    settings = resolve_settings(built.options)
    if "url" not in built.options.store.written:
        return settings
    return replace(settings, store=_name_in_database(built, folder))


def _name_in_database(built: FinishedBuild, folder: Path) -> str:
    """Name a function's bundle in the database: one for each version of a site."""
    inner = folder.resolve().relative_to(Path(built.options.function).resolve())
    return "/".join([built.options.store.name, *inner.parts])
