"""A build that is killed at any moment leaves the previous bundle whole and answering."""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from answerable.indexing.output import files
from answerable.indexing.output.bundle_writer import parse_build_time, serialize_index, write_bundle
from answerable.serve.bundle_format import manifest as manifest_module
from answerable.serve.bundle_format.manifest import LOCAL_PROFILE, read_manifest, stored_file_name
from answerable.serve.errors import BundleError
from answerable.serve.stores.bundle import Bundle, open_bundle
from support import fork_server
from support.deadlines import PATIENCE
from support.doubles import TINY, bundle_of, index_of, record
from support.fuzz_settings import DEEP
from support.sites import NOTES, PAGES, ask, build, opened, put, write_site

QUESTION = "How thick is the chain of a mooring?"
# How often a bundle is written while others read it.
TURNS = 1000 if DEEP else 40
MOMENTS = 12 if DEEP else 6
NUMBERS = ("twelve", "thirteen", "fourteen")

# Runs `mkdocs build` and kills itself at the n-th call that makes a written file count.
SUICIDAL = """
import os, pathlib, signal, sys
left = int(sys.argv.pop(1))
def fatal(method):
    def wrapped(*args, **options):
        global left
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return method(*args, **options)
    return wrapped
for name in ("replace", "rename", "unlink"):
    setattr(pathlib.Path, name, fatal(getattr(pathlib.Path, name)))
from mkdocs.__main__ import cli
cli()
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = write_site(tmp_path_factory.mktemp("kill"), notes=NOTES)
    assert build(folder).returncode == 0
    return folder


def edit(site: Path, number: str) -> None:
    put(site / "docs" / "mooring.md", PAGES["mooring.md"].replace("twelve", number))


def thickness(bundle: Bundle) -> str:
    """Return the thickness that the bundle answers; the answer has to be whole."""
    (claim,) = ask(bundle, QUESTION).answer.claims
    (number,) = [number for number in NUMBERS if number in claim.text]
    return number


def leftovers(site: Path) -> list[Path]:
    bundle = site / "function" / "bundle"
    manifest = read_manifest(bundle)
    stored = {stored_file_name(name, file.sha256) for name, file in manifest.files.items()}
    expected = stored | {manifest_module.MANIFEST_FILE, files.LOCK_FILE}
    stray = [path for path in bundle.iterdir() if path.name not in expected]
    return stray + list((site / "function").rglob("*.tmp"))


def test_killed_at_any_time(site: Path) -> None:
    edit(site, "twelve")
    assert build(site).returncode == 0
    choice = random.Random(11)
    turn = killed = 0
    # Adapted to what builds take now, since the machine may be busy with other things too.
    length = 2.0
    while turn < MOMENTS or killed <= MOMENTS // 4:
        turn += 1
        assert turn < 100 * MOMENTS
        edit(site, NUMBERS[1 + turn % 2])
        started = time.monotonic()
        process = subprocess.Popen(
            [sys.executable, "-m", "mkdocs", "-q", "build"], cwd=site, stderr=subprocess.DEVNULL
        )
        try:
            process.wait(choice.uniform(0.3, 1.0) * length)
            length = time.monotonic() - started
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            length *= 1.3
        killed += process.wait() == -signal.SIGKILL
        assert thickness(opened(site)) in NUMBERS


def test_killed_at_every_step_of_publishing(site: Path) -> None:
    edit(site, "twelve")
    assert build(site).returncode == 0
    thicknesses = set()
    for step in range(200):
        edit(site, "fourteen")
        done = fork_server.run(
            ["-c", SUICIDAL, str(step), "-q", "build"], site, os.environ, timeout=PATIENCE
        )
        thicknesses.add(thickness(opened(site)))
        if done.returncode == 0:
            break
        assert done.returncode == -signal.SIGKILL, done.stderr
    assert done.returncode == 0
    assert thicknesses == {"twelve", "fourteen"}
    edit(site, "twelve")
    assert build(site).returncode == 0
    assert leftovers(site) == []


def test_a_full_build_leaves_nothing_behind(site: Path) -> None:
    mark = "0123" * 8
    for path in ("function", "function/bundle", "function/model"):
        put(site / path / f".x.{mark}.tmp", "half")
    for name in (f".answerable.{mark}.tmp", f".answerable.{mark}.old.tmp"):
        put(site / "function" / name / "serve" / "api.py", "half")
    edit(site, "thirteen")
    assert build(site).returncode == 0
    assert thickness(opened(site)) == "thirteen"
    assert leftovers(site) == []


def test_a_reader_during_builds_sees_whole_bundles_only(tmp_path: Path) -> None:
    """Two contents in turn: what is opened is one of them, in all its files."""
    indexes = [
        index_of(tmp_path / word, [record("p", f"<p>The {word} holds.</p>", word)])
        for word in ("rope", "chain")
    ]
    bundles = [serialize_index(each, TINY.dimensions) for each in indexes]
    bundle_of(tmp_path, indexes[0])
    folder = tmp_path / "bundle"
    thicknesses: list[str] = []
    faults: list[str] = []
    done = threading.Event()

    def read_repeatedly() -> None:
        while not done.is_set():
            try:
                bundle = open_bundle(folder)
                text = bundle.passage(0).text
                title = [*bundle.names][-1].phrase
            except (BundleError, OSError) as error:
                faults.append(repr(error))
            else:
                thicknesses.append(text)
                if title not in ("p", "rope") and title not in text:
                    faults.append(f"{title} in {text}")

    readers = [threading.Thread(target=read_repeatedly) for _ in range(2)]
    for reader in readers:
        reader.start()
    turns = 0
    while turns < TURNS or len(set(thicknesses)) < len(indexes):
        turns += 1
        assert turns < 100 * TURNS
        write_bundle(bundles[turns % 2], folder, TINY, LOCAL_PROFILE, parse_build_time(None))
    done.set()
    for reader in readers:
        reader.join()
    assert faults == []
    assert set(thicknesses) == {"The rope holds.", "The chain holds."}
