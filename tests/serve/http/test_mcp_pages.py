"""Pages as agents read them: windows joined again, sections by id and url, bounds of a result."""

from dataclasses import replace

import pytest

from answerable.cli.mcp import make_agent_site
from answerable.serve.answers.wire import find_new_words
from answerable.serve.http.mcp import pages
from answerable.serve.http.mcp.pages import count_pages, list_pages, read_page
from answerable.serve.http.mcp.tools import format_page, run_ask, run_search
from answerable.serve.providers import make_engine
from answerable.serve.stores.bundle import Bundle
from answerable.serve.structure import Block
from answerable.serve.types import Passage
from support.sites import build, local, opened, write_site

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


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    folder = tmp_path_factory.mktemp("ropes")
    site = {"index.md": "# Home\n\nA harbor.\n", "ropes.md": PAGE, "lamp.md": LAMP}
    done = build(write_site(folder, pages=site))
    assert done.returncode == 0, done.stderr
    return opened(folder)


def test_windows_of_prose_a_table_and_code_are_joined_without_loss_or_repeat(
    bundle: Bundle,
) -> None:
    page = read_page(bundle, "ropes", None)
    assert page is not None
    assert [section.id for section in page.sections] == ["ropes#ropes", "ropes#table", "ropes#code"]
    assert len(bundle.rows_of_page("ropes")) > 6, "the page has one window a section"
    prose, table, code = (section.text for section in page.sections)
    assert prose.split() == " ".join(SENTENCES).split()
    assert table.split("\n") == ["| rope | holds | place |", "| --- | --- | --- |", *ROWS]
    assert code.split("\n") == ["```python", "def haul_all():", *CODE, "```"]


def window(text: str, *blocks: Block) -> Passage:
    return Passage("p#a~2", "p", "/p/#a", "P", text, blocks=blocks)


@pytest.mark.parametrize(
    ("text", "following", "added"),
    [
        ("Set the limit to 10", "0 means none.", "0 means none."),
        ("The rope holds the boat.\nSo it is.", "So it is.\nA storm.", "So it is.\nA storm."),
        ("First line.\nThe rope holds the boat.", "The rope holds the boat.\nA storm comes.",
         "\nA storm comes."),
        ("overthe rope holds the boat well", "the rope holds the boat well\nmore",
         "the rope holds the boat well\nmore"),
    ],
)  # fmt: skip
def test_only_whole_units_count_as_repeated(text: str, following: str, added: str) -> None:
    begin, is_repeated = find_new_words(text, window(following))
    assert (following[begin:], is_repeated) == (added, added != following)


def test_column_names_are_repeated_for_another_table_only() -> None:
    header, row = Block("row", 0, 11, 1, 0, "header"), Block("row", 12, 17, 1)
    following = window("name · kind\nc · d", header, row)
    assert find_new_words("name · kind\na · b", following) == (row.start, False)
    assert find_new_words("other · kind\na · b", following) == (0, False)


@pytest.mark.parametrize(
    "name",
    [
        "ropes#code", "ropes#code~2", "/ropes/#code", "https://harbour.example/ropes/#code",
        "https://HARBOUR.example/ropes/#code", "https://harbour.example/ropes#code",
        "https://harbour.example/ropes/#code:~:text=def%20haul", " ropes#code ",
    ],
)  # fmt: skip
def test_a_section_is_read_by_its_id_and_its_urls(bundle: Bundle, name: str) -> None:
    page = read_page(bundle, name, "https://harbour.example/")
    assert page is not None
    assert [section.id for section in page.sections] == ["ropes#code"]


@pytest.mark.parametrize(
    "name", ["none", "ropes#none", "", "https://other.example/ropes/", "http://[x", "#code", "../x"]
)
def test_a_name_of_nothing_is_no_page(bundle: Bundle, name: str) -> None:
    assert read_page(bundle, name, "https://harbour.example/") is None


def test_a_result_is_bounded_and_says_what_it_leaves_out(
    bundle: Bundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "MAX_PAGE_CHARACTERS", 500)
    page = read_page(bundle, "ropes", None)
    assert page is not None
    [section] = page.sections
    assert page.is_cut
    assert 0 < len(section.text) <= 500
    assert section.text.split() == " ".join(SENTENCES).split()[: len(section.text.split())]
    assert f"{section.text}\n\n…\n\n(Cut here: " in format_page(page, None)
    assert page.left_out == ("ropes#table", "ropes#code")
    monkeypatch.setattr(pages, "MAX_PAGE_CHARACTERS", len(" ".join(SENTENCES)) + 50)
    page = read_page(bundle, "ropes", None)
    assert page is not None
    assert (page.is_cut, page.left_out) == (False, ("ropes#table", "ropes#code"))


def test_words_that_are_left_out_at_the_end_are_marked(bundle: Bundle) -> None:
    site = make_agent_site(make_engine(bundle, local()))
    first, *_ = run_search(site, {"query": "haul rope metres winch"}).text.split("\n\n…")
    assert first.endswith("# the winch turns slowly")
    assert run_search(site, {"query": "home", "limit": 1}).text.endswith("\n\nA harbor.")
    text = run_ask(site, {"question": "How is a signal made with the lamp?"}).text
    code, _, after = text.partition("```python\n")[2].partition("\n```")
    assert 3 <= len(code.split("\n")) < len(CODE)
    assert after.startswith("\n\n…\n\n[1]")


def test_pages_are_listed_in_parts(bundle: Bundle) -> None:
    assert count_pages(bundle) == 3
    listed = [page.id for start in range(4) for page in list_pages(bundle, start, 1)]
    assert listed == ["index", "lamp", "ropes"]


def test_a_record_that_is_named_like_a_window_stays_itself() -> None:
    passage = Passage(
        "a~2", "a~2", "/b/", "B", "Text of a page.", blocks=(Block("text", 0, 15, 0),)
    )
    later = replace(passage, id="a~2~2", text="And more of it.")
    sections = pages._join_windows([passage, later])
    assert [section.id for section in sections] == ["a~2"]
    assert sections[0].text == "Text of a page.\n\nAnd more of it."


NESTED = {
    "index.md": "# Home\n\nA harbor.\n",
    "guide/index.md": "# Guide\n\nHow to be in a harbor.\n",
    "guide/mooring-lines.md": "# Mooring lines\n\nTwo lines hold a boat.\n",
    "guide/storms.md": "# Storms\n\nDouble every rope.\n",
    "log/storms.md": "# Storms\n\nA list of storms.\n",
}


@pytest.fixture(scope="module", params=[True, False], ids=["folders", "files"])
def nested(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    folder = write_site(
        tmp_path_factory.mktemp("nested"),
        pages=NESTED,
        site_url="https://harbour.example/v2/",
        use_directory_urls=request.param,
    )
    done = build(folder)
    assert done.returncode == 0, done.stderr
    return opened(folder)


NAMES = {
    "guide/mooring-lines": (
        "guide/mooring-lines", "guide/mooring-lines/", "/guide/mooring-lines",
        "guide/mooring-lines.md", "guide/mooring-lines/index.html", "/guide/mooring-lines.html",
        "/v2/guide/mooring-lines/", "guide/mooring%2Dlines",
        "https://harbour.example/v2/guide/mooring-lines",
        "https://harbour.example/v2/guide/mooring-lines/index.html",
        "Mooring lines", " mooring Lines ",
    ),
    "guide/index": ("guide", "guide/", "/guide/index.html", "guide/index.md"),
    "index": ("/", "index.md", "https://harbour.example/v2/"),
    "guide/storms": ("guide/storms",),
    # Two pages have the title, and the last is of another site.
    None: ("Storms", "storms", "guide/none", "https://other.example/v2/guide/mooring-lines/"),
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "page_id"), [(name, page_id) for page_id, names in NAMES.items() for name in names]
)
def test_a_page_is_read_by_every_form_of_its_name(
    nested: Bundle, name: str, page_id: str | None
) -> None:
    page = read_page(nested, name, "https://harbour.example/v2/")
    assert (page and page.id) == page_id


def test_a_page_is_read_up_to_a_number_of_words(bundle: Bundle) -> None:
    page = read_page(bundle, "ropes", None, 20)
    assert page is not None
    [section] = page.sections
    assert page.is_cut
    assert section.text.split() == " ".join(SENTENCES).split()[:20]
    prose = sum(len(sentence.split()) for sentence in SENTENCES)
    page = read_page(bundle, "ropes", None, prose + 5)
    assert page is not None
    assert [section.id for section in page.sections] == ["ropes#ropes"]
    assert (page.is_cut, page.left_out) == (False, ("ropes#table", "ropes#code"))
    page = read_page(bundle, "ropes#code", None, 30)
    assert page is not None
    assert page.sections[0].text.endswith("\n```")
    assert page.sections[0].text.count("```") == 2
