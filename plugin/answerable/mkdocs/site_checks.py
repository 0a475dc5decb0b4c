"""Check a site's configuration for what keeps its published ask box from answering."""

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from mkdocs.config.defaults import MkDocsConfig

from ..engine.bundle import open_bundle
from ..engine.errors import AnswerableError, SiteError
from ..engine.text.urls import is_loopback_address
from ..indexing.answer_place import choose_answer_place, describe_function_needs
from ..indexing.files import format_count
from ..indexing.generators import name_build_command
from ..indexing.widget.injection import WIDGET_FOLDER
from .options import AnswerableConfig, is_absolute_endpoint
from .publish import list_function_needs
from .publishers import (
    Publisher,
    find_missed_branch,
    find_publishers,
    list_building_environments,
)
from .repository import count_tracked_files, find_top_folder
from .site_config import find_last_bundle, load_site

Level = Literal["good", "advice", "problem"]


@dataclass(frozen=True, slots=True)
class SiteCheck:
    """The outcome of one check: what is as it should be, or what to do."""

    level: Level
    text: str


def check_site(
    config_file: Path, config: MkDocsConfig, options: AnswerableConfig
) -> Iterator[SiteCheck]:
    """Check the configuration, the last build and what publishes a site."""
    folder = config_file.absolute().parent
    yield from _check_answering(config, options)
    yield _check_build(Path(config.site_dir), options, name_build_command(config_file))
    if options.notebook:
        yield from _check_private_folders(options, folder)
    yield from _check_publishers(find_top_folder(folder), config_file, options)


def _check_answering(config: MkDocsConfig, options: AnswerableConfig) -> Iterator[SiteCheck]:
    """Check where questions are answered, and that readers' browsers reach that."""
    needs, endpoint = list_function_needs(options), options.widget.endpoint
    try:
        place = choose_answer_place(options.answers_in, needs)
    except SiteError as error:
        yield SiteCheck("problem", str(error))
        return
    if place == "browser":
        yield SiteCheck("good", "the ask box answers in the reader's browser")
    elif endpoint:
        yield SiteCheck("good", f"the ask box asks the function at {endpoint}")
        if is_absolute_endpoint(endpoint) and not is_loopback_address(endpoint):
            yield from _check_endpoint(endpoint, config.site_url, options)
    elif options.answers_in == "function":
        yield SiteCheck("good", "the ask box asks the function at _answerable/ below the site")
    elif options.widget.placement != "none":
        yield SiteCheck("problem", describe_function_needs(needs))


def _check_endpoint(
    endpoint: str, site_url: str | None, options: AnswerableConfig
) -> Iterator[SiteCheck]:
    """Check that pages may ask a function at its own address, and that it reaches its models."""
    if not site_url:
        yield SiteCheck(
            "problem",
            "site_url is not set, so the function at widget.endpoint cannot tell which pages may "
            "ask it; set site_url to the site's address",
        )
    elif (urlsplit(site_url).scheme, urlsplit(endpoint).scheme) == ("https", "http"):
        yield SiteCheck(
            "problem",
            f"widget.endpoint: browsers block {endpoint} on pages of {site_url}; give the function "
            "an https address",
        )
    for option, base_url in (
        ("embedding.base_url", options.embedding.base_url),
        ("answers.base_url", options.answers.base_url),
    ):
        if base_url and is_loopback_address(base_url):
            yield SiteCheck(
                "problem",
                f"{option}: {base_url} is this machine, where a function elsewhere finds no "
                "server; name an address that the function can reach",
            )


def _check_build(site: Path, options: AnswerableConfig, build: str) -> SiteCheck:
    """Check that the last build has an index, and an ask box in the site's start page.

    build: the command that builds the site.
    """
    folder = find_last_bundle(options)
    if not folder.exists():
        return SiteCheck("advice", f"there is no index yet; run `{build}`")
    try:
        counts = open_bundle(folder, verify=False).manifest.counts
    except AnswerableError as error:
        return SiteCheck("problem", str(error))
    pages = format_count(counts["records"], "page")
    if not counts["passages"]:
        return SiteCheck("problem", f"the last index holds no text of {pages}: write some")
    page = site / "index.html"
    if page.is_file() and WIDGET_FOLDER.encode() not in page.read_bytes():
        return SiteCheck(
            "problem",
            f"{page} has no ask box, since it was built without the plugin; run `{build}` before "
            "you publish it",
        )
    passages = format_count(counts["passages"], "passage")
    return SiteCheck("good", f"the last index holds {pages} in {passages}")


def _check_private_folders(options: AnswerableConfig, folder: Path) -> Iterator[SiteCheck]:
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
    text = config_file.read_text(encoding="utf-8", errors="replace")
    publishers, build = find_publishers(top, text), name_build_command(config_file)
    if not publishers:
        yield SiteCheck(
            "advice", "no workflow here builds the site; `answerable init` writes one for GitHub"
        )
    hosts: dict[str, list[str]] = {}
    for publisher in publishers:
        if publisher.host:
            hosts.setdefault(publisher.host, []).append(publisher.name)
        published = options
        if variables := _find_deciding_variables(publisher, text):
            try:
                with _setting_variables(variables):
                    config, published = load_site(config_file)
            except SiteError as error:
                yield SiteCheck("problem", f"{publisher.name}: {error}")
                continue
            for check in _check_answering(config, published):
                yield SiteCheck(check.level, f"as {publisher.name} builds it, {check.text}")
        if problem := _find_publisher_problem(publisher, top, published, build):
            yield SiteCheck("problem", f"{publisher.name} {problem}")
        else:
            yield SiteCheck("good", f"{publisher.name} builds the site")
    for host, names in hosts.items():
        if len(names) > 1:
            yield SiteCheck(
                "problem",
                f"{' and '.join(names)} publish the site on {host}, and each overwrites what the "
                "other has published; keep one",
            )


def _find_deciding_variables(publisher: Publisher, text: str) -> Mapping[str, str]:
    """Find the variables of a workflow's building step that the configuration reads by !ENV.

    text: of the configuration. A value that only a run knows, such as a secret, is left out.
    """
    return {
        name: value
        for name, value in next(list_building_environments(publisher), {}).items()
        if re.search(rf"!ENV\b.*\b{re.escape(name)}\b", text) and "${{" not in value
    }


@contextmanager
def _setting_variables(variables: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables for a while."""
    before = dict(os.environ)
    os.environ.update(variables)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _find_publisher_problem(
    publisher: Publisher, top: Path, options: AnswerableConfig, build: str
) -> str | None:
    """Find what keeps the ask box from answering where one publisher publishes the site.

    build: the command that builds the site with its ask box.
    """
    if build == "answerable build" and publisher.host and build not in publisher.text:
        return (
            f"publishes pages without the ask box on {publisher.host}; let it install "
            f"mkdocs-answerable, and run `{build}` in place of the generator"
        )
    endpoint = options.widget.endpoint or (
        "_answerable/" if options.answers_in == "function" else ""
    )
    # A host that has a rule for the endpoint hands its requests to a function.
    is_on_host = not is_absolute_endpoint(endpoint) and endpoint.strip("./") not in publisher.text
    if publisher.host and is_on_host:
        return (
            f"publishes the site on {publisher.host}, which runs no function, and the ask box asks "
            f"one at {endpoint} there; set widget.endpoint to the function's address"
        )
    if branch := find_missed_branch(publisher, top):
        return (
            f"never runs, since no push to {branch} starts it; write {branch} to on.push.branches"
        )
    return None
