"""Notes: what their authors declare, and the mistakes that are named."""

import os
from pathlib import Path
from typing import Any

import pytest

from answerable.indexing.notes.note_places import make_about_resolver
from answerable.indexing.notes.notebook import Note, NotePage, read_notebook
from answerable.indexing.notes.routing_hints import check_about, make_hint
from answerable.serve.errors import NotebookError
from support.sites import put

GOOD = "---\nlabel: Winch\nlocator: shelf 2\nabout: guide.md#aws\ntitle: Secret\n---\nBody here.\n"


def read_notes(folder: Path, **files: str) -> list[Note]:
    for name, text in files.items():
        put(folder / f"{name}.md", text)
    return list(read_notebook(folder, writes_key=True).notes)


def message(folder: Path, text: str) -> str:
    with pytest.raises(NotebookError) as caught:
        read_notes(folder, winch=text)
    return str(caught.value)


def test_a_note_has_its_fields_and_its_title_is_embedded_with_the_body(tmp_path: Path) -> None:
    (note,) = read_notes(tmp_path, winch=GOOD)
    assert (note.label, note.locator, note.about) == ("Winch", "shelf 2", "guide.md#aws")
    assert note.text == "Secret\n\nBody here."


def test_every_error_of_every_note_is_a_line_of_one_error(tmp_path: Path) -> None:
    put(tmp_path / "a.md", "---\ntitle: [x]\nid: a b\npublished_in: {a: b}\n---\nText")
    put(tmp_path / "b.vtt", VTT.replace("-->", "--> ,") + "\n00:03.000 --> soon\nMore.\n")
    put(tmp_path / "b.vtt.yml", META + "locator: https://x.example")
    put(tmp_path / "c.md", "---\nlabel: 'x\n---\n")
    put(tmp_path / "d.srt.yml", META)
    put(tmp_path / "e.md", GOOD)
    put(tmp_path / "f.md", GOOD.replace("guide.md#aws", "gone.md"))
    (tmp_path / "g.md").write_bytes(b"\xff")
    put(tmp_path / "h.md", GOOD.replace("title", "id: w-1\ntitle"))
    put(tmp_path / "i.md", GOOD.replace("title", "id: w-1\ntitle").replace("guide.md#aws", "x.md"))

    def resolve_about(note: Note) -> None:
        check_about(note, RESOLVE, "en")

    with pytest.raises(NotebookError) as caught:
        read_notebook(tmp_path, [resolve_about], writes_key=True)
    lines = [line.split(";")[0] for line in str(caught.value).split("\n")]
    assert lines == [
        "d.srt.yml: its transcript d.srt is missing",
        "a.md: title has to be a text in quotes, on one line",
        "a.md: id has to be a text of letters, digits, `.`, `_`, `:` and `-`",
        "a.md: published_in has to be a page such as `guide/deploy.md`, or a list of pages",
        "a.md: label is missing",
        "a.md: about is missing",
        "b.vtt: line 3 has no times such as `00:01.000 --> 00:04.000`",
        "b.vtt: line 6 has no times such as `00:01.000 --> 00:04.000`",
        "b.vtt.yml: locator holds a URL, and it is public",
        "c.md: the front matter is not YAML in line 3",
        "f.md: about: 'gone.md' is not a published file of the docs folder",
        "g.md: not UTF-8",
        "i.md: about: 'x.md' is not a published file of the docs folder",
        "i.md: id 'w-1' is also that of h.md",
    ]


@pytest.mark.parametrize("value", ["2024-01-01", "12:30", "1.10", "0x10", "007"])
def test_a_date_a_time_or_a_number_is_the_text_that_was_written(tmp_path: Path, value: str) -> None:
    (note,) = read_notes(tmp_path, winch=GOOD.replace("shelf 2", value))
    assert note.locator == value


WRONG = {
    "draft": ["1", '"yes"', '"true"', "[true]", "never", "", "{a: b}", "0"],
    "routes": ["never", "1", "[off]", "{off: on}", "''", "", "null", '"yes"'],
    "label": ["[a, b]", "{a: b}", "yes", r'"\ud800"', r'"\x07"', "!!bool on"],
    "locator": ["[p. 3]", "false"],
    "title": ["[x]"],
    "id": ["guide#aws", "a/b", "a~2", "'<b>'", "[a]", "yes"],
    "published_in": ["true", "{a: b}", "[[a]]", "[true]", "['']", "''", "[null]"],
    "first_page": ["two", "-1", "1.5", "'१'", "1" * 10, "[1]", "iv"],
}


@pytest.mark.parametrize(("key", "value"), [(key, v) for key, vs in WRONG.items() for v in vs])
def test_a_value_of_another_type_is_an_error_that_names_file_and_field(
    tmp_path: Path, key: str, value: str
) -> None:
    lines = [line for line in GOOD.splitlines() if not line.startswith(f"{key}:")]
    text = "\n".join([lines[0], f"{key}: {value}", *lines[1:]])
    error = message(tmp_path, text)
    assert error.startswith(f"winch.md: {key} has to be ")
    assert error.endswith("; correct it")
    assert "\n" not in error


@pytest.mark.parametrize("value", ["true", "yes", "on", "True"])
def test_a_draft_of_yaml_is_a_draft(tmp_path: Path, value: str) -> None:
    put(tmp_path / "winch.md", GOOD.replace("title", f"draft: {value}\ntitle"))
    notebook = read_notebook(tmp_path, writes_key=True)
    assert ([note.path for note in notebook.drafts], notebook.notes) == (["winch.md"], ())


@pytest.mark.parametrize(
    ("key", "switch"), [("Draft", "draft"), ("drafts", "draft"), ("darft", "draft"),
                        ("route", "routes"), ("ROUTES", "routes")],
)  # fmt: skip
def test_a_misspelled_switch_does_not_publish_the_note(
    tmp_path: Path, key: str, switch: str
) -> None:
    error = message(tmp_path, GOOD.replace("title", f"{key}: true\ntitle"))
    assert error == f"winch.md: {key} is not a key of notes; write `{switch}`, or drop it"


def test_keys_of_the_author_s_own_are_ignored(tmp_path: Path) -> None:
    own = "themes: 7\ndate: 2024-02-31\ntags: [a]\nnotes: x\n1: y\n"
    (note,) = read_notes(tmp_path, winch=GOOD.replace("title", own + "title"))
    assert note.label == "Winch"


def test_a_named_pipe_in_the_notebook_is_refused_and_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    put(tmp_path / "talk.vtt", VTT)
    os.mkfifo(tmp_path / "talk.vtt.yml")
    lines = files(tmp_path).split("\n")
    complaint = ": neither a file nor a folder; remove or rename it"
    assert lines == [f"pipe.md{complaint}", f"talk.vtt.yml{complaint}"]


def test_a_duplicate_field_is_refused_by_name(tmp_path: Path) -> None:
    text = GOOD.replace("title: Secret", "title: Hush\nlocator: shelf 3")
    error = message(tmp_path, text)
    assert error.startswith("winch.md: locator appears in the front matter twice")
    assert "3" not in error


def test_a_duplicate_undeclared_key_is_refused_by_its_line(tmp_path: Path) -> None:
    text = GOOD.replace("title: Secret", "we sell the boat: a\nwe sell the boat: b")
    error = message(tmp_path, text)
    assert error == "winch.md: the key in line 6 appears in the front matter twice; remove one"


def test_every_suffix_of_a_text_is_read(tmp_path: Path) -> None:
    names = ["a.MD", "b.markdown", "c.mdown", "d.Mkd", "e.mkdn", "f.txt"]
    for name in names:
        put(tmp_path / name, GOOD)
    assert [note.path for note in list(read_notebook(tmp_path, writes_key=True).notes)] == names


def test_a_folder_that_cannot_be_read_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path / "shut" / "winch.md", GOOD)
    scandir = os.scandir

    def refuse(path: str) -> Any:
        if str(path).endswith("shut"):
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(NotebookError, match=r"notebook: .*shut cannot be read"):
        list(read_notebook(tmp_path, writes_key=True).notes)


def test_broken_yaml_names_the_line_and_repeats_nothing_of_it(tmp_path: Path) -> None:
    error = message(tmp_path, "---\nlabel: x\ntitle: 'hush hush\nabout: y\n---\nBody")
    assert error.startswith("winch.md: the front matter is not YAML in line")
    assert "hush" not in error


def test_a_link_to_nothing_is_named_and_a_folder_called_md_is_entered(tmp_path: Path) -> None:
    put(tmp_path / "old.md" / "winch.md", GOOD)
    assert [note.path for note in list(read_notebook(tmp_path, writes_key=True).notes)] == [
        "old.md/winch.md"
    ]
    (tmp_path / "gone.md").symlink_to(tmp_path / "nowhere")
    with pytest.raises(NotebookError, match=r"^gone\.md: cannot be read"):
        list(read_notebook(tmp_path, writes_key=True).notes)


def test_windows_line_ends_and_a_byte_order_mark_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(("\ufeff" + GOOD).replace("\n", "\r\n").encode())
    (note,) = list(read_notebook(tmp_path, writes_key=True).notes)
    assert (note.label, note.body) == ("Winch", "Body here.")


def test_drafts_and_hidden_files_are_not_read(tmp_path: Path) -> None:
    put(tmp_path / ".trash" / "old.md", GOOD)
    put(tmp_path / ".talk.vtt.yml", "x")
    assert read_notes(tmp_path, winch=GOOD.replace("title", "draft: true\ntitle")) == []


def test_drafts_are_read_for_the_audit_whatever_they_lack(tmp_path: Path) -> None:
    put(tmp_path / "a.md", "---\ndraft: true\ntitle: Hush\npublished_in: b.md\n---\nWe sell.\n")
    put(tmp_path / "b.vtt", "nothing yet")
    put(tmp_path / "b.vtt.yml", "draft: true")
    put(tmp_path / "c.md", GOOD)
    first, second = read_notebook(tmp_path, writes_key=True).drafts
    assert (first.path, first.title, first.body) == ("a.md", "Hush", "We sell.")
    assert first.published_in == ("b.md",)
    assert (second.path, second.body, second.raw) == ("b.vtt", "nothing yet", "nothing yet")


def test_a_missing_notebook_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotebookError, match=r"notebook: .* is not a folder"):
        list(read_notebook(tmp_path / "none", writes_key=True).notes)


RESOLVE = make_about_resolver(
    {"guide.md": ("/guide/", frozenset({"aws"})), "plan.pdf": ("/plan.pdf", frozenset())}
)


@pytest.mark.parametrize(
    ("about", "url"),
    [
        ("guide.md", "/guide/"),
        ("guide.md#aws", "/guide/#aws"),
        ("plan.pdf", "/plan.pdf"),
        ("https://archive.example/a#b", "https://archive.example/a#b"),
    ],
)
def test_about_resolves_to_a_published_place(tmp_path: Path, about: str, url: str) -> None:
    (note,) = read_notes(tmp_path, winch=GOOD.replace("guide.md#aws", about))
    hint = make_hint(note, RESOLVE)
    assert (hint.id, hint.label, hint.locator, hint.url) == (note.id, "Winch", "shelf 2", url)


@pytest.mark.parametrize(
    ("about", "complaint"),
    [
        ("guide.md#azure", "guide.md has no anchor 'azure'; it has aws"),
        ("gone.md", "'gone.md' is not a published file"),
        ("http://archive.example/", "not a published file"),
        ("javascript:alert(1)", "not a published file"),
        ("../mkdocs.yml", "not a published file"),
        ("https://[x/", "is not a url"),
    ],
)
def test_any_other_about_is_refused_naming_file_and_field(
    tmp_path: Path, about: str, complaint: str
) -> None:
    (note,) = read_notes(tmp_path, winch=GOOD.replace("guide.md#aws", f'"{about}"'))
    with pytest.raises(NotebookError) as caught:
        make_hint(note, RESOLVE)
    assert str(caught.value).startswith("winch.md: about")
    assert complaint in str(caught.value)


@pytest.mark.parametrize(
    ("value", "pages"),
    [
        ("guide.md", ("guide.md",)),
        ("[guide.md, a/b.md]", ("guide.md", "a/b.md")),
        ("", ()),
        ("7", ("7",)),
    ],
)
def test_published_in_is_a_page_or_a_list_of_pages(
    tmp_path: Path, value: str, pages: tuple[str, ...]
) -> None:
    (note,) = read_notes(tmp_path, winch=GOOD.replace("title", f"published_in: {value}\ntitle"))
    assert note.published_in == pages


def test_form_feeds_divide_pages_and_an_empty_page_counts(tmp_path: Path) -> None:
    (note,) = read_notes(
        tmp_path, winch=GOOD.replace("Body here.", "\fOne.\n\fTwo.\n\f \n\fFour.\f")
    )
    assert note.parts == (NotePage("One.", 2), NotePage("Two.", 3), NotePage("Four.", 5))
    assert note.body == "One.\n\nTwo.\n\nFour."


@pytest.mark.parametrize(("first", "pages"), [("12", [12, 13]), ("0", [0, 1]), ("007", [7, 8])])
def test_pages_are_counted_from_the_first(tmp_path: Path, first: str, pages: list[int]) -> None:
    text = GOOD.replace("title", f"first_page: {first}\ntitle").replace(" here", "\fhere")
    (note,) = read_notes(tmp_path, winch=text)
    assert [part.number for part in note.parts if isinstance(part, NotePage)] == pages


@pytest.mark.parametrize(
    ("about", "body", "complaint"),
    [
        ("https://x.example/?t={seconds}", "plain", True),
        ("https://x.example/#page={page}", "plain", True),
        ("https://x.example/#page={page}", "one\ftwo", False),
        ("https://x.example/?t={seconds}", "one\ftwo", True),
        ("https://x.example/{}#page={page}", "one\ftwo", True),
    ],
)
def test_only_the_placeholder_of_its_kind_may_stand_in_about(
    tmp_path: Path, about: str, body: str, complaint: bool
) -> None:
    text = GOOD.replace("guide.md#aws", f"'{about}'").replace("Body here.", body)
    if complaint:
        assert message(tmp_path, text).startswith("winch.md: about may hold `{seconds}`")
    else:
        assert read_notes(tmp_path, winch=text)[0].about == about


@pytest.mark.parametrize(
    "value",
    ["!!int x", "!!timestamp x", "!!bool x", "!!float x", "&a [*a]", "[" * 3000, '"\\0"', "!x y"],
)
def test_yaml_that_cannot_be_read_is_refused(tmp_path: Path, value: str) -> None:
    error = message(tmp_path, GOOD.replace("label: Winch", f"label: {value}"))
    assert error.startswith("winch.md: ")


def test_front_matter_of_a_whole_book_is_refused(tmp_path: Path) -> None:
    text = GOOD.replace("title", "x: [" + "a, " * 100_000 + "]\ntitle")
    assert "the front matter has more than 65536 characters" in message(tmp_path, text)


def files(folder: Path, **texts: str) -> str:
    """The complaint about a notebook; a name's `_` is a dot."""
    for name, text in texts.items():
        put(folder / name.replace("_", "."), text)
    with pytest.raises(NotebookError) as caught:
        list(read_notebook(folder, writes_key=True).notes)
    return str(caught.value)


VTT = "WEBVTT\n\n00:01.000 --> 00:02.500\nHello there.\n"
SRT = "1\n00:00:01,000 --> 00:00:02,500\nHello there.\n"
META = "label: Talk\nabout: guide.md\n"


def test_a_transcript_is_a_note_with_front_matter_or_a_sidecar(tmp_path: Path) -> None:
    put(tmp_path / "a.vtt", f"---\n{META}---\n\n{VTT}")
    put(tmp_path / "b.SRT", SRT)
    put(tmp_path / "b.SRT.yaml", META)
    put(tmp_path / "c.vtt", "\ufeff" + VTT)
    put(tmp_path / "c.vtt.yml", f"\ufeff---\n{META}title: Hush\n---\n")
    notes = list(read_notebook(tmp_path, writes_key=True).notes)
    assert [note.path for note in notes] == ["a.vtt", "b.SRT", "c.vtt"]
    assert [note.label for note in notes] == ["Talk"] * 3
    assert {note.body for note in notes} == {"Hello there."}
    assert {note.parts for note in notes} == {notes[0].parts}
    assert notes[0].raw == f"\n{VTT}"
    assert notes[2].text == "Hush\n\nHello there."


def test_a_transcript_has_one_front_matter(tmp_path: Path) -> None:
    error = files(tmp_path / "1", a_vtt=f"---\n{META}---\n{VTT}", a_vtt_yml=META)
    assert error == "a.vtt: it has front matter, and so has a.vtt.yml; keep one of them"
    error = files(tmp_path / "2", a_vtt=VTT, a_vtt_yml=META, a_vtt_yaml=META)
    assert error == "a.vtt.yml: a.vtt has another such file; keep one of them"


def test_an_error_names_the_file_where_a_field_belongs(tmp_path: Path) -> None:
    missing = "{0} is missing; add `{0}: …` to its front matter or to a.vtt.yml"
    expected = "\n".join(f"a.vtt: {missing.format(key)}" for key in ("label", "about"))
    assert files(tmp_path, a_vtt=VTT) == expected
    error = files(tmp_path, a_vtt=VTT, a_vtt_yml="label: Talk")
    assert error == "a.vtt.yml: about is missing; add `about: …` to it"
    assert files(tmp_path, a_vtt_yml="a: b\n'c").startswith("a.vtt.yml: the front matter is not")
    assert files(tmp_path, a_vtt_yml=META + "locator: https://x.example").startswith(
        "a.vtt.yml: locator holds a URL"
    )
