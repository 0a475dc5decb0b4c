"""Check a site's configuration for what keeps its published ask box from answering."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from mkdocs.config.defaults import MkDocsConfig

from ..indexing.answer_place import choose_answer_place, describe_function_needs, find_function
from ..indexing.generators import detect_generator
from ..indexing.output.files import format_count
from ..indexing.widget.injection import WIDGET_FOLDER
from ..serve.bundle_format.manifest import Manifest
from ..serve.errors import AnswerableError, SiteError
from ..serve.provider_registry import (
    ANSWERER_PROVIDERS,
    EMBEDDER_PROVIDERS,
    Provider,
    find_key_variable,
    is_loopback_address,
)
from ..serve.settings import BUNDLE_FOLDER
from ..serve.stores.bundle import open_bundle
from .options import AnswerableConfig, is_absolute_endpoint
from .publish import list_function_needs
from .publishers import (
    Publisher,
    find_missed_branch,
    find_publishers,
    list_building_environments,
)
from .repository import count_tracked_files, find_top_folder
from .site_config import find_plugin, load_mkdocs_config

Level = Literal["good", "advice", "problem"]


@dataclass(frozen=True, slots=True)
class SiteCheck:
    """The outcome of one check: what is as it should be, or what to do."""

    level: Level
    text: str


def check_site(
    config_file: Path, check_function: Callable[[str, str | None], SiteCheck] | None = None
) -> Iterator[SiteCheck]:
    """Check the configuration, the last build and what publishes a site.

    check_function: asks the function at an address, which should answer from the bundle of an id.
    SiteError for a configuration that cannot be read, or that lacks the plugin.
    """
    config = load_mkdocs_config(config_file)
    options = find_plugin(config).config
    folder = config_file.absolute().parent
    generator = detect_generator(config_file)
    is_mkdocs = generator == "mkdocs"
    plugin = "lists the plugin" if is_mkdocs else "is read by answerable, without a plugin"
    yield SiteCheck("good", f"{config_file} {plugin}")
    # The pages of Sphinx and others name their address themselves.
    if config.site_url or generator in ("mkdocs", "zensical"):
        yield _check_site_url(config, options)
    yield from _check_answering(config, options)
    endpoint, manifest = options.widget.endpoint, _read_manifest(options)
    if check_function and is_absolute_endpoint(endpoint) and "{" not in endpoint:
        yield check_function(endpoint, manifest.id if isinstance(manifest, Manifest) else None)
    yield from _check_packages(options)
    yield from _check_keys(options)
    yield from _check_loopback(options)
    yield _check_build(manifest)
    if not is_mkdocs:
        yield from _check_built_pages(Path(config.site_dir))
    yield from _check_notebook(options, folder)
    yield from _check_publishers(find_top_folder(folder), config_file, options)


def _check_site_url(config: MkDocsConfig, options: AnswerableConfig) -> SiteCheck:
    if config.site_url:
        return SiteCheck("good", f"site_url is {config.site_url}")
    if is_absolute_endpoint(options.widget.endpoint):
        return SiteCheck(
            "problem",
            "site_url is not set, so the function at widget.endpoint cannot tell which pages may "
            "ask it; set site_url to the site's address",
        )
    return SiteCheck(
        "advice",
        "site_url is not set, so no citation has a whole address; set it to the site's address",
    )


def _check_answering(config: MkDocsConfig, options: AnswerableConfig) -> Iterator[SiteCheck]:
    """Check where questions are answered."""
    needs = list_function_needs(options)
    try:
        place = choose_answer_place(options.answers_in, needs)
    except SiteError as error:
        yield SiteCheck("problem", str(error))
        return
    endpoint = options.widget.endpoint
    if place == "browser":
        yield SiteCheck("good", "the ask box answers in the reader's browser")
    elif endpoint:
        yield SiteCheck("good", f"the ask box asks the function at {endpoint}")
        yield from _check_origin(config.site_url, endpoint)
    elif options.answers_in == "function":
        yield SiteCheck("good", "the ask box asks the function at _answerable/ below the site")
    elif options.widget.placement != "none":
        yield SiteCheck(
            "problem",
            describe_function_needs(needs, "deploy the function and set widget.endpoint"),
        )


def _check_origin(site_url: str | None, endpoint: str) -> Iterator[SiteCheck]:
    """Check that a function on another host knows the origin of the pages."""
    if not is_absolute_endpoint(endpoint) or not site_url:
        return
    site, function = urlsplit(site_url), urlsplit(endpoint)
    is_local = function.hostname in ("localhost", "127.0.0.1", "::1")
    if (site.scheme, function.scheme, is_local) == ("https", "http", False):
        yield SiteCheck(
            "problem",
            f"widget.endpoint: browsers block {endpoint} on pages of https://{site.netloc}; give "
            "the function an https address",
        )
    if (site.scheme, site.netloc) != (function.scheme, function.netloc):
        yield SiteCheck(
            "advice",
            f"pages of {site.scheme}://{site.netloc} ask another host; set "
            "ANSWERABLE_ALLOWED_ORIGINS in the function if pages elsewhere have to ask it too",
        )


def _check_packages(options: AnswerableConfig) -> Iterator[SiteCheck]:
    """Check that what the providers and the database need beside this package is installed."""
    needs: dict[str, tuple[str, tuple[str, ...]]] = {}
    for option, registry, name in (
        ("embedding.provider", EMBEDDER_PROVIDERS, options.embedding.provider),
        ("answers.provider", ANSWERER_PROVIDERS, options.answers.provider),
    ):
        packages = registry[name].requirements
        # The extra of a provider that is built in has its name.
        own = f"'mkdocs-answerable[{name}]'" if name in registry.builtin else " ".join(packages)
        needs[option] = (own, packages)
    if options.store.url:
        needs["store.url"] = ("'mkdocs-answerable[postgres]'", ("psycopg",))
    for option, (own, packages) in needs.items():
        if missing := [package for package in packages if not _is_installed(package)]:
            yield SiteCheck(
                "problem",
                f"{option} needs {' and '.join(missing)}, which {'are' if missing[1:] else 'is'} "
                f"not installed; run `pip install {own}`",
            )


def _is_installed(package: str) -> bool:
    try:
        distribution(package)
    except PackageNotFoundError:
        return False
    return True


def _check_keys(options: AnswerableConfig) -> Iterator[SiteCheck]:
    """Check the environment for the keys of the providers that need one."""
    keys = {
        option: find_key_variable(provider, base_url)
        for option, (provider, base_url) in _list_providers(options).items()
    }
    needed = dict.fromkeys(key for key in keys.values() if key)
    if not needed:
        yield SiteCheck("good", "no key is needed")
    for key in needed:
        if os.environ.get(key):
            yield SiteCheck("good", f"{key} is set here; the function needs it too")
            continue
        options_with_key = " and ".join(name for name, own in keys.items() if own == key)
        yield SiteCheck(
            "problem",
            f"{key} is not set, and {options_with_key} needs it; set it here and in the "
            "function's environment",
        )


def _check_loopback(options: AnswerableConfig) -> Iterator[SiteCheck]:
    """Check that a function that leaves this machine asks no model's server on it."""
    endpoint = options.widget.endpoint
    if not is_absolute_endpoint(endpoint) or is_loopback_address(endpoint):
        return
    for option, (provider, base_url) in _list_providers(options).items():
        if provider.host and is_loopback_address(base_url):
            name = option.replace("provider", "base_url")
            yield SiteCheck(
                "advice",
                f"{name}: {base_url} is this machine, and a function elsewhere finds no server at "
                "it; name an address that the function can reach",
            )


def _list_providers(options: AnswerableConfig) -> dict[str, tuple[Provider, str | None]]:
    """List the providers of a function and the addresses of their servers, by option."""
    embedding, answers = options.embedding, options.answers
    return {
        "embedding.provider": (EMBEDDER_PROVIDERS[embedding.provider], embedding.base_url),
        "answers.provider": (ANSWERER_PROVIDERS[answers.provider], answers.base_url),
    }


def _read_manifest(options: AnswerableConfig) -> Manifest | AnswerableError:
    """Read the manifest of the last build's bundle, or why there is none."""
    try:
        folder = find_function(Path(options.function), Path(options.cache))
        return open_bundle(folder / BUNDLE_FOLDER, verify=False).manifest
    except AnswerableError as error:
        return error


def _check_build(manifest: Manifest | AnswerableError) -> SiteCheck:
    if isinstance(manifest, AnswerableError):
        return SiteCheck("advice", f"there is no index yet ({manifest})")
    counts = manifest.counts
    pages, passages = counts["records"], counts["passages"]
    summary = f"{format_count(pages, 'page')} in {format_count(passages, 'passage')}"
    if not passages:
        return SiteCheck("problem", f"the last index holds {summary}: write pages with text")
    return SiteCheck("good", f"the last index holds {summary}")


def _check_built_pages(folder: Path) -> Iterator[SiteCheck]:
    """Check that the start page has the ask box: a run of the generator alone overwrites it."""
    page = folder / "index.html"
    if page.is_file() and WIDGET_FOLDER.encode() not in page.read_bytes():
        yield SiteCheck(
            "problem", f"{page} has no ask box; run `answerable build` before you publish it"
        )


def _check_notebook(options: AnswerableConfig, folder: Path) -> Iterator[SiteCheck]:
    if not options.notebook:
        return
    tracked = count_tracked_files(Path(options.notebook), folder)
    if tracked:
        yield SiteCheck(
            "advice",
            f"this repository holds {format_count(tracked, 'file')} of the notebook: whoever can "
            "read it can read its notes",
        )
    for private in (Path(options.function), Path(options.cache)):
        if count_tracked_files(private, folder):
            yield SiteCheck(
                "problem",
                f"this repository holds {private}, where vectors of private notes are; run "
                f"`git rm -r --cached {private}`, and list it in .gitignore",
            )


def _check_publishers(
    top: Path, config_file: Path, options: AnswerableConfig
) -> Iterator[SiteCheck]:
    """Check what builds and publishes the site from its repository."""
    publishers = find_publishers(top, config_file.read_text(encoding="utf-8", errors="replace"))
    if not publishers:
        yield SiteCheck(
            "advice", "no workflow here builds the site; `answerable init` writes one for GitHub"
        )
    for publisher in publishers:
        if problem := _find_publisher_problem(publisher, top, options):
            yield SiteCheck("problem", f"{publisher.name} {problem}")
        else:
            yield SiteCheck("good", f"{publisher.name} builds the site")
    hosts: dict[str, list[str]] = {}
    for publisher in publishers:
        if publisher.host:
            hosts.setdefault(publisher.host, []).append(publisher.name)
    for host, names in hosts.items():
        if len(names) > 1:
            yield SiteCheck(
                "problem",
                f"{' and '.join(names)} publish the site on {host}, and each overwrites what the "
                "other has published; keep one",
            )


def _find_publisher_problem(
    publisher: Publisher, top: Path, options: AnswerableConfig
) -> str | None:
    """Find what keeps the ask box from answering where one publisher publishes the site."""
    endpoint = options.widget.endpoint or (
        "_answerable/" if options.answers_in == "function" else None
    )
    is_below = endpoint and not is_absolute_endpoint(endpoint)
    # A host that has a rule for the endpoint hands its requests to a function.
    if publisher.host and is_below and endpoint and endpoint.strip("./") not in publisher.text:
        return (
            f"publishes the site on {publisher.host}, which runs no function, and the ask box asks "
            f"one at {endpoint} there; set widget.endpoint to the function's address"
        )
    if branch := find_missed_branch(publisher, top):
        return (
            f"never runs, since no push to {branch} starts it; write {branch} to on.push.branches"
        )
    if publisher.text and "-r " not in publisher.text:
        for name in {options.embedding.provider, options.answers.provider} & {"openai"}:
            if name not in publisher.text:
                return (
                    f"installs no package {name}, which the site needs; let it install "
                    f"'mkdocs-answerable[{name}]'"
                )
    key = find_key_variable(*_list_providers(options)["embedding.provider"])
    if key and any(key not in names for names in list_building_environments(publisher)):
        return f"builds the site in a step without {key}; add it to the step's env"
    return None
