"""Index, audit and gate all functions of a built site, and write their folders only if all pass."""

import datetime as dt
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from pathlib import Path

from ..serve.bundle_format.manifest import STREAMS, Manifest, array_file_name
from ..serve.bundle_format.profile import Profile
from ..serve.embedders.embedder import Embedder, EmbedderIdentity
from ..serve.settings import BUNDLE_FOLDER, SETTINGS_FILE, FunctionSettings
from ..serve.stores.bundle import Bundle
from ..serve.stores.bundle_reader import open_bundle
from ..serve.vectors.encodings import Encoding
from .index import SiteIndex, SiteInfo, build_index
from .leak_audit.artifacts import Artifact
from .leak_audit.audit import audit_artifacts, check_published_in
from .notes.note import Note, Notebook
from .notes.note_places import AboutTargets, make_about_resolver
from .notes.notebook import read_notebook
from .notes.routing_hints import check_about
from .output.atomic_files import lock_folder
from .output.bundle_contents import BundleContents, serialize_index
from .output.bundle_writer import parse_build_time, write_bundle
from .output.function_writer import check_function_folder, lacks_kernel, write_function
from .pages.page_index import PageIndex
from .plurals import format_count
from .process_pool import ProcessPool
from .progress import show_progress

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
    choose_profile: Callable[[SiteIndex], Profile]
    weights: Mapping[str, float] = field(default_factory=dict)
    page_names: Mapping[str, str] = field(default_factory=dict)
    browser_folder: Path | None = None


@dataclass(frozen=True, slots=True)
class FunctionPlan:
    """A function to publish: its folder, its settings, and the site or the language it answers."""

    folder: Path
    site: SiteBuild
    settings: FunctionSettings


@dataclass(frozen=True, slots=True)
class StagedFunction:
    """A function that has been audited and not been written. ``contents``: its bundle's files.

    ``browser_index``: the folder of the same index for browsers, below the widget's folder.
    """

    folder: Path
    index: SiteIndex
    settings: FunctionSettings
    contents: BundleContents
    browser_index: str | None = None


def read_site_notes(site: SiteBuild, folder: Path) -> Notebook:
    """Read the notes of a site, each with the pages that it says publish it.

    NotebookError if a note leads to no page, or names one that is not published.
    """
    resolve, pages = make_about_resolver(site.targets), frozenset(site.outputs.values())
    checks = (
        lambda note: check_about(note, resolve, site.info.language),
        lambda note: check_published_in(_resolve_published_in(note, site), pages),
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
    all_staged = [
        stage_function(
            index_site(plan.site, notebook), plan.folder, plan.settings, site.encoding, audit
        )
        for plan in plans
    ]
    for staged in all_staged:
        gate(staged)
    published: list[tuple[StagedFunction, Manifest]] = []
    for staged in all_staged:
        profile = site.choose_profile(staged.index)
        manifest = publish_function(staged, site.embedder.identity, profile, _read_build_time())
        report(summarize_build(manifest, staged.index, staged.folder))
        published.append((staged, manifest))
    return published


def preview_site(
    site: SiteBuild, notebook: Notebook, folder: Path, report: Callable[[str], object]
) -> Bundle:
    """Index and audit a site and open it as a bundle in a folder of ours; nothing is published."""
    index = index_site(site, notebook)
    contents = serialize_index(index, site.encoding)
    _audit_site(site, notebook, _list_bundle_artifacts(BUNDLE_FOLDER, contents))
    profile = site.choose_profile(index)
    write_bundle(contents, folder, site.embedder.identity, profile, _read_build_time())
    bundle = open_bundle(folder, verify=False)
    report(summarize_build(bundle.manifest, index, folder))
    return bundle


def stage_function(
    index: SiteIndex,
    function: Path,
    settings: FunctionSettings,
    encoding: Encoding,
    audit: AuditArtifacts,
) -> StagedFunction:
    """Serialize what is to be written, and have it audited; nothing is written.

    audit: gets all of it that is not the package's own, and raises LeakError. SiteError for a
    folder that no build has written.
    """
    check_function_folder(function)
    contents = serialize_index(index, encoding)
    bundle = _list_bundle_artifacts(f"{function.name}/{BUNDLE_FOLDER}", contents)
    audit([*bundle, Artifact(f"{function.name}/{SETTINGS_FILE}", settings.as_json)])
    return StagedFunction(function, index, settings, contents)


def publish_function(
    staged: StagedFunction, identity: EmbedderIdentity, profile: Profile, now: dt.datetime
) -> Manifest:
    """Write the function's folder: its code first, then the bundle, whose manifest comes last.

    Of two builds at once, one waits for the other to be published.
    """
    folder, contents = staged.folder, staged.contents
    sizes = {name: len(data) for name, data in contents.files.items()}
    scanned_bytes = 0 if staged.settings.store else _count_scanned_bytes(contents.encoding, sizes)
    # Before the lock, which must not be left in a folder that is refused.
    check_function_folder(folder)
    with lock_folder(folder):
        write_function(folder, identity, staged.settings, scanned_bytes)
        return write_bundle(contents, folder / BUNDLE_FOLDER, identity, profile, now)


def _audit_site(site: SiteBuild, notebook: Notebook, served: Iterable[Artifact]) -> None:
    """Audit a site together with what serves its answers."""
    artifacts = chain(site.list_artifacts(), served)
    audit_artifacts(notebook.notes, artifacts, site.cache, site.pool, notebook.unindexed)


def _count_scanned_bytes(encoding: Encoding, sizes: Mapping[str, int]) -> int:
    """Count the bytes of all vectors, if a question is compared with every one of them.

    sizes: of a bundle's files.
    """
    if not encoding.kind.is_scanned:
        return 0
    return sum(
        sizes[array_file_name(stream, name)] for stream in STREAMS for name in encoding.arrays
    )


def _list_bundle_artifacts(name: str, contents: BundleContents) -> list[Artifact]:
    files = contents.files.items()
    return [Artifact(f"{name}/{file}", partial(bytes, data)) for file, data in files]


def _read_build_time() -> dt.datetime:
    return parse_build_time(os.environ.get("SOURCE_DATE_EPOCH"))


def summarize_build(manifest: Manifest, index: SiteIndex, folder: Path) -> str:
    """Say on one line what an index holds and where it was written."""
    counts = manifest.counts
    nouns = (("records", "page"), ("passages", "passage"), ("hints", "hint"))
    return (
        f"{', '.join(format_count(counts[name], noun) for name, noun in nouns)}; "
        f"{format_count(index.embedded, 'text')} embedded; "
        f"bundle of {manifest.bytes / 1000:.1f} kB in {_relative_path(folder)}"
        f"{_suggest_kernel(manifest)}"
    )


def _suggest_kernel(manifest: Manifest) -> str:
    """Name the extra that a large bundle profits from, unless it is installed."""
    sizes = {name: file.bytes for name, file in manifest.files.items()}
    if not lacks_kernel(_count_scanned_bytes(manifest.encoding, sizes)):
        return ""
    return "; `pip install 'mkdocs-answerable[fast]'` makes its search faster"


def _relative_path(folder: Path) -> str:
    try:
        return os.path.relpath(folder)
    except ValueError:
        # On Windows there is no way from one drive to another.
        return str(folder)
