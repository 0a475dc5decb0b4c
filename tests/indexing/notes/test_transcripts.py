"""Transcripts: what is read of WebVTT and SubRip, and the mistakes that are named."""

import pytest

from answerable.engine.errors import NotebookError
from answerable.indexing.notes.transcripts import Cue, parse_transcript


def vtt(text: str) -> list[str]:
    """Parse the texts of cues of a WebVTT file without its first line."""
    return [cue.text for cue in parse_transcript(f"WEBVTT\n\n{text}", "a.vtt")]


def srt(text: str) -> list[str]:
    return [cue.text for cue in parse_transcript(text, "a.srt")]


def complaint(text: str, first: int = 1) -> str:
    with pytest.raises(NotebookError) as caught:
        parse_transcript(text, "a.vtt", first)
    return str(caught.value)


def test_cues_have_their_times_and_settings_are_not_said() -> None:
    text = "WEBVTT - A talk\nKind: captions\n\nintro\n"
    text += "00:01.500 --> 1:00:02.000 align:start line:0%\nHi.\n"
    assert parse_transcript(text, "a.vtt") == (Cue("Hi.", 1.5, 3602.0),)


def test_notes_styles_and_regions_are_not_said() -> None:
    text = "STYLE\n::cue { color: red }\n\nREGION\nid:a\n\nNOTE not --> said\n\n"
    text += "00:01.000 --> 00:02.000\nSaid.\n\nNOTE\nnot said\n\n00:03.000 --> 00:04.000\nToo.\n"
    assert vtt(text) == ["Said.", "Too."]


def test_tags_and_entities_are_read_and_a_comparison_is_no_tag() -> None:
    text = "00:01.000 --> 00:02.000\n<i>A</i> <c.red>b</c> <00:01.500>&amp; {\\an8}c&nbsp;d\n"
    assert vtt(text + "1 < 2 and 3 > 2") == ["A b & c d 1 < 2 and 3 > 2"]


def test_a_speaker_is_named_where_he_or_she_begins() -> None:
    text = "00:01.000 --> 00:02.000\n<v Ann Lee>One.\n\n"
    text += "00:02.000 --> 00:03.000\n<v.loud Ann Lee>Two.</v>\n\n"
    text += "00:03.000 --> 00:04.000\n- <v Bo>Three.</v> <v Ann Lee>Four.\nFive.\n"
    assert vtt(text) == ["Ann Lee: One.", "Two.", "- Bo: Three. Ann Lee: Four. Five."]


def test_line_ends_a_byte_order_mark_and_empty_lines_do_not_matter() -> None:
    text = "\n\n\ufeff1 \n00:00:01,000 --> 00:00:02,000\nHi.\n\n\n"
    text += "0:0:3.5 --> 0:0:04,0\nYes\n7\n"
    assert srt(text) == ["Hi.", "Yes 7"]


def test_cues_come_in_the_order_of_time_and_none_ends_before_it_starts() -> None:
    text = "WEBVTT\n\n00:05.000 --> 00:04.000\nB.\n\n00:01.000 --> 00:09.000\nA.\n"
    assert parse_transcript(text, "a.vtt") == (Cue("A.", 1, 9), Cue("B.", 5, 5))


def test_rolling_captions_are_said_once() -> None:
    shown = [
        ("00:00.000 --> 00:02.000", " ", "we<00:00.500><c> met</c>"),
        ("00:02.000 --> 00:02.010", "we met", " "),
        ("00:02.010 --> 00:04.000", "we met", "at<00:03.000><c> noon</c>"),
        ("00:04.000 --> 00:04.010", "at noon", " "),
        ("00:04.010 --> 00:06.000", "at noon", "and ate"),
    ]
    text = "\n\n".join("\n".join(lines) for lines in shown)
    cues = parse_transcript(f"WEBVTT\n\n{text}", "a.vtt")
    assert cues == (Cue("we met", 0, 2.01), Cue("at noon", 2.01, 4.01), Cue("and ate", 4.01, 6))


def test_a_line_that_grows_is_said_once() -> None:
    text = "\n\n".join(
        f"00:0{n}.000 --> 00:0{n + 1}.000\n{words}"
        for n, words in enumerate(["so", "so we", "so we\nmet", "so we\nmet here"])
    )
    assert vtt(text) == ["so", "we", "met", "here"]


def test_a_line_repeated_after_a_silence_is_kept() -> None:
    text = "00:01.000 --> 00:02.000\nYes.\n\n00:04.000 --> 00:05.000\nYes.\n\n"
    text += "00:05.000 --> 00:06.000\nYesterday."
    assert vtt(text) == ["Yes.", "Yes.", "Yesterday."]


@pytest.mark.parametrize(
    "line",
    [
        "00:01.000 -> x --> 00:02.000",
        "00:01.000 -->",
        "00:61.000 --> 00:62.000",
        "00:01.000 --> 00:02.000 --> 00:03.000",
        "12345678901:00:01.000 --> 12345678901:00:02.000",
        "00:00:01 --> 00:00:02",
        "hello --> world",
        "hello",
    ],
)
def test_what_has_no_times_is_refused_with_its_line(line: str) -> None:
    error = complaint(f"WEBVTT\n\n00:00.000 --> 00:01.000\nA.\n\n{line}\nB.\n", 11)
    assert error.startswith("a.vtt, line 16: write times such as")
    assert "hello" not in error


def test_two_cues_without_an_empty_line_between_them_are_refused() -> None:
    text = "1\n00:00.000 --> 00:01.000\nA.\n2\n00:01.000 --> 00:02.000\nB.\n"
    assert complaint(text).startswith("a.vtt, line 5: write times such as")


@pytest.mark.parametrize("text", ["", "\n\nNOTE x", "\n\n00:01.000 --> 00:02.000\n<i></i>\n"])
def test_a_transcript_in_which_nothing_is_said_is_refused(text: str) -> None:
    assert complaint(f"WEBVTT{text}").startswith("a.vtt: it has no cue that says anything")
