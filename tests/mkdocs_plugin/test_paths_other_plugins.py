"""Sites whose pages other plugins write: what they wrote is read, cited and found in place."""

import datetime as dt
import re
from pathlib import Path
from typing import Any

import pytest

from mkdocs_plugin.test_record_paths import checked
from support.citation_check import passages, text
from support.sites import build_here, put, write_site

MATERIAL: dict[str, Any] = {"name": "material", "font": False}
MODULE = '''
"""Everything about winches."""


class Winch:
    """Turns a drum that pulls a rope."""

    def haul(self, rope: str, metres: int = 5) -> bool:
        """Pull in a rope until it is taut.

        Args:
            rope: Which rope is pulled.
            metres: How far the drum may turn.
        """
        return bool(rope and metres)
'''
POST = """---
date: {date}
categories: [Boats]
tags: [paint]
---
# {title}

{excerpt}

<!-- more -->

## Details of {title}

{rest}
"""


pytestmark = pytest.mark.deep


def with_plugins(*plugins: str | dict[str, Any]) -> list[str | dict[str, Any]]:
    return [*plugins, "answerable"]


def test_mkdocstrings_signatures_and_docstrings_are_read(tmp_path: Path) -> None:
    handlers = {"python": {"paths": ["."], "options": {"show_root_heading": True}}}
    pages = {
        "index.md": "# Start\n\nSee [the winch][harbour.Winch.haul].\n",
        "api.md": "# Reference\n\n::: harbour\n",
    }
    plugins = with_plugins({"mkdocstrings": {"handlers": handlers}})
    write_site(tmp_path, pages, theme=MATERIAL, plugins=plugins)
    put(tmp_path / "harbour.py", MODULE)
    assert checked(tmp_path, "--strict") == {
        "index": ("/", "Start"),
        "api": ("/api/", "Reference"),
    }
    assert text(tmp_path, "index") == "See the winch."
    haul = "\n".join(p.text for p in passages(tmp_path) if p.url == "/api/#harbour.Winch.haul")
    assert "Pull in a rope until it is taut." in haul
    assert "How far the drum may turn." in haul
    assert "metres: int = 5" in haul.replace("\u00a0", " ")
    assert "return bool(rope and metres)" not in "".join(
        p.text for p in passages(tmp_path) if p.record == "index"
    )


@pytest.mark.parametrize(
    ("plugins", "script"),
    [
        (["answerable", "offline"], "offline.js"),
        (["answerable", {"offline": {"enabled": False}}], "ask-box.js"),
        ([{"answerable": {"offline": False}}, "offline"], "ask-box.js"),
        ([{"answerable": {"log_refusals": "text"}}, "offline"], "offline.js"),
    ],
    ids=str,
)
def test_offline_plugin_of_material_asks_for_scripts(
    tmp_path: Path, plugins: list[Any], script: str
) -> None:
    pages = {"index.md": "# Start\n\nWelcome.\n", "knots/bowline.md": "# Bowline\n\nIt holds.\n"}
    build_here(write_site(tmp_path, pages, theme=MATERIAL, plugins=plugins))
    for page in (tmp_path / "site").rglob("*.html"):
        scripts_of_page = re.findall(r"assets/answerable/([\w-]+\.js)", page.read_text("utf-8"))
        assert scripts_of_page == [script], page
    scripts = tmp_path / "site" / "assets" / "answerable" / "offline"
    is_answered = script == "offline.js" and "log_refusals" not in str(plugins)
    assert (scripts / "site.json.js").is_file() is is_answered


@pytest.fixture(scope="module")
def blog(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("blog")
    pages = {
        "index.md": "# Harbour\n\nHarbour keeps small boats in order.\n",
        "blog/index.md": "# News\n\nWhat happens on the quay.\n",
        "blog/posts/paint.md": POST.format(
            date="2024-03-01",
            title="Painting the hull",
            excerpt="The hull of the ferry is painted green in spring.",
            rest="Two coats of copper paint keep the barnacles away.",
        ),
        "blog/posts/bell.md": POST.format(
            date="2024-04-02",
            title="A new bell",
            excerpt="The bell was cast by a foundry in Reval.",
            rest="It weighs three hundred kilograms.",
        ),
        "blog/posts/draft.md": "---\ndate: 2024-05-01\ndraft: true\n---\n# Secret plan\n\nHush.\n",
    }
    return write_site(folder, pages, theme=MATERIAL, plugins=with_plugins("blog", "tags"))


def test_posts_of_a_blog_are_records_with_their_dates(blog: Path) -> None:
    pages_by_id = checked(blog, "--strict")
    assert pages_by_id["blog/posts/paint"] == (
        "/blog/2024/03/01/painting-the-hull/",
        "Painting the hull",
    )
    assert pages_by_id["blog/posts/bell"] == ("/blog/2024/04/02/a-new-bell/", "A new bell")
    assert "blog/posts/draft" not in pages_by_id
    dates = {passage.record: passage.date for passage in passages(blog)}
    assert dates["blog/posts/paint"] == dt.date(2024, 3, 1).isoformat()
    assert "Two coats of copper paint" in text(blog, "blog/posts/paint")
