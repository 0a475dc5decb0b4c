"""Sites whose pages other plugins write: what they wrote is read, cited and found in place."""

import datetime as dt
import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from mkdocs_plugin.test_record_paths import checked
from support.citation_check import passages, records, text
from support.sites import ask, build_here, opened, put, write_site

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


def needs(*packages: str) -> pytest.MarkDecorator:
    missing = [name for name in packages if find_spec(name) is None]
    return pytest.mark.skipif(bool(missing), reason=f"without {', '.join(missing)}")


def with_plugins(*plugins: str | dict[str, Any]) -> list[str | dict[str, Any]]:
    return [*plugins, "answerable"]


@needs("mkdocstrings", "mkdocstrings_handlers.python")
@pytest.mark.parametrize("ours_first", [False, True])
def test_mkdocstrings_signatures_and_docstrings_are_read(tmp_path: Path, ours_first: bool) -> None:
    handlers = {"python": {"paths": ["."], "options": {"show_root_heading": True}}}
    pages = {
        "index.md": "# Start\n\nSee [the winch][harbour.Winch.haul].\n",
        "api.md": "# Reference\n\n::: harbour\n",
    }
    plugins = with_plugins({"mkdocstrings": {"handlers": handlers}})
    write_site(tmp_path, pages, theme=MATERIAL, plugins=plugins[::-1] if ours_first else plugins)
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


@needs("pymdownx")
def test_snippets_are_read_where_they_are_included(tmp_path: Path) -> None:
    pages = {"index.md": '# Rules\n\n--8<-- "speed.md"\n\n## After\n\nThe end.\n'}
    extensions = [{"pymdownx.snippets": {"base_path": ["parts"], "check_paths": True}}]
    write_site(tmp_path, pages, markdown_extensions=extensions)
    put(tmp_path / "parts" / "speed.md", "## Speed\n\nNo boat is faster than four knots.\n")
    assert set(checked(tmp_path, "--strict")) == {"index"}
    urls = {passage.text: passage.url for passage in passages(tmp_path)}
    assert urls["No boat is faster than four knots."] == "/#speed"


@needs("mkdocs_macros")
def test_macros_are_read_as_they_come_out(tmp_path: Path) -> None:
    page = "# Fees\n\nA berth costs {{ fee }} crowns{% if fee > 5 %}, paid in advance{% endif %}.\n"
    write_site(tmp_path, {"index.md": page}, plugins=with_plugins("macros"), extra={"fee": 9})
    checked(tmp_path, "--strict")
    assert text(tmp_path, "index") == "A berth costs 9 crowns, paid in advance."


@needs("material")
def test_tags_and_their_listing_resolve(tmp_path: Path) -> None:
    pages = {
        "index.md": "---\ntags: [Rope, Paint]\n---\n# Start\n\nWelcome aboard.\n",
        "knots.md": "---\ntags: [Rope]\n---\n# Knots\n\nA bowline holds.\n",
        "tags.md": "# Tags\n\nAll pages by tag.\n\n<!-- material/tags -->\n",
    }
    write_site(tmp_path, pages, theme=MATERIAL, plugins=with_plugins("tags"))
    pages_by_id = checked(tmp_path, "--strict")
    assert pages_by_id["tags"] == ("/tags/", "Tags")
    assert text(tmp_path, "knots") == "A bowline holds."
    listing = [passage for passage in passages(tmp_path) if passage.record == "tags"]
    assert "/tags/#tag:rope" in [passage.url for passage in listing]
    assert "Knots" in text(tmp_path, "tags")


@needs("material")
@pytest.mark.parametrize(
    ("plugins", "script"),
    [
        (["answerable", "offline"], "offline.js"),
        (["answerable", {"offline": {"enabled": False}}], "ask-box.js"),
        ([{"answerable": {"offline": False}}, "offline"], "ask-box.js"),
        ([{"answerable": {"log_questions": True}}, "offline"], "offline.js"),
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
    is_answered = script == "offline.js" and "log_questions" not in str(plugins)
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


@needs("material")
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


@needs("material")
def test_views_of_a_blog_repeat_no_post(blog: Path) -> None:
    checked(blog)
    repeated = [p.id for p in passages(blog) if "painted green" in p.text]
    assert repeated == ["blog/posts/paint#painting-the-hull"]
    assert set(records(blog)) == {"index", "blog/index", "blog/posts/paint", "blog/posts/bell"}
    assert text(blog, "blog/index") == "What happens on the quay."


@needs("material")
def test_a_question_about_a_post_is_answered_from_the_post(blog: Path) -> None:
    checked(blog)
    reply = ask(opened(blog), "Which colour is the hull of the ferry painted in spring?")
    cited = [citation for claim in reply.answer.claims for citation in claim.citations]
    assert {citation.url for citation in cited} == {
        "/blog/2024/03/01/painting-the-hull/#painting-the-hull"
    }
