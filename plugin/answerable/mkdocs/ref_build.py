"""Another state of the site: a git ref, built to be compared.

``python -m`` this module builds one in a process of its own, since the site's code may stop the
process, and its modules may be named as those of another state of the site.
"""

import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from mkdocs.commands.build import build
from mkdocs.exceptions import MkDocsException

from ..engine.errors import AnswerableError, SiteError
from ..engine.settings import BUNDLE_FOLDER
from ..indexing.caches import CACHE_FILE, KEY_FILE
from ..indexing.files import format_error
from ..indexing.generators import detect_generator, normalize_path, read_project, run_generator
from .built_sites import read_built_pages
from .options import AnswerableConfig
from .publish import publish_build
from .repository import (
    check_out_commit,
    clean_environment,
    find_base_commit,
    find_repository,
    resolve_commit,
)
from .site_config import find_plugin, load_mkdocs_config, load_site


@dataclass(frozen=True, slots=True)
class RefSite:
    """The site of a ref, as long as it is checked out. ``name``: what messages call it."""

    name: str
    config_file: Path
    bundle: Path


@contextmanager
def build_ref(config_file: Path, ref: str | None) -> Iterator[RefSite]:
    """Check out a ref and build its site; SiteError in one sentence for what cannot be done.

    ref: None stands for the commit at which HEAD left the default branch. What git does not hold of
    the notebook, and the cache, are those of today: so a private notebook counts on both sides, and
    a paid text is not embedded twice.
    """
    # The file may be a link to another one, which is then read from the ref as well.
    folder = config_file.absolute().parent.resolve()
    repository = find_repository(folder)
    commit = find_base_commit(repository) if ref is None else resolve_commit(repository, ref)
    name = f"{ref} ({commit[:12]})" if ref else commit[:12]
    relative = folder.relative_to(repository.resolve()) / config_file.name
    with check_out_commit(repository, commit) as tree:
        ref_config_file = tree / relative
        if not ref_config_file.is_file():
            raise SiteError(f"{name} has no {relative.as_posix()}: name another ref")
        _link_today(load_site(config_file)[1], config_file, ref_config_file, tree.parent)
        yield RefSite(name, ref_config_file, _build_site(ref_config_file, tree.parent, name))


def _link_today(
    options: AnswerableConfig, config_file: Path, ref_config_file: Path, top: Path
) -> None:
    """Link the ref's cache and notebook to today's, if git does not hold them."""
    links = {top / "cache" / name: Path(options.cache, name) for name in (CACHE_FILE, KEY_FILE)}
    # Without links, or from another drive (Windows), a cache is filled anew.
    with suppress(OSError, ValueError):
        if options.notebook:
            relative = os.path.relpath(options.notebook, config_file.absolute().parent)
            links[normalize_path(ref_config_file.parent / relative)] = Path(options.notebook)
        for path, today in links.items():
            if path.is_relative_to(top) and not path.exists() and today.exists():
                path.parent.mkdir(parents=True, exist_ok=True)
                path.symlink_to(today.resolve(), target_is_directory=today.is_dir())


def _build_site(config_file: Path, top: Path, name: str) -> Path:
    """Build a ref's site into a folder, and return its bundle's folder.

    SiteError with the cause if it cannot be built. name: what that calls the ref.
    """
    process = subprocess.run(
        # Safe path: a folder of the site that is named as a package is not one.
        [sys.executable, "-P", "-m", __spec__.name, config_file.name, str(top)],
        cwd=config_file.parent,
        env=clean_environment(),
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )  # fmt: skip
    if process.returncode:
        # The first error, else the last line, says why it stopped.
        lines = [line.strip() for line in process.stderr.splitlines() if line.strip()]
        errors = [line for line in lines if line.startswith(("ERROR", "CRITICAL", "Error"))]
        cause = (errors or lines[-1:] or ["no message"])[0]
        # The folder is gone when a reader sees the message.
        cause = cause.replace(f"{config_file.parent}{os.sep}", "")
        raise SiteError(
            f"the site of {name} cannot be built ({cause}): build it, or compare another state"
        )
    return top / "function" / BUNDLE_FOLDER


def main() -> None:
    """Build the site of a configuration file into a folder, which alone is written to."""
    logging.basicConfig(level=logging.ERROR, format="%(levelname)s - %(message)s")
    config_file, top = map(Path, sys.argv[1:])
    try:
        is_mkdocs = detect_generator(config_file) == "mkdocs"
        if not is_mkdocs:
            run_generator(read_project(config_file), to_stderr=True)
        config = load_mkdocs_config(config_file)
        plugin = find_plugin(config)
        options = plugin.config
        options.function, options.cache = str(top / "function"), str(top / "cache")
        options.written = {*options.written, "function"}
        # Its gold set judges nothing, a warning stops nothing, and no database receives it.
        config.strict = options.gate = False
        options.store.url, options.store.written = None, ()
        if is_mkdocs:
            config.site_dir = str(top / "site")
            try:
                config.plugins.on_startup(command="build", dirty=False)
                build(config)
            finally:
                config.plugins.on_shutdown()
        else:
            publish_build(read_built_pages(config, plugin)[0])
    except MkDocsException as error:
        sys.exit(f"Error: {error}")
    except (AnswerableError, OSError) as error:
        sys.exit(f"Error: {format_error(error)}")


if __name__ == "__main__":
    main()
