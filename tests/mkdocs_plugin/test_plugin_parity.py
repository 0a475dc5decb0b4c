"""The command reads from a built MkDocs site what the plugin reads while it is built.

But for what the HTML does not tell: titles that the navigation or the front matter gives a page.
"""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from support import citation_check
from support.sites import DATA, build, index, opened, put, write_site

PAGES = {
    "index.md": "# Welcome to *Harbour*\n\nHarbour keeps small boats in order.\n",
    "guide/index.md": "# Guides\n\nAll guides of the harbour.\n",
    "guide/mooring.md": (
        "---\ntags: [buoy]\ndescription: All about mooring.\n---\n\n"
        "# Mooring `List`\n\nA mooring needs a buoy of forty litres.[^1]\n\n[TOC]\n\n"
        "## Chains & <em>ropes</em>\n\nThe chain is twelve millimetres thick.\n\n"
        '```python\nprint("a  b")\n\n\nrope = 1\n```\n\n'
        "### Table\n\n| rope | use |\n|---|---|\n| `thin` | flags |\n| thick | boats |\n\n"
        "* one\n* two\n    * three\n\nTerm\n:   Its definition.\n\n"
        "## Hidden { data-search-exclude }\n\nNobody finds this.\n\n"
        '## Shown\n\n!!! note "Mind"\n    The rope is wet.\n\n'
        "[^1]: Measured at the quay.\n"
    ),
    "no_heading-here.md": "Text without any heading.\n\n## Second\n\nMore of it.\n",
    "no_heading-here/deep er/ü & x.md": "# Umlaut\n\nA page with an odd name.\n",
    "two.md": "# First\n\nA first part.\n\n# Second\n\nA second part.\n",
}
EXTENSIONS: list[object] = [
    "admonition",
    "attr_list",
    "def_list",
    "footnotes",
    "tables",
    {"toc": {"permalink": True}},
    "pymdownx.superfences",
    {"pymdownx.highlight": {"linenums": True}},
]


def passages(site: Path, function: str) -> set[tuple[str, str, str]]:
    return {(row.url, row.title, row.text) for row in citation_check.passages(site, function)}


def assert_parity(site: Path) -> None:
    done = build(site)
    assert done.returncode == 0, done.stderr
    done = index(site, function="other", answers_in="function")
    assert done.returncode == 0, done.stderr
    expected, actual = opened(site), opened(site, "other")
    assert passages(site, "other") == passages(site, "function")
    assert actual.index.site.url == expected.index.site.url
    assert actual.index.site.name == expected.index.site.name


@pytest.mark.parametrize(
    ("theme", "directories", "path"),
    [
        ("material", True, "/"),
        ("mkdocs", False, "/docs/v%202/"),
        pytest.param("readthedocs", True, "/", marks=pytest.mark.deep),
    ],
)
def test_built_site_has_the_bundle_of_the_plugin(
    tmp_path: Path, theme: str, directories: bool, path: str
) -> None:
    site = write_site(
        tmp_path,
        PAGES,
        site_url=f"https://harbour.example{path}",
        site_name="Harbour of boats",
        use_directory_urls=directories,
        theme={"name": theme},
        plugins=["search", {"answerable": {"function": "function"}}],
        markdown_extensions=EXTENSIONS,
        repo_url="https://code.example/harbour",
        edit_uri="edit/main/",
        copyright="Copyright of the crew",
        exclude_docs="drafts/",
    )
    assert_parity(site)


@pytest.mark.deep
def test_real_built_site_is_read_alike(tmp_path: Path) -> None:
    source = DATA / "sites" / "httpx"
    if not source.is_dir():
        pytest.skip("the example sites are not there")
    config: Any = yaml.safe_load((source / "mkdocs.yml").read_text(encoding="utf-8"))
    config["plugins"] = ["search", {"answerable": {"function": "function"}}]
    config["docs_dir"] = str(source / "docs")
    put(tmp_path / "mkdocs.yml", json.dumps(config))
    assert build(tmp_path).returncode == 0
    assert index(tmp_path, function="other", answers_in="function").returncode == 0
    # MkDocs calls the start page "Home", whose heading is written in HTML.
    own, read = (
        {
            (url, title.removeprefix("Home › "), text)
            for url, title, text in passages(tmp_path, name)
        }
        for name in ("function", "other")
    )
    assert read == own
