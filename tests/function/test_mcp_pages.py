"""Pages as agents read them: windows joined again, sections by id and url, bounds of a result."""

import pytest

from answerable.cli.mcp import make_agent_site
from answerable.function.mcp import pages
from answerable.function.mcp.pages import read_page
from answerable.function.mcp.tools import format_page, run_search
from answerable.serve.providers import make_engine
from answerable.serve.stores.bundle import Bundle
from support.sites import build_here, local, opened, write_site

SENTENCES = [f"Rope number {n} holds the boat {n * 7} of the harbor in a storm." for n in range(90)]
ROWS = [f"| rope {n} | holds {n * 3} tons in a strong wind | shelf {n % 7} |" for n in range(80)]
CODE = [f"    haul(rope={n}, metres={n * 2})  # the winch turns slowly" for n in range(90)]
LAMP = "\n".join(["# Lamp", "", "A signal is made with the lamp:", "", "```python", *CODE, "```"])
PAGE = "\n".join(
    [
        "# Ropes", "", " ".join(SENTENCES), "", "## Table", "", "| rope | holds | place |",
        "|---|---|---|", *ROWS, "", "## Code", "", "```python", "def haul_all():", *CODE, "```", "",
    ]
)  # fmt: skip

SITE = "https://harbour.example/v2/"
SMALL = {
    "index.md": "# Home\n\nA harbor.\n",
    "guide/mooring-lines.md": "# Mooring lines\n\nTwo lines hold a boat.\n",
    "guide/storms.md": "# Storms\n\nDouble every rope.\n",
    "log/storms.md": "# Storms\n\nA list of storms.\n",
}


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    folder = tmp_path_factory.mktemp("ropes")
    build_here(
        write_site(folder, pages={**SMALL, "ropes.md": PAGE, "lamp.md": LAMP}, site_url=SITE)
    )
    return opened(folder)


def test_windows_of_prose_a_table_and_code_are_joined_without_loss_or_repeat(
    bundle: Bundle,
) -> None:
    page = read_page(bundle, "ropes", None)
    assert page is not None
    assert [section.id for section in page.sections] == ["ropes#ropes", "ropes#table", "ropes#code"]
    assert len(bundle.rows_of_page("ropes")) > 6, "the page has one window a section"
    prose, table, code = (section.markdown for section in page.sections)
    assert prose.split() == " ".join(SENTENCES).split()
    assert table.split("\n") == ["| rope | holds | place |", "| --- | --- | --- |", *ROWS]
    assert code.split("\n") == ["```python", "def haul_all():", *CODE, "```"]


def test_words_that_are_left_out_at_the_end_are_marked(bundle: Bundle) -> None:
    site = make_agent_site(make_engine(bundle, local()))
    first, *_ = run_search(site, {"query": "haul rope metres winch"}).text.split("\n\n…")
    assert first.endswith("# the winch turns slowly\n```")
    assert run_search(site, {"query": "home", "limit": 1}).text.endswith("\n\nA harbor.")


NAMES = {
    "ropes#code": (
        "ropes#code", "ropes#code~2", "/ropes/#code", " ropes#code ", f"{SITE}ropes/#code",
        f"{SITE}ropes#code:~:text=def%20haul", "https://HARBOUR.example/v2/ropes/#code",
    ),
    "guide/mooring-lines#mooring-lines": (
        "guide/mooring-lines", "/guide/mooring-lines.html", "guide/mooring-lines.md",
        "guide/mooring-lines/index.html", "/v2/guide/mooring-lines/", "guide/mooring%2Dlines",
        f"{SITE}guide/mooring-lines/index.html", " mooring Lines ",
    ),
    "index#home": ("/", "index.md", SITE),
    # Two pages have the title, and others are of another site, or of none.
    None: (
        "Storms", "guide/none", "ropes#none", "", "http://[x", "#code", "../x",
        "https://other.example/v2/ropes/",
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "section"), [(name, section) for section, names in NAMES.items() for name in names]
)
def test_a_page_and_a_section_are_read_by_every_form_of_their_names(
    bundle: Bundle, name: str, section: str | None
) -> None:
    page = read_page(bundle, name, SITE)
    assert (page and page.sections[0].id) == section


def test_a_result_is_bounded_and_says_what_it_leaves_out(
    bundle: Bundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "MAX_PAGE_CHARACTERS", 500)
    page = read_page(bundle, "ropes", None)
    assert page is not None
    [section] = page.sections
    assert page.is_cut
    assert 0 < len(section.markdown) <= 500
    assert f"{section.markdown}\n\n…\n\n(Cut here: " in format_page(page, None)
    assert page.left_out == ("ropes#table", "ropes#code")


def test_a_page_is_read_up_to_a_number_of_words(bundle: Bundle) -> None:
    page = read_page(bundle, "ropes", None, 20)
    assert page is not None
    [section] = page.sections
    assert page.is_cut
    assert section.markdown.split() == " ".join(SENTENCES).split()[:20]
    prose = sum(len(sentence.split()) for sentence in SENTENCES)
    page = read_page(bundle, "ropes", None, prose + 5)
    assert page is not None
    assert [section.id for section in page.sections] == ["ropes#ropes"]
    assert (page.is_cut, page.left_out) == (False, ("ropes#table", "ropes#code"))
    page = read_page(bundle, "ropes#code", None, 30)
    assert page is not None
    assert page.sections[0].markdown.endswith("\n```")
    assert page.sections[0].markdown.count("```") == 2
