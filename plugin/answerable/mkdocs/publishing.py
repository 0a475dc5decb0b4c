"""From what MkDocs has built to a published function, or to the engine of a preview."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path

from mkdocs.plugins import get_plugin_logger

from ..build import (
    audit,
    enrichment,
    facts,
    files,
    index,
    note_ids,
    notebook,
    section_weights,
    site,
    targets,
)
from ..build.artifacts import Artifact
from ..build.index import Index
from ..build.notebook import Notebook
from ..build.workers import Workers
from ..faces import clock, progress
from ..serve import providers
from ..serve.engine import Engine
from ..serve.settings import BUNDLE
from . import certifying, choices, judging, reading, storing
from .built import Built
from .config import AnswerableConfig
from .reading import Site

log = get_plugin_logger(__name__)


def publish(built: Built, function: Path) -> None:
    """Audit and index a site, and write its function's folder, or one for each language."""
    whole = reading.merge(built.sites)
    private = _notebook(built, whole)
    _warn_of_silence(whole, private)
    if built.options.languages == "together" or len(built.sites) == 1:
        parts = {function: whole}
    else:
        # A note may name a page that this language does not have.
        parts = {
            function / each.info.language: replace(each, targets={**whole.targets, **each.targets})
            for each in built.sites
        }
        if (function / BUNDLE).exists():
            log.warning(
                "function: %s holds an older function of all languages; delete it", function
            )
    certifying.check(built, len(parts))
    storing.check(built, len(parts))
    judging.check(built, len(parts))
    audited = partial(_audit, built, whole, private)
    encoding = choices.encoding(built.options)
    # What is wrong with one language is found before any of them is replaced.
    all_staged = [
        site.stage(
            _index(built, part, private),
            folder,
            storing.settings(built, folder),
            encoding,
            audited,
        )
        for folder, part in parts.items()
    ]
    for staged in all_staged:
        certifying.certify(built, staged, private)
        judging.judge(built, staged, private)
    ids = {}
    for staged in all_staged:
        profile = choices.profile(built.options, staged.index)
        manifest = site.publish(staged, built.embedder.identity, profile, clock.now())
        ids[staged.index.site.language] = manifest.id
        log.info(site.summary(manifest, staged.index, staged.folder))
    for staged in all_staged:
        storing.publish(built, staged, private)
    _tell(built, ids if len(ids) > 1 else manifest.id)


def preview(built: Built) -> Engine:
    """Audit and index a site for the dev server; nothing is published."""
    whole = reading.merge(built.sites)
    private = _notebook(built, whole)
    _warn_of_silence(whole, private)
    made = _index(built, whole, private)
    folder = built.cache / "serve"
    opened = site.preview(
        made,
        folder,
        built.embedder.identity,
        choices.profile(built.options, made),
        choices.encoding(built.options),
        clock.now(),
        partial(_audit, built, whole, private),
    )
    _tell(built, opened.manifest.id)
    log.info(site.summary(opened.manifest, made, folder))
    return providers.engine(opened, built.embedder, choices.settings(built.options))


def audit_site(
    options: AnswerableConfig, folder: Path, outputs: Mapping[str, str], workers: Workers
) -> None:
    """Audit what a build has written of which no index can be made; nothing is published.

    outputs: the docs path of the page in each file of the site.
    """
    if options.notebook:
        private = _read_notes(Path(options.notebook))
        written = audit.folder(folder, folder.name, outputs)
        audit.check(private.notes, written, Path(options.cache), workers, private.withheld)


def indexed(built: Built) -> tuple[Index, Notebook]:
    """The index of a whole site and the notebook it is made with; nothing is written or audited."""
    whole = reading.merge(built.sites)
    private = _notebook(built, whole)
    return _index(built, whole, private), private


def _tell(built: Built, bundle: facts.Ids) -> None:
    """Put into the site what its widget is told, the bundle's id at last."""
    files.write(built.folder / facts.PATH, facts.contents(built.facts, bundle))


def _notebook(built: Built, whole: Site) -> Notebook:
    """The notebook, once what the options say of pages has been checked against the pages."""
    options = built.options
    ids = [page.record.id for page in whole.pages if not page.record.metadata.excluded]
    section_weights.check(options.retrieval.weights, ids)
    if options.enrichment:
        enrichment.check(whole.enrichment, ids, Path(options.enrichment))
    if not options.notebook:
        return Notebook()
    resolve, pages = targets.resolver(whole.targets), frozenset(whole.outputs.values())
    checks = (
        lambda note: targets.check(note, resolve, whole.info.language),
        lambda note: audit.check_pages(note, pages),
    )
    private = _read_notes(Path(options.notebook), checks)
    if not private.notes:
        log.warning("notebook: %s holds no note; write one or drop it", options.notebook)
    return private


def _read_notes(folder: Path, checks: Sequence[notebook.Check] = ()) -> Notebook:
    private = notebook.read_all(folder, checks, writes_key=True)
    if private.new_key:
        log.info(note_ids.NEW_KEY, private.new_key)
    return private


def _warn_of_silence(whole: Site, private: Notebook) -> None:
    """Warn of a site that can only refuse."""
    if not private.notes and not any(page.cuts for page in whole.pages):
        log.warning(
            "docs_dir: no page of the site holds text, so every question is refused; write one, "
            "or check exclude_docs and the front matter of pages"
        )


def _audit(built: Built, whole: Site, private: Notebook, more: Iterable[Artifact]) -> None:
    written = chain(_written(built, whole), more)
    audit.check(private.notes, written, built.cache, built.workers, private.withheld)


def _written(built: Built, whole: Site) -> Iterator[Artifact]:
    """All that a build has written or was told beside the notes."""
    for option in ("enrichment", "abbreviations"):
        if built.options[option]:
            yield Artifact(option, Path(built.options[option]).read_bytes)
    told = Artifact(f"{built.folder.name}/{facts.PATH}", partial(facts.contents, built.facts, None))
    yield told
    # What a dirty build has found there is replaced by it.
    written = audit.folder(built.folder, built.folder.name, whole.outputs)
    yield from (artifact for artifact in written if artifact.name != told.name)
    for page in whole.pages:
        # What a page is found by need not stand on it, and its terms are in the bundle.
        heads = "\n".join(dict.fromkeys(cut.head for cut in page.cuts))
        source = whole.sources[page.record.id]
        yield Artifact(f"the front matter of {source}", heads.encode, source)


def _index(built: Built, whole: Site, private: Notebook) -> Index:
    with progress.reporting() as report:
        return index.build(
            whole.info,
            whole.pages,
            private.notes,
            targets.resolver(whole.targets),
            built.embedder,
            cache_folder=built.cache,
            weights=built.options.retrieval.weights,
            progress=report,
        )
