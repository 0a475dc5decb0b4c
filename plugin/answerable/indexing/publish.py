"""Pipeline of a build: index pages and notes, audit what is written, then publish."""

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from pathlib import Path

from ..engine.bundle import Bundle, open_bundle
from ..engine.errors import SiteError
from ..engine.index.columns import SiteMetadata
from ..engine.index.manifest import Manifest, Profile
from ..engine.settings import BUNDLE_FOLDER, SETTINGS_FILE, FunctionSettings
from ..engine.vectors import Embedder
from .answers import CheckedAnswers
from .audit.audit import Artifact, audit_artifacts, check_published_in
from .browser_files import BrowserIndex, list_browser_files, write_browser_index
from .build import build_index, index_questions, withhold_questions
from .files import format_count, lock_folder, write_private_file
from .function_folder import check_function_folder, write_function
from .notes.note_places import AboutTargets, make_about_resolver
from .notes.notebook import Note, Notebook, read_notebook
from .notes.routing_hints import check_about
from .pages.page_index import PageIndex
from .questions import SectionQuestions, mark_answered
from .widget.injection import WIDGET_FOLDER
from .write import IndexFiles, keep_manifest, pack_index, parse_build_time, write_index


def summarize_build(manifest: Manifest, embedded: int, folder: Path) -> str:
    """Say on one line what an index holds and where it was written. embedded: so many texts."""
    counts = manifest.counts
    nouns = [("records", "page"), ("passages", "passage")]
    if counts["hints"]:
        nouns.append(("hints", "hint"))
    return (
        f"{', '.join(format_count(counts[name], noun) for name, noun in nouns)}; "
        f"{format_count(embedded, 'text')} embedded; "
        f"index of {manifest.bytes / 1000:.1f} kB in {_relative_path(folder)}"
    )


def _relative_path(folder: Path) -> str:
    try:
        return os.path.relpath(folder)
    except ValueError:
        # On Windows there is no way from one drive to another.
        return str(folder)


# What a site without an address goes without.
NO_ADDRESS_MESSAGE = (
    "site_url: not set, so a citation or a search result has an absolute url only for a page that "
    "asks from an origin in ANSWERABLE_ALLOWED_ORIGINS, and pages of no other origin may ask"
)


@dataclass(frozen=True, slots=True)
class SiteBuild:
    """A built site and how to index it: what the pipeline needs of whoever has read the site.

    ``page_names``: further names by which a note's ``published_in`` may call a page.
    ``list_artifacts`` lists all that the site publishes besides its function, for the leak audit.
    ``browser_folder``: the folder of the site where readers' browsers answer from its files, None
    where a function answers. ``choose_profile`` gets the number of windows of notes.
    """

    info: SiteMetadata
    pages: tuple[PageIndex, ...]
    targets: AboutTargets
    list_artifacts: Callable[[], Iterable[Artifact]]
    cache: Path
    embedder: Embedder
    dimensions: int
    choose_profile: Callable[[int], Profile]
    weights: Mapping[str, float] = field(default_factory=dict)
    page_names: Mapping[str, str] = field(default_factory=dict)
    questions: Mapping[str, SectionQuestions] = field(default_factory=dict)
    answers: CheckedAnswers = field(default_factory=dict)
    browser_folder: Path | None = None


@dataclass(frozen=True, slots=True)
class FunctionPlan:
    """A function to publish: its folder and its settings.

    ``has_code``: whether it can be deployed; else the folder holds what commands need to ask it.
    """

    folder: Path
    settings: FunctionSettings
    has_code: bool = True


@dataclass(frozen=True, slots=True)
class StagedIndex:
    """An index, and its files, which have not been written.

    ``browser``: what of them the site publishes, None where no browser answers. ``embedded``: how
    many texts were embedded for it.
    """

    bundle: Bundle
    packed: IndexFiles
    browser: BrowserIndex | None = None
    embedded: int = 0


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


def publish_site(
    site: SiteBuild,
    plan: FunctionPlan,
    notebook: Notebook,
    report: Callable[[str], object],
    gate: Callable[[StagedIndex], None] = lambda _: None,
) -> StagedIndex:
    """Index, stage, audit and gate the function of a site, and only then publish it.

    report: is told what was published. gate: raises if the index must not be published.
    """
    check_function_folder(plan.folder)
    index = _stage_index(site, notebook, plan.folder / BUNDLE_FOLDER)
    settings = Artifact(f"{plan.folder.name}/{SETTINGS_FILE}", plan.settings.as_json)
    _audit_site(site, notebook, [settings, *_list_artifacts(site, index, plan.folder.name)])
    gate(index)
    publish_function(plan.folder, index.packed, plan.settings, has_code=plan.has_code)
    _write_browser_index(site, index)
    report(summarize_build(index.packed.manifest, index.embedded, plan.folder))
    return index


def _stage_index(site: SiteBuild, notebook: Notebook, folder: Path) -> StagedIndex:
    """Pack an index for its function and for readers' browsers. folder: where it will be."""
    answers = site.browser_folder is not None
    if answers and notebook.notes:
        raise SiteError(
            "notebook: a site with private notes cannot answer in the browser; set answers_in to "
            "function"
        )
    index, embedded = build_index(
        site.info,
        site.pages,
        notebook.notes,
        make_about_resolver(site.targets),
        site.embedder,
        cache_folder=site.cache,
        weights=site.weights,
        dimensions=site.dimensions,
    )
    pack = partial(
        pack_index,
        identity=site.embedder.identity,
        profile=site.choose_profile(len(index.hint_owners)),
        now=parse_build_time(os.environ.get("SOURCE_DATE_EPOCH")),
    )
    packed = pack(index)
    if site.questions:
        index = index_questions(Bundle(packed.manifest, index), site.questions, site.answers)
        bundle = Bundle(packed.manifest, index)
        marks = mark_answered(bundle, site.embedder, index.questions)
        index = withhold_questions(index, marks)
        packed = pack(index)
    packed = keep_manifest(packed, folder)
    browser = list_browser_files(packed, site.info.language) if answers else None
    return StagedIndex(Bundle(packed.manifest, index), packed, browser, embedded)


def preview_site(
    site: SiteBuild, notebook: Notebook, folder: Path, report: Callable[[str], object]
) -> tuple[Bundle, BrowserIndex | None]:
    """Index and audit a site and open it as a bundle in a folder of ours; nothing is published.

    Returns the same index for browsers too, which is in the site; None without one.
    """
    index = _stage_index(site, notebook, folder)
    _audit_site(site, notebook, _list_artifacts(site, index, folder.name))
    write_index(index.packed, folder)
    _write_browser_index(site, index)
    report(summarize_build(index.packed.manifest, index.embedded, folder))
    return open_bundle(folder, verify=False), index.browser


def publish_function(
    folder: Path, packed: IndexFiles, settings: FunctionSettings, *, has_code: bool = True
) -> None:
    """Write the function's folder: its code first, then the bundle, whose manifest comes last.

    Of two builds at once, one waits for the other to be published.
    """
    # Before the lock, which must not be left in a folder that is refused.
    check_function_folder(folder)
    with lock_folder(folder):
        if has_code:
            write_function(folder, packed.manifest.identity, settings)
        else:
            write_private_file(folder / SETTINGS_FILE, settings.as_json())
        write_index(packed, folder / BUNDLE_FOLDER)


def _write_browser_index(site: SiteBuild, index: StagedIndex) -> None:
    if index.browser and site.browser_folder:
        write_browser_index(index.browser, site.browser_folder / WIDGET_FOLDER)


def _list_artifacts(site: SiteBuild, index: StagedIndex, function: str) -> list[Artifact]:
    """List what is written of an index, for the audit. function: the name of its folder."""
    folders = {f"{function}/{BUNDLE_FOLDER}": index.packed.files}
    if index.browser and site.browser_folder:
        folder = f"{site.browser_folder.name}/{WIDGET_FOLDER}{index.browser.folder}"
        folders[folder] = index.browser.files
    return [
        Artifact(f"{folder}/{name}", partial(bytes, data))
        for folder, files in folders.items()
        for name, data in files.items()
    ]


def _audit_site(site: SiteBuild, notebook: Notebook, served: Iterable[Artifact]) -> None:
    """Audit a site together with what serves its answers; LeakError."""
    artifacts = chain(site.list_artifacts(), served)
    audit_artifacts(notebook.notes, artifacts, site.cache, notebook.unindexed)
