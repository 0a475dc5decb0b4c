"""From what MkDocs has built to a published function, or to the engine of a preview."""

import datetime as dt
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path

from mkdocs.plugins import get_plugin_logger

from ..build import audit, bundle_writer, enrichment, index, notebook, section_weights, site
from ..build.artifacts import Artifact
from ..build.index import Index
from ..build.notebook import Note
from ..build.targets import resolver
from ..build.workers import Workers
from ..serve import providers
from ..serve.embedder import Embedder
from ..serve.engine import Engine
from . import choices, progress, reading
from .config import AnswerableConfig
from .reading import Site

log = get_plugin_logger(__name__)


@dataclass(frozen=True, slots=True)
class Built:
    """What a build hands over: the options, a site for each language, and where they lie."""

    options: AnswerableConfig
    sites: list[Site]
    folder: Path
    embedder: Embedder
    workers: Workers

    @property
    def cache(self) -> Path:
        return Path(self.options.cache)


def publish(built: Built, function: Path) -> None:
    """Audit and index a site, and write its function's folder, or one for each language."""
    whole = reading.merge(built.sites)
    notes = _notes(built, whole)
    if built.options.languages == "together" or len(built.sites) == 1:
        parts = {function: whole}
    else:
        # A note may name a page that this language does not have.
        parts = {
            function / each.info.language: replace(each, targets={**whole.targets, **each.targets})
            for each in built.sites
        }
        if (function / providers.BUNDLE).exists():
            log.warning(
                "function: %s holds an older function of all languages; delete it", function
            )
    audited = partial(_audit, built, whole, notes)
    settings, profile = choices.settings(built.options), choices.profile(built.options)
    # What is wrong with one language is found before any of them is replaced.
    all_staged = [
        site.stage(_index(built, part, notes), folder, settings, audited)
        for folder, part in parts.items()
    ]
    for staged in all_staged:
        manifest = site.publish(staged, built.embedder.identity, profile, _now())
        log.info(site.summary(manifest, staged.index, staged.folder))


def preview(built: Built) -> Engine:
    """Audit and index a site for the dev server; nothing is published."""
    whole = reading.merge(built.sites)
    notes = _notes(built, whole)
    made = _index(built, whole, notes)
    folder = built.cache / "serve"
    opened = site.preview(
        made,
        folder,
        built.embedder.identity,
        choices.profile(built.options),
        _now(),
        partial(_audit, built, whole, notes),
    )
    log.info(site.summary(opened.manifest, made, folder))
    return providers.engine(opened, built.embedder, choices.settings(built.options))


def _notes(built: Built, whole: Site) -> list[Note]:
    """The notes, once what the options say of pages has been checked against the pages."""
    options = built.options
    ids = [page.record.id for page in whole.pages if not page.record.metadata.excluded]
    section_weights.check(options.retrieval.weights, ids)
    if options.enrichment:
        path = Path(options.enrichment)
        enrichment.check(enrichment.read(path), ids, path)
    if not options.notebook:
        return []
    notes = notebook.read(Path(options.notebook))
    if not notes:
        log.warning("notebook: %s holds no note; write one or drop it", options.notebook)
    return notes


def _audit(built: Built, whole: Site, notes: list[Note], more: Iterable[Artifact]) -> None:
    folder = built.options.notebook
    drafts = notebook.drafts(Path(folder)) if folder else []
    written = chain(_written(built, whole), more)
    audit.check(notes, written, built.cache, built.workers, drafts)


def _written(built: Built, whole: Site) -> Iterator[Artifact]:
    """All that a build has written or was told beside the notes."""
    for option in ("enrichment", "abbreviations"):
        if built.options[option]:
            yield Artifact(option, Path(built.options[option]).read_bytes)
    yield from audit.folder(built.folder, built.folder.name, whole.outputs)
    for page in whole.pages:
        # What a page is found by need not stand on it, and its terms are in the bundle.
        heads = "\n".join(dict.fromkeys(cut.head for cut in page.cuts))
        source = whole.sources[page.record.id]
        yield Artifact(f"the front matter of {source}", heads.encode, source)


def _index(built: Built, whole: Site, notes: list[Note]) -> Index:
    with progress.reporting() as report:
        return index.build(
            whole.info,
            whole.pages,
            notes,
            resolver(whole.targets),
            built.embedder,
            cache_folder=built.cache,
            weights=built.options.retrieval.weights,
            progress=report,
        )


def _now() -> dt.datetime:
    return bundle_writer.build_time(os.environ.get("SOURCE_DATE_EPOCH"))
