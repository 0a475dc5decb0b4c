"""A function's cold start: what it takes, what it imports, and bytecode that is used as it is."""

import json
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from answerable.indexing.output.function_writer import write_function
from answerable.serve.embedders.embedder import EmbedderIdentity
from answerable.serve.errors import SiteError
from answerable.serve.settings import FunctionSettings
from support import sites
from support.deadlines import PATIENCE
from support.doubles import TINY, bundle_of, index_of, record
from support.sites import build_here, write_site

sys.path.append(str(sites.ROOT / "eval" / "bench"))
from start import time_cold_start

QUESTION = "How thick is the chain of a mooring?"
PHASES = [
    "interpreter",
    "numpy",
    "code",
    "bundle",
    "embedder",
    "embedding",
    "retrieval",
    "answer",
]

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


def bytecode(function: Path) -> dict[str, bytes]:
    """The bytecode of each module by the module's path."""
    return {
        str(path.parent.parent.relative_to(function) / f"{path.name.split('.')[0]}.py"): (
            path.read_bytes()
        )
        for path in (function / "answerable").rglob("*.pyc")
    }


def test_cold_start_is_timed_by_phase(built: Path) -> None:
    script = sites.ROOT / "eval" / "bench" / "start.py"
    done = subprocess.run([sys.executable, script, built], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    rows = [line.split() for line in done.stdout.splitlines()]
    assert [name for name, _ in rows] == [*PHASES, "all"]
    assert all(float(milliseconds) > 0 for _, milliseconds in rows)


@pytest.mark.parametrize(
    ("question", "mode"),
    [(QUESTION, "partial"), ("Who sang at the opera in Vienna?", "not-found")],
)
def test_cold_start_answers_a_given_question(built: Path, question: str, mode: str) -> None:
    timing = time_cold_start(built, question, verify=False)
    assert (timing.question, timing.mode) == (question, mode)
    assert (timing.ranked > 0) == (mode == "partial")
    assert list(timing.phases) == PHASES
    assert timing.total == pytest.approx(sum(timing.phases.values()))


def test_read_only_function_starts_and_writes_nothing(function: Path) -> None:
    for path in (function, *function.rglob("*")):
        writable = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH
        path.chmod(path.stat().st_mode & ~writable)
    before = tree(function)
    try:
        timing = time_cold_start(function)
    finally:
        for path in (function, *function.rglob("*")):
            path.chmod(path.stat().st_mode | stat.S_IWUSR)
    assert timing.mode == "partial"
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
    assert time_cold_start(function, QUESTION).mode == "partial"
    assert tree(function) == before
    # Without it the broken source is what is left.
    shutil.rmtree(function / "answerable" / "serve" / "__pycache__")
    with pytest.raises(SiteError, match="SyntaxError"):
        time_cold_start(function, QUESTION)


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


@pytest.mark.parametrize(
    ("gone", "reason"),
    [
        ("answerable", "its code is not there"),
        (
            "answerable/serve/text/tokenization.py",
            "No module named 'answerable.serve.text.tokenization'",
        ),
        ("answerable/serve/providers.py", "No module named 'answerable.serve.providers'"),
        ("model/vocabulary.bin", "not the files of the local embedder"),
    ],
)
def test_cold_start_of_broken_function_fails_in_one_sentence(
    function: Path, gone: str, reason: str
) -> None:
    path = function / gone
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()
    with pytest.raises(SiteError) as caught:
        time_cold_start(function)
    message = str(caught.value)
    assert message.startswith(f"{function}: the function does not start (")
    assert reason in message
    assert message.endswith("): build it again")
    assert "\n" not in message


def test_altered_data_is_detected_unless_hashes_are_skipped(function: Path) -> None:
    path = next((function / "bundle").glob("passage-codes*"))
    data = path.read_bytes()
    path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    with pytest.raises(SiteError, match="does not match its hash"):
        time_cold_start(function, QUESTION)
    assert time_cold_start(function, QUESTION, verify=False).ranked > 0


def test_cold_start_with_remote_embedder_calls_no_host(tmp_path: Path) -> None:
    function = tmp_path / "function"
    identity = EmbedderIdentity("openai", TINY.model, TINY.dimensions)
    pages = [record("mooring", "<p>The chain of a mooring is of steel.</p>")]
    bundle_of(function, index_of(tmp_path, pages), identity=identity)
    write_function(function, identity, FunctionSettings(answers="openai"))
    assert not (function / "model").exists()
    timing = time_cold_start(function, QUESTION)
    assert list(timing.phases) == ["interpreter", "numpy", "code", "bundle", "retrieval"]
    assert (timing.ranked, timing.mode) == (1, None)


def test_first_ranked_result_imports_few_modules(function: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-I", "-c", IMPORTED, str(function), QUESTION],
        cwd=function, env={"PATH": os.environ["PATH"]}, capture_output=True, text=True,
        timeout=PATIENCE, check=True,
    )  # fmt: skip
    outcome = json.loads(done.stdout)
    modules = set(outcome["modules"])
    assert outcome["ranked"] > 0
    assert "answerable.serve.text.tokenization" in modules
    assert not modules & {"numpy.ma", "openai", "jinja2", "numkong"}
    assert not any("stemmer" in name or "snowball" in name for name in modules)
    assert {name for name in modules if name.startswith("answerable.")} <= {
        ".".join(path.relative_to(function).with_suffix("").parts).removesuffix(".__init__")
        for path in (function / "answerable").rglob("*.py")
    }
