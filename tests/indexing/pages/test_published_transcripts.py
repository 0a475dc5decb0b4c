"""Transcripts that pages publish: quotable passages with time locators and links to the second."""

import json
import re
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answerable.indexing.notes.transcripts import Cue
from answerable.indexing.pages.page_index import index_record
from answerable.indexing.pages.passages import (
    MAX_SENTENCE_WORDS,
    MAX_WINDOW_WORDS,
    PassageWindow,
    cut_transcript,
    link_to_time,
)
from answerable.indexing.pages.records import PageMetadata, Record, Transcript
from answerable.serve.providers import make_engine
from answerable.serve.stores.bundle import Bundle
from answerable.serve.text.tokenization import count_words
from answerable.serve.types import RecordCitation
from support import sites
from support.server_processes import Running, run

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
BARNACLES, OAR = "What do barnacles hate?", "How long does a varnished oar last?"


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
    opening = cited(bundle, BARNACLES)
    assert (opening.title, opening.url) == ("Keynote › 0:02", "/v1/talks/keynote/?t=2")
    assert "Barnacles hate copper paint." in opening.quote
    assert (folder / "site" / "talks" / "keynote.vtt").read_text("utf-8") == TALK
    texts = {each.id: each.text for each in bundle.passages()}
    assert texts["talks/keynote#keynote"] == "The talk that opened the boat show."


def test_function_serves_what_was_said(tmp_path: Path) -> None:
    folder = site(tmp_path)
    assert sites.build(folder, "--strict").returncode == 0

    def has_address(running: Running) -> bool:
        match = re.search(r"http://127\.0\.0\.1:(\d+)/answer", running.output)
        running.port = int(match[1]) if match else 0
        return bool(match)

    main = str(folder / "function" / "main.py")
    with run(["env", "PORT=0", sys.executable, "-I", main], folder, has_address) as running:
        body = running.ask("/answer", BARNACLES)
        assert body["citations"][0]["url"] == "/talks/keynote/?t=2"
        assert body["citations"][0]["absolute_url"] == "https://harbour.example/talks/keynote/?t=2"
        assert body["citations"][0]["href"].startswith("/talks/keynote/?t=2#:~:text=")
        status, results = running.request("GET", "/v1/search?q=barnacles")
        assert status == 200
        [row] = [each for key, each in json.loads(results).items() if key == "talks/keynote#t=2"]
        assert row["title"] == "Keynote › 0:02"
        assert row["text"].startswith("Ann: Barnacles hate copper paint.")


@pytest.mark.parametrize(
    ("media", "url"),
    [
        ("https://video.example/talk", "https://video.example/talk?t=2"),
        ("https://video.example/w?v=ab#top", "https://video.example/w?v=ab&t=2#top"),
        ("https://video.example/talk#t={seconds}s", "https://video.example/talk#t=2s"),
    ],
)
def test_citation_links_to_the_recording_that_the_author_names(
    tmp_path: Path, media: str, url: str
) -> None:
    assert cited(built(site(tmp_path, f"media: {media}\n")), BARNACLES).url == url


def test_subrip_from_the_docs_folder_is_read(tmp_path: Path) -> None:
    folder = site(tmp_path)
    page = PAGE.format("").replace("keynote.vtt", "/media/late.srt")
    sites.put(folder / "docs" / "talks" / "keynote.md", page)
    text = "1\r\n01:02:03,000 --> 01:02:09,000\r\nBarnacles hate copper paint.\r\n"
    sites.put(folder / "docs" / "media" / "late.srt", text)
    first = cited(built(folder), BARNACLES)
    assert (first.title, first.url) == ("Keynote › 1:02:03", "/talks/keynote/?t=3723")


def test_changed_transcript_changes_the_next_build(tmp_path: Path) -> None:
    folder = site(tmp_path)
    before = built(folder).manifest.id
    sites.put(folder / "docs" / "talks" / "keynote.vtt", TALK.replace("copper", "zinc"))
    bundle = built(folder)
    assert bundle.manifest.id != before
    assert "Barnacles hate zinc paint." in cited(bundle, BARNACLES).quote


def test_page_without_answers_keeps_its_transcript_out(tmp_path: Path) -> None:
    bundle = built(site(tmp_path, "answerable:\n  exclude: true\n"))
    assert not [each for each in bundle.passages() if each.record == "talks/keynote"]


def test_media_without_a_transcript_is_ignored(tmp_path: Path) -> None:
    folder = site(tmp_path, "media: [1, 2]\n")
    page = folder / "docs" / "talks" / "keynote.md"
    sites.put(page, page.read_text("utf-8").replace("transcript: keynote.vtt\n", ""))
    assert not [each for each in built(folder).passages() if "#t=" in each.id]


@pytest.mark.parametrize(
    ("front", "talk", "sentence"),
    [
        (
            "transcript: talk.vtt",
            TALK,
            "keynote.md: transcript: 'talk.vtt' is not a published file",
        ),
        ("transcript: ../../mkdocs.vtt", TALK, "'../../mkdocs.vtt' is not a published file"),
        ("transcript: keynote.md", TALK, "ends in neither .vtt nor .srt; convert the file"),
        ("transcript: [keynote.vtt]", TALK, "transcript: ['keynote.vtt'] is not a path"),
        ("transcript: ''", TALK, "transcript: '' is not a path"),
        ("transcript: keynote.vtt\nmedia: talk.mp4", TALK, "media: 'talk.mp4' is not an http(s)"),
        ("transcript: keynote.vtt\nmedia: https://a b", TALK, "is not an http(s) url; correct it"),
        ("transcript: keynote.vtt", "Hello\n", "talks/keynote.vtt: line 1 has to be `WEBVTT`"),
        ("transcript: keynote.vtt", "WEBVTT\n\n1:2 --> 3\nx\n", "keynote.vtt: line 3 has no times"),
        ("transcript: keynote.vtt", "WEBVTT\n", "talks/keynote.vtt: it has no cue that says"),
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


def test_transcript_that_is_not_utf8_is_one_sentence(tmp_path: Path) -> None:
    folder = site(tmp_path)
    (folder / "docs" / "talks" / "keynote.vtt").write_bytes(TALK.encode("utf-16"))
    assert "talks/keynote.vtt: it is not UTF-8; save it as UTF-8" in sites.failure(folder)


def test_unpublished_transcript_is_refused(tmp_path: Path) -> None:
    folder = site(tmp_path, exclude_docs="*.vtt\n")
    assert "'keynote.vtt' is not a published file" in sites.failure(folder)


@pytest.mark.parametrize("published_in", ["", "published_in: talks/keynote.md\n"])
def test_note_may_repeat_a_transcript_that_its_page_publishes(
    tmp_path: Path, published_in: str
) -> None:
    folder = site(tmp_path, plugins=[{"answerable": {"notebook": "notebook"}}])
    words = "The crowd at stand 8 looked on and clapped with mittens on."
    front = f"label: Recording of the show\nabout: talks/keynote.md\n{published_in}"
    sites.put(folder / "notebook" / "recording.md", f"---\n{front}---\n\n{words}\n")
    if published_in:
        assert "mittens" in " ".join(each.text for each in built(folder).passages())
    else:
        message = sites.failure(folder)
        assert "site/talks/keynote.vtt, line 7" in message
        assert "mittens" not in message


WORDS = st.lists(st.sampled_from(["oar", "mast.", "No?", "keel", "rope", "帆船"]), min_size=1)
CUES = st.lists(WORDS.map(" ".join), min_size=1, max_size=30)


@given(CUES, st.integers(40, 240))
def test_passages_hold_every_word_in_the_order_of_time(texts: list[str], words: int) -> None:
    cues = tuple(Cue(text, 2.5 * n, 2.5 * n + 2.0) for n, text in enumerate(texts))
    record = Record("a", "/a/", "A", PageMetadata(), (), transcript=Transcript(cues))
    passages = cut_transcript(record, PassageWindow(words, 0.0), ["a#t=0"])
    assert len({each.id for each in passages}) == len(passages)
    assert "a#t=0" not in {each.id for each in passages}
    speech = " ".join(texts)
    at = 0
    for each in passages:
        at = speech.index(each.text, at) + len(each.text)
        assert [each.text[a:b] for a, b in each.sentences]
        limit = min(words, MAX_WINDOW_WORDS)
        assert count_words(each.text) <= limit or len(each.sentences) == 1
    assert at == len(speech)
    assert "".join("".join(each.text.split()) for each in passages) == "".join(speech.split())


def test_speech_without_punctuation_is_divided_between_cues() -> None:
    cues = tuple(Cue(f"and then cue {n} goes on and on", 4.0 * n, 4.0 * n + 4.0) for n in range(40))
    record = Record("a", "/a/", "A", PageMetadata(), (), transcript=Transcript(cues))
    page = index_record(record)
    passages = [each.passage for each in page.passages]
    assert page.record.transcript is None
    assert all(each.context == "A" for each in page.passages)
    assert len(passages) > 2
    for each in passages:
        assert each.text.startswith("and then cue ")
        assert each.url == link_to_time("/a/", int(each.id.partition("t=")[2]))
        for start, end in each.sentences:
            assert count_words(each.text[start:end]) <= MAX_SENTENCE_WORDS
            assert each.text[start:end].startswith("and then cue ")
