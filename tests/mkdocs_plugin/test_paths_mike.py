"""Versions deployed by mike: each has its own function, whose urls are those of its version."""

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from support.citation_check import assert_resolves, passages
from support.deadlines import PATIENCE
from support.git_sites import init_repository
from support.sites import NOTES, build, write_site

pytestmark = [
    pytest.mark.deep,
    pytest.mark.skipif(
        find_spec("mike") is None or shutil.which("git") is None, reason="without mike or git"
    ),
]


def run(folder: Path, *command: str) -> str:
    """Run a command as a person without a git configuration of their own."""
    who = {f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER")
           for key, value in (("NAME", "Crew"), ("EMAIL", "crew@harbour.example"))}  # fmt: skip
    here = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CEILING_DIRECTORIES": str(folder.parent)}
    # mike finds its builder by name, as it is in an environment that is activated.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **who, **here, "PATH": path},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def repository(folder: Path, **config: Any) -> Path:
    """A site in a git repository of its own."""
    config = {"theme": "material", "site_url": "https://harbour.example/docs/", **config}
    write_site(folder, notes=NOTES, **config)
    init_repository(folder)
    return folder


def deploy(folder: Path, *args: str) -> None:
    run(folder, sys.executable, "-c", "from mike.driver import main; main()", "deploy", *args)


@pytest.fixture(autouse=True)
def _command(monkeypatch: pytest.MonkeyPatch) -> None:
    # A version that an outer build is for would be taken for ours.
    monkeypatch.delenv("MIKE_DOCS_VERSION", raising=False)


def test_urls_are_of_the_version_though_another_is_canonical(tmp_path: Path) -> None:
    plugins = [
        {"answerable": {"notebook": "notebook"}},
        {"mike": {"canonical_version": "latest"}},
    ]
    deploy(repository(tmp_path, plugins=plugins), "1.0", "latest")
    urls = {passage.url for passage in passages(tmp_path, "function/1.0")}
    assert all(url.startswith("/docs/1.0/") for url in urls)
    assert_resolves(tmp_path, "function/1.0")


def test_the_widget_asks_the_function_of_its_version(tmp_path: Path) -> None:
    plugins = [{"answerable": {"widget": {"endpoint": "/ask/{version}/"}}}]
    deploy(repository(tmp_path, plugins=plugins), "1.0")
    html = run(tmp_path, "git", "show", "gh-pages:1.0/mooring/index.html")
    assert '<link rel="answerable" href="/ask/1.0/">' in html
    assert build(tmp_path).returncode == 0
    plain = (tmp_path / "site" / "mooring" / "index.html").read_text(encoding="utf-8")
    assert '<link rel="answerable" href="/ask/">' in plain


def test_only_pages_are_committed(tmp_path: Path) -> None:
    deploy(repository(tmp_path), "1.0", "latest")
    files = run(tmp_path, "git", "ls-tree", "-r", "--name-only", "gh-pages").splitlines()
    assert "1.0/mooring/index.html" in files
    assert "1.0/assets/answerable/ask-box.js" in files
    assert "1.0/assets/answerable/site.json" in files
    assert not [name for name in files if "function" in name or "manifest" in name]
