"""Records of a real build: one for every published page, at urls that resolve."""

from pathlib import Path
from typing import Any

import pytest

from support import sites
from support.citation_check import assert_in_articles, assert_resolves, passages, records, text
from support.sites import NOTES, PAGES, put, write_site

HOOK = """
def on_page_markdown(markdown, page, **_):
    return markdown.replace("PRICE", "nine crowns")


def on_page_content(html, page, **_):
    return html + "<h2 id='tide'>Tide</h2><p>Added by a hook at high tide.</p>"


def on_post_page(output, page, **_):
    return output.replace("</body>", "<footer>Printed under every page.</footer></body>")
"""


def built(folder: Path, *args: str) -> str:
    """Build a site, which has to succeed; what it printed."""
    done = sites.build(folder, *args)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def checked(folder: Path, *args: str) -> dict[str, tuple[str, str]]:
    """The records of a build, once all they say has been found in its pages."""
    built(folder, *args)
    assert_resolves(folder)
    assert_in_articles(folder)
    return records(folder)


@pytest.mark.parametrize(
    ("site_url", "directories"), [("", False), ("https://h.example/a/b%20c", True)]
)
def test_urls_are_those_of_the_site(tmp_path: Path, site_url: str, directories: bool) -> None:
    write_site(tmp_path, site_url=site_url, use_directory_urls=directories)
    root = "/a/b%20c/" if "/a/" in site_url else "/"
    end = "/" if directories else ".html"
    assert checked(tmp_path, "--strict", "--clean") == {
        "index": (root if directories else f"{root}index.html", "Harbour"),
        "mooring": (f"{root}mooring{end}", "Mooring"),
        "storms": (f"{root}storms{end}", "Storms"),
    }


def test_pages_are_read_after_hooks_have_changed_them(tmp_path: Path) -> None:
    pages = {"index.md": "# Prices\n\nA berth costs PRICE.\n", "terms.md": "# Terms\n\nNone.\n"}
    write_site(tmp_path, pages, hooks=["hook.py"])
    put(tmp_path / "hook.py", HOOK)
    checked(tmp_path, "--strict")
    assert text(tmp_path, "index") == "A berth costs nine crowns.\nAdded by a hook at high tide."
    assert "/terms/#tide" in [passage.url for passage in passages(tmp_path)]


def test_pages_that_are_published_outside_the_navigation_are_records(tmp_path: Path) -> None:
    pages = {**PAGES, "aside/secret.md": "# Aside\n\nFound by those who know the url.\n"}
    write_site(tmp_path, pages, nav=["index.md"], not_in_nav="storms.md\n/aside/")
    assert set(checked(tmp_path, "--strict")) == {"index", "mooring", "storms", "aside/secret"}


def test_unpublished_pages_are_not_records(tmp_path: Path) -> None:
    pages = {**PAGES, "_old/gone.md": "# Gone\n\nGone.\n", "wip.md": "# Soon\n\nSoon.\n",
             ".hidden/h.md": "# Hidden\n\nHidden.\n", "out.md": "# Out\n\nOut.\n",
             "quiet.md": "---\nsearch:\n  exclude: true\n---\n# Quiet\n\nQuiet.\n"}  # fmt: skip
    write_site(tmp_path, pages, exclude_docs="_old/\nout.md", draft_docs="wip.md")
    assert set(checked(tmp_path, "--strict")) == {"index", "mooring", "storms"}
    assert not (tmp_path / "site" / "out").exists()
    assert set(sites.opened(tmp_path).index.record_ids) == {"index", "mooring", "storms"}


ODD = ["überblick/größe", "日本語", "two words", "50%", "100%25", "a+b&c", "it's", "v1.2", "(x)"]


def test_odd_names_lead_to_their_pages(tmp_path: Path) -> None:
    pages = {f"{name}.md": f"# Page {n}\n\nText {n}.\n\n## Größe {n}\n\nMore.\n"
             for n, name in enumerate(ODD)}  # fmt: skip
    write_site(tmp_path, {**PAGES, **pages}, use_directory_urls=False)
    pages_by_id = checked(tmp_path)
    assert set(pages_by_id) == {"index", "mooring", "storms", *ODD}
    assert all(" " not in passage.url for passage in passages(tmp_path))


def test_anchors_of_every_kind_exist_in_the_page(tmp_path: Path) -> None:
    page = (
        "# Ropes\n\nOne.\n\n## Care\n\nTwo.\n\n## Care\n\nThree.\n\n## Żeglarz – 日本\n\nFour.\n\n"
        '## Own {#my.own:id}\n\nFive.\n\n## Quotes {#say-"so"}\n\nSix.\n\n'
        "<h2>Without</h2>\n\nSeven.\n\n<h2 id='in html'>Spaced</h2>\n\nEight.\n"
    )
    extensions: list[Any] = ["attr_list", {"toc": {"permalink": True}}]
    write_site(tmp_path, {"index.md": page}, markdown_extensions=extensions)
    checked(tmp_path)
    urls = {p.text: p.url for p in passages(tmp_path)}
    assert urls["Three."] == "/#care_1"
    assert urls["Five."] == "/#my.own:id"
    assert len({p.id for p in passages(tmp_path)}) == len(urls)


def test_a_dirty_build_has_the_new_text_and_keeps_the_other_pages(tmp_path: Path) -> None:
    write_site(tmp_path, notes=NOTES)
    built(tmp_path)
    before = passages(tmp_path)
    put(tmp_path / "docs" / "storms.md", PAGES["storms.md"].replace("thirty", "ninety"))
    assert set(checked(tmp_path, "--dirty")) == {"index", "mooring", "storms"}
    assert "above ninety knots" in text(tmp_path, "storms")
    assert [p for p in passages(tmp_path) if p.record != "storms"] == [
        p for p in before if p.record != "storms"
    ]
    assert [hint.url for hint in sites.opened(tmp_path).hints] == ["/mooring/#chains"]


def test_a_dirty_build_mixes_no_urls_of_two_places(tmp_path: Path) -> None:
    write_site(tmp_path)
    built(tmp_path)
    before = passages(tmp_path)
    write_site(tmp_path, {}, site_url="https://harbour.example/v2/")
    put(tmp_path / "docs" / "storms.md", PAGES["storms.md"] + "\nMore.\n")
    assert "last bundle stays as it is" in built(tmp_path, "--dirty")
    assert passages(tmp_path) == before
