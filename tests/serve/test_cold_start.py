"""A function's cold start: what it imports, and bytecode that is used as it is."""

import json
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from support import sites
from support.deadlines import PATIENCE
from support.sites import build_here, write_site

QUESTION = "How thick is the chain of a mooring?"
# A .pyc has a magic number of four bytes, then flags: 1 is a hash that is not checked.
UNCHECKED = 1


def tree(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Every file under a folder by its path: its bytes and when it was written."""
    return {
        path.relative_to(folder).as_posix(): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


IMPORTED = """
import json, sys
from pathlib import Path
folder, question = Path(sys.argv[1]), sys.argv[2]
sys.path.insert(0, str(folder))
from answerable.serve import providers
engine = providers.open_function(folder)
ranked = engine.retrieve(question)
print(json.dumps({"ranked": len(ranked.passages), "modules": sorted(sys.modules)}))
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The function of a small site; tests copy it."""
    folder = write_site(tmp_path_factory.mktemp("site"), notes=sites.NOTES)
    build_here(folder)
    return folder / "function"


@pytest.fixture
def function(built: Path, tmp_path: Path) -> Path:
    """The function copied away from its site; times of files are those of the copy."""
    return Path(shutil.copytree(built, tmp_path / "away", copy_function=shutil.copyfile))


def start(function: Path) -> dict[str, Any]:
    """Start the function in a process of its own, which ranks passages for the question."""
    done = subprocess.run(
        [sys.executable, "-I", "-c", IMPORTED, str(function), QUESTION],
        cwd=function, env={"PATH": os.environ["PATH"]}, capture_output=True, text=True,
        timeout=PATIENCE, check=True,
    )  # fmt: skip
    outcome: dict[str, Any] = json.loads(done.stdout)
    return outcome


def bytecode(function: Path) -> dict[str, bytes]:
    """The bytecode of each module by the module's path."""
    return {
        str(path.parent.parent.relative_to(function) / f"{path.name.split('.')[0]}.py"): (
            path.read_bytes()
        )
        for path in (function / "answerable").rglob("*.pyc")
    }


def test_read_only_function_starts_and_writes_nothing(function: Path) -> None:
    for path in (function, *function.rglob("*")):
        writable = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH
        path.chmod(path.stat().st_mode & ~writable)
    before = tree(function)
    try:
        outcome = start(function)
    finally:
        for path in (function, *function.rglob("*")):
            path.chmod(path.stat().st_mode | stat.S_IWUSR)
    assert outcome["ranked"] > 0
    assert tree(function) == before


def test_all_modules_have_unchecked_bytecode(built: Path) -> None:
    code = {str(path.relative_to(built)) for path in (built / "answerable").rglob("*.py")}
    files = bytecode(built)
    assert set(files) == code
    assert len(code) > 30
    assert {int.from_bytes(data[4:8], "little") for data in files.values()} == {UNCHECKED}
    tags = {path.name.split(".")[1] for path in built.rglob("*.pyc")}
    assert tags == {sys.implementation.cache_tag}


def test_bytecode_has_no_build_paths(built: Path) -> None:
    for name, data in bytecode(built).items():
        assert name.encode() in data
        assert str(built.parent).encode() not in data, name
        assert b".tmp" not in data, name


def test_shipped_bytecode_is_executed(function: Path) -> None:
    """A copy has new times and its sources are broken: neither is looked at."""
    for path in (function / "answerable").rglob("*.py"):
        path.write_text("this is no Python\n")
    before = tree(function)
    assert start(function)["ranked"] > 0
    assert tree(function) == before
    # Without it the broken source is what is left.
    shutil.rmtree(function / "answerable" / "serve" / "__pycache__")
    with pytest.raises(subprocess.CalledProcessError) as caught:
        start(function)
    assert "SyntaxError" in caught.value.stderr


def test_rebuild_keeps_bytecode_and_adds_missing_files(tmp_path: Path) -> None:
    folder = write_site(tmp_path)
    build_here(folder)
    before = tree(folder / "function" / "answerable")
    build_here(folder)
    assert tree(folder / "function" / "answerable") == before
    cached = sorted((folder / "function" / "answerable").rglob("*.pyc"))
    cached[-1].unlink()
    shutil.rmtree(cached[0].parent)
    build_here(folder)
    after = tree(folder / "function" / "answerable")
    assert {name: data for name, (data, _) in after.items()} == {
        name: data for name, (data, _) in before.items()
    }


def test_first_ranked_result_imports_few_modules(function: Path) -> None:
    outcome = start(function)
    modules = set(outcome["modules"])
    assert outcome["ranked"] > 0
    assert "answerable.serve.text.tokenization" in modules
    assert not modules & {"numpy.ma", "openai", "jinja2", "numkong"}
    assert not any("stemmer" in name or "snowball" in name for name in modules)
    assert {name for name in modules if name.startswith("answerable.")} <= {
        ".".join(path.relative_to(function).with_suffix("").parts).removesuffix(".__init__")
        for path in (function / "answerable").rglob("*.py")
    }
