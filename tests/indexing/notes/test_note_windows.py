"""Windows: where a note is found, and that no file in a notebook is too odd or too long."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answerable.engine.errors import NotebookError
from answerable.engine.types import RoutingHint
from answerable.indexing.notes import routing_hints
from answerable.indexing.notes.note_lint import lint_public_field
from answerable.indexing.notes.notebook import Note, NotePage, read_notebook
from answerable.indexing.notes.transcripts import Cue
from support.fuzz_settings import fuzzed

fuzz = fuzzed()

URL = "https://x.example/"


def note(
    parts: Sequence[Cue | NotePage] = (), body: str = "", about: str = URL, locator: str = ""
) -> Note:
    return Note("a.md", "n", "Label", locator, about, "Title", body, (), tuple(parts))


def spoken(count: int, words: int = 10, seconds: float = 5.0) -> list[Cue]:
    """Cues one after another, each with words of its own."""
    return [
        Cue(" ".join(f"w{n}x{m}" for m in range(words)), n * seconds, (n + 1) * seconds)
        for n in range(count)
    ]


class Surfaced(NamedTuple):
    """The hints and texts of one note, as an index has them."""

    hints: tuple[RoutingHint, ...]
    texts: tuple[str, ...]
    owners: tuple[int, ...]


def surface(note: Note, resolve: Callable[[str], str], language: str = "en") -> Surfaced:
    hint_texts = routing_hints.cut_note(note, resolve, language)
    owners = tuple(row for row, each in enumerate(hint_texts) for _ in each.texts)
    texts = tuple(text for each in hint_texts for text in each.texts)
    return Surfaced(tuple(each.hint for each in hint_texts), texts, owners)


def test_a_plain_note_has_one_hint_and_windows_under_its_title_and_label() -> None:
    body = "\n\n".join(" ".join(f"w{n}x{m}" for m in range(30)) for n in range(4))
    surfaced = surface(note(body=body, locator="shelf 2"), str)
    assert [(hint.id, hint.locator, hint.url) for hint in surfaced.hints] == [("n", "shelf 2", URL)]
    assert surfaced.owners == (0, 0)
    assert all(text.startswith("Title\nLabel\n\nw") for text in surfaced.texts)


def test_a_transcript_has_a_hint_for_each_window() -> None:
    surfaced = surface(note(spoken(12), locator="Recording"), str)
    assert [hint.id for hint in surfaced.hints] == ["n", "n~2", "n~3"]
    assert [hint.locator for hint in surfaced.hints] == [
        "Recording, 0:00–0:30",
        "Recording, 0:25–0:55",
        "Recording, 0:50–1:00",
    ]
    assert {(hint.label, hint.url) for hint in surfaced.hints} == {("Label", URL)}
    assert surfaced.owners == (0, 1, 2)
    assert surfaced.texts[1].startswith("Title\nLabel\n\nw5x0 ")
    assert surfaced.texts[1].endswith(" w10x9")


def test_a_cue_that_is_too_long_shares_its_hint() -> None:
    cues = [*spoken(1), Cue(" ".join(f"v{m}" for m in range(150)), 5, 60), Cue("bye", 60, 61)]
    surfaced = surface(note(cues), str)
    assert [hint.locator for hint in surfaced.hints] == ["0:00–0:05", "0:05–1:00", "1:00–1:01"]
    assert surfaced.owners == (0, 1, 1, 1, 2)


@pytest.mark.parametrize(
    ("start", "end", "locator"),
    [
        (0.9, 1.1, "0:00–0:02"),
        (3599, 3600, "59:59–1:00:00"),
        (3723, 3760, "1:02:03–1:02:40"),
        (360_000, 360_001, "100:00:00–100:00:01"),
    ],
)
def test_a_time_is_written_as_a_clock_shows_it(start: float, end: float, locator: str) -> None:
    (hint,) = surface(note([Cue("Hello.", start, end)]), str).hints
    assert hint.locator == locator


def test_a_page_has_one_hint_however_long_it_is() -> None:
    pages = [NotePage("word " * 150, 3), NotePage("word", 5)]
    surfaced = surface(note(pages, locator="Book"), str)
    assert [(hint.id, hint.locator) for hint in surfaced.hints] == [
        ("n", "Book, page 3"),
        ("n~2", "Book, page 5"),
    ]
    assert surfaced.owners[-2:] == (0, 1)
    assert len(surfaced.owners) > 3


def test_a_hint_leads_to_the_second_or_the_page() -> None:
    cues = [Cue("word " * 60, 0.9, 70), Cue("word " * 60, 70.9, 80)]
    surfaced = surface(note(cues, about=URL + "?t={seconds}&s={seconds}"), str)
    assert [hint.url for hint in surfaced.hints] == [URL + "?t=0&s=0", URL + "?t=70&s=70"]
    pages = [NotePage("a", 3), NotePage("b", 5)]
    surfaced = surface(note(pages, about=URL + "b.pdf#page={page}"), str)
    assert [hint.url for hint in surfaced.hints] == [URL + "b.pdf#page=3", URL + "b.pdf#page=5"]


META = "label: Talk\nabout: https://x.example/\n"
BEGIN = {
    ".vtt": f"---\n{META}---\nWEBVTT\n\n00:01.000 --> 00:02.500\nHello there.\n",
    ".srt": f"---\n{META}---\n1\n00:00:01,000 --> 00:00:02,500\nHello there.\n",
    ".txt": f"---\n{META}---\n",
    ".md": f"---\n{META}---\n",
}
PIECES = [
    *("---\n", "label: ", "about: ", "x\n", "title: |\n ", "first_page: ", "7\n", "\n", "\f"),
    *("{page}", "{seconds}", "WEBVTT\n", "NOTE ", "STYLE\n", "REGION\n", "1\n", "<v Ann>", " --> "),
    *("00:01.000", "00:00:01,000", "<", ">", "{\\an8}", "&amp;", "\ufeff", "\r\n", "\r", "\x00"),
    *("\u2028", "\x85", "²", "99999999999", ":", "!!int ", "&a ", "*a", "[", "{", "'", '"', "- "),
    *("? ", "<<: ", META, *BEGIN.values()),
]


def files(suffix: str) -> st.SearchStrategy[bytes]:
    """Any bytes, and texts made of what means something in a note."""
    text = st.lists(st.sampled_from(PIECES) | st.text(max_size=8), max_size=30).map("".join)
    begun = text.map(lambda body: BEGIN[suffix] + body)
    fenced = text.map(lambda body: BEGIN[".md"] + body)
    texts = (text | begun | fenced).map(lambda text: text.encode(errors="replace"))
    return st.binary(max_size=60) | texts


@pytest.mark.deep
@pytest.mark.parametrize("suffix", BEGIN)
@fuzz
@given(data=st.data())
def test_any_bytes_are_read_as_a_note_or_refused(
    tmp_path_factory: pytest.TempPathFactory, suffix: str, data: st.DataObject
) -> None:
    folder = tmp_path_factory.getbasetemp() / f"notebook{suffix}"
    folder.mkdir(exist_ok=True)
    (folder / f"a{suffix}").write_bytes(data.draw(files(suffix)))
    notes: list[Note] = []
    complaint = ""
    try:
        notes = list(read_notebook(folder, writes_key=True).notes)
    except NotebookError as error:
        complaint = str(error)
    assert not complaint or complaint.startswith(f"a{suffix}")
    for read_note in notes:
        surfaced = surface(read_note, str)
        assert len(surfaced.texts) == len(surfaced.owners) >= len(surfaced.hints) >= 1
        assert len({hint.id for hint in surfaced.hints}) == len(surfaced.hints)
        for hint in surfaced.hints:
            lint_public_field(hint.locator, "", "locator")
            assert all(f.encode() for f in (hint.id, hint.label, hint.url))
