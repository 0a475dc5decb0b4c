"""A build that is killed at any step leaves the previous bundle and the code whole."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from answerable.engine.bundle import Bundle
from answerable.engine.settings import FunctionSettings
from answerable.engine.vectors import EmbedderIdentity
from answerable.indexing.function_folder import write_function
from support.sites import NOTES, PAGES, ask, build_here, opened, put, write_site

pytestmark = pytest.mark.deep

# Kills itself at the n-th step that makes a written file count, outside temporary folders.
FATAL = """
import os, pathlib, shutil, signal, sys
from answerable.indexing import files
left = int(sys.argv.pop(1))
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
"""
BUILD = f"{FATAL}\nfrom mkdocs.__main__ import cli\ncli(['build', '-q'])"
WRITE = f"""{FATAL}
from answerable.indexing import function_folder
from answerable.engine.vectors import EmbedderIdentity
from answerable.engine.settings import FunctionSettings
shutil.rmtree = fatal(shutil.rmtree)
identity = EmbedderIdentity("test", "letters", 8)
function_folder.write_function(pathlib.Path("function"), identity, FunctionSettings())
"""


def run_fatally(code: str, step: int, folder: Path) -> bool:
    """Run code that kills itself at a step; False if it has ended before."""
    done = subprocess.run([sys.executable, "-c", code, str(step)], cwd=folder, check=False)
    assert done.returncode in (0, -signal.SIGKILL)
    return done.returncode != 0


def find_thickness(bundle: Bundle) -> str:
    """Return the thickness that the bundle answers; the answer has to be whole."""
    claims = ask(bundle, "How thick is the chain of a mooring?").answer.claims
    text = " ".join(claim.text for claim in claims)
    (number,) = [number for number in ("twelve", "fourteen") if number in text]
    return number


def test_killed_at_every_step_of_publishing(tmp_path: Path) -> None:
    build_here(write_site(tmp_path, notes=NOTES))
    put(tmp_path / "docs" / "mooring.md", PAGES["mooring.md"].replace("twelve", "fourteen"))
    thicknesses = []
    step = 0
    while run_fatally(BUILD, step, tmp_path):
        thicknesses.append(find_thickness(opened(tmp_path)))
        step += 1
    assert set(thicknesses) == {"twelve", "fourteen"}
    assert thicknesses == sorted(thicknesses, reverse=True)
    assert not list((tmp_path / "function").rglob("*.tmp"))


def test_killed_at_every_step_the_code_is_whole_or_missing(tmp_path: Path) -> None:
    function = tmp_path / "function"
    # A published folder has a manifest, by which the next build recognizes it.
    put(function / "bundle" / "manifest.json", "{}")
    module = function / "answerable" / "engine" / "text" / "tokenization.py"
    code = "import sys; sys.path.insert(0, 'function'); import answerable.function.app"
    step, is_killed = 0, True
    while is_killed:
        write_function(function, EmbedderIdentity("test", "letters", 8), FunctionSettings())
        put(module, module.read_text(encoding="utf-8") + "# tampered\n")
        (function / "requirements.txt").unlink(missing_ok=True)
        is_killed = run_fatally(WRITE, step, tmp_path)
        if (function / "answerable").exists():
            subprocess.run([sys.executable, "-I", "-c", code], cwd=tmp_path, check=True)
        step += 1
    assert step > 3
    assert "tampered" not in module.read_text(encoding="utf-8")
    assert not list(function.glob("*.tmp"))
