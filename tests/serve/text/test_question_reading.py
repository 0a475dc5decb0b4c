"""Reading of questions: near spellings, unknown words, whole matches and follow-ups."""

from pathlib import Path

import pytest

from answerable.serve.answers.wire import select_remarks
from answerable.serve.bundle_format.manifest import Profile
from answerable.serve.engine import Engine
from answerable.serve.retrieval.question import (
    QuestionReading,
    Remark,
    edit_distance,
    read_question,
)
from answerable.serve.stores.bundle import Bundle
from support import doubles
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
    return site(tmp_path_factory.mktemp("site"))


def site(folder: Path, profile: Profile | None = None) -> Bundle:
    pages = [record(name, f"<p>{text}</p>") for name, text in PAGES.items()]
    used_profile = profile or Profile(floor=0.0, note_floor=0.0)
    return bundle_of(folder, index_of(folder, pages, names=["Harbour Master"]), used_profile)


def read_for_bundle(bundle: Bundle, question: str) -> QuestionReading:
    return read_question(bundle, question, ORDINARY.get)


@pytest.mark.parametrize(
    ("question", "spelled", "original"),
    [
        ("ingres controller", "ingress controller", "ingres"),
        ("igress controller", "ingress controller", "igress"),
        ("the Ingerss", "the ingress", "Ingerss"),
        ("a certifcate for it", "a certificate for it", "certifcate"),
        ("a certfcate for it", "a certificate for it", "certfcate"),
        ("validtes what", "validates what", "validtes"),
        ("a web hook", "a webhook", "web hook"),
    ],
)
def test_near_spelling_is_corrected_to_the_sites_word(
    bundle: Bundle, question: str, spelled: str, original: str
) -> None:
    reading = read_for_bundle(bundle, question)
    assert reading.question == spelled
    assert reading.terms == read_for_bundle(bundle, spelled).terms
    (remark,) = (each for each in reading.remarks if each.kind == "corrected")
    assert (remark.word, remark.replacement) in spelled_pairs(original, spelled)


def spelled_pairs(original: str, spelled: str) -> set[tuple[str, str]]:
    words = spelled.split()
    pairs = [" ".join(words[place : place + 2]) for place in range(len(words) - 1)]
    return {(original, each) for each in (*words, *pairs)}


@pytest.mark.parametrize(
    "word",
    [
        "hole",  # a word of the language
        "rat",  # too short
        "harbor7",  # not letters only
        "zzzzz",  # near nothing
        "wablq",  # two edits from wall
        "harbourwall",  # two words of the site, which may be one that it lacks
        "Harbour",  # a word of the site
        "Master",  # a name of the site
    ],
)
def test_words_without_near_spelling_are_unchanged(bundle: Bundle, word: str) -> None:
    assert read_for_bundle(bundle, f"the {word}").question == f"the {word}"


def test_ambiguous_near_spellings_are_not_corrected(tmp_path: Path) -> None:
    pages = [record("a", "<p>The latch and the patch hold.</p>")]
    bundle = bundle_of(tmp_path, index_of(tmp_path, pages))
    assert read_for_bundle(bundle, "the zatch").question == "the zatch"
    assert read_for_bundle(bundle, "the zatch").remarks == (Remark("unknown", "zatch"),)


def test_a_name_with_capitals_inside_is_no_misspelled_word(tmp_path: Path) -> None:
    pages = [record("a", "<p>The sites of rpcx and of others.</p>")]
    bundle = bundle_of(tmp_path, index_of(tmp_path, pages))
    assert read_for_bundle(bundle, "the gRPCx").remarks == (Remark("unknown", "gRPCx"),)
    assert read_for_bundle(bundle, "the grpcx").question == "the rpcx"


def test_a_short_word_without_a_meaning_stands_for_no_other(tmp_path: Path) -> None:
    pages = [record("a", "<p>The net was set by hand.</p>")]
    bundle = bundle_of(tmp_path, index_of(tmp_path, pages))
    assert read_for_bundle(bundle, "the wasm").remarks == (Remark("unknown", "wasm"),)
    assert read_for_bundle(bundle, "the neet").question == "the net"
    assert read_for_bundle(bundle, "the land").remarks == (Remark("unknown", "land"),)


def test_two_edits_never_replace_a_letter_or_the_first(tmp_path: Path) -> None:
    pages = [record("a", "<p>The confidence of what replaces it.</p>")]
    bundle = bundle_of(tmp_path, index_of(tmp_path, pages))
    for word in ("confluence", "replicas"):
        assert read_for_bundle(bundle, f"pages of {word}").question == f"pages of {word}"
    assert read_for_bundle(bundle, "the cnofidenec of it").question == "the confidence of it"


@pytest.mark.parametrize(
    ("first", "second", "edits"),
    [("ab", "ab", 0), ("ab", "ba", 1), ("abc", "abd", 1), ("abc", "ac", 1), ("abc", "cab", 2),
     ("abcd", "wxyz", 3), ("a", "abcd", 3)],
)  # fmt: skip
def test_edit_distance_is_counted_up_to_a_limit(first: str, second: str, edits: int) -> None:
    assert edit_distance(first, second, 2) == edits
    assert edit_distance(second, first, 2) == edits


def test_unknown_words_are_remarked_unless_ordinary(bundle: Bundle) -> None:
    reading = read_for_bundle(bundle, "Who brought the CEO to the opera of the Harbour Master?")
    assert [each.word for each in reading.remarks] == ["CEO", "opera"]
    assert {each.kind for each in reading.remarks} == {"unknown"}


def test_unknown_word_prevents_high_confidence(bundle: Bundle) -> None:
    quote = {"text": "Rope.", "evidence": [{"source": "s1", "quote": "A rope of hemp"}]}

    def confidence(question: str) -> float:
        engine = Engine(bundle, LetterEmbedder(), ScriptedAnswerer([{"claims": [quote]}]))
        return engine.answer(question).confidence

    assert confidence("rope of hemp") > 0.7
    assert confidence("rope of hemp rated zeppelin") <= 0.69


def test_compound_that_the_site_lacks_is_unknown_as_a_whole(bundle: Bundle) -> None:
    reading = read_for_bundle(bundle, "Is there a HarbourWall for the harbourrope?")
    assert reading.remarks == (Remark("unknown", "HarbourWall"), Remark("unknown", "harbourrope"))


def test_question_is_never_refused_for_its_first_word(bundle: Bundle) -> None:
    engine = Engine(bundle, LetterEmbedder(), ScriptedAnswerer([]))
    plain = engine.retrieve("what is the rope rated for?")
    for first in ("and", "But", "or", "also,", "Then", "same, and"):
        pool = engine.retrieve(f"{first} what is the rope rated for?")
        assert pool == plain
        assert pool.reading.question == plain.reading.question
        assert pool.reading.remarks == (Remark("follow-up"),)


def test_first_word_of_another_language_is_no_continuation(tmp_path: Path) -> None:
    pages = [record("a", "<p>But du projet.</p>")]
    bundle = bundle_of(tmp_path, index_of(tmp_path, pages, language="fr"))
    assert read_for_bundle(bundle, "But du projet").question == "But du projet"


def test_question_without_a_subject_is_refused_before_embedding(bundle: Bundle) -> None:
    embedder = CountingEmbedder(LetterEmbedder())
    engine = Engine(bundle, embedder, ScriptedAnswerer([]))
    for question in ("what about that?", "and then?", "and about it?"):
        pool = engine.retrieve(question)
        assert Remark("follow-up") in pool.reading.remarks
        assert engine.answer_from(pool).reason == "no-evidence"
    assert embedder.texts == []


def test_remarks_fit_the_reply_that_they_are_shown_with(bundle: Bundle) -> None:
    remarks = [Remark("corrected", "ingres", "ingress"), Remark("unknown", "CEO")]
    remarks.append(Remark("follow-up"))
    quote = {"text": "Rope.", "evidence": [{"source": "s1", "quote": "A rope of hemp"}]}
    engine = Engine(bundle, LetterEmbedder(), ScriptedAnswerer([{"claims": [quote]}, {}]))
    answer, refusal = engine.answer("rope of hemp"), engine.answer("rope of hemp")
    assert [each.kind for each in select_remarks(answer, remarks)] == ["corrected", "unknown"]
    assert [each.kind for each in select_remarks(refusal, remarks)] == ["unknown", "follow-up"]


def test_embedded_text_has_no_frame_and_corrected_spelling(bundle: Bundle) -> None:
    embedder = CountingEmbedder(LetterEmbedder())
    engine = Engine(bundle, embedder, ScriptedAnswerer([{}, {}]))
    engine.answer("What does the author think about the ingres?")
    assert embedder.texts == ["ingress"]


def test_short_question_is_answered_when_one_passage_has_all_words(tmp_path: Path) -> None:
    strict = site(tmp_path, Profile(floor=2.0, note_floor=2.0))

    def records(question: str) -> list[str]:
        (vector,) = LetterEmbedder().embed([question])
        passages = doubles.retrieve(strict, question, vector).passages
        return sorted(scored.item.record for scored in passages)

    assert records("wall") == ["rope", "wall"]
    assert records("rope wall") == ["rope"]
    assert records("rope timeout") == []
    assert records("rope zeppelin") == []
    assert records("rope of hemp on the zeppelin wall") == []
    assert records("a rope of hemp is rated for the harbour wall and the rate is checked") == [
        "rope"
    ]


def test_name_of_code_stands_for_the_question_that_it_is_the_subject_of(tmp_path: Path) -> None:
    pages = [
        record("a", "<p>Set MAX_MOOR_AGE for a mooring.</p>"),
        record("b", "<p>The age of a boat. At most a max moor, or MaxMoor.</p>"),
        record("c", "<p>Options change what a boat does.</p>"),
    ]
    profile = Profile(floor=2.0, note_floor=2.0)
    strict = bundle_of(tmp_path, index_of(tmp_path, pages), profile)

    def records(question: str) -> list[str]:
        (vector,) = LetterEmbedder().embed([question])
        return [each.item.record for each in doubles.retrieve(strict, question, vector).passages]

    assert "a" in records("What does the option MAX_MOOR_AGE do?")
    assert records("What does the option max do for a boat of some age?") == []
    # A name in camel case is no subject by the number of its parts.
    assert records("How do I shard a MaxMoor collection?") == []


def test_dense_only_profile_reads_the_question_verbatim(tmp_path: Path) -> None:
    plain = site(tmp_path, Profile(hybrid=0.0, floor=0.0))
    question = "What does the author think about the ingres?"
    reading = read_for_bundle(plain, question)
    assert (reading.question, reading.text, reading.remarks) == (question, question, ())
    assert "think" in reading.terms["en"]
