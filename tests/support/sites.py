"""Real sites for tests: written to a folder, built by MkDocs in a process of its own or in ours."""

import io
import json
import logging
import os
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from mkdocs.commands.build import build as mkdocs_build
from mkdocs.config import load_config
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import Abort

from answerable.engine.bundle import Bundle, open_bundle
from answerable.engine.embedders.local_embedder import LocalEmbedder
from answerable.engine.engine import Engine
from answerable.engine.providers import make_engine
from answerable.engine.types import Reply
from answerable.indexing.answer_place import find_function
from answerable.indexing.local_model import open_local_embedder
from support import fork_server
from support.deadlines import PATIENCE

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("ANSWERABLE_DATA") or ROOT.parent / "shared" / "data")

PAGES = {
    "index.md": "# Harbour\n\nHarbour keeps small boats in order.\n",
    "mooring.md": (
        "# Mooring\n\nA mooring needs a buoy of forty litres.\n\n"
        "## Chains\n\nThe chain of a mooring is twelve millimetres thick.\n"
    ),
    "storms.md": (
        "# Storms\n\nBefore a storm the crew doubles every rope.\n\n"
        "## Lanterns\n\nA red lantern warns of wind above thirty knots.\n"
    ),
}
NOTES = {
    "winch.md": (
        "---\nlabel: Plans for the winch\nlocator: second shelf\nabout: mooring.md#chains\n---\n\n"
        "The gearbox of the electric winch was taken from a scrapped tractor in the spring.\n"
    )
}


def write_site(
    folder: Path,
    pages: Mapping[str, str] = PAGES,
    notes: Mapping[str, str] | None = None,
    options: Mapping[str, Any] | None = None,
    **config: Any,
) -> Path:
    """Write a site's docs, notebook (``notes`` None: no notebook) and mkdocs.yml; its folder.

    It has a function, unless ``options`` names it ``None``.
    """
    for name, text in pages.items():
        put(folder / "docs" / name, text)
    settings = {"function": "function", **(options or {})}
    if settings["function"] is None:
        del settings["function"]
    if notes is not None:
        (folder / "notebook").mkdir(parents=True, exist_ok=True)
        settings.setdefault("notebook", "notebook")
        for name, text in notes.items():
            put(folder / "notebook" / name, text)
    data = {
        "site_name": "Harbour",
        "site_url": "https://harbour.example/",
        "plugins": [{"answerable": settings}],
        **config,
    }
    put(folder / "mkdocs.yml", yaml.safe_dump(data))
    return folder


def put(path: Path, text: str) -> None:
    """Write a text file and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def build(folder: Path, *args: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run `mkdocs build` in a process of its own. args: of mkdocs, before or after `build`."""
    flags = [arg for arg in args if arg in ("-v", "-q")]
    arguments = [arg for arg in args if arg not in flags]
    return fork_server.run(
        ["-m", "mkdocs", *flags, "build", *arguments],
        folder,
        {**os.environ, **environment},
        timeout=PATIENCE,
    )


def command(
    folder: Path, *args: str, typed: str = "", **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run `answerable` in a folder; its lines are wide enough not to be broken."""
    return fork_server.run(
        ["-c", "from answerable.cli import main; main()", *args],
        folder,
        {**os.environ, "COLUMNS": "500", **environment},
        typed,
    )


def index(folder: Path, site: str = "site", **options: object) -> subprocess.CompletedProcess[str]:
    """Run `answerable build` for a site that is built already. options: of answerable.yml."""
    put(folder / "answerable.yml", json.dumps({"site_dir": site, **options}))
    return command(folder, "build")


def build_here(folder: Path) -> None:
    """Build a site in this process, where a test can see what is called."""
    forget_plugins()
    config = load_config(str(folder / "mkdocs.yml"))
    config.plugins.on_startup(command="build", dirty=False)
    mkdocs_build(config)
    config.plugins.on_shutdown()


def forget_plugins() -> None:
    """Let MkDocs load plugins anew: it keeps those with `on_startup` as long as the process."""
    option: Any = MkDocsConfig.plugins
    option.plugin_cache.clear()


def failure(folder: Path) -> str:
    """Return the message of a build in this process; AssertionError if it does not fail."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    logging.getLogger("mkdocs").addHandler(handler)
    try:
        build_here(folder)
    except Abort:
        return stream.getvalue()
    finally:
        logging.getLogger("mkdocs").removeHandler(handler)
    raise AssertionError("the build did not fail")


def opened(folder: Path, function: str = "function") -> Bundle:
    """The bundle that a site's build has written, verified. function: its folder, if it has one."""
    top, *inner = Path(function).parts
    cache = folder / ".cache" / "plugin" / "answerable"
    return open_bundle(find_function(folder / top, cache).joinpath(*inner, "bundle"))


def ask(bundle: Bundle, question: str) -> Reply:
    """Answer a question from a bundle by the keyless engine."""
    return make_engine(bundle, local()).answer(question)


def write_answer(engine: Engine, question: str) -> Reply:
    """Let the model of an engine answer a question, without the keyless reply where it fails."""
    return engine.write_from(engine.retrieve_for_answer(question))


@cache
def local() -> LocalEmbedder:
    """The keyless embedder, loaded once for all tests."""
    return open_local_embedder()
