"""``answerable init`` and ``doctor``: what a site needs to be published, written and checked."""

import json
import os
import re
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from textwrap import indent
from urllib.error import HTTPError
from urllib.parse import unquote, urljoin, urlsplit

import click
from rich.console import Console
from rich.text import Text
from selectolax.lexbor import LexborHTMLParser

from ..indexing.generators import Project, detect_generator, read_project
from ..indexing.html_site.articles import decode_html
from ..indexing.notes.notebook import NOTE_KEY_FILE, create_note_key, read_note_key
from ..indexing.output.files import write_file
from ..indexing.pages.html_parser import list_anchors
from ..indexing.site_hosts.hosts import (
    HOSTS,
    Host,
    add_plugin,
    add_site_url,
    format_host_files,
    has_option,
    read_theme_name,
)
from ..mkdocs.repository import read_remote_url
from ..mkdocs.site_checks import OnlineChecks, SiteCheck, check_site
from ..serve.errors import SiteError
from ..serve.stores.bundle import Bundle, open_bundle
from ..serve.structure import is_safe_url
from .context import SiteLocation
from .published_site import (
    FETCH_ERRORS,
    WebClient,
    format_line,
    format_reason,
    parse_site_url,
    read_response,
)
from .render import print_hanging, to_plain_text

_GOLD_FILE = Path("eval/gold.yaml")
_GOLD_STARTER = """\
# Questions with what their answers must do: https://mkdocs-answerable.github.io/mkdocs-answerable/
# Run them by `answerable eval --full`. Write one for each question that readers ask you.
queries:
  - id: unrelated
    query: How long does a soft-boiled egg take?
    expectAnswerMode: not-found
"""
# Vectors of notes are private, and the rest is made by every build.
_IGNORED = ("/function/", "/package/", "/.cache/")
# The generators whose configuration init edits, and what pip installs for the others.
_EDITED = ("mkdocs", "zensical")
_PACKAGES = {"zensical": "zensical", "sphinx": "sphinx", "other": ""}
_NOTE_KEY = Path("notebook") / NOTE_KEY_FILE
_REQUIREMENTS = ("requirements.txt", "docs/requirements.txt")
_GITHUB_REMOTE = re.compile(r"github\.com[:/]([\w.-]+)/([\w.-]+?)(?:\.git)?/?\s*$")
_GITLAB_REMOTE = re.compile(r"gitlab\.com[:/]([\w./-]+)/([\w.-]+?)(?:\.git)?/?\s*$")


@click.command("init")
@click.option("--host", type=click.Choice(tuple(HOSTS)), help="Where the site is published.")
@click.option("--site-url", help="The site's address. Default: as the host and the remote give it.")
@click.pass_obj
def init_command(location: SiteLocation, host: str | None, site_url: str | None) -> None:
    """Add the plugin to the configuration, and the files that publish the site on a host."""
    config_file = location[1]
    project = read_project(config_file, detect_generator(config_file))
    folder = config_file.parent if project.generator in _EDITED else project.folder
    if site_url is not None and not (site_url.startswith("http") and is_safe_url(site_url)):
        raise click.UsageError(f"--site-url: {site_url!r} is not an http(s) address; correct it")
    if not config_file.is_file():
        raise SiteError(f"there is no {config_file}: make a site first, by `mkdocs new .`")
    target = HOSTS[host] if host else None
    host_files = [target.path, *target.others] if target else []
    if target and target.options:
        host_files.append(str(_NOTE_KEY))
    for written in (config_file.name, str(_GOLD_FILE), ".gitignore", *host_files):
        _refuse_links(folder, Path(written))
    text = _read_text(config_file)
    name = str(config_file)
    host_project = _name_project(folder)
    site_url = site_url or (_guess_site_url(folder, target, host_project) if target else None)
    options = target.options.replace("PROJECT", host_project) if target else ""
    added = add_plugin(text, name, options) if project.generator in _EDITED else text
    edited = added
    if site_url and project.generator in _EDITED:
        edited = add_site_url(added, name, site_url)
    if edited != text:
        write_file(config_file, edited.encode())
        click.echo(f"{config_file}: changed.")
    elif project.generator in _EDITED:
        click.echo(f"{config_file}: has the plugin already.")
    # The plugin was there before, or the file is one that init does not edit.
    if added == text and any(line.strip() not in text for line in options.splitlines()):
        click.echo(f"{config_file}: give the plugin these options:\n\n{indent(options, '      ')}")
    _write_new(folder / _GOLD_FILE, _GOLD_STARTER)
    built = project.site_dir if project.generator != "sphinx" else project.site_dir.parent
    _ignore_built_files(folder / ".gitignore", f"/{os.path.relpath(built, folder)}/")
    requirements = next((name for name in _REQUIREMENTS if (folder / name).is_file()), None)
    is_mkdocs = project.generator == "mkdocs"
    if target:
        theme = read_theme_name(edited, name) if is_mkdocs else None
        # What pip installs to build the site: its requirements, or what they lack by its name.
        is_own = theme is None or theme in ("mkdocs", "readthedocs")
        package = _PACKAGES.get(project.generator, "" if is_own else f"mkdocs-{theme}")
        needed = f"-r {requirements}" if requirements else package
        packages = f"{needed} mkdocs-answerable".strip()
        site = None if is_mkdocs else os.path.relpath(project.site_dir, folder)
        remedy = f"; remove it first if it is not for {target.title}"
        files = format_host_files(target, packages, host_project, site)
        for path, content in files.items():
            _write_new(folder / path, content, remedy)
        if target.options:
            _write_note_key(folder / _NOTE_KEY)
    # The pages of Sphinx and others say it themselves.
    has_address = project.generator not in _EDITED or has_option(edited, name, "site_url")
    _print_steps(target, project, has_address=has_address, lists_packages=requirements is not None)


def _refuse_links(folder: Path, written: Path) -> None:
    """Refuse to write a file below a folder that is a symbolic link, or lies behind one; SiteError.

    Whoever wrote the repository would choose what the command overwrites outside of it.
    """
    for path in (folder / part for part in (written, *written.parents[:-1])):
        if path.is_symlink():
            raise SiteError(
                f"{path} is a symbolic link, and init writes neither through nor over one; replace "
                "it by a copy of what it leads to"
            )


def _read_text(path: Path) -> str:
    try:
        # With its line ends.
        return path.read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        raise SiteError(f"{path} is not UTF-8; save it as UTF-8") from None


def _write_new(path: Path, text: str, remedy: str = "") -> None:
    """Write a file that is not there yet. remedy: what to do about another one in its place."""
    if path.exists():
        differs = path.read_bytes() != text.encode()
        click.echo(f"{path}: is there already and stays as it is{remedy if differs else ''}.")
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    write_file(path, text.encode())
    click.echo(f"{path}: written.")


def _write_note_key(path: Path) -> None:
    """Write the key of a notebook that has none: every build has to name its notes alike."""
    path.parent.mkdir(exist_ok=True)
    if read_note_key(path.parent) is None:
        create_note_key(path.parent)
        click.echo(f"{path}: written.")


def _ignore_built_files(path: Path, site: str) -> None:
    """Add what builds write to .gitignore. site: the folder of the site, as it is written there."""
    text = _read_text(path) if path.is_file() else ""
    ignored = {line.strip().strip("/") for line in text.splitlines()}
    # Code of the repository may lie in a folder of the same name.
    built = (site, *_IGNORED)
    own = [name for name in built if (path.parent / name.strip("/") / "__init__.py").is_file()]
    missing = [name for name in built if name not in own and name.strip("/") not in ignored]
    if not missing:
        return
    start = f"{text.rstrip()}\n" if text.strip() else ""
    write_file(path, (start + "\n".join(missing) + "\n").encode())
    click.echo(f"{path}: now has {', '.join(missing)}.")


def _name_project(folder: Path) -> str:
    """Name the project on a host as the host does: by the repository, else by the folder."""
    remote = read_remote_url(folder)
    match = _GITHUB_REMOTE.search(remote) or _GITLAB_REMOTE.search(remote)
    name = match[2] if match else folder.resolve().name
    return re.sub("[^a-z0-9]+", "-", name.lower()).strip("-")[:40] or "docs"


def _guess_site_url(folder: Path, host: Host, project: str) -> str | None:
    """Guess a site's address by its repository's remote; None where that does not tell it."""
    if host.options:
        return host.address.replace("PROJECT", project)
    patterns = {"OWNER.github.io": _GITHUB_REMOTE, "GROUP.gitlab.io": _GITLAB_REMOTE}
    pattern = patterns.get(urlsplit(host.address).netloc)
    match = pattern.search(read_remote_url(folder)) if pattern else None
    if match is None:
        return None
    owner, repository = match[1].lower(), match[2]
    if pattern is _GITLAB_REMOTE:
        group, _, subgroups = owner.partition("/")
        return f"https://{group}.gitlab.io/{subgroups + '/' if subgroups else ''}{repository}/"
    is_user_site = repository.lower() == f"{owner}.github.io"
    return f"https://{owner}.github.io/{'' if is_user_site else repository + '/'}"


def _print_steps(
    host: Host | None, project: Project, *, has_address: bool, lists_packages: bool
) -> None:
    """Print what remains to be done."""
    command = "mkdocs" if project.generator == "mkdocs" else "answerable"
    steps = [f"Look at the ask box: {command} serve"]
    if not has_address:
        address = f", such as {host.address}" if host else ""
        steps.append(f"Set site_url in {project.file.name} to the site's address{address}")
    if host is None:
        steps.append(f"Choose a host: answerable init --host {' | '.join(HOSTS)}")
    else:
        if not lists_packages:
            steps.append(f"If the site has other plugins, add their packages to {host.path}")
        steps += host.steps
    steps.append("Check the site: answerable doctor")
    click.echo("\nWhat remains:")
    for number, step in enumerate(steps, 1):
        click.echo(f"  {number}. {step}")


_MARKS = {"good": "✓", "advice": "•", "problem": "✗"}
_MAX_HEALTH_BYTES = 64 * 1024
_MAX_PAGE_BYTES = 64 * 1024 * 1024
# Pages that are fetched at once.
_PARALLEL_FETCHES = 8
_REMEDY = "deploy the function, or correct widget.endpoint"


@click.command("doctor")
@click.option(
    "--online", is_flag=True, help="Ask the function too, and look up all that answers cite."
)
@click.pass_obj
def doctor_command(location: SiteLocation, online: bool) -> None:
    """Check the configuration and what publishes the site; exit status 1 if something is wrong."""
    if detect_generator(location[1]) == "mkdocs":
        # Said before the file is read: afterwards its code has run.
        warning = (
            f"MkDocs runs the code that {location[1]} names (tags of YAML such as "
            "!!python/object/apply, hooks and plugins); read a stranger's file before you go on"
        )
        _print_check(SiteCheck("advice", warning))
    has_problem = False
    checks = OnlineChecks(_check_function, _check_links) if online else None
    for check in check_site(location[1], checks):
        _print_check(check)
        has_problem |= check.level == "problem"
    raise SystemExit(1 if has_problem else 0)


def _print_check(check: SiteCheck) -> None:
    """Print what was checked, broken at the terminal's width."""
    # An address may be that of a page whose author is another one.
    text = to_plain_text(format_line(check.text))
    print_hanging(Console(), Text(f"{_MARKS[check.level]} "), text)


def _check_function(endpoint: str, bundle: str | None) -> SiteCheck:
    """Check that a function answers at an address, from the bundle of the last build."""
    address = f"{endpoint.rstrip('/')}/health"
    try:
        with WebClient("doctor").open(address, "application/json") as response:
            health = json.loads(read_response(response, _MAX_HEALTH_BYTES))
        published = health["bundle"]
    except HTTPError as error:
        return SiteCheck("problem", f"{address} answers with {error.code}; {_REMEDY}")
    except (*FETCH_ERRORS, LookupError, TypeError) as error:
        reason = format_reason(error)
        return SiteCheck("problem", f"{address} is no answer function ({reason}); {_REMEDY}")
    if bundle is not None and published != bundle:
        return SiteCheck(
            "advice",
            f"the function at {endpoint} answers from another index than the last build's; "
            "deploy it again",
        )
    return SiteCheck("good", f"the function at {endpoint} answers from the last index")


@dataclass(frozen=True, slots=True)
class CitedPage:
    """A page that answers may cite: the citing id by anchor ("" for the page itself)."""

    address: str
    cited: Mapping[str, str]


def collect_cited_pages(bundle: Bundle, root: str) -> tuple[list[CitedPage], int]:
    """Collect what answers may cite, resolved as the widget does; count addresses elsewhere.

    root: the site's address, absolute, with a slash at its end.
    """
    cited: dict[str, dict[str, str]] = {}
    elsewhere = set()
    hints = ((hint.id, hint.url) for hint in bundle.hints)
    for name, url in (*zip(bundle.passage_ids, bundle.passage_urls, strict=True), *hints):
        # Without a `site_url` nobody knows the path that a site is served under.
        relative = url.startswith("/") and bundle.site.url is None
        address, _, anchor = urljoin(root, f".{url}" if relative else url).partition("#")
        if urlsplit(address)[:2] == urlsplit(root)[:2]:
            cited.setdefault(address, {}).setdefault(anchor, name)
        else:
            elsewhere.add(address)
    return [CitedPage(address, ids) for address, ids in sorted(cited.items())], len(elsewhere)


def find_missing_anchors(page: CitedPage, html: str) -> dict[str, str]:
    """Find the cited anchors that a page lacks, each with the reason."""
    root = LexborHTMLParser(html).root
    anchors = list_anchors(root) if root else frozenset()
    missing = {}
    for anchor in page.cited:
        # A text directive follows the anchor and is not part of it.
        element_id = anchor.partition(":~:")[0]
        # A browser looks for the anchor as it is written, then for what it encodes.
        if element_id and anchors.isdisjoint((element_id, unquote(element_id))):
            missing[anchor] = f"no element has the id {unquote(element_id)!r}"
    return missing


def _check_links(site_url: str, bundle: Path) -> Iterator[SiteCheck]:
    """Look up all that answers from a bundle may cite on the published site."""
    root = parse_site_url(site_url, "site_url")
    pages, elsewhere = collect_cited_pages(open_bundle(bundle), root)
    client = WebClient("doctor")
    try:
        _fetch_page(client, root)
    except HTTPError:
        # Some server is there.
        pass
    except FETCH_ERRORS as error:
        yield SiteCheck(
            "problem",
            f"site_url: {root} cannot be reached ({format_reason(error)}); correct it, or publish "
            "the site",
        )
        return
    broken = 0
    with ThreadPoolExecutor(_PARALLEL_FETCHES) as pool:
        missing = list(pool.map(partial(_find_broken, client), pages))
    for page, anchors in zip(pages, missing, strict=True):
        for anchor, why in anchors.items():
            link = f"{page.address}#{anchor}" if anchor else page.address
            text = f"{link}: {why}, and answers cite it as {page.cited[anchor]}; publish the site"
            yield SiteCheck("problem", text)
            broken += 1
    others = f"; {elsewhere} elsewhere are not looked up" if elsewhere else ""
    count = sum(len(page.cited) for page in pages)
    yield SiteCheck(
        "problem" if broken else "good",
        f"{count} addresses on {len(pages)} pages, {broken} broken{others}",
    )


def _find_broken(client: WebClient, page: CitedPage) -> dict[str, str]:
    """Fetch a page and find what is cited on it and gone, by anchor, each with the reason."""
    try:
        html = _fetch_page(client, page.address)
    except HTTPError as error:
        return dict.fromkeys(page.cited, f"the server says {error.code}")
    except FETCH_ERRORS as error:
        return dict.fromkeys(page.cited, f"it cannot be reached ({format_reason(error)})")
    return {} if html is None else find_missing_anchors(page, html)


def _fetch_page(client: WebClient, address: str) -> str | None:
    """Fetch a page's HTML, redirects followed; None for another content type."""
    with client.open(address, "text/html,*/*;q=0.5") as response:
        if response.headers.get_content_type() not in ("text/html", "application/xhtml+xml"):
            return None
        return decode_html(read_response(response, _MAX_PAGE_BYTES))
