"""Transcripts that pages publish: quotable passages with time locators and links to the second."""

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from answerable.engine.bundle import Bundle
from answerable.engine.providers import make_engine
from answerable.engine.text.sentences import find_sentences
from answerable.engine.text.tokenization import count_words
from answerable.engine.types import RecordCitation
from answerable.indexing.notes.transcripts import Cue
from answerable.indexing.pages.passages import (
    MAX_WINDOW_WORDS,
    PassageWindow,
    cut_transcript,
)
from answerable.indexing.pages.records import PageMetadata, Record, Transcript
from support import sites

PAGE = "---\ntranscript: keynote.vtt\n{}---\n\n# Keynote\n\nThe talk that opened the boat show.\n"
# A minute of other talk stands between the two sentences that are asked for.
FILLER = "".join(
    f"\n\n00:{n:02d}.000 --> 00:{n + 2:02d}.000\nThe crowd at stand {n} looked on and clapped "
    "with mittens on, while somebody unrolled another banner over the floor."
    for n in range(8, 58, 3)
)
TALK = (
    "WEBVTT\n\n00:02.000 --> 00:06.000\n<v Ann>Barnacles hate copper paint."
    f"{FILLER}\n\n12:34.500 --> 12:37.000\nA varnished oar lasts\n\n"
    "12:37.000 --> 12:41.000\neleven summers in fresh water.\n"
)
OAR = "How long does a varnished oar last?"


def site(folder: Path, front: str = "", talk: str = TALK, **config: object) -> Path:
    pages = {
        "index.md": "# Show\n\nBoats and oars are shown here.\n",
        "talks/keynote.md": PAGE.format(front),
        "talks/keynote.vtt": talk,
    }
    return sites.write_site(folder, pages, **config)  # type: ignore[arg-type]


def built(folder: Path) -> Bundle:
    sites.build_here(folder)
    return sites.opened(folder)


def cited(bundle: Bundle, question: str) -> RecordCitation:
    [first, *_] = make_engine(bundle, sites.local()).answer(question).citations
    assert isinstance(first, RecordCitation)
    return first


def test_answer_quotes_what_was_said_and_links_to_the_second(tmp_path: Path) -> None:
    folder = site(tmp_path, site_url="https://show.example/v1/")
    bundle = built(folder)
    first = cited(bundle, OAR)
    assert first.quote == "A varnished oar lasts eleven summers in fresh water."
    # After a pause another passage begins, and so its link leads to what is quoted.
    assert (first.id, first.title) == ("talks/keynote#t=754", "Keynote › 12:34")
    assert first.url == "/v1/talks/keynote/?t=754"
    assert (folder / "site" / "talks" / "keynote.vtt").read_text("utf-8") == TALK
    texts = {passage.id: passage.text for passage in bundle.passages()}
    assert texts["talks/keynote#keynote"] == "The talk that opened the boat show."


@pytest.mark.parametrize(
    ("front", "talk", "sentence"),
    [
        (
            "transcript: talk.vtt",
            TALK,
            "keynote.md: transcript: 'talk.vtt' is not a published file",
        ),
        ("transcript: keynote.md", TALK, "ends in neither .vtt nor .srt; convert the file"),
        ("transcript: ''", TALK, "transcript: '' is not a path"),
        ("transcript: keynote.vtt\nmedia: talk.mp4", TALK, "media: 'talk.mp4' is not an http(s)"),
        ("transcript: keynote.vtt", "Hello\n", "talks/keynote.vtt, line 1: write times"),
        ("transcript: keynote.vtt", "WEBVTT\n\n1:2 --> 3\nx\n", "keynote.vtt, line 3: write times"),
    ],
)
def test_wrong_path_or_broken_file_is_one_sentence(
    tmp_path: Path, front: str, talk: str, sentence: str
) -> None:
    folder = site(tmp_path, talk=talk)
    page = PAGE.format("").replace("transcript: keynote.vtt", front)
    sites.put(folder / "docs" / "talks" / "keynote.md", page)
    message = sites.failure(folder)
    assert sentence in message
    assert "Traceback" not in message


WORDS = st.lists(st.sampled_from(["oar", "mast.", "No?", "keel", "rope", "帆船"]), min_size=1)
CUES = st.lists(WORDS.map(" ".join), min_size=1, max_size=30)


@given(CUES, st.integers(40, 240))
@example([" ".join(41 * ["oar"])], 40)
def test_passages_hold_every_word_in_the_order_of_time(texts: list[str], words: int) -> None:
    cues = tuple(Cue(text, 2.5 * n, 2.5 * n + 2.0) for n, text in enumerate(texts))
    record = Record("a", "/a/", "A", PageMetadata(), (), transcript=Transcript(cues))
    cuts = cut_transcript(record, PassageWindow(words, 0.0), ["a#t=0"])
    passages = [passage for passage, _ in cuts]
    assert len({passage.id for passage in passages}) == len(passages)
    assert "a#t=0" not in {passage.id for passage in passages}
    speech = " ".join(texts)
    at = 0
    for passage in passages:
        at = speech.index(passage.text, at) + len(passage.text)
        sentences = find_sentences(passage.markdown)
        assert sentences
        limit = min(words, MAX_WINDOW_WORDS)
        assert count_words(passage.text) <= limit or len(sentences) == 1
    assert at == len(speech)
    assert "".join("".join(passage.text.split()) for passage in passages) == "".join(speech.split())
