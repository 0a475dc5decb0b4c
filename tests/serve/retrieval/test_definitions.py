"""Questions that ask what a thing is lead to the page that introduces it."""

from pathlib import Path

import pytest

import answerable
from answerable.serve.engine import Engine
from answerable.serve.retrieval.selection import is_home_record
from answerable.serve.stores.bundle import Bundle
from support import sites

PAGES = {
    "index.md": "---\ntitle: Home\n---\n# Harbour Master\n\nHarbour Master is a program that keeps "
    "the berths of small boats in order.\n\n## Install Harbour Master\n\n```sh\npip install "
    "harbour\n```\n",
    "deploy.md": "# Deploy Harbour Master\n\nHarbour Master runs on your own server. Install "
    "Harbour Master there:\n\n```sh\npip install harbour\nharbour serve\n```\n\nHarbour Master is "
    "Harbour Master wherever it runs.\n",
    "masters.md": "# Masters\n\nA master is a person who rules a harbour.\n\n## Appoint a master"
    "\n\nAppoint the master of the harbour:\n\n```sh\nharbour master add\n```\n",
    "berth.md": "# Berths\n\nA berth is the place where one boat lies.\n\n## Add a berth\n\nAdd a "
    "berth to the list of berths:\n\n```sh\nharbour berth add\n```\n\n## Your berth\n\nYour berth "
    "is the berth with the number seven.\n\n## Free berths\n\nFree berths have a green light, and "
    "all free berths are listed at the gate.\n",
    "light.md": "# Light at night\n\nThe gate is lit.\n\n## Lanterns\n\nA lantern burns on oil.\n\n"
    "## Buy lanterns for lanterns\n\nBuy lanterns beside the lanterns that hang:\n\n"
    "```sh\nharbour lanterns buy lanterns\n```\n\nLanterns need lanterns, and lanterns of brass "
    "are the lanterns that last longest of all lanterns.\n",
    "de/index.md": "# Start\n\nHier steht, was ein Liegeplatz ist.\n",
}


def build(folder: Path, **pages: str) -> Engine[Bundle]:
    site = sites.write_site(
        folder, pages={**PAGES, **pages}, notes=None, site_name="Harbour Master",
        site_author="Ann Berth",
    )  # fmt: skip
    sites.build_here(site)
    return answerable.open_bundle(Path(site, "function"))


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine[Bundle]:
    return build(tmp_path_factory.mktemp("site"))


def first_words(engine: Engine[Bundle], question: str) -> str:
    return engine.answer(question).answer.claims[0].text


@pytest.mark.parametrize(
    "question", ["What is Harbour Master?", "what's harbour master", "what is a Harbor Master"]
)
def test_the_site_itself_is_introduced_by_its_home_page(
    engine: Engine[Bundle], question: str
) -> None:
    assert "keeps the berths of small boats in order" in first_words(engine, question)


@pytest.mark.parametrize("question", ["What is a master?", "what are masters"])
def test_a_part_of_the_name_of_the_site_is_not_the_site(
    engine: Engine[Bundle], question: str
) -> None:
    assert "a person who rules a harbour" in first_words(engine, question)


@pytest.mark.parametrize("question", ["What is a berth?", "what are berths"])
def test_a_thing_is_introduced_by_the_first_passage_of_its_page(
    engine: Engine[Bundle], question: str
) -> None:
    assert "the place where one boat lies" in first_words(engine, question)


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("What is my berth?", "harbour berth add"),
        ("What are free berths?", "have a green light"),
        ("How do I add a berth?", "harbour berth add"),
        ("What is the command that will add a berth", "harbour berth add"),
    ],
)
def test_a_fact_is_no_definition(engine: Engine[Bundle], question: str, words: str) -> None:
    assert words in first_words(engine, question)


def test_a_home_page_may_be_a_readme_or_lie_below_a_language() -> None:
    for record in ("index", "README", "en/index", "index.en", "en/README"):
        assert is_home_record(record, "en")
    for record in ("guide/index", "de/index", "index.de", "indexes", "en"):
        assert not is_home_record(record, "en")


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("Harbour Master", "keeps the berths of small boats in order"),
        ("berths", "the place where one boat lies"),
        ("Free berths", "have a green light"),
        ("lanterns", "burns on oil"),
    ],
)
def test_a_title_or_a_heading_is_answered_by_its_introduction(
    engine: Engine[Bundle], question: str, words: str
) -> None:
    assert words in first_words(engine, question)
