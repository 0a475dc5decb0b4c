"""How a question is read: near spellings, unknown words, short questions and follow-ups."""

from pathlib import Path

import pytest

from answerable.serve.bundle_format.profile import Profile
from answerable.serve.engine import Engine
from answerable.serve.retrieval.question import QuestionReading, Remark, read_question
from answerable.serve.retrieval.spelling import edit_distance
from answerable.serve.stores.bundle import Bundle
from answerable.testing import LetterEmbedder, ScriptedAnswerer
from support import doubles
from support.doubles import CountingEmbedder, bundle_of, index_of, record

PAGES = {
    "ingress": "The ingress controller needs a certificate. It validates every webhook.",
    "rope": "A rope of hemp is rated for the harbour wall and the rate is checked.",
    "wall": "Nobody climbs the wall. A timeout is set. Whole words, not parts.",
}
ORDINARY = {"hole": 700, "opera": 14000, "brought": 6000}


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    return site(tmp_path_factory.mktemp("site"))


def site(folder: Path, profile: Profile | None = None) -> Bundle:
    pages = [record(name, f"<p>{text}</p>") for name, text in PAGES.items()]
    chosen = profile or Profile(floor=0.0, note_floor=0.0)
    return bundle_of(folder, index_of(folder, pages, names=["Harbour Master"]), chosen)


def read(bundle: Bundle, question: str) -> QuestionReading:
    return read_question(bundle, question, ORDINARY.get)


@pytest.mark.parametrize(
    ("question", "spelled", "asked"),
    [
        ("ingres controller", "ingress controller", "ingres"),
        ("igress controller", "ingress controller", "igress"),
        ("the Ingerss", "the ingress", "Ingerss"),
        ("a certifcate for it", "a certificate for it", "certifcate"),
        ("a certfcate for it", "a certificate for it", "certfcate"),
        ("validtes what", "validates what", "validtes"),
        ("a web hook", "a webhook", "web hook"),
        ("a harbourwall", "a harbour wall", "harbourwall"),
    ],
)
def test_a_near_spelling_counts_as_the_word(
    bundle: Bundle, question: str, spelled: str, asked: str
) -> None:
    reading = read(bundle, question)
    assert reading.question == spelled
    assert reading.terms == read(bundle, spelled).terms
    (remark,) = (each for each in reading.remarks if each.kind == "corrected")
    assert (remark.word, remark.replacement) in spelled_pairs(asked, spelled)


def spelled_pairs(asked: str, spelled: str) -> set[tuple[str, str]]:
    words = spelled.split()
    pairs = [" ".join(words[place : place + 2]) for place in range(len(words) - 1)]
    return {(asked, each) for each in (*words, *pairs)}


@pytest.mark.parametrize(
    "word",
    [
        "hole",  # a word of the language
        "rat",  # too short
        "harbor7",  # not letters only
        "zzzzz",  # near nothing
        "wablq",  # two edits from wall
        "Harbour",  # a word of the site
        "Master",  # a name of the site
    ],
)
def test_other_words_are_left_as_they_are(bundle: Bundle, word: str) -> None:
    assert read(bundle, f"the {word}").question == f"the {word}"


def test_several_near_spellings_correct_nothing(tmp_path: Path) -> None:
    pages = [record("a", "<p>The latch and the patch hold.</p>")]
    bundle = bundle_of(tmp_path, index_of(tmp_path, pages))
    assert read(bundle, "the zatch").question == "the zatch"
    assert read(bundle, "the zatch").remarks == (Remark("unknown", "zatch"),)


def test_two_edits_replace_no_letter_and_keep_the_first(tmp_path: Path) -> None:
    pages = [record("a", "<p>The confidence of what replaces it.</p>")]
    bundle = bundle_of(tmp_path, index_of(tmp_path, pages))
    for word in ("confluence", "replicas"):
        assert read(bundle, f"pages of {word}").question == f"pages of {word}"
    assert read(bundle, "the cnofidenec of it").question == "the confidence of it"


@pytest.mark.parametrize(
    ("first", "second", "edits"),
    [("ab", "ab", 0), ("ab", "ba", 1), ("abc", "abd", 1), ("abc", "ac", 1), ("abc", "cab", 2),
     ("abcd", "wxyz", 3), ("a", "abcd", 3)],
)  # fmt: skip
def test_distance_counts_edits_up_to_a_limit(first: str, second: str, edits: int) -> None:
    assert edit_distance(first, second, 2) == edits
    assert edit_distance(second, first, 2) == edits


def test_words_that_the_site_lacks_are_named_unless_they_are_ordinary(bundle: Bundle) -> None:
    reading = read(bundle, "Who brought the CEO to the opera of the Harbour Master?")
    assert [each.word for each in reading.remarks] == ["CEO", "opera"]
    assert {each.kind for each in reading.remarks} == {"unknown"}


def test_an_unknown_word_keeps_confidence_from_high(bundle: Bundle) -> None:
    quote = {"text": "Rope.", "evidence": [{"source": "s1", "quote": "A rope of hemp"}]}

    def confidence(question: str) -> float:
        engine = Engine(bundle, LetterEmbedder(), ScriptedAnswerer([{"claims": [quote]}]))
        return engine.answer(question).confidence

    assert confidence("rope of hemp") > 0.7
    assert confidence("rope of hemp rated zeppelin") <= 0.69


def test_a_follow_up_is_refused_with_a_hint_and_nothing_is_embedded(bundle: Bundle) -> None:
    embedder = CountingEmbedder(LetterEmbedder())
    engine = Engine(bundle, embedder, ScriptedAnswerer([]))
    for question in ("and the rope?", "what about that?"):
        pool = engine.retrieve(question)
        assert pool.reading.remarks == (Remark("follow-up"),)
        assert engine.answer_from(pool).reason == "no-evidence"
    assert embedder.texts == []


def test_what_is_embedded_has_no_frame_and_the_sites_spelling(bundle: Bundle) -> None:
    embedder = CountingEmbedder(LetterEmbedder())
    engine = Engine(bundle, embedder, ScriptedAnswerer([{}, {}]))
    engine.answer("What does the author think about the ingres?")
    assert embedder.texts == ["ingress"]


def test_a_short_question_is_not_refused_where_a_passage_has_all_its_words(tmp_path: Path) -> None:
    strict = site(tmp_path, Profile(floor=2.0, note_floor=2.0))

    def records(question: str) -> list[str]:
        (vector,) = LetterEmbedder().embed([question])
        found = doubles.retrieve(strict, question, vector).passages
        return sorted(scored.item.record for scored in found)

    assert records("wall") == ["rope", "wall"]
    assert records("rope wall") == ["rope"]
    assert records("rope timeout") == []
    assert records("rope zeppelin") == []
    assert records("rope of hemp on the wall") == []


def test_without_words_in_the_recipe_a_question_is_read_as_it_stands(tmp_path: Path) -> None:
    plain = site(tmp_path, Profile(hybrid=0.0, floor=0.0))
    question = "What does the author think about the ingres?"
    reading = read(plain, question)
    assert (reading.question, reading.text, reading.remarks) == (question, question, ())
    assert "think" in reading.terms["en"]
