"""Hosts that publish a site with its function by one push: what `init` writes runs as they run it.

What each host runs is a folder as the host leaves it after the build, and the server that its file
names. `vercel build` itself checks the files in a deep run, where the command is installed.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from answerable.cli import main
from support.openai_stub import OpenAIStub
from support.published_functions import KEY
from support.server_processes import Running, free_port, run
from support.sites import NOTES, PAGES, build, put

QUESTION = {"question": "How thick is the chain of a mooring?"}
ON_THE_NOTE = {"question": "Where are the plans for the winch?"}
PRIVATE = b"scrapped tractor"


@contextmanager
def building(stub: OpenAIStub, folder: Path, host: str) -> Iterator[Path]:
    """A site with a note, set up for a host and built there; its model is a stub."""
    for name, text in PAGES.items():
        put(folder / "docs" / name, text)
    put(folder / "mkdocs.yml", "site_name: Harbour\n")
    remote = ["git", "remote", "add", "origin", "git@github.com:Ann/harbour-docs.git"]
    for command in (["git", "init", "-q"], remote):
        subprocess.run(command, cwd=folder, check=True)
    done = CliRunner().invoke(main, ["-f", str(folder / "mkdocs.yml"), "init", "--host", host])
    assert done.exit_code == 0, done.output
    assert len(re.findall(r"Outside, [1-3] of 3: .*costs?\b", done.output)) == 3
    # Two builds of one push name the note alike.
    assert (folder / "notebook" / ".answerable-key").is_file()
    put(folder / "notebook" / "winch.md", NOTES["winch.md"])
    config = folder / "mkdocs.yml"
    model = f"provider: openai\n        base_url: {stub.base_url}"
    put(config, config.read_text("utf-8").replace("provider: openai", model))
    built = build(folder)
    assert built.returncode == 0, built.stderr
    assert list_files_with(PRIVATE, folder / "site") == []
    yield folder


@pytest.fixture(scope="module")
def stub() -> Iterator[OpenAIStub]:
    with OpenAIStub() as running:
        yield running


def list_files_with(words: bytes, folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and words in path.read_bytes()]


def has_port(port: int) -> Any:
    def is_ready(running: Running) -> bool:
        running.port = port
        return f":{port}" in running.output

    return is_ready


@contextmanager
def serving(command: list[str], folder: Path, port: int, **values: str) -> Iterator[Running]:
    variables = [f"{name}={value}" for name, value in {"OPENAI_API_KEY": KEY, **values}.items()]
    with run(["env", *variables, *command], folder, has_port(port)) as running:
        yield running


def check_answers(running: Running, base: str, origin: str, stub: OpenAIStub) -> None:
    """Check that a model answers the pages of the site, which a note's place may follow."""
    before = len(stub.requests)
    status, body = running.request("POST", f"{base}answer", QUESTION, Origin=origin)
    assert status == 200, body
    assert "twelve millimetres thick" in json.loads(body)["answer"]
    assert len(stub.requests) == before + 1
    status, body = running.request("POST", f"{base}answer", ON_THE_NOTE, Origin=origin)
    assert "Plans for the winch" in body
    assert PRIVATE.decode() not in body
    assert running.request("POST", f"{base}answer", QUESTION, Origin="https://x.example")[0] == 403


def test_vercel_runs_the_function_beside_the_site(tmp_path: Path, stub: OpenAIStub) -> None:
    with building(stub, tmp_path / "site", "vercel") as folder:
        settings = json.loads((folder / "vercel.json").read_bytes())
        assert settings["outputDirectory"] == "site"
        # What Vercel takes at the most.
        assert len(settings["buildCommand"]) <= 256
        [rewrite] = settings["rewrites"]
        assert rewrite["source"] == "/_answerable/(.*)"
        deployed = tmp_path / "deployed"
        for name in ("api", "function"):
            shutil.copytree(folder / name, deployed / name)
    assert list_files_with(PRIVATE, deployed) == []
    port = free_port()
    command = [
        sys.executable,
        "-m",
        "uvicorn",
        "index:app",
        "--app-dir",
        "api",
        "--port",
        str(port),
    ]
    host = "harbour-docs.vercel.app"
    with serving(command, deployed, port, VERCEL_PROJECT_PRODUCTION_URL=host) as running:
        check_answers(running, "/_answerable/", f"https://{host}", stub)
    capped = {"ANSWERABLE_TOKENS_PER_DAY": "0", "VERCEL_URL": host}
    with serving(command, deployed, port, **capped) as running:
        status, body = running.request(
            "POST", "/_answerable/answer", QUESTION, Origin=f"https://{host}"
        )
        assert (status, json.loads(body)["code"]) == (503, "capped")


def test_render_runs_the_function_and_keeps_nothing_else(tmp_path: Path, stub: OpenAIStub) -> None:
    with building(stub, tmp_path / "site", "render") as folder:
        blueprint = yaml.safe_load((folder / "render.yaml").read_text("utf-8"))
    site, function = blueprint["services"]
    assert (site["runtime"], site["staticPublishPath"]) == ("static", "site")
    assert function["name"] == "harbour-docs-ask"
    config = yaml.safe_load((folder / "mkdocs.yml").read_text("utf-8"))
    options = config["plugins"][1]["answerable"]
    assert options["widget"]["endpoint"] == "https://harbour-docs-ask.onrender.com/"
    put(folder / ".venv" / "pyvenv.cfg", "")
    *_, cleaning = function["buildCommand"].split(" && ")
    subprocess.run(["sh", "-c", cleaning], cwd=folder, check=True)
    assert sorted(path.name for path in folder.iterdir()) == [".venv", "function"]
    assert list_files_with(PRIVATE, folder) == []
    port = free_port()
    variables: Mapping[str, str] = {
        row["key"]: row["value"] for row in function["envVars"] if "value" in row
    }
    keys = [row["key"] for row in function["envVars"] if row.get("sync") is False]
    assert keys == ["OPENAI_API_KEY"]
    python, *arguments = shlex.split(function["startCommand"])
    assert python == "python"
    own = {**variables, "HOST": "127.0.0.1", "PORT": str(port)}
    with serving([sys.executable, *arguments], folder, port, **own) as running:
        assert running.request("GET", function["healthCheckPath"])[0] == 200
        check_answers(running, "/", "https://harbour-docs.onrender.com", stub)


@pytest.mark.parametrize("name", ["vercel", "render"])
def test_a_site_with_the_plugin_is_told_which_options_it_needs(tmp_path: Path, name: str) -> None:
    put(tmp_path / "docs" / "index.md", "# Harbour\n")
    config = tmp_path / "mkdocs.yml"
    put(config, "site_name: Harbour\nplugins:\n  - answerable:\n")

    def call(*args: str) -> str:
        return CliRunner().invoke(main, ["-f", str(config), *args]).output

    output = call("init", "--host", name)
    lines = re.findall(r"^ {6}\S.*\n|^ {8}\S.*\n", output.partition("these options:\n\n")[2], re.M)
    assert len(lines) >= 4
    put(
        config,
        config.read_text("utf-8").replace("- answerable:\n", f"- answerable:\n{''.join(lines)}"),
    )
    assert "these options" not in call("init", "--host", name)
    path = {"vercel": "vercel.json", "render": "render.yaml"}[name]
    assert f"✓ {path} builds the site" in call("doctor")


@pytest.mark.skipif(
    not (os.environ.get("ANSWERABLE_DEEP") and shutil.which("vercel")),
    reason="a deep run, with Vercel's command installed, builds as Vercel does",
)
def test_vercels_own_build_takes_the_files(tmp_path: Path, stub: OpenAIStub) -> None:
    with building(stub, tmp_path / "site", "vercel") as folder:
        settings = json.loads((folder / "vercel.json").read_bytes())
        # This version of the package is in no index.
        mkdocs = Path(sys.executable).with_name("mkdocs")
        settings["buildCommand"] = f"{mkdocs} build && cp function/requirements.txt api/"
        put(folder / "vercel.json", json.dumps(settings))
        put(folder / ".vercel" / "project.json", json.dumps(
            {"projectId": "prj_x", "orgId": "team_x", "settings": {"framework": None}}
        ))  # fmt: skip
        done = subprocess.run(
            ["vercel", "build", "--prod", "--yes", "--token", "none"],
            cwd=folder, env={**os.environ, "OPENAI_API_KEY": KEY}, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        function = folder / ".vercel" / "output" / "functions" / "api" / "index.func"
        files = json.loads((function / ".vc-config.json").read_bytes())["filePathMap"]
        own = {name.split("/")[0] for name in files}
        assert own == {"api", "function", "_vendor"}
        assert list_files_with(PRIVATE, folder / ".vercel" / "output") == []
