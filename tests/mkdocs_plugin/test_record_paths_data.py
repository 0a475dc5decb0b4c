"""Real sites: everything that is cited of them stands where its url leads."""

import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from mkdocs.utils.yaml import yaml_load

from support import sites
from support.citation_check import assert_in_articles, assert_resolves

FOUND = sorted(
    (path.parent for path in sites.DATA.glob("sites/*/mkdocs.yml")),
    key=lambda folder: len([*folder.rglob("*.md")]),
)
pytestmark = [
    pytest.mark.deep,
    pytest.mark.skipif(not FOUND, reason=f"no sites in {sites.DATA}: ANSWERABLE_DATA"),
]


@pytest.fixture(scope="module", params=FOUND, ids=lambda path: str(path.name))
def site(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("real") / "site"
    shutil.copytree(request.param, folder, copy_function=shutil.copy)
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    with (folder / "mkdocs.yml").open(encoding="utf-8") as stream:
        config: dict[str, Any] = yaml_load(stream)
    plugins = config.get("plugins", ["search"])
    if isinstance(plugins, dict):
        plugins = [{name: options or {}} for name, options in plugins.items()]
    # The rest of the file may hold tags that only MkDocs knows.
    sites.put(
        folder / "answerable.yml",
        yaml.safe_dump({"INHERIT": "mkdocs.yml", "plugins": [*plugins, "answerable"]}),
    )
    done = sites.build(folder, "-q", "--config-file", "answerable.yml")
    assert done.returncode == 0, done.stderr
    return folder


def test_every_url_resolves_and_every_line_stands_in_its_article(site: Path) -> None:
    assert_resolves(site)
    assert_in_articles(site)
