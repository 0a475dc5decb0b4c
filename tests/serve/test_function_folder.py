"""The published function answers by itself: no package, no notebook, no network."""

import json
import os
import re
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.deadlines import PATIENCE
from support.server_processes import Running, run
from support.sites import NOTES, build, write_site

QUESTION = "How thick is the chain of a mooring?"


@pytest.fixture(scope="module")
def function(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A built function folder, moved away from its site."""
    folder = tmp_path_factory.mktemp("site")
    done = build(write_site(folder, notes=NOTES))
    assert done.returncode == 0, done.stderr
    away = tmp_path_factory.mktemp("away") / "function"
    shutil.move(folder / "function", away)
    shutil.rmtree(folder)
    return away


@pytest.fixture(scope="module")
def python(function: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment that holds the function's requirements only."""
    folder = tmp_path_factory.mktemp("venv")
    venv.create(folder, with_pip=False, symlinks=True)
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    install = ["install", "--quiet", "--disable-pip-version-check", "--no-compile", "-r"]
    done = subprocess.run(
        [sys.executable, "-m", "pip", "--python", str(python), *install,
         str(function / "requirements.txt"), "uvicorn"],
        capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return python


def has_address(running: Running) -> bool:
    match = re.search(r"http://127\.0\.0\.1:(\d+)/answer", running.output)
    running.port = int(match[1]) if match else 0
    return bool(match)


@pytest.fixture(scope="module")
def running(function: Path, python: Path) -> Iterator[Running]:
    command = ["env", "-i", "PORT=0", str(python), "-I", str(function / "main.py")]
    with run(command, function.parent, has_address) as running:
        yield running


def test_function_answers_with_a_citation(running: Running) -> None:
    body = running.ask("/answer", QUESTION)
    assert body["mode"] == "partial"
    assert body["claims"][0]["text"] == "The chain of a mooring is twelve millimetres thick."
    assert body["citations"][0]["url"] == "/mooring/#chains"


def test_function_refuses_a_question_without_evidence(running: Running) -> None:
    body = running.ask("/answer", "Who wrote the tragedy of Hamlet?")
    assert (body["mode"], body["citations"]) == ("not-found", [])


def test_function_routes_to_a_note_without_its_text(running: Running) -> None:
    body = running.ask("/answer", "Where was the gearbox of the electric winch taken from?")
    assert body["mode"] == "related-material"
    assert body["routes"][0]["text"] == "Related material: Plans for the winch (second shelf)."
    assert "tractor" not in json.dumps(body)


def test_function_serves_search_and_health(running: Running) -> None:
    status, body = running.request("GET", "/search?q=lantern")
    assert status == 200
    assert "storms#lanterns" in json.loads(body)
    assert running.request("GET", "/health")[0] == 200


def test_too_large_body_is_refused_and_the_server_goes_on(running: Running) -> None:
    status, _ = running.request("POST", "/answer", {"question": "x" * 200_000})
    assert status == 413
    assert running.request("GET", "/health")[0] == 200


def test_question_text_is_not_logged(running: Running) -> None:
    running.request("GET", "/search?q=zanzibar")
    running.request("POST", "/answer", {"question": "zanzibar"})
    assert "zanzibar" not in running.output


def test_function_environment_has_neither_package_nor_mkdocs(python: Path) -> None:
    for name in ("answerable", "mkdocs", "selectolax", "sentencex", "tokenizers", "wordllama"):
        code = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({name!r}) is None)"
        assert subprocess.run([python, "-I", "-c", code], check=False).returncode == 1, name


def test_function_contains_the_serve_package_only(function: Path) -> None:
    package = function / "answerable"
    assert {p.name for p in package.iterdir() if p.name != "__pycache__"} == {
        "__init__.py", "serve"
    }  # fmt: skip
    code = "".join(path.read_text(encoding="utf-8") for path in function.rglob("*.py"))
    assert not re.search(r"(?:from|import) (?:mkdocs|yaml|rich|\.\.build|answerable\.build)", code)


def test_model_is_shipped_with_its_license(function: Path) -> None:
    assert "MIT" in (function / "model" / "LICENSE").read_text(encoding="utf-8")


def test_function_requirements_are_pinned(function: Path) -> None:
    lines = (function / "requirements.txt").read_text(encoding="utf-8").splitlines()
    assert lines
    assert all(re.fullmatch(r"[a-z]+==[\w.]+", line) for line in lines)


def test_damaged_bundle_is_not_served(function: Path, python: Path, tmp_path: Path) -> None:
    copy = tmp_path / "function"
    shutil.copytree(function, copy)
    next((copy / "bundle").glob("passage-codes*")).unlink()
    done = subprocess.run(
        [python, "-I", str(copy / "main.py")],
        env={"PORT": "0"}, capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert done.returncode != 0
    assert "is missing: run `answerable build` again" in done.stderr
