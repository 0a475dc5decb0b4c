"""Reading of questions: framing words, near spellings, unknown words and words for history."""

from pathlib import Path

import pytest

from answerable.engine.answers.wire import select_remarks
from answerable.engine.bundle import Bundle
from answerable.engine.engine import Engine
from answerable.engine.index.manifest import Profile
from answerable.engine.retrieval.question import (
    QuestionReading,
    Remark,
    asks_for_history,
    read_question,
)
from answerable.engine.types import Answer, Claim, RecordCitation, Reply
from support.doubles import CountingEmbedder, bundle_of, index_of, record
from support.scripted import LetterEmbedder, ScriptedAnswerer

PAGES = {
    "ingress": "The ingress controller needs a certificate. It validates every webhook.",
    "rope": "A rope of hemp is rated for the harbour wall and the rate is checked.",
    "wall": "Nobody climbs the wall. A timeout is set. Whole words, not parts.",
}
ORDINARY = {"hole": 700, "opera": 14000, "brought": 6000}


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    return site(tmp_path_factory.mktemp("site"), *PAGES.values())


def site(folder: Path, *texts: str) -> Bundle:
    pages = [record(f"p{n}", f"<p>{text}</p>") for n, text in enumerate(texts)]
    profile = Profile(floor=0.0, note_floor=0.0)
    return bundle_of(folder, index_of(folder, pages, names=["Harbour Master"]), profile)


def read(bundle: Bundle, question: str) -> QuestionReading:
    return read_question(bundle, question, ORDINARY.get)


@pytest.mark.parametrize(
    ("question", "original", "spelled"),
    [
        ("ingres controller", "ingres", "ingress"),
        ("igress controller", "igress", "ingress"),
        ("the Ingerss", "Ingerss", "ingress"),
        ("a certfcate for it", "certfcate", "certificate"),
        ("validtes what", "validtes", "validates"),
    ],
)
def test_near_spelling_is_corrected_to_the_sites_word(
    bundle: Bundle, question: str, original: str, spelled: str
) -> None:
    reading = read(bundle, question)
    corrected = question.replace(original, spelled)
    assert (reading.question, reading.asked) == (corrected, question)
    assert reading.terms == read(bundle, corrected).terms
    assert Remark("corrected", original, spelled) in reading.remarks


@pytest.mark.parametrize(
    "word",
    [
        "hole",  # a word of the language
        "rat",  # too short
        "harbor7",  # not letters only
        "wablq",  # two edits from wall
        "harbourwall",  # two words of the site, which may be one that it lacks
        "Master",  # a name of the site
        "inGress",  # a name, by the capital in it
    ],
)
def test_words_without_near_spelling_are_unchanged(bundle: Bundle, word: str) -> None:
    assert read(bundle, f"the {word}").question == f"the {word}"


@pytest.mark.parametrize(
    ("texts", "spelled"),
    [
        (("The latch.",) * 2 + ("The patch.",), "zatch"),
        (("The latch.",) * 3 + ("The patch.",), "latch"),
    ],
)
def test_of_several_near_spellings_the_clearly_more_frequent_one_counts(
    tmp_path: Path, texts: tuple[str, ...], spelled: str
) -> None:
    reading = read(site(tmp_path, *texts), "the zatch")
    assert reading.question == f"the {spelled}"
    unknown = [remark.word for remark in reading.remarks if remark.kind == "unknown"]
    assert unknown == (["zatch"] if spelled == "zatch" else [])


def test_two_edits_never_replace_a_letter_or_the_first(tmp_path: Path) -> None:
    bundle = site(tmp_path, "The confidence of what replaces it.")
    for word in ("confluence", "replicas"):
        assert read(bundle, f"pages of {word}").question == f"pages of {word}"
    assert read(bundle, "the cnofidenec of it").question == "the confidence of it"


@pytest.mark.parametrize(
    ("question", "unknown"),
    [
        ("Is the wall of the zeppelin rated?", ["zeppelin"]),
        ("a HarbourWall for the harbourrope", ["HarbourWall", "harbourrope"]),
        ("who brought the hole", []),  # ordinary words
        ("the opera", ["opera"]),  # a rarer one
        ("Harbour Master", []),  # the site's name
        ("what says the author of the rope in his discussions", ["discussions"]),
    ],
)
def test_a_word_that_no_passage_has_is_told(
    bundle: Bundle, question: str, unknown: list[str]
) -> None:
    assert [r.word for r in read(bundle, question).remarks if r.kind == "unknown"] == unknown


@pytest.mark.parametrize(
    "framed",
    ["What does the author say about the ropes of hemp?", "Ropes of hemp, etc.: any ideas?"],
)
def test_framing_words_are_no_terms(bundle: Bundle, framed: str) -> None:
    assert read(bundle, framed).terms == read(bundle, "ropes of hemp").terms


def test_framing_words_alone_still_search(tmp_path: Path) -> None:
    bundle = site(tmp_path, "The authors of the harbour.", "A rope.", "A wall.")
    engine = Engine(bundle, LetterEmbedder(), ScriptedAnswerer([]))
    assert engine.search("Who are the authors?")[0].passage.record == "p0"


def test_a_question_of_stopwords_is_refused_before_embedding(bundle: Bundle) -> None:
    embedder = CountingEmbedder(LetterEmbedder())
    engine = Engine(bundle, embedder, ScriptedAnswerer([]))
    assert engine.answer("and what about that?").reason == "no-evidence"
    assert embedder.texts == []
    engine.retrieve("What does the author think about the ingres?")
    assert embedder.texts == ["What does the author think about the ingress?"]


def test_a_refusal_has_no_results_for_a_spelling() -> None:
    remarks = [Remark("corrected", "ingres", "ingress"), Remark("unknown", "CEO")]
    citation = RecordCitation("p", "/p/", "P", "Rope.")
    assert select_remarks(Reply(Answer((Claim("Rope.", (citation,)),))), remarks) == remarks
    assert select_remarks(Reply(reason="declined"), remarks) == remarks[1:]


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("What changed in 0.110?", True),
        ("Which release brought ropes?", True),
        ("What's new?", True),
        ("How do I upgrade from 1.2 to 2.0?", False),
        ("Does it need Python 3.8 or v2?", False),
        ("the version of a rope", False),
    ],
)
def test_a_question_asks_for_history_by_a_word_and_by_no_version(
    bundle: Bundle, question: str, *, asks: bool
) -> None:
    assert asks_for_history(question) is read(bundle, question).asks_for_history is asks
