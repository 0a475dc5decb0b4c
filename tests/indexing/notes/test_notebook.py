"""Notes: what their authors declare, and the mistakes that are named."""

from pathlib import Path

import pytest

from answerable.engine.errors import NotebookError
from answerable.indexing.notes.note_places import make_about_resolver
from answerable.indexing.notes.notebook import Note, NotePage, read_notebook
from answerable.indexing.notes.routing_hints import check_about, make_hint
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


def test_the_first_three_notes_that_are_wrong_are_named_by_file_and_line(tmp_path: Path) -> None:
    put(tmp_path / "a.md", GOOD.replace("guide.md#aws", "gone.md"))
    put(tmp_path / "b.md", "---\nlabel: x\ntitle: [x]\nid: a b\n---\nText")
    put(tmp_path / "c.vtt", f"---\n{META}---\n" + VTT.replace("-->", "--> ,"))
    put(tmp_path / "d.md", "---\nlabel: 'x\n---\n")

    def resolve_about(note: Note) -> None:
        check_about(note, RESOLVE, "en")

    with pytest.raises(NotebookError) as caught:
        read_notebook(tmp_path, [resolve_about], writes_key=True)
    assert [line.split(";")[0] for line in str(caught.value).split("\n")] == [
        "a.md: about: 'gone.md' is not a published file of the docs folder",
        "b.md, line 3: title has to be a text on one line, in quotes where it could be a number or "
        "a date",
        "c.vtt, line 7: write times such as `00:00:01.000 --> 00:00:04.000`, the words on the lines"
        " below them, and then an empty line",
    ]


def test_two_notes_have_no_id_in_common(tmp_path: Path) -> None:
    own = GOOD.replace("title", "id: w-1\ntitle")
    with pytest.raises(NotebookError, match=r"^b\.md: id 'w-1' is also that of a\.md"):
        read_notes(tmp_path, a=own, b=own)


WRONG = {
    "draft": ["1", '"yes"', "[true]", "never", ""],
    "routes": ["never", "'off'", "[off]", "", "null"],
    "label": ["[a, b]", "{a: b}", "yes", r'"\ud800"', r'"\x07"', "!!bool on", "|\n  a\n  b"],
    "locator": ["[p. 3]", "2024-01-01", "12:30", "1.10"],
    "title": ["[x]", ""],
    "id": ["guide#aws", "a~2", "'<b>'", "7"],
    "published_in": ["true", "{a: b}", "[[a]]", "['']", "''", "[null]", "7"],
    "first_page": ["two", "-1", "1.5", "'1'", "1" * 10],
}


@pytest.mark.parametrize(("key", "value"), [(key, v) for key, vs in WRONG.items() for v in vs])
def test_a_value_of_another_type_is_an_error_that_names_file_and_field(
    tmp_path: Path, key: str, value: str
) -> None:
    lines = [line for line in GOOD.splitlines() if not line.startswith(f"{key}:")]
    text = "\n".join([lines[0], f"{key}: {value}", *lines[1:]])
    error = message(tmp_path, text)
    assert error.startswith(f"winch.md, line 2: {key} has to be ")
    assert error.endswith("; correct it or take it out")


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
    line = "winch.md, line 5"
    assert error == f"{line}: {key} is not a key of notes; write `{switch}`, or drop it"


def test_keys_of_the_author_s_own_are_ignored(tmp_path: Path) -> None:
    own = "themes: 7\ndate: 2024-02-28\ntags: [a]\nnotes: x\n1: y\n"
    (note,) = read_notes(tmp_path, winch=GOOD.replace("title", own + "title"))
    assert note.label == "Winch"


@pytest.mark.parametrize("line", ["locator: shelf 3", "we sell the boat: b"])
def test_a_key_that_stands_there_twice_is_refused_by_its_line(tmp_path: Path, line: str) -> None:
    text = GOOD.replace("title: Secret", f"we sell the boat: a\n{line}")
    error = message(tmp_path, text)
    assert error == "winch.md, line 6: this key stands there twice; remove one"


def test_broken_yaml_names_the_line_and_repeats_nothing_of_it(tmp_path: Path) -> None:
    error = message(tmp_path, "---\nlabel: x\ntitle: 'hush hush\nabout: y\n---\nBody")
    assert error == "winch.md, line 5: the front matter is not YAML; correct it"
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
    assert read_notes(tmp_path, winch=GOOD.replace("title", "draft: true\ntitle")) == []


def test_drafts_are_read_for_the_audit_whatever_they_lack(tmp_path: Path) -> None:
    put(tmp_path / "a.md", "---\ndraft: true\ntitle: Hush\npublished_in: b.md\n---\nWe sell.\n")
    put(tmp_path / "b.vtt", "---\ndraft: true\n---\nnothing yet")
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


@pytest.mark.parametrize(("first", "pages"), [("12", [12, 13]), ("0", [0, 1])])
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
        assert message(tmp_path, text).startswith("winch.md, line 4: about may hold `{seconds}`")
    else:
        assert read_notes(tmp_path, winch=text)[0].about == about


@pytest.mark.parametrize(
    "value",
    ["!!int x", "!!timestamp x", "!!bool x", "!!float x", "&a [*a]", "[" * 3000, '"\\0"', "!x y"],
)
def test_yaml_that_cannot_be_read_is_refused(tmp_path: Path, value: str) -> None:
    error = message(tmp_path, GOOD.replace("label: Winch", f"label: {value}"))
    assert error.startswith("winch.md")


def test_front_matter_of_a_whole_book_is_refused(tmp_path: Path) -> None:
    text = GOOD.replace("title", "x: [" + "a, " * 100_000 + "]\ntitle")
    assert "the front matter has more than 65536 characters" in message(tmp_path, text)


VTT = "WEBVTT\n\n00:01.000 --> 00:02.500\nHello there.\n"
SRT = "1\n00:00:01,000 --> 00:00:02,500\nHello there.\n"
META = "label: Talk\nabout: guide.md\n"


def test_a_transcript_is_a_note_with_front_matter(tmp_path: Path) -> None:
    put(tmp_path / "a.vtt", f"\ufeff---\n{META}title: Hush\n---\n\n{VTT}")
    put(tmp_path / "b.SRT", f"---\n{META}---\n{SRT}")
    first, second = read_notebook(tmp_path, writes_key=True).notes
    assert (first.path, second.path) == ("a.vtt", "b.SRT")
    assert first.parts == second.parts
    assert first.raw == f"\n{VTT}"
    assert first.text == "Hush\n\nHello there."


def test_a_field_that_is_missing_is_named_with_its_place(tmp_path: Path) -> None:
    expected = (
        "winch.md: label is missing; add `label: …` to its front matter, between two lines of `---`"
    )
    assert message(tmp_path, "Body").startswith(expected)
