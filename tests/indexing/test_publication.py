"""Publishing: nobody's files are touched, two builds take turns, and a kill leaves code whole."""

import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from answerable.indexing.leak_audit.audit import Artifact
from answerable.indexing.output import files
from answerable.indexing.output.bundle_writer import serialize_index
from answerable.indexing.output.files import replace_folder
from answerable.indexing.output.function_writer import write_function
from answerable.indexing.pipeline import StagedIndex, publish_function, stage_function
from answerable.serve.bundle_format.manifest import LOCAL_PROFILE
from answerable.serve.embedders.embedder import EmbedderIdentity
from answerable.serve.errors import SiteError
from answerable.serve.settings import FunctionSettings
from answerable.serve.stores.bundle import open_bundle
from support.doubles import NOON, TINY, index_of, record
from support.sites import ask, build, opened, put, write_site

HEX = "0123456789abcdef" * 2
TESTS = Path(__file__).parents[1]

# Publishes alternating contents, each build at once with another process's.
RACER = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[3])
from answerable.indexing.output.bundle_writer import serialize_index
from answerable.indexing.pipeline import StagedIndex, publish_function, stage_function
from answerable.serve.bundle_format.manifest import LOCAL_PROFILE
from answerable.serve.settings import FunctionSettings
from support.doubles import NOON, TINY, index_of, record
whole = 8
folder, word = Path(sys.argv[1]), sys.argv[2]
indexes = [index_of(folder / word / str(n), [record("p", f"<p>The {word} {n} holds.</p>")])
           for n in range(2)]
print("ready", flush=True)
sys.stdin.readline()
for turn in range(40):
    index = indexes[turn % 2]
    staged = StagedIndex(list, serialize_index(index, whole))
    staged = stage_function(staged, folder / "function", FunctionSettings(), list)
    publish_function(staged, TINY, LOCAL_PROFILE, NOON)
"""

# Writes a function and kills itself at the n-th step that counts, inside no temporary folder.
SUICIDAL = """
import os, pathlib, shutil, signal, sys
from answerable.indexing.output import files, function_writer
from answerable.serve.embedders.embedder import EmbedderIdentity
from answerable.serve.settings import FunctionSettings
left = int(sys.argv[1])
def fatal(function):
    def wrapped(path, *args, **options):
        global left
        left -= ".tmp" not in str(pathlib.Path(path).parent)
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return function(path, *args, **options)
    return wrapped
for name in ("replace", "rename", "unlink"):
    setattr(pathlib.Path, name, fatal(getattr(pathlib.Path, name)))
shutil.rmtree = fatal(shutil.rmtree)
files.exchange_paths = fatal(files.exchange_paths)
identity = EmbedderIdentity("test", "letters", 8)
function_writer.write_function(pathlib.Path(sys.argv[2]), identity, FunctionSettings())
"""


WHOLE = TINY.dimensions


def unaudited(artifacts: Iterable[Artifact]) -> None:
    """Reads everything as an audit would, and finds nothing."""
    assert all(artifact.data() for artifact in artifacts)


def publish(folder: Path, word: str = "rope") -> None:
    index = index_of(folder.parent / "index", [record("p", f"<p>The {word} holds.</p>")])
    staged_index = StagedIndex(lambda: index, serialize_index(index, WHOLE))
    staged = stage_function(staged_index, folder, FunctionSettings(), unaudited)
    publish_function(staged, TINY, LOCAL_PROFILE, NOON)


def test_a_refused_folder_keeps_every_file(tmp_path: Path) -> None:
    names = ["work.txt", ".notes.tmp", f".deep/er/.x.{HEX}.tmp", f".own.{HEX}.tmp"]
    for name in names:
        put(tmp_path / "function" / name, "mine")
    with pytest.raises(SiteError, match="holds files that no build has written"):
        publish(tmp_path / "function")
    paths = (p for p in (tmp_path / "function").rglob("*") if p.is_file())
    assert {p.relative_to(tmp_path / "function").as_posix() for p in paths} == set(names)


def test_a_build_removes_its_own_leftovers_and_nothing_else(tmp_path: Path) -> None:
    folder = tmp_path / "function"
    publish(folder)
    foreign = [".notes.tmp", f"mine/.x.{HEX}.tmp", "model/.notes.tmp", "bundle/.notes.tmp"]
    ours = [f".x.{HEX}.tmp", f"model/.x.{HEX}.tmp", f".answerable.{HEX}.old.tmp/serve/a.py",
            f"bundle/.manifest.json.{HEX}.tmp"]  # fmt: skip
    for name in foreign + ours:
        put(folder / name, "x")
    publish(folder)
    assert [name for name in foreign + ours if (folder / name).exists()] == foreign


def test_a_first_build_that_was_killed_is_taken_up(tmp_path: Path) -> None:
    put(tmp_path / "function" / f".answerable.{HEX}.tmp" / "serve" / "a.py", "half")
    put(tmp_path / "function" / files.LOCK_FILE, "")
    publish(tmp_path / "function")
    assert open_bundle(tmp_path / "function" / "bundle").manifest.counts["passages"] == 1


def test_two_builds_at_once_take_turns(tmp_path: Path) -> None:
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", RACER, str(tmp_path), word, str(TESTS)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for word in ("rope", "chain")
    ]  # fmt: skip
    for racer in racers:
        assert racer.stdout
        assert racer.stdout.readline() == "ready\n"
    for racer in racers:
        assert racer.stdin
        racer.stdin.write("go\n")
        racer.stdin.flush()
    bundle = tmp_path / "function" / "bundle"
    opened = 0
    while any(racer.poll() is None for racer in racers):
        if (bundle / "manifest.json").exists():
            opened += open_bundle(bundle).passage(0).text.endswith("holds.")
    for racer in racers:
        _, errors = racer.communicate()
        assert racer.returncode == 0, errors
    assert opened > 5
    assert open_bundle(bundle).passage(0).text.endswith("1 holds.")


def imports(function: Path) -> bool:
    code = (
        f"import sys; sys.path.insert(0, {str(function)!r}); "
        "import answerable.serve.http.adapters.app_factory"
    )
    return subprocess.run([sys.executable, "-I", "-c", code], check=False).returncode == 0


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the exchange may be missing")
def test_killed_at_every_step_the_code_is_whole(tmp_path: Path) -> None:
    function = tmp_path / "function"
    identity = EmbedderIdentity("test", "letters", 8)
    write_function(function, identity, FunctionSettings())
    module = function / "answerable" / "serve" / "text" / "tokenization.py"
    kills = 0
    for step in range(20):
        put(module, module.read_text(encoding="utf-8") + "# tampered\n")
        (function / "requirements.txt").unlink(missing_ok=True)
        done = subprocess.run(
            [sys.executable, "-c", SUICIDAL, str(step), str(function)], check=False
        )
        assert imports(function)
        if done.returncode == 0:
            break
        assert done.returncode == -signal.SIGKILL
        kills += 1
    assert done.returncode == 0
    assert kills >= 3
    assert "tampered" not in module.read_text(encoding="utf-8")
    assert not list(function.glob("*.tmp"))


@pytest.mark.parametrize("able", [True, False])
def test_a_folder_is_replaced_with_and_without_an_exchange(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, able: bool
) -> None:
    if not able:
        monkeypatch.setattr(files, "exchange_paths", lambda *_: False)
    put(tmp_path / "code" / "old.py", "old")
    put(tmp_path / "fresh" / "new.py", "new")
    replace_folder(tmp_path / "fresh", tmp_path / "code")
    assert [p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("*.py")] == ["code/new.py"]
    assert [p.name for p in tmp_path.iterdir()] == ["code"]
    shutil.rmtree(tmp_path / "code")
    put(tmp_path / "fresh" / "new.py", "new")
    replace_folder(tmp_path / "fresh", tmp_path / "code")
    assert (tmp_path / "code" / "new.py").exists()


@pytest.mark.parametrize("text", [None, "![a buoy](buoy.png)\n"])
def test_a_site_that_can_only_refuse_is_warned_of(tmp_path: Path, text: str | None) -> None:
    pages = {"index.md": text} if text else {"index.md.txt": "A text that is no page.\n"}
    done = build(write_site(tmp_path, pages))
    assert done.returncode == 0, done.stderr
    assert "no page of the site holds text, so every question is refused" in done.stderr
    assert ask(opened(tmp_path), "A buoy?").answer.mode == "not-found"


def test_a_site_of_notes_alone_answers_and_is_not_warned_of(tmp_path: Path) -> None:
    note = "---\nlabel: Plans for the winch\nabout: https://harbour.example/\n---\n\nA gearbox.\n"
    pages = {"index.md": "![a buoy](buoy.png)\n"}
    done = build(write_site(tmp_path, pages, notes={"winch.md": note}))
    assert done.returncode == 0, done.stderr
    assert "1 hint;" in done.stderr
    assert "every question is refused" not in done.stderr


def test_a_site_without_the_plugin_is_as_it_was(tmp_path: Path) -> None:
    def names() -> list[str]:
        paths = (path for path in tmp_path.rglob("*") if path.is_file())
        return sorted(path.relative_to(tmp_path).as_posix() for path in paths)

    site = write_site(tmp_path)
    configured = (site / "mkdocs.yml").read_text("utf-8")
    own = "- answerable:\n    function: function"
    assert own in configured
    put(site / "mkdocs.yml", configured.replace(own, "- search"))
    assert build(site, "-q").returncode == 0
    before = names()
    put(site / "mkdocs.yml", configured)
    assert build(site, "-q").returncode == 0
    assert any("answerable" in name for name in names())
    # As Get started tells it.
    put(site / "mkdocs.yml", configured.replace(own, "- search"))
    shutil.rmtree(site / "function")
    shutil.rmtree(site / ".cache" / "plugin" / "answerable")
    assert build(site, "-q").returncode == 0
    assert names() == before
    assert "answerable" not in (site / "site" / "index.html").read_text("utf-8")
