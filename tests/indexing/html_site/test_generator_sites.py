"""Sites of real generators, made answerable by the command."""

from pathlib import Path

import pytest

from answerable.engine.bundle import Bundle
from answerable.engine.engine import Engine
from answerable.engine.providers import open_function
from support import generated_sites
from support.generated_sites import BASE, CHAINS, GENERATORS, HARBOUR, MOORING, NOTE, STORMS
from support.sites import NOTES, index, put

pytestmark = pytest.mark.deep

QUESTION = "How thick is the chain of a mooring?"
WINCH = "Where was the gearbox of the electric winch taken from?"
# Urls without the base and anchors, by page: what a generator makes of the same names.
FOLDERS = ("", "storms/", "guide/mooring/")
FILES = ("", "storms.html", "guide/mooring.html")
OF_MKDOCS = ("harbour", "storms", "lanterns", "mooring", "the-chains")
OF_SPHINX = ("harbour", "storms", "lanterns", "mooring", "chains")
EXPECTED = {
    "material": (FOLDERS, OF_MKDOCS),
    "mkdocs": (FOLDERS, OF_MKDOCS),
    "readthedocs": (FOLDERS, OF_MKDOCS),
    "zensical": (FOLDERS, OF_MKDOCS),
    "alabaster": (FILES, OF_SPHINX),
    "furo": (FILES, OF_SPHINX),
    "furo-folders": (FOLDERS, OF_SPHINX),
    "hugo": (FOLDERS, ("", "", "lanterns", "", "chains")),
    "docusaurus": (FOLDERS, ("", "", "lanterns", "", "the-chains")),
}


@pytest.fixture(scope="module", params=GENERATORS)
def generator(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture(scope="module")
def site(generator: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site that was built and indexed; the function's folder is beside it."""
    folder = tmp_path_factory.mktemp(generator)
    note = NOTES["winch.md"].replace("mooring.md#chains", "storms.md#lanterns")
    put(folder / "notebook" / "winch.md", note)
    site = generated_sites.build(generator, folder / "built").rename(folder / "site")
    widget = {"endpoint": "https://ask.example/"}
    done = index(folder, notebook="notebook", widget=widget)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("3 pages, ")
    return site


@pytest.fixture(scope="module")
def engine(site: Path) -> Engine[Bundle]:
    return open_function(site.parent / "function")


def test_every_page_is_read_and_nothing_else(generator: str, engine: Engine[Bundle]) -> None:
    (index, storms, mooring), anchors = EXPECTED[generator]
    passages = list(engine.store.passages())
    # Where a note at the foot of a page goes, generators do not agree.
    by_title = {p.title: (p.url, p.text.removesuffix(NOTE).rstrip()) for p in passages}
    by_title.pop("Mooring › Footnotes", None)
    urls = [index, storms, storms, mooring, mooring]
    texts = {**HARBOUR, **STORMS, **MOORING, "Mooring › Chains": CHAINS}
    assert by_title == {
        title: (f"{BASE}{url}#{anchor}" if anchor else BASE + url, text)
        for (title, text), url, anchor in zip(texts.items(), urls, anchors, strict=True)
    }
    assert any(NOTE in passage.text for passage in passages)
    assert engine.store.index.site.name.startswith("Harbour")
    assert engine.store.index.site.url == f"https://harbour.example{BASE}"


def test_questions_are_answered_with_their_sources(generator: str, engine: Engine[Bundle]) -> None:
    (_, storms, mooring), anchors = EXPECTED[generator]
    answer = engine.answer(QUESTION).answer
    sentence = "The chain of a mooring is twelve millimetres thick."
    assert answer.claims[0].text.startswith(sentence)
    assert answer.citations[0].url == f"{BASE}{mooring}#{anchors[4]}"
    answer = engine.answer(WINCH).answer
    assert answer.mode == "related-material"
    assert answer.citations[0].url == f"{BASE}{storms}#lanterns"
    assert engine.answer("Who sang at the opera in Vienna?").answer.mode == "not-found"


def test_the_widget_is_put_into_every_page_once(site: Path) -> None:
    for file in (site / "index.html", *site.glob("guide/mooring*/index.html")):
        html = file.read_text(encoding="utf-8")
        depth = "../" * (len(file.relative_to(site).parts) - 1)
        script = f'src="{depth}assets/answerable/ask-box.js"'
        tag = f'<script type="module" {script} data-placement=""></script>'
        assert html.count(tag) == html.count("ask-box.js") == 1
        assert html.count('<link rel="answerable" href="https://ask.example/">') == 1
    before = {path: path.read_bytes() for path in site.rglob("*") if path.is_file()}
    done = index(site.parent, notebook="notebook", widget={"endpoint": "https://ask.example/"})
    assert "; 0 files changed" in done.stdout
    assert before == {path: path.read_bytes() for path in site.rglob("*") if path.is_file()}
