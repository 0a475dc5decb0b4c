"""A small archive of one author's essays, built for real and asked keyless with the defaults."""

import pytest

from answerable.serve.stores.bundle import Bundle
from e2e.test_guide_site import build_copy
from support import sites

ARCHIVE = sites.ROOT / "tests" / "archive"

# The page that answers and decisive words of it.
ANSWERED = {
    "What does Mara Lindqvist think about attention?": (
        "attention", "not a muscle that tires but a room that has to be kept empty",
    ),
    "What does the author think about feeds?": ("feed", "A feed has no last line."),
    "What does Mara think about mistakes?": ("press", "a mistake is cheapest before the ink"),
    "What does the author think about working fast?": ("press", "I have learned to distrust speed"),
    "Where does Mara write about habits?": (
        "page-a-day", "A habit is a way of not asking yourself each morning",
    ),
    "Where does the author write about patience?": ("attention", "for forty minutes I saw nothing"),
    "How was the map of the bay made?": ("map", "from buoy to buoy with a lead line"),
    "How was the chart made?": ("map", "from buoy to buoy with a lead line"),
}  # fmt: skip
REFUSED = (
    "What does Mara think about cryptocurrency?",
    "How was the lighthouse built?",
)


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    return build_copy(ARCHIVE, tmp_path_factory.mktemp("archive"))


def is_right(bundle: Bundle, question: str) -> bool:
    """Tell whether the first claim cites the right page and words, or a due refusal is given."""
    answer = sites.ask(bundle, question).answer
    if question in REFUSED:
        return answer.mode == "not-found"
    page, words = ANSWERED[question]
    if not answer.claims:
        return False
    first = answer.claims[0]
    pages = {citation.id.partition("#")[0] for citation in first.citations}
    return pages == {page} and words in " ".join(first.text.split())


def test_most_questions_to_a_small_archive_are_answered_or_rightly_refused(
    archive: Bundle,
) -> None:
    questions = [*ANSWERED, *REFUSED]
    assert len(questions) == 10
    wrong = [question for question in questions if not is_right(archive, question)]
    assert len(wrong) <= 2, wrong
    assert not set(wrong) & set(REFUSED)


def test_a_word_of_a_pages_themes_or_summary_finds_its_words(archive: Bundle) -> None:
    assert is_right(archive, "Where does the author write about patience?")
    assert is_right(archive, "How was the chart made?")
    texts = [passage.text for passage in archive.passages()]
    assert not any("patience" in text or "chart" in text for text in texts)
