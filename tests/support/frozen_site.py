"""The frozen documentation site of the tests, built in this process and shared by all of them.

Where a change of how pages are read gives sections other hashes, `answerable questions --import`
of the site's own questions.jsonl writes the new ones.
"""

import fcntl
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
import yaml
from mkdocs.commands.build import build
from mkdocs.config import load_config

from answerable.engine.bundle import Bundle
from answerable.engine.engine import Engine
from answerable.engine.providers import make_engine
from support import sites

SOURCE = Path(__file__).parents[1] / "site"


@dataclass(frozen=True)
class FrozenSite:
    """A built copy of ``tests/site``, which tests may only read: another one is made by a copy."""

    folder: Path

    @property
    def config_file(self) -> Path:
        return self.folder / "mkdocs.yml"

    @property
    def pages(self) -> Path:
        return self.folder / "site"

    @property
    def function(self) -> Path:
        return self.folder / "function"

    @cached_property
    def bundle(self) -> Bundle:
        return sites.opened(self.folder)

    @cached_property
    def engine(self) -> Engine[Bundle]:
        """The keyless engine over the bundle."""
        return make_engine(self.bundle, sites.local())


def copy_sources(folder: Path, **options: Any) -> Path:
    """Copy the sources to a new folder, with other options of the plugin; None removes one."""
    shutil.copytree(SOURCE, folder)
    path = folder / "mkdocs.yml"
    config = yaml.safe_load(path.read_text("utf-8"))
    (plugin,) = (p["answerable"] for p in config["plugins"] if "answerable" in p)
    plugin.update(options)
    for name in [name for name, value in options.items() if value is None]:
        del plugin[name]
    path.write_text(yaml.safe_dump(config, allow_unicode=True, sort_keys=False), "utf-8")
    if "notebook" not in plugin:
        shutil.rmtree(folder / "notebook")
        # A source that does not exist is an error of the gold set.
        gold = folder / "eval" / "gold.yaml"
        queries = yaml.safe_load(gold.read_text("utf-8"))["queries"]
        public = [query for query in queries if "note" not in query["tags"]]
        gold.write_text(yaml.safe_dump({"queries": public}, allow_unicode=True), "utf-8")
    return folder


def build_strictly(folder: Path) -> None:
    """Build a site in this process; Abort for a warning, as ``mkdocs build --strict`` has it."""
    sites.forget_plugins()
    config = load_config(str(folder / "mkdocs.yml"), strict=True)
    config.plugins.on_startup(command="build", dirty=False)
    build(config)
    config.plugins.on_shutdown()


@pytest.fixture(scope="session")
def frozen_site(shared_site: Callable[..., FrozenSite]) -> FrozenSite:
    """The frozen site with its notebook, which a function answers."""
    return shared_site("function")


@pytest.fixture(scope="session")
def frozen_browser_site(shared_site: Callable[..., FrozenSite]) -> FrozenSite:
    """The frozen site without its notebook, which the reader's browser answers.

    Its function is written too, so that both engines can be compared.
    """
    return shared_site("browser", notebook=None, answers_in="browser", function="function")


@pytest.fixture(scope="session")
def shared_site(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Callable[..., FrozenSite]:
    """Builds the site with other options once a run, by whichever worker of xdist comes first."""
    top = tmp_path_factory.getbasetemp()
    if hasattr(request.config, "workerinput"):
        top = top.parent

    def build_once(name: str, **options: Any) -> FrozenSite:
        folder = top / f"frozen-{name}"
        built = folder / ".built"
        with (top / f"frozen-{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not built.exists():
                # What a build that failed in another worker has left.
                shutil.rmtree(folder, ignore_errors=True)
                build_strictly(copy_sources(folder, **options))
                built.touch()
        return FrozenSite(folder)

    return build_once
