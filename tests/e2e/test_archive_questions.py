"""A small archive of essays, asked as a reader would: keyless and with defaults."""

import shutil
from pathlib import Path

import pytest

from answerable.serve.engine import Engine
from answerable.serve.providers import make_engine
from answerable.serve.types import RecordCitation
from support import sites

ARCHIVE = Path(__file__).parents[1] / "archive"

# The page or the label of the note that answers; None for what has to be refused.
QUESTIONS = {
    "What does the author think about attention?": "attention",
    "What does Mara Lindqvist say about screens?": "feed",
    "Where does the author write about mistakes?": "press",
    "Where does she write about habits?": "page-a-day",
    "How was the map made?": "map",
    "What does Mara think about distraction?": "attention",
    "what does lindqvist say about feeds": "feed",
    "Where can I hear the interview with the radio?": "Interview on habits with the island radio",
    "What does the author think about money?": None,
    "How was the lighthouse built?": None,
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    folder = tmp_path_factory.mktemp("archive")
    shutil.copytree(ARCHIVE, folder, dirs_exist_ok=True)
    sites.build_here(folder)
    return make_engine(sites.opened(folder), sites.local())


@pytest.mark.parametrize(("question", "source"), QUESTIONS.items())
def test_an_archive_of_essays_answers_as_readers_ask(
    engine: Engine, question: str, source: str | None
) -> None:
    citations = engine.answer(question).answer.citations
    first = citations[0] if citations else None
    if isinstance(first, RecordCitation):
        assert first.id.partition("#")[0] == source
    else:
        assert (first.label if first else None) == source
