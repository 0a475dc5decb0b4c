"""From what MkDocs has built to a published function, or to the engine of a preview."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path

from mkdocs.plugins import get_plugin_logger

from ..evaluate.gold_sources import NoteSources
from ..indexing.build_time import read_build_time
from ..indexing.index import SiteIndex, build_index
from ..indexing.leak_audit.artifacts import Artifact, walk_artifacts
from ..indexing.leak_audit.audit import audit_artifacts, check_published_in
from ..indexing.notes import note_ids
from ..indexing.notes.note import Notebook
from ..indexing.notes.note_places import make_about_resolver
from ..indexing.notes.notebook import NoteCheck, read_notebook
from ..indexing.notes.routing_hints import check_about
from ..indexing.output.atomic_files import write_file
from ..indexing.pages.enrichment import check_enrichment_ids
from ..indexing.pipeline import (
    open_preview_bundle,
    publish_function,
    stage_function,
    summarize_build,
)
from ..indexing.process_pool import ProcessPool
from ..indexing.progress import show_progress
from ..indexing.record_weights import check_weight_patterns
from ..indexing.widget import widget_config
from ..indexing.widget.widget_config import BundleIds, format_widget_config
from ..serve.engine import Engine
from ..serve.providers import make_engine
from ..serve.settings import BUNDLE_FOLDER
from .config import AnswerableConfig
from .options import resolve_encoding, resolve_profile, resolve_settings
from .pages import FinishedBuild, SitePages, merge_languages
from .release_gates import (
    check_database_options,
    publish_to_database,
    require_gold_set,
    resolve_stored_settings,
    run_release_gates,
)

log = get_plugin_logger(__name__)


def publish_site(built: FinishedBuild, function: Path) -> None:
    """Audit and index a site, and write its function's folder, or one for each language."""
    whole = merge_languages(built.sites)
    private = _read_checked_notebook(built, whole)
    _warn_if_unanswerable(whole, private)
    if built.options.languages == "together" or len(built.sites) == 1:
        parts = {function: whole}
    else:
        # A note may name a page that this language does not have.
        parts = {
            function / each.info.language: replace(each, targets={**whole.targets, **each.targets})
            for each in built.sites
        }
        if (function / BUNDLE_FOLDER).exists():
            log.warning(
                "function: %s holds an older function of all languages; delete it", function
            )
    check_database_options(built)
    require_gold_set(built, len(parts))
    notes = NoteSources(private.ids, private.unrouted_paths)
    audited = partial(_audit_site, built, whole, private)
    encoding = resolve_encoding(built.options)
    # What is wrong with one language is found before any of them is replaced.
    all_staged = [
        stage_function(
            _index_pages(built, part, private),
            folder,
            resolve_stored_settings(built, folder),
            encoding,
            audited,
        )
        for folder, part in parts.items()
    ]
    for staged in all_staged:
        run_release_gates(built, staged, notes)
    ids = {}
    for staged in all_staged:
        profile = resolve_profile(built.options, staged.index)
        manifest = publish_function(staged, built.embedder.identity, profile, read_build_time())
        ids[staged.index.site.language] = manifest.id
        log.info(summarize_build(manifest, staged.index, staged.folder))
    for staged in all_staged:
        publish_to_database(built, staged, notes)
    _write_widget_config(built, ids if len(ids) > 1 else manifest.id)


def preview_site(built: FinishedBuild) -> Engine:
    """Audit and index a site for the dev server; nothing is published."""
    whole = merge_languages(built.sites)
    private = _read_checked_notebook(built, whole)
    _warn_if_unanswerable(whole, private)
    made = _index_pages(built, whole, private)
    folder = built.cache / "serve"
    opened = open_preview_bundle(
        made,
        folder,
        built.embedder.identity,
        resolve_profile(built.options, made),
        resolve_encoding(built.options),
        read_build_time(),
        partial(_audit_site, built, whole, private),
    )
    _write_widget_config(built, opened.manifest.id)
    log.info(summarize_build(opened.manifest, made, folder))
    return make_engine(opened, built.embedder, resolve_settings(built.options))


def audit_unindexed_site(
    options: AnswerableConfig, folder: Path, outputs: Mapping[str, str], workers: ProcessPool
) -> None:
    """Audit what a build has written of which no index can be made; nothing is published.

    outputs: the docs path of the page in each file of the site.
    """
    if options.notebook:
        private = _read_notes(Path(options.notebook))
        written = walk_artifacts(folder, folder.name, outputs)
        audit_artifacts(private.notes, written, Path(options.cache), workers, private.unindexed)


def index_unpublished_site(built: FinishedBuild) -> tuple[SiteIndex, Notebook]:
    """The index of a whole site and the notebook it is made with; nothing is written or audited."""
    whole = merge_languages(built.sites)
    private = _read_checked_notebook(built, whole)
    return _index_pages(built, whole, private), private


def _write_widget_config(built: FinishedBuild, bundle: BundleIds) -> None:
    """Put into the site what its widget is told, the bundle's id at last."""
    write_file(
        built.folder / widget_config.WIDGET_CONFIG_PATH, format_widget_config(built.facts, bundle)
    )


def _read_checked_notebook(built: FinishedBuild, whole: SitePages) -> Notebook:
    """The notebook, once what the options say of pages has been checked against the pages."""
    options = built.options
    ids = [page.record.id for page in whole.pages if not page.record.metadata.excluded]
    check_weight_patterns(options.retrieval.weights, ids)
    if options.enrichment:
        check_enrichment_ids(whole.enrichment, ids, Path(options.enrichment))
    if not options.notebook:
        return Notebook()
    resolve, pages = make_about_resolver(whole.targets), frozenset(whole.outputs.values())
    checks = (
        lambda note: check_about(note, resolve, whole.info.language),
        lambda note: check_published_in(note, pages),
    )
    private = _read_notes(Path(options.notebook), checks)
    if not private.notes:
        log.warning("notebook: %s holds no note; write one or drop it", options.notebook)
    return private


def _read_notes(folder: Path, checks: Sequence[NoteCheck] = ()) -> Notebook:
    private = read_notebook(folder, checks, writes_key=True)
    if private.new_key:
        log.info(note_ids.NEW_KEY_MESSAGE, private.new_key)
    return private


def _warn_if_unanswerable(whole: SitePages, private: Notebook) -> None:
    """Warn of a site that can only refuse."""
    if not private.notes and not any(page.passages for page in whole.pages):
        log.warning(
            "docs_dir: no page of the site holds text, so every question is refused; write one, "
            "or check exclude_docs and the front matter of pages"
        )


def _audit_site(
    built: FinishedBuild, whole: SitePages, private: Notebook, more: Iterable[Artifact]
) -> None:
    written = chain(_list_artifacts(built, whole), more)
    audit_artifacts(private.notes, written, built.cache, built.workers, private.unindexed)


def _list_artifacts(built: FinishedBuild, whole: SitePages) -> Iterator[Artifact]:
    """All that a build has written or was told beside the notes."""
    for option in ("enrichment", "abbreviations"):
        if built.options[option]:
            yield Artifact(option, Path(built.options[option]).read_bytes)
    told = Artifact(
        f"{built.folder.name}/{widget_config.WIDGET_CONFIG_PATH}",
        partial(format_widget_config, built.facts, None),
    )
    yield told
    # What a dirty build has found there is replaced by it.
    written = walk_artifacts(built.folder, built.folder.name, whole.outputs)
    yield from (artifact for artifact in written if artifact.name != told.name)
    for page in whole.pages:
        # What a page is found by need not stand on it, and its terms are in the bundle.
        heads = "\n".join(dict.fromkeys(passage.context for passage in page.passages))
        source = whole.sources[page.record.id]
        yield Artifact(f"the front matter of {source}", heads.encode, source)


def _index_pages(built: FinishedBuild, whole: SitePages, private: Notebook) -> SiteIndex:
    with show_progress() as report:
        return build_index(
            whole.info,
            whole.pages,
            private.notes,
            make_about_resolver(whole.targets),
            built.embedder,
            cache_folder=built.cache,
            weights=built.options.retrieval.weights,
            progress=report,
        )
