"""Pages as agents read them: whole sections by id and url, bounds of a result."""

import pytest

from answerable.engine.bundle import Bundle
from answerable.function.mcp import tools
from answerable.function.mcp.tools import read_page
from support.sites import build_here, opened, write_site

SENTENCES = [f"Rope number {n} holds the boat {n * 7} of the harbor in a storm." for n in range(90)]
ROWS = [f"| rope {n} | holds {n * 3} tons in a strong wind | shelf {n % 7} |" for n in range(80)]
CODE = [f"    haul(rope={n}, metres={n * 2})  # the winch turns slowly" for n in range(90)]
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
    build_here(write_site(folder, pages={**SMALL, "ropes.md": PAGE}, site_url=SITE))
    return opened(folder)


def test_windows_of_prose_a_table_and_code_follow_each_other_without_loss_or_repeat(
    bundle: Bundle,
) -> None:
    assert len(bundle.rows_of_page("ropes")) > 6, "the page has one window a section"
    text = read_page(bundle, "ropes", SITE) or ""
    head, prose, table, code = text.split("\n\n## ")
    assert head == f"Ropes\n{SITE}ropes/"
    assert prose.split() == ["Ropes", *" ".join(SENTENCES).split()]
    header = ["| rope | holds | place |", "| --- | --- | --- |"]
    assert table.split("\n")[2:4] == header
    assert [line for line in table.split("\n")[2:] if line not in ("", *header)] == ROWS
    lines = ["def haul_all():", *CODE]
    assert [line for line in code.split("\n")[2:] if line.strip("`") not in ("", "python")] == lines


NAMES = {
    "Code": (
        "ropes#code", "ropes#code~2", "/v2/ropes/#code", " ropes#code ", f"{SITE}ropes/#code",
        f"{SITE}ropes#code:~:text=def%20haul", "https://HARBOUR.example/v2/ropes/#code",
    ),
    "Mooring lines": (
        "guide/mooring-lines", "/guide/mooring-lines.html", "guide/mooring-lines.md",
        "guide/mooring-lines/index.html", "/v2/guide/mooring-lines/", "guide/mooring%2Dlines",
        f"{SITE}guide/mooring-lines/index.html", " mooring Lines ",
    ),
    "Home": ("/", "index.md", SITE),
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
    text = read_page(bundle, name, SITE)
    first = text and text.split("\n\n## ")[1].partition("\n")[0]
    assert (first and first.rpartition(" › ")[2]) == section


def test_a_result_is_bounded_and_says_what_it_leaves_out(
    bundle: Bundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tools, "MAX_PAGE_CHARACTERS", 12_000)
    text = read_page(bundle, "ropes", None) or ""
    assert text.endswith("(Left out: 1 more sections of this page, such as ropes#code)")
    monkeypatch.setattr(tools, "MAX_PAGE_CHARACTERS", 500)
    text = read_page(bundle, "ropes#table", None) or ""
    assert "| rope 0 |" in text
    assert text.endswith("\n…\n\n(Cut here: search for what follows.)")
    assert len(text) < 600
