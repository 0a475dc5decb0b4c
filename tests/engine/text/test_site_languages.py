"""Sites in several languages: each is a corpus of its own, and the asker's goes first."""

from pathlib import Path

import pytest

from answerable.cli.render import print_reply
from answerable.engine.bundle import Bundle
from answerable.engine.engine import Engine
from answerable.engine.index.manifest import Profile
from answerable.engine.retrieval.question import read_question
from answerable.engine.text.tokenization import match_languages
from answerable.engine.types import Answer, Claim, RecordCitation, Reply
from support import doubles
from support.doubles import bundle_of, index_of, record
from support.scripted import LetterEmbedder, ScriptedAnswerer

OPEN = Profile(floor=0.0, note_floor=0.0)
ENGLISH = ["The rope of the mooring holds the boat.", "A rope, a rope and one more rope.", "Wind."]
FRENCH = ["Les cordages du mouillage tiennent le bateau.", "Un cordage, et encore un cordage."]


def bilingual(folder: Path, profile: Profile = OPEN, *, french_first: bool = False) -> Bundle:
    pages = [record(f"en{n}", f"<p>{text}</p>", f"Page {n}x") for n, text in enumerate(ENGLISH)]
    french = [record(f"fr{n}", f"<p>{text}</p>", f"Page {n}x") for n, text in enumerate(FRENCH)]
    own = {page.id: "fr" for page in french}
    both = [*french, *pages] if french_first else [*pages, *french]
    return bundle_of(folder, index_of(folder, both, languages=own), profile)


def alone(folder: Path, language: str, texts: list[str]) -> Bundle:
    pages = [record(f"p{n}", f"<p>{text}</p>", f"Page {n}x") for n, text in enumerate(texts)]
    return bundle_of(folder, index_of(folder, pages, language=language), OPEN)


@pytest.mark.parametrize("question", ["rope wind", "cordages", "rope cordage", "zeppelin"])
def test_each_language_scores_as_in_a_site_of_its_own(tmp_path: Path, question: str) -> None:
    both = bilingual(tmp_path / "both")
    vector = LetterEmbedder().embed([question])[0]
    passages = doubles.retrieve(both, question, vector, 90).passages
    for language, texts in (("en", ENGLISH), ("fr", FRENCH)):
        single = doubles.retrieve(alone(tmp_path / language, language, texts), question, vector, 90)
        scores = {s.item.id.removeprefix("p"): s.lexical for s in single.passages}
        own = {s.item.id[2:]: s.lexical for s in passages if s.item.language == language}
        assert own == scores


def test_question_is_tokenized_in_every_site_language(tmp_path: Path) -> None:
    bundle = bilingual(tmp_path)
    assert read_question(bundle, "ropes").terms == {"en": ["rope"], "fr": ["rope"]}
    assert read_question(bundle, "the of and").terms.keys() == {"fr"}
    assert read_question(bundle, "係留").terms == {}


@pytest.mark.parametrize(
    ("language", "languages"),
    [
        ("fr", {"fr"}), ("fr-CA", {"fr"}), ("FR_ca", {"fr"}), ("en-GB", {"en"}),
        (None, {"en", "fr"}), ("ja", {"en", "fr"}), ("f", {"en", "fr"}),
    ],
)  # fmt: skip
def test_passages_in_the_askers_language_come_first(
    tmp_path: Path, language: str | None, languages: set[str]
) -> None:
    bundle = bilingual(tmp_path)
    question = "rope cordage"
    ranked = doubles.retrieve(
        bundle, question, LetterEmbedder().embed([question])[0], 8, language
    ).passages
    assert {scored.item.language for scored in ranked} == languages


def test_other_languages_answer_when_the_askers_has_no_evidence(tmp_path: Path) -> None:
    bundle = bilingual(tmp_path, Profile(floor=0.5))
    question = "one more rope"
    vector = LetterEmbedder().embed([question])[0]
    ranked = doubles.retrieve(bundle, question, vector, 8, "fr").passages
    assert {scored.item.language for scored in ranked} == {"en"}


def test_citation_has_its_language(tmp_path: Path) -> None:
    quote = {"text": "Rope.", "evidence": [{"source": "s1", "quote": "encore un cordage"}]}
    answerer = ScriptedAnswerer([{"claims": [quote]}])
    reply = Engine(bilingual(tmp_path), LetterEmbedder(), answerer).answer("cordage", "fr-CA")
    (citation,) = reply.answer.citations
    assert isinstance(citation, RecordCitation)
    assert citation.language == "fr"


@pytest.mark.parametrize(
    ("tag", "languages", "matches"),
    [
        ("fr-CA", ["fr", "fr-CA"], {"fr-CA"}),
        ("fr-BE", ["fr", "fr-CA"], {"fr"}),
        ("fr", ["fr-CA", "fr-BE", "en"], {"fr-CA", "fr-BE"}),
        ("zh-Hant-TW", ["zh-Hans", "zh-Hant"], {"zh-Hant"}),
        ("zh-TW", ["zh-Hans", "zh-Hant", "ja"], {"zh-Hans", "zh-Hant"}),
        ("de", ["en"], set()),
        (None, ["en"], set()),
    ],
)
def test_most_specific_language_match_wins(
    tag: str | None, languages: list[str], matches: set[str]
) -> None:
    assert match_languages(tag, languages) == matches


@pytest.mark.parametrize(
    ("language", "cited", "sentence"),
    [
        ("fr-CA", ("en", "de"), "No source is in fr-CA; language: en, de"),
        ("fr-CA", ("en", "fr"), None),
        (None, ("en",), None),
    ],
)
def test_terminal_says_when_no_source_is_in_the_askers_language(
    language: str | None,
    cited: tuple[str, ...],
    sentence: str | None,
    capsys: pytest.CaptureFixture[str],
) -> None:
    citations = tuple(
        RecordCitation(f"p{n}", "/p/", "P", "Rope.", language=language)
        for n, language in enumerate(cited)
    )
    print_reply(Reply(Answer((Claim("Rope.", citations),))), "", language)
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line.startswith("No source")] == (
        [sentence] if sentence else []
    )
