"""Git repository of a site: its commits, its remote, and the files that it holds."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from ..engine.errors import SiteError

# Where the default branch may be, the first that exists; without one, HEAD is compared with itself.
_DEFAULT_BRANCHES = ("origin/HEAD", "origin/main", "origin/master", "main", "master", "HEAD")
# A hook sets these for its own repository and index, which are not those of the folder we name.
_HOOK_VARIABLES = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX")


def find_repository(folder: Path) -> Path:
    """Find the top folder of the repository that holds a folder; SiteError outside of one."""
    try:
        top = _run_git(folder, "rev-parse", "--show-toplevel")
    except subprocess.CalledProcessError:
        raise SiteError(
            f"{folder.resolve()} is not in a git repository: name a report with --against PATH"
        ) from None
    return Path(top)


def resolve_commit(repository: Path, ref: str) -> str:
    """Resolve a ref to the hash of its commit; SiteError for one that is not there."""
    try:
        return _run_git(
            repository, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}"
        )
    except subprocess.CalledProcessError:
        raise SiteError(
            f"--against {ref}: neither a file nor a commit of {repository}; name a report or a "
            "branch, tag or commit, and fetch it first (actions/checkout: `fetch-depth: 0`)"
        ) from None


def find_base_commit(repository: Path) -> str:
    """Find the commit at which HEAD left the default branch; on that branch itself, HEAD.

    SiteError if there is no commit.
    """
    for branch in _DEFAULT_BRANCHES:
        with suppress(subprocess.CalledProcessError):
            return _run_git(repository, "merge-base", "HEAD", branch)
    raise SiteError(
        f"{repository} has no commit yet: commit the site, or name a report with --against PATH"
    )


@contextmanager
def check_out_commit(repository: Path, commit: str) -> Iterator[Path]:
    """Check a commit out into a folder of a temporary one; SiteError if git fails."""
    try:
        with TemporaryDirectory(prefix="answerable-") as temporary:
            folder = Path(temporary).resolve() / "tree"
            try:
                # A hook of the repository could refuse or change what is checked out.
                _run_git(
                    repository, "-c", f"core.hooksPath={os.devnull}",
                    "worktree", "add", "--quiet", "--detach", str(folder), commit,
                )  # fmt: skip
            except subprocess.CalledProcessError as error:
                message = (error.stderr.strip().splitlines() or ["no message"])[-1]
                raise SiteError(
                    f"git cannot check out {commit[:12]} ({message}): run `git worktree prune` and "
                    "try again"
                ) from None
            yield folder
    finally:
        # Git forgets a folder that is gone, and might refuse to remove it itself.
        with suppress(subprocess.CalledProcessError):
            _run_git(repository, "worktree", "prune")


def clean_environment() -> dict[str, str]:
    """Copy the environment without what a git hook sets for its own repository."""
    return {name: value for name, value in os.environ.items() if name not in _HOOK_VARIABLES}


def count_tracked_files(path: Path, folder: Path) -> int:
    """Count the files below a path that git tracks; 0 outside a repository."""
    return len(_ask_git(folder, "ls-files", "--", str(path)).splitlines())


def read_remote_url(folder: Path) -> str:
    """Read the address of the repository's remote; "" without one."""
    return _ask_git(folder, "remote", "get-url", "origin")


def find_top_folder(folder: Path) -> Path:
    """Find the top folder of the repository that holds a folder, which it is itself without git."""
    top = _ask_git(folder, "rev-parse", "--show-toplevel")
    return Path(top) if top else folder


def read_default_branch(folder: Path) -> str:
    """Read the name of the remote's default branch, else of the current one; "" without git."""
    default = _ask_git(folder, "symbolic-ref", "--short", "refs/remotes/origin/HEAD")
    return default.removeprefix("origin/") or _ask_git(folder, "symbolic-ref", "--short", "HEAD")


def has_pages_branch(folder: Path) -> bool:
    """True if a branch gh-pages was fetched or made, from which GitHub publishes a site."""
    return bool(_ask_git(folder, "branch", "--all", "--list", "gh-pages", "*/gh-pages"))


def _ask_git(folder: Path, *arguments: str) -> str:
    """Run git in a folder that need not be in a repository; "" where git cannot tell."""
    try:
        return _run_git(folder, *arguments)
    except (SiteError, OSError, subprocess.CalledProcessError):
        return ""


def _run_git(folder: Path, *arguments: str) -> str:
    """Run git in a folder and return its output; CalledProcessError, SiteError without git."""
    try:
        process = subprocess.run(
            ["git", "-C", str(folder), *arguments],
            env=clean_environment(),
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=True,
        )
    except FileNotFoundError:
        raise SiteError(
            "git is not installed: install it, or name a report with --against PATH"
        ) from None
    return process.stdout.strip()
