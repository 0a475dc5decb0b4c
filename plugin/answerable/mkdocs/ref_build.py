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
from tempfile import TemporaryDirectory

from ..engine.errors import AnswerableError, SiteError
from ..engine.settings import BUNDLE_FOLDER
from .publish import write_compared_function
from .repository import (
    check_out_commit,
    clean_environment,
    find_base_commit,
    find_repository,
    resolve_commit,
)
from .site_config import SiteConfig, build_unpublished, load_site_config


@dataclass(frozen=True, slots=True)
class RefSite:
    """The site of a ref, as long as it is checked out. ``name``: how messages call it."""

    name: str
    config_file: Path
    bundle: Path


@contextmanager
def build_today(config_file: Path) -> Iterator[Path]:
    """Build the site as its files are now, and yield the folder of its bundle; SiteError.

    The last build may be older than the files, and its own folders stay as they are.
    """
    with TemporaryDirectory(prefix="answerable-") as temporary:
        yield _build_site(config_file, Path(temporary).resolve(), "the site")


@contextmanager
def build_ref(config_file: Path, ref: str | None) -> Iterator[RefSite]:
    """Check out a ref and build its site; SiteError in one sentence for what cannot be done.

    ref: None stands for the commit at which HEAD left the default branch. What git does not hold of
    the notebook, and the caches, are those of today: so a private notebook counts on both sides,
    and a paid text is not embedded twice.
    """
    repository = find_repository(config_file.absolute().parent)
    commit = find_base_commit(repository) if ref is None else resolve_commit(repository, ref)
    name = f"{ref} ({commit[:12]})" if ref else commit[:12]
    # The file may be a link to another one, which is then read from the ref as well.
    folder = config_file.absolute().parent.resolve()
    relative = folder.relative_to(repository.resolve()) / config_file.name
    with TemporaryDirectory(prefix="answerable-") as temporary:
        top = Path(temporary).resolve()
        tree = top / "tree"
        with check_out_commit(repository, commit, tree):
            ref_config_file = tree / relative
            if not ref_config_file.is_file():
                raise SiteError(f"{name} has no {relative.as_posix()}: name another ref")
            _link_today(load_site_config(config_file), config_file, ref_config_file, top)
            bundle = _build_site(ref_config_file, top, f"the site of {name}")
            yield RefSite(name, ref_config_file, bundle)


def _link_today(current: SiteConfig, config_file: Path, ref_config_file: Path, top: Path) -> None:
    """Let the ref's caches and notebook lead to today's folders, where git does not hold them."""
    for folder in filter(None, (current.cache, current.notebook)):
        # Without links, or from another drive (Windows), a cache is filled anew.
        with suppress(OSError, ValueError):
            relative = os.path.relpath(folder, config_file.absolute().parent)
            path = Path(os.path.normpath(ref_config_file.parent / relative))
            if path.is_relative_to(top) and not path.exists() and folder.is_dir():
                path.parent.mkdir(parents=True, exist_ok=True)
                path.symlink_to(folder.resolve(), target_is_directory=True)


def _build_site(config_file: Path, top: Path, name: str) -> Path:
    """Build a site below a folder without publishing it, and return its bundle's folder.

    SiteError with the cause if it cannot be built. name: how that calls the site.
    """
    function = top / "function"
    process = subprocess.run(
        # Safe path: a folder of the site that is named as a package is not one.
        [sys.executable, "-P", "-m", __spec__.name, config_file.name,
         str(top / "site"), str(function)],
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
        raise SiteError(f"{name} cannot be built ({cause}): build it, or compare another state")
    return function / BUNDLE_FOLDER


def main() -> None:
    """Build the site of a configuration file into a folder, and its function into another."""
    logging.basicConfig(level=logging.ERROR, format="%(levelname)s - %(message)s")
    config_file, site_folder, function = sys.argv[1:]
    try:
        build_unpublished(
            Path(config_file),
            site_folder,
            lambda built: write_compared_function(built, Path(function)),
        )
    except AnswerableError as error:
        sys.exit(f"Error: {error}")


if __name__ == "__main__":
    main()
