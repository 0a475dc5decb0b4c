"""Notes: what their authors declare, and the mistakes that are named."""

import os
from pathlib import Path
from typing import Any

import pytest

from answerable.build import notebook
from answerable.build.notebook import Note
from answerable.mkdocs import reading
from answerable.serve.errors import NotebookError
from doubles import record
from sites import put

GOOD = "---\nlabel: Winch\nlocator: shelf 2\nabout: guide.md#aws\ntitle: Secret\n---\nBody here.\n"


def read(folder: Path, **files: str) -> list[Note]:
    for name, text in files.items():
        put(folder / f"{name}.md", text)
    return notebook.read(folder)


def message(folder: Path, text: str) -> str:
    with pytest.raises(NotebookError) as caught:
        read(folder, winch=text)
    return str(caught.value)


def test_a_note_has_its_fields_and_its_title_is_embedded_with_the_body(tmp_path: Path) -> None:
    (note,) = read(tmp_path, winch=GOOD)
    assert (note.label, note.locator, note.about) == ("Winch", "shelf 2", "guide.md#aws")
    assert note.text == "Secret\n\nBody here."


def test_an_id_is_opaque_and_stays(tmp_path: Path) -> None:
    (note,) = read(tmp_path, winch=GOOD)
    assert note.id == notebook.opaque_id("winch.md")
    assert note.id.startswith("note:")
    assert len(note.id) == 15
    assert "winch" not in note.id


def test_a_declared_id_is_used(tmp_path: Path) -> None:
    (note,) = read(tmp_path, winch=GOOD.replace("title", "id: w-1\ntitle"))
    assert note.id == "w-1"


def test_two_notes_of_one_id_are_refused_naming_both(tmp_path: Path) -> None:
    text = GOOD.replace("title", "id: w-1\ntitle")
    with pytest.raises(NotebookError, match=r"b\.md.*'w-1'.*a\.md"):
        read(tmp_path, a=text, b=text)


@pytest.mark.parametrize("field", ["label", "about"])
def test_a_missing_field_is_named_with_its_file(tmp_path: Path, field: str) -> None:
    lines = [line for line in GOOD.splitlines() if not line.startswith(field)]
    assert message(tmp_path, "\n".join(lines)).startswith(f"winch.md: {field} is missing")


def test_a_locator_is_optional(tmp_path: Path) -> None:
    (note,) = read(tmp_path, winch=GOOD.replace("locator: shelf 2\n", ""))
    assert note.locator == ""


def test_without_front_matter_the_label_is_missing(tmp_path: Path) -> None:
    assert "winch.md: label is missing" in message(tmp_path, "just text")


@pytest.mark.parametrize("value", ["[a, b]", "{a: b}", "yes"])
def test_a_field_that_is_no_text_is_named(tmp_path: Path, value: str) -> None:
    text = GOOD.replace("label: Winch", f"label: {value}")
    assert message(tmp_path, text).startswith("winch.md: label has to be a text")


@pytest.mark.parametrize("value", ["2024-01-01", "12:30", "1.10", "0x10", "007"])
def test_a_date_a_time_or_a_number_is_the_text_that_was_written(tmp_path: Path, value: str) -> None:
    (note,) = read(tmp_path, winch=GOOD.replace("shelf 2", value))
    assert note.locator == value


def test_a_field_that_stands_twice_is_named(tmp_path: Path) -> None:
    text = GOOD.replace("title: Secret", "title: Hush\nlocator: shelf 3")
    found = message(tmp_path, text)
    assert found.startswith("winch.md: locator stands in the front matter twice")
    assert "3" not in found


@pytest.mark.parametrize("value", ["guide#aws", "a b", "a/b", "a~2", "<b>"])
def test_an_id_of_other_characters_is_refused(tmp_path: Path, value: str) -> None:
    text = GOOD.replace("title", f"id: '{value}'\ntitle")
    assert message(tmp_path, text).startswith("winch.md: id may hold letters")


def test_every_markdown_suffix_is_read(tmp_path: Path) -> None:
    names = ["a.MD", "b.markdown", "c.mdown", "d.Mkd", "e.mkdn"]
    for name in names:
        put(tmp_path / name, GOOD)
    assert [note.path for note in notebook.read(tmp_path)] == names


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
        notebook.read(tmp_path)


def test_a_notebook_without_notes_is_empty(tmp_path: Path) -> None:
    put(tmp_path / "plan.txt", "x")
    assert notebook.read(tmp_path) == []


def test_broken_yaml_names_the_line_and_repeats_nothing_of_it(tmp_path: Path) -> None:
    found = message(tmp_path, "---\nlabel: x\ntitle: 'hush hush\nabout: y\n---\nBody")
    assert found.startswith("winch.md: the front matter is not YAML in line")
    assert "hush" not in found


def test_front_matter_that_is_a_list_is_refused(tmp_path: Path) -> None:
    assert "winch.md: the front matter is not a list of" in message(tmp_path, "---\n- a\n---\nx")


def test_a_file_that_is_not_utf8_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"---\nlabel: \xff\n---\n")
    with pytest.raises(NotebookError, match=r"a\.md: not UTF-8"):
        notebook.read(tmp_path)


def test_a_link_to_nothing_is_named_and_a_folder_called_md_is_entered(tmp_path: Path) -> None:
    put(tmp_path / "old.md" / "winch.md", GOOD)
    assert [note.path for note in notebook.read(tmp_path)] == ["old.md/winch.md"]
    (tmp_path / "gone.md").symlink_to(tmp_path / "nowhere")
    with pytest.raises(NotebookError, match=r"^gone\.md: cannot be read"):
        notebook.read(tmp_path)


def test_windows_line_ends_and_a_byte_order_mark_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(("\ufeff" + GOOD).replace("\n", "\r\n").encode())
    (note,) = notebook.read(tmp_path)
    assert (note.label, note.body) == ("Winch", "Body here.")


def test_drafts_and_hidden_files_are_not_read(tmp_path: Path) -> None:
    put(tmp_path / ".trash" / "old.md", GOOD)
    put(tmp_path / "notes.txt", GOOD)
    assert read(tmp_path, winch=GOOD.replace("title", "draft: true\ntitle")) == []


def test_notes_come_in_the_order_of_their_paths(tmp_path: Path) -> None:
    put(tmp_path / "b" / "c.md", GOOD)
    assert [note.path for note in read(tmp_path, z=GOOD, a=GOOD)] == ["a.md", "b/c.md", "z.md"]


def test_a_label_that_repeats_the_title_is_refused_naming_the_field(tmp_path: Path) -> None:
    text = GOOD.replace("Secret", "How we will sell the boat").replace(
        "Winch", "How we will sell the boat"
    )
    assert message(tmp_path, text).startswith("winch.md: label: its words")


def test_a_missing_notebook_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotebookError, match=r"notebook: .* is not a folder"):
        notebook.read(tmp_path / "none")


def site() -> reading.Site:
    made = record("guide", "<h2 id=aws>AWS</h2><p>x")
    targets = {
        "guide.md": ("/guide/", made.anchors),
        "plan.pdf": ("/plan.pdf", frozenset[str]()),
    }
    return reading.Site((made,), targets)


@pytest.mark.parametrize(
    ("about", "url"),
    [
        ("guide.md", "/guide/"),
        ("guide.md#aws", "/guide/#aws"),
        ("/guide.md", "/guide/"),
        ("plan.pdf", "/plan.pdf"),
        ("https://archive.example/a#b", "https://archive.example/a#b"),
    ],
)
def test_about_resolves_to_a_published_place(tmp_path: Path, about: str, url: str) -> None:
    (note,) = read(tmp_path, winch=GOOD.replace("guide.md#aws", about))
    hint = notebook.hint(note, reading.resolver(site()))
    assert (hint.id, hint.label, hint.locator, hint.url) == (note.id, "Winch", "shelf 2", url)


@pytest.mark.parametrize(
    ("about", "complaint"),
    [
        ("guide.md#azure", "guide.md has no anchor 'azure'; it has aws"),
        ("gone.md", "'gone.md' is not a published file"),
        ("http://archive.example/", "not a published file"),
        ("javascript:alert(1)", "not a published file"),
        ("//evil.example/", "not a published file"),
        ("https:///x", "not a published file"),
        ("../mkdocs.yml", "not a published file"),
    ],
)
def test_any_other_about_is_refused_naming_file_and_field(
    tmp_path: Path, about: str, complaint: str
) -> None:
    (note,) = read(tmp_path, winch=GOOD.replace("guide.md#aws", f'"{about}"'))
    with pytest.raises(NotebookError) as caught:
        notebook.hint(note, reading.resolver(site()))
    assert str(caught.value).startswith("winch.md: about: ")
    assert complaint in str(caught.value)
