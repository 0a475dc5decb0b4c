"""Pipeline of a build: index pages and notes, audit what is written, then publish."""

import datetime as dt
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import chain
from pathlib import Path

from ..serve.bundle_format.manifest import STREAMS, Manifest, Profile, array_file_name
from ..serve.embedders.embedder import Embedder, EmbedderIdentity
from ..serve.settings import BUNDLE_FOLDER, SETTINGS_FILE, FunctionSettings
from ..serve.stores.bundle import Bundle, open_bundle
from ..serve.vectors import Encoding
from .browser_index.index_files import BrowserIndex
from .browser_index.staged_index import stage_browser_index, write_browser_index
from .caches import ProcessPool, hash_inputs, keep_stage, name_vector_space, show_progress
from .index import SiteIndex, SiteInfo, build_index
from .leak_audit.audit import Artifact, audit_artifacts, check_published_in
from .notes.note_places import AboutTargets, make_about_resolver
from .notes.notebook import Note, Notebook, read_notebook
from .notes.routing_hints import check_about
from .output.bundle_writer import (
    BundleContents,
    make_manifest,
    parse_build_time,
    serialize_index,
    write_bundle,
)
from .output.files import format_count, lock_folder, write_private_file
from .output.function_writer import check_function_folder, lacks_kernel, write_function
from .pages.page_index import PageIndex
from .widget.injection import WIDGET_FOLDER


def count_scanned_bytes(encoding: Encoding, sizes: Mapping[str, int]) -> int:
    """Count the bytes of all vectors, if a question is compared with every one of them.

    sizes: of a bundle's files.
    """
    if not encoding.kind.is_scanned:
        return 0
    return sum(
        sizes[array_file_name(stream, name)] for stream in STREAMS for name in encoding.arrays
    )


def summarize_build(manifest: Manifest, embedded: int, folder: Path) -> str:
    """Say on one line what an index holds and where it was written. embedded: so many texts."""
    counts = manifest.counts
    nouns = (("records", "page"), ("passages", "passage"), ("hints", "hint"))
    sizes = {name: file.bytes for name, file in manifest.files.items()}
    advice = ""
    if lacks_kernel(count_scanned_bytes(manifest.encoding, sizes)):
        advice = "; `pip install 'mkdocs-answerable[fast]'` makes its search faster"
    return (
        f"{', '.join(format_count(counts[name], noun) for name, noun in nouns)}; "
        f"{format_count(embedded, 'text')} embedded; "
        f"bundle of {manifest.bytes / 1000:.1f} kB in {_relative_path(folder)}{advice}"
    )


def _relative_path(folder: Path) -> str:
    try:
        return os.path.relpath(folder)
    except ValueError:
        # On Windows there is no way from one drive to another.
        return str(folder)


# What a site without an address goes without, after the option that gives it one.
NO_ADDRESS_MESSAGE = (
    "%s: not set, so a citation or a search result has an absolute url only for a page that asks "
    "from an origin in ANSWERABLE_ALLOWED_ORIGINS, and pages of no other origin may ask"
)

AuditArtifacts = Callable[[Iterable[Artifact]], None]


@dataclass(frozen=True, slots=True)
class SiteBuild:
    """A built site and how to index it: what the pipeline needs of whoever has read the site.

    ``outputs``: the page in each file of the site, by the name that notes call it; ``page_names``:
    further names by which a note's ``published_in`` may call a page. ``list_artifacts`` lists all
    that the site publishes besides its function, for the leak audit. ``browser_folder``: the folder
    of the site where readers' browsers answer from its files, None where a function answers.
    ``choose_profile`` gets the number of windows of notes.
    """

    info: SiteInfo
    pages: tuple[PageIndex, ...]
    targets: AboutTargets
    outputs: Mapping[str, str]
    list_artifacts: Callable[[], Iterable[Artifact]]
    cache: Path
    pool: ProcessPool
    embedder: Embedder
    encoding: Encoding
    choose_profile: Callable[[int], Profile]
    weights: Mapping[str, float] = field(default_factory=dict)
    page_names: Mapping[str, str] = field(default_factory=dict)
    browser_folder: Path | None = None


@dataclass(frozen=True, slots=True)
class FunctionPlan:
    """A function to publish: its folder, its settings, and the site or the language it answers.

    ``has_code``: whether it can be deployed; else the folder holds what commands need to ask it.
    """

    folder: Path
    site: SiteBuild
    settings: FunctionSettings
    has_code: bool = True


@dataclass(frozen=True, slots=True)
class StagedFunction:
    """A function that has been audited and not been written. ``contents``: its bundle's files.

    ``open_index`` makes the index unless it was made: that of an unchanged site seldom is.
    ``browser``: the same index for readers' browsers, None where none answers. ``has_code``: as in
    its plan.
    """

    folder: Path
    open_index: Callable[[], SiteIndex]
    settings: FunctionSettings
    contents: BundleContents
    browser: BrowserIndex | None = None
    has_code: bool = True


def read_site_notes(site: SiteBuild, folder: Path) -> Notebook:
    """Read the notes of a site, each with the files that it says publish it.

    NotebookError if a note leads to no page, or names a file that is not published.
    """
    resolve, published = make_about_resolver(site.targets), list(site.list_artifacts())
    checks = (
        lambda note: check_about(note, resolve, site.info.language),
        lambda note: check_published_in(_resolve_published_in(note, site), published),
    )
    notebook = read_notebook(folder, checks, writes_key=True)
    return replace(
        notebook,
        notes=tuple(_resolve_published_in(note, site) for note in notebook.notes),
        drafts=tuple(_resolve_published_in(note, site) for note in notebook.drafts),
        unrouted=tuple(_resolve_published_in(note, site) for note in notebook.unrouted),
    )


def _resolve_published_in(note: Note, site: SiteBuild) -> Note:
    pages = (site.page_names.get(name.removeprefix("/"), name) for name in note.published_in)
    return replace(note, published_in=tuple(pages))


def index_site(site: SiteBuild, notebook: Notebook) -> SiteIndex:
    """Index a site with its notes; nothing is written or audited."""
    with show_progress() as report:
        return build_index(
            site.info,
            site.pages,
            notebook.notes,
            make_about_resolver(site.targets),
            site.embedder,
            cache_folder=site.cache,
            weights=site.weights,
            progress=report,
        )


def publish_site(
    site: SiteBuild,
    plans: Sequence[FunctionPlan],
    notebook: Notebook,
    report: Callable[[str], object],
    gate: Callable[[StagedFunction], None] = lambda _: None,
) -> list[tuple[StagedFunction, Manifest]]:
    """Index, stage, audit and gate every function of a site, and only then publish them.

    site: all of it, which each function is audited with. report: is told of each function that
    was published. gate: raises if a function must not be published.
    """
    audit = partial(_audit_site, site, notebook)
    stages = [_stage_index(plan.site, notebook, plan.folder) for plan in plans]
    all_staged: list[StagedFunction] = []
    for plan, stage in zip(plans, stages, strict=True):
        staged = stage_function(stage.open_index, stage.contents, plan.folder, plan.settings, audit)
        browser = _stage_browser_index(plan.site, stage, plan.folder, audit)
        all_staged.append(replace(staged, browser=browser, has_code=plan.has_code))
    for staged in all_staged:
        gate(staged)
    published: list[tuple[StagedFunction, Manifest]] = []
    for stage, staged in zip(stages, all_staged, strict=True):
        profile = site.choose_profile(staged.contents.counts["windows"])
        manifest = publish_function(staged, site.embedder.identity, profile, _read_build_time())
        _write_browser_index(site, staged.browser)
        report(summarize_build(manifest, stage.embedded, staged.folder))
        published.append((staged, manifest))
    return published


@dataclass(frozen=True, slots=True)
class _IndexStage:
    """An index in its serialized form, and as a function that makes it where that is not enough.

    ``embedded``: so many texts were embedded for it. ``key``: the hash of all that it depends on.
    """

    open_index: Callable[[], SiteIndex]
    contents: BundleContents
    embedded: int
    key: str


def _stage_index(site: SiteBuild, notebook: Notebook, folder: Path) -> _IndexStage:
    """Serialize an index, or take what the last build of a folder made of the same site."""
    embedded: list[int] = []

    @cache
    def open_index() -> SiteIndex:
        index = index_site(site, notebook)
        embedded.append(index.embedded)
        return index

    space, notes = name_vector_space(site.embedder.identity), notebook.notes
    key = hash_inputs(
        site.info, site.pages, site.targets, notes, space, site.encoding, site.weights
    )
    contents = keep_stage(
        site.cache,
        f"bundle {folder}",
        key,
        BundleContents,
        lambda: serialize_index(open_index(), site.encoding),
    )
    return _IndexStage(open_index, contents, sum(embedded), key)


def _stage_browser_index(
    site: SiteBuild, stage: _IndexStage, folder: Path, audit: AuditArtifacts
) -> BrowserIndex | None:
    """Serialize an index for browsers, and have it audited; None where none answers.

    folder: of its bundle.
    """
    if site.browser_folder is None:
        return None
    embedder, profile = site.embedder, site.choose_profile(stage.contents.counts["windows"])
    bundle = make_manifest(stage.contents, embedder.identity, profile, _read_build_time())
    browser = keep_stage(
        site.cache,
        f"browser {folder}",
        f"{stage.key} {bundle.id}",
        BrowserIndex,
        lambda: stage_browser_index(stage.open_index(), profile, embedder, bundle.id, site.cache),
    )
    published = f"{site.browser_folder.name}/{WIDGET_FOLDER}{browser.folder}"
    audit(_list_file_artifacts(published, browser.files))
    return browser


def _write_browser_index(site: SiteBuild, browser: BrowserIndex | None) -> None:
    if browser and site.browser_folder:
        write_browser_index(browser, site.browser_folder / WIDGET_FOLDER)


def preview_site(
    site: SiteBuild, notebook: Notebook, folder: Path, report: Callable[[str], object]
) -> tuple[Bundle, BrowserIndex | None]:
    """Index and audit a site and open it as a bundle in a folder of ours; nothing is published.

    Returns the same index for browsers too, which is in the site; None without one.
    """
    stage = _stage_index(site, notebook, folder)
    audit = partial(_audit_site, site, notebook)
    audit(_list_file_artifacts(BUNDLE_FOLDER, stage.contents.files))
    browser = _stage_browser_index(site, stage, folder, audit)
    profile = site.choose_profile(stage.contents.counts["windows"])
    write_bundle(stage.contents, folder, site.embedder.identity, profile, _read_build_time())
    bundle = open_bundle(folder, verify=False)
    _write_browser_index(site, browser)
    report(summarize_build(bundle.manifest, stage.embedded, folder))
    return bundle, browser


def stage_function(
    open_index: Callable[[], SiteIndex],
    contents: BundleContents,
    function: Path,
    settings: FunctionSettings,
    audit: AuditArtifacts,
) -> StagedFunction:
    """Have what is to be written audited; nothing is written.

    audit: gets all of it that is not the package's own, and raises LeakError. SiteError for a
    folder that no build has written.
    """
    check_function_folder(function)
    bundle = _list_file_artifacts(f"{function.name}/{BUNDLE_FOLDER}", contents.files)
    audit([*bundle, Artifact(f"{function.name}/{SETTINGS_FILE}", settings.as_json)])
    return StagedFunction(function, open_index, settings, contents)


def publish_function(
    staged: StagedFunction, identity: EmbedderIdentity, profile: Profile, now: dt.datetime
) -> Manifest:
    """Write the function's folder: its code first, then the bundle, whose manifest comes last.

    Of two builds at once, one waits for the other to be published.
    """
    folder, contents = staged.folder, staged.contents
    sizes = {name: len(data) for name, data in contents.files.items()}
    scanned_bytes = 0 if staged.settings.store else count_scanned_bytes(contents.encoding, sizes)
    # Before the lock, which must not be left in a folder that is refused.
    check_function_folder(folder)
    with lock_folder(folder):
        if staged.has_code:
            write_function(folder, identity, staged.settings, scanned_bytes)
        else:
            write_private_file(folder / SETTINGS_FILE, staged.settings.as_json())
        return write_bundle(contents, folder / BUNDLE_FOLDER, identity, profile, now)


def _audit_site(site: SiteBuild, notebook: Notebook, served: Iterable[Artifact]) -> None:
    """Audit a site together with what serves its answers."""
    artifacts = chain(site.list_artifacts(), served)
    audit_artifacts(notebook.notes, artifacts, site.cache, site.pool, notebook.unindexed)


def _list_file_artifacts(folder: str, files: Mapping[str, bytes]) -> list[Artifact]:
    return [Artifact(f"{folder}/{file}", partial(bytes, data)) for file, data in files.items()]


def _read_build_time() -> dt.datetime:
    return parse_build_time(os.environ.get("SOURCE_DATE_EPOCH"))
