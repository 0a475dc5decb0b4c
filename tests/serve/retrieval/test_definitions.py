"""Questions that ask what a thing is lead to the page that introduces it."""

from pathlib import Path

import pytest

import answerable
from answerable.serve.engine import Engine
from answerable.serve.stores.bundle import Bundle
from support import sites

PAGES = {
    "index.md": "---\ntitle: Home\n---\n# Harbour\n\nHarbour is a program that keeps the berths of "
    "small boats in order.\n\n## Install Harbour\n\n```sh\npip install harbour\n```\n",
    "deploy.md": "# Deploy Harbour\n\nHarbour runs on your own server. Install Harbour there:\n\n"
    "```sh\npip install harbour\nharbour serve\n```\n\nHarbour is Harbour wherever it runs.\n",
    "berth.md": "# Berths\n\nA berth is the place where one boat lies.\n\n## Add a berth\n\nAdd a "
    "berth to the list of berths:\n\n```sh\nharbour berth add\n```\n\n## Default berth\n\nThe "
    "default berth has the number seven.\n",
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine[Bundle]:
    folder = sites.write_site(tmp_path_factory.mktemp("site"), pages=PAGES, notes=None)
    sites.build_here(folder)
    return answerable.open_bundle(Path(folder, "function"))


@pytest.mark.parametrize(
    "question", ["What is Harbour?", "what's harbour", "What is a Harbour", "what is Harbor"]
)
def test_the_site_itself_is_introduced_by_its_home_page(
    engine: Engine[Bundle], question: str
) -> None:
    reply = engine.answer(question)
    assert "keeps the berths of small boats in order" in reply.answer.claims[0].text


@pytest.mark.parametrize("question", ["What is a berth?", "what are berths"])
def test_a_thing_is_introduced_by_the_first_passage_of_its_page(
    engine: Engine[Bundle], question: str
) -> None:
    reply = engine.answer(question)
    assert "the place where one boat lies" in reply.answer.claims[0].text


def test_a_fact_is_no_definition(engine: Engine[Bundle]) -> None:
    reply = engine.answer("What is the default berth?")
    assert "the number seven" in reply.answer.claims[0].text
    reply = engine.answer("How do I add a berth?")
    assert "harbour berth add" in reply.answer.claims[0].text
