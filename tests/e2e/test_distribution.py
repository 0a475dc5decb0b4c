"""The wheel as it would be published: built from the sdist, installed, and asked a question."""

import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

from support import sites
from support.deadlines import PATIENCE

PACKAGE = sites.ROOT / "plugin" / "answerable"
# What lies in a maintainer's checkout too.
OTHERS = ("notebook/secret.md", "tests/test_a.py", "docs/index.md", ".cache/a", "function/main.py")


def run(*command: str | Path, cwd: Path | None = None) -> str:
    done = subprocess.run(
        command, cwd=cwd, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from the sdist of a checkout that holds more."""
    folder = tmp_path_factory.mktemp("dist")
    source = folder / "source"
    ignored = shutil.ignore_patterns("__pycache__")
    for name in ("answerable", "model"):
        shutil.copytree(PACKAGE.parent / name, source / "plugin" / name, ignore=ignored)
    for name in ("pyproject.toml", "README.md", "CHANGELOG.md", "LICENSE", ".gitignore"):
        shutil.copy(sites.ROOT / name, source)
    for name in OTHERS:
        sites.put(source / name, "not to be published")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder / "dist", source)
    run(sys.executable, "-m", "twine", "check", "--strict", *(folder / "dist").iterdir())
    (wheel,) = (folder / "dist").glob("*.whl")
    return wheel


def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    paths = (path.relative_to(PACKAGE.parent) for path in PACKAGE.rglob("*") if path.is_file())
    package = {path.as_posix() for path in paths if "__pycache__" not in path.parts}
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {name for name in names if ".dist-info/" not in name} == package


def test_an_installed_wheel_answers(wheel: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "venv", system_site_packages=False, with_pip=False)
    python = tmp_path / "venv" / "bin" / "python"
    (packages,) = (tmp_path / "venv" / "lib").glob("python*/site-packages")
    zipfile.ZipFile(wheel).extractall(packages)
    # What it depends on is that of these tests, whose checkout may not be found before the wheel.
    others = [path for path in map(Path, sys.path) if path.name == "site-packages"]
    (packages / "others.pth").write_text("".join(f"{path}\n" for path in others))
    site = sites.write_site(tmp_path / "site")
    ask = "from answerable.cli import main; main()"
    run(python, "-I", "-m", "mkdocs", "build", cwd=site)
    assert "twelve" in run(python, "-I", "-c", ask, "ask", "How thick is the chain?", cwd=site)
    code = "import answerable; print(answerable.__file__)"
    assert run(python, "-I", "-c", code).startswith(str(packages))
