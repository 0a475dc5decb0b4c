"""The wheel and the sdist as they would be published: built, checked and installed for real."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml

from support import sites
from support.deadlines import PATIENCE
from support.fuzz_settings import deep

BIN = Path(sys.executable).parent
PROJECT = tomllib.loads((sites.ROOT / "pyproject.toml").read_text("utf-8"))["project"]
RELEASE = sites.ROOT / ".github" / "workflows" / "release.yml"
# What a reader of the answers, a note's author or a builder has to find in it.
INSIDE = (
    "py.typed",
    "serve/answers/prompts/answer.jinja",
    "serve/http/openapi.json",
    "widget/ask-box.js",
    "widget/ask-box/box.css",
    "widget/ask-box/element.js",
    "widget/custom-elements.json",
    "widget/search-row.js",
    "widget/suggest.js",
    "widget/strings/de.json",
)
LATER = ("mkdocs", "numpy", "openai", "rich", "selectolax", "tokenizers", "yaml")


def run(*command: str | Path, cwd: Path | None = None) -> str:
    done = subprocess.run(
        command, cwd=cwd, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


PACKAGE = sites.ROOT / "plugin" / "answerable"
# What lies in a maintainer's checkout too.
OTHERS = (
    "notebook/secret.md", "tests/test_a.py", "docs/index.md", ".cache/a", "function/main.py",
    "plugin/answerable/__pycache__/cli.cpython-311.pyc",
)  # fmt: skip


def files_of_the_package() -> set[str]:
    paths = (path.relative_to(PACKAGE) for path in PACKAGE.rglob("*") if path.is_file())
    return {path.as_posix() for path in paths if "__pycache__" not in path.parts}


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of both, the wheel built from the sdist, out of a checkout that holds more."""
    folder = tmp_path_factory.mktemp("dist")
    source = folder / "source"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(PACKAGE, source / "plugin" / "answerable", ignore=ignored)
    shutil.copytree(PACKAGE.parent / "model", source / "plugin" / "model", ignore=ignored)
    for name in ("pyproject.toml", "README.md", "CHANGELOG.md", "LICENSE", ".gitignore"):
        shutil.copy(sites.ROOT / name, source)
    for name in OTHERS:
        sites.put(source / name, "not to be published")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder / "dist", source)
    return folder / "dist"


def test_the_wheel_holds_the_package_and_nothing_else(dist: Path) -> None:
    (wheel,) = dist.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {f"answerable/{name}" for name in INSIDE} <= names
    info = f"mkdocs_answerable-{PROJECT['version']}.dist-info"
    assert {name.split("/")[0] for name in names} == {"answerable", info}
    inside = {name.removeprefix("answerable/") for name in names if not name.startswith(info)}
    assert inside == files_of_the_package()


def test_the_sdist_holds_what_the_wheel_is_built_from(dist: Path) -> None:
    (sdist,) = dist.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        tops = {name.split("/")[1] for name in archive.getnames()}
    assert tops == {
        "plugin", "README.md", "CHANGELOG.md", "LICENSE", "pyproject.toml", "PKG-INFO", ".gitignore"
    }  # fmt: skip


def test_metadata_for_the_package_index_has_absolute_links(dist: Path) -> None:
    run(BIN / "twine", "check", "--strict", *dist.iterdir())
    (wheel,) = dist.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith("/METADATA"))
        text = archive.read(name).decode("utf-8")
    links = re.findall(r"\]\(([^)]+)\)", text)
    assert len(links) > 10
    # A link into the repository leads nowhere on another site.
    assert [link for link in links if not link.startswith("https://")] == []
    site = PROJECT["urls"]["Documentation"]
    for page in re.findall(rf"\]\({re.escape(site)}([\w-]+)/\)", text):
        assert (sites.ROOT / "docs" / f"{page}.md").is_file()
    for picture in re.findall(rf"\]\({re.escape(site)}(assets/[^)]+)\)", text):
        assert (sites.ROOT / "docs" / picture).is_file()


def test_help_imports_nothing_that_a_command_needs() -> None:
    code = (
        "import sys\nfrom answerable.cli import main\nmain(['--help'], standalone_mode=False)\n"
        f"print([name for name in {LATER!r} if name in sys.modules])"
    )
    assert run(sys.executable, "-c", code).endswith("\n[]\n")


def workflow() -> dict[str, Any]:
    document = yaml.safe_load(RELEASE.read_text("utf-8"))
    assert isinstance(document, dict)
    return document


def test_the_release_is_published_by_trust_and_by_no_secret() -> None:
    jobs = workflow()["jobs"]
    assert "secrets." not in RELEASE.read_text("utf-8")
    assert {name: job["permissions"] for name, job in jobs.items()} == {
        "build": {"contents": "read"}, "install": {}, "publish": {"id-token": "write"}
    }  # fmt: skip
    assert jobs["publish"]["needs"] == "install"
    assert jobs["install"]["strategy"]["matrix"]["python"] == [
        line.rpartition(" ")[2]
        for line in PROJECT["classifiers"]
        if re.search(r"Python :: 3\.\d+$", line)
    ]


@pytest.mark.parametrize("shift", ["", ".9"])
def test_a_tag_that_is_not_the_version_is_not_released(shift: str) -> None:
    (step,) = (
        s for s in workflow()["jobs"]["build"]["steps"] if s.get("name", "").startswith("The tag")
    )
    tag = {"GITHUB_REF_NAME": f"v{PROJECT['version']}{shift}"}
    done = subprocess.run(
        ["sh", "-c", step["run"]], cwd=sites.ROOT, env={**os.environ, **tag}, check=False
    )
    assert (done.returncode == 0) == (not shift)


@deep
@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13"])
def test_wheel_installs_and_answers_on_every_python(
    dist: Path, version: str, tmp_path: Path
) -> None:
    python = shutil.which(f"python{version}")
    if python is None or version not in run(python, "--version"):
        pytest.skip(f"there is no Python {version} here")
    (wheel,) = dist.glob("*.whl")
    run(python, "-m", "venv", tmp_path / "venv")
    folder = tmp_path / "venv" / "bin"
    run(folder / "pip", "install", "--quiet", wheel)
    run(folder / "mkdocs", "new", "site", cwd=tmp_path)
    with (tmp_path / "site" / "mkdocs.yml").open("a") as config:
        config.write("plugins:\n  - answerable\n")
    run(folder / "mkdocs", "build", cwd=tmp_path / "site")
    answer = run(
        folder / "answerable", "ask", "How do I start the live-reloading docs server?",
        cwd=tmp_path / "site",
    )  # fmt: skip
    assert "mkdocs serve" in answer
