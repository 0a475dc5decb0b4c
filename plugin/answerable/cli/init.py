"""``answerable init``: the plugin in a site's configuration, and a workflow that publishes it."""

import os
import re
from pathlib import Path

import click

from ..engine.errors import SiteError
from ..engine.providers import find_key_variable, find_provider, list_providers
from ..indexing.files import write_file
from ..indexing.generators import (
    Project,
    name_build_command,
    read_project,
)
from ..mkdocs.publishers import WORKFLOWS, Publisher, find_publishers
from ..mkdocs.repository import find_top_folder, read_default_branch, read_remote_url
from .config_edit import add_plugin, add_site_url
from .context import SiteLocation
from .render import print_hanging

# What pip installs the package from. It is in no index yet: on the day of its release this becomes
# empty, and nothing else in the code changes.
_SOURCE = " @ git+https://github.com/mkdocs-answerable/mkdocs-answerable"
_GOLD_FILE = Path("eval/gold.yaml")
_GOLD_STARTER = """\
# Questions with what their answers must do: https://mkdocs-answerable.github.io/mkdocs-answerable/
# Run them by `answerable eval --full`. Write one for each question that readers ask you.
queries:
  - id: unrelated
    query: How long does a soft-boiled egg take?
    expectAnswerMode: not-found
"""
_WORKFLOW_FILE = WORKFLOWS / "docs.yml"
# Each action by the commit of its release, so that nobody can change what runs here.
_WORKFLOW = """\
name: Documentation
on:
  push:
    branches: [{branch}]
  workflow_dispatch:
permissions: {{}}
concurrency: pages
{place}jobs:
  build:
    runs-on: ubuntu-latest
    permissions:
      contents: read
    steps:
      - uses: actions/checkout@34e114876b0b11c390a56381ad16ebd13914f8d5 # v4.3.1
        with:
          persist-credentials: false
{depth}      - uses: actions/setup-python@a26af69be951a213d495a4c3e4e4022e16d87065 # v5.6.0
        with:
          python-version: "3.12"
{cache}{install}      - run: {build}
{key}      - run: {judge}
{key}      - uses: actions/upload-pages-artifact@56afc609e74202658d3ffba0e8f6dda462b719fa # v3.0.1
        with:
          path: {site}
  publish:
    needs: build
    runs-on: ubuntu-latest
    permissions:
      pages: write
      id-token: write
    environment: github-pages
    steps:
      - uses: actions/deploy-pages@d6db90164ac5ed86f2b6aed7e0febac5b3c0c03e # v4.0.5
"""
_CACHE = """\
      - uses: actions/cache@0057852bfaa89a56745cba8c7296529d2fc39830 # v4.3.0
        with:
          path: {folder}.cache/plugin/answerable
          key: answerable-${{{{ github.sha }}}}
          restore-keys: answerable-
"""
# Plugins that show dates or authors of commits, all of which have to be there.
_SHOWS_HISTORY = re.compile(r"^ *- +(?:git-(?:revision|authors|committers)|rss\b)", re.M)
# Vectors of notes are private, and the rest is made by every build.
_IGNORED = ("/function/", "/.cache/")
_REQUIREMENTS = ("requirements.txt", "docs/requirements.txt")
_GITHUB_REMOTE = re.compile(r"github\.com[:/]([\w.-]+)/([\w.-]+?)(?:\.git)?/?\s*$")


@click.command("init")
@click.pass_obj
def command(location: SiteLocation) -> None:
    """Add the plugin to the configuration, and the workflow that publishes on GitHub Pages.

    A repository that publishes its site already gets no workflow, and is told what to add.
    """
    config_file = location[1]
    if not config_file.is_file():
        raise SiteError(f"there is no {config_file}: make a site first, by `mkdocs new .`")
    project = read_project(config_file)
    is_mkdocs = project.generator == "mkdocs"
    folder = project.folder
    top = find_top_folder(folder)
    text = config_file.read_text(encoding="utf-8")
    publishers = find_publishers(top, text)
    remote = read_remote_url(folder)
    site_url = _guess_site_url(remote)
    if is_mkdocs:
        text = _edit_config(config_file, site_url)
    _write_new(folder / _GOLD_FILE, _GOLD_STARTER)
    built = project.site_dir.parent if project.generator == "sphinx" else project.site_dir
    _ignore_built_files(folder / ".gitignore", f"/{os.path.relpath(built, folder)}/")
    steps = [f"Look at the ask box: {'mkdocs' if is_mkdocs else 'answerable'} serve"]
    has_address = project.settings.get("site_url") or (is_mkdocs and site_url)
    # The pages of Sphinx and others name their address themselves.
    if project.generator in ("mkdocs", "zensical") and not has_address:
        steps.append(f"Set site_url in {config_file.name} to the site's address")
    if publishers:
        steps += (_describe_addition(publisher, project) for publisher in publishers)
    elif remote and not _GITHUB_REMOTE.search(remote):
        steps.append(
            f"Build the site by `{name_build_command(config_file)}`, and let your host upload "
            f"{os.path.relpath(project.site_dir, folder)}/, which answers in the reader's browser"
        )
    else:
        _write_new(top / _WORKFLOW_FILE, _format_workflow(project, text))
        steps.append("Choose GitHub Actions as the source under Settings, Pages, once")
        steps.append("Commit the files, push them, and wait for the workflow under Actions to end")
    steps.append("Check the site: answerable doctor")
    click.echo("\nWhat remains:")
    for number, step in enumerate(steps, 1):
        print_hanging(f"  {number}. ", step)


def _edit_config(config_file: Path, site_url: str | None) -> str:
    """Add the plugin and the site's address to mkdocs.yml, and return its text."""
    # With its line ends.
    text = config_file.read_bytes().decode()
    with_plugin = add_plugin(text, str(config_file))
    edited = add_site_url(with_plugin, str(config_file), site_url) if site_url else with_plugin
    if edited != text:
        write_file(config_file, edited.encode())
    changes = {"the plugin": with_plugin != text, "site_url": edited != with_plugin}
    added = [name for name, is_added in changes.items() if is_added]
    state = f"now has {' and '.join(added)}" if added else "has the plugin already"
    click.echo(f"{os.path.relpath(config_file)}: {state}.")
    return edited


def _describe_addition(publisher: Publisher, project: Project) -> str:
    """Describe what to add to what publishes the site already."""
    if "mkdocs-answerable" in publisher.text:
        return f"{publisher.name} builds the site, and installs mkdocs-answerable already"
    if not publisher.text:
        return (
            f"{publisher.name} publishes the site: install {_format_requirement()} beside it, and "
            "publish as before"
        )
    step = (
        f"{publisher.name} builds the site: add {_format_requirement()} to the packages that it "
        "installs"
    )
    if project.generator != "mkdocs":
        step += ", and let it build by `answerable build`"
    return step


def _format_requirement(extra: str = "") -> str:
    """Format what pip installs, as a shell reads it. extra: such as ``[openai]``."""
    return f"'mkdocs-answerable{extra}{_SOURCE}'"


def _format_workflow(project: Project, text: str) -> str:
    """Format the workflow for a site. text: of its configuration, as it is now."""
    embedder, answerer = (_read_provider(project, group) for group in ("embedding", "answers"))
    embedding = project.options.get("embedding")
    base_url = embedding.get("base_url") if isinstance(embedding, dict) else None
    is_known = embedder in list_providers("embedder")
    key = find_key_variable(find_provider("embedder", embedder), base_url) if is_known else None
    package = _format_requirement("[openai]" if "openai" in (embedder, answerer) else "")
    top = find_top_folder(project.folder)
    inner = project.folder.resolve().relative_to(top.resolve()).as_posix()
    prefix = "" if inner == "." else f"{inner}/"
    place = f"defaults:\n  run:\n    working-directory: {inner}\n"
    return _WORKFLOW.format(
        place=place if prefix else "",
        branch=read_default_branch(project.folder) or "main",
        depth="          fetch-depth: 0\n" if _SHOWS_HISTORY.search(text) else "",
        # Others may restore a cache, and the vectors of notes are private.
        cache="" if project.options.get("notebook") else _CACHE.format(folder=prefix),
        install="".join(
            f"      - run: pip install {packages}\n"
            for packages in _list_installations(project, package)
        ),
        build=name_build_command(project.file),
        # What a model writes costs money with each push.
        judge="answerable eval" if answerer else "answerable eval --full",
        key=f"        env:\n          {key}: ${{{{ secrets.{key} }}}}\n" if key else "",
        site=prefix + os.path.relpath(project.site_dir, project.folder),
    )


def _read_provider(project: Project, group: str) -> str:
    """Read which provider an option group names, "" for the default one."""
    options = project.options.get(group)
    name = options.get("provider", "") if isinstance(options, dict) else ""
    return "" if name in ("local", "extractive") else str(name)


def _list_installations(project: Project, package: str) -> list[str]:
    """List what pip installs, one call after another: this package, and what the site needs."""
    for file in _REQUIREMENTS:
        path = project.folder / file
        # Others than those of the documentation are no business of its workflow.
        if path.is_file() and project.generator in path.read_text(encoding="utf-8").lower():
            return [f"-r {file} {package}"]
    if project.generator == "mkdocs":
        # MkDocs knows the packages of themes and plugins.
        return [package, "$(mkdocs get-deps)"]
    return [f"{project.generator} {package}"]


def _write_new(path: Path, text: str) -> None:
    """Write a file that is not there yet."""
    name = os.path.relpath(path)
    if path.exists():
        click.echo(f"{name}: is there already and stays as it is.")
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    write_file(path, text.encode())
    click.echo(f"{name}: written.")


def _ignore_built_files(path: Path, site: str) -> None:
    """Add what builds write to .gitignore. site: the folder of the site, as it is written there."""
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    ignored = {line.strip().strip("/") for line in text.splitlines()}
    missing = [
        name
        for name in (site, *_IGNORED)
        # Code of the repository may lie in a folder of the same name.
        if name.strip("/") not in ignored
        and not (path.parent / name.strip("/") / "__init__.py").is_file()
    ]
    if missing:
        start = f"{text.rstrip()}\n" if text.strip() else ""
        write_file(path, (start + "\n".join(missing) + "\n").encode())
        click.echo(f"{os.path.relpath(path)}: now has {', '.join(missing)}.")


def _guess_site_url(remote: str) -> str | None:
    """Guess a site's address on GitHub Pages by its repository's remote."""
    match = _GITHUB_REMOTE.search(remote)
    if match is None:
        return None
    owner, repository = match[1].lower(), match[2]
    is_user_site = repository.lower() == f"{owner}.github.io"
    return f"https://{owner}.github.io/{'' if is_user_site else repository + '/'}"
