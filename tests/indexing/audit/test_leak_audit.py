"""The leak audit: private words are found wherever they are published, and never repeated."""

import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path

import mkdocs.contrib.search
import pytest

from answerable.engine.errors import LeakError, NotebookError
from answerable.indexing.audit import audit
from answerable.indexing.audit.audit import Artifact, audit_artifacts, walk_artifacts
from answerable.indexing.audit.readings import Reading, read_file
from answerable.indexing.audit.runs import cut_notes
from answerable.indexing.caches import CACHE_FILE
from answerable.indexing.notes.notebook import Note
from answerable.indexing.word_runs import RunIndex
from support.sites import put

BODY = "The gearbox of the electric winch was taken from a scrapped tractor in the spring."
RUN = "electric winch was taken from a scrapped tractor"
JAPANESE = "この港の灯台は昔から嵐の夜に船を導くために使われてきたと言われている。"


def note(body: str = BODY, title: str = "", published: tuple[str, ...] = ()) -> Note:
    return Note("winch.md", "note:1", "Plans", "shelf", "a.md", title, body, published)


def page(text: str, name: str = "a.md", file: str = "site/a/index.html") -> Artifact:
    return Artifact(file, lambda: text.encode(), name, file.removeprefix("site/"))


def asset(data: bytes | str, name: str = "site/search.json") -> Artifact:
    return Artifact(name, lambda: data.encode() if isinstance(data, str) else data)


def leak(notes: list[Note], *artifacts: Artifact, cache: Path | None = None) -> str:
    """Return the audit's error, which is checked to repeat no words of a note."""
    with pytest.raises(LeakError) as caught:
        audit_artifacts(notes, artifacts, cache)
    assert not any(RunIndex(cut_notes(notes)).find(str(caught.value)))
    return str(caught.value)


def test_a_page_that_repeats_a_note_is_named_with_its_line() -> None:
    text = leak(
        [note()], page("<p>all well</p>"), page(f"<p\nclass='a'>\n<b>The {RUN}</b>.", "b.md")
    )
    assert text == (
        "winch.md: words 4 to 11 of the note stand in site/a/index.html, line 3; "
        "take them out, or list b.md in the note's published_in"
    )


def test_a_leak_in_an_asset_has_its_own_remedy_and_five_places_are_named() -> None:
    data = json.dumps({"docs": [{"text": "x"}, {"text": f"<i>{BODY}</i>"}]})
    text = leak([note()], asset(data))
    assert text.startswith("winch.md: words 1 to 8 of the note stand in site/search.json, line 1; ")
    assert "list the page that publishes them" in text
    pages = [page(BODY, f"{name}.md", f"site/{name}/index.html") for name in "abcd"]
    other = Note("other.md", "note:2", "Plans", "", "a.md", "", BODY)
    first, *others = leak([note(), other], asset(data), *pages[:1]).split("\n")
    assert "site/a/index.html, line 1; take them out, or list a.md" in first
    assert [line.partition(":")[0] for line in others] == ["other.md", "winch.md", "other.md"]
    lines = leak([note()], asset(data), *pages).split("\n")
    assert [re.findall(r"site/(\S+),", line) for line in lines] == [
        *([f"{name}/index.html"] for name in "abcd"), ["search.json"],
    ]  # fmt: skip
    assets = [asset(data, f"site/{number}.json") for number in range(7)]
    assert leak([note()], *assets).endswith("\nand 2 more places")


def test_seven_words_are_no_run() -> None:
    audit_artifacts([note()], [page(RUN.removeprefix("electric "))])


@pytest.mark.parametrize(
    ("body", "published"),
    [
        (f"We _{RUN}_ it", f"<em>{RUN}</em>"),
        ("Straße und café im Größenwahn der alten Hafenstadt",
         "STRASSE UND cafe\u0301 im größenwahn der alten hafenstadt"),
        ("जहाज़ की पुरानी घंटी रात को तीन बार बजती है", "जहाज़ की पुरानी घंटी रात को तीन बार बजती है"),
        (JAPANESE, f"<p>{JAPANESE[:10]}</p> {JAPANESE[10:]}"),
    ],
)  # fmt: skip
def test_markup_on_either_side_hides_nothing(body: str, published: str) -> None:
    leak([note(body)], page(f"<div>zero {published} nine</div>"))


def test_scripts_without_spaces_are_compared_by_characters() -> None:
    assert "words 3 to 26" in leak([note(JAPANESE)], page(JAPANESE[2:26]))
    audit_artifacts([note(JAPANESE)], [page(JAPANESE[2:25])])


def test_a_short_note_matches_whole() -> None:
    initech = page("We <b>sell</b> to Initech.")
    assert "words 1 to 3 of" in leak([note("Sell to Initech!")], initech)
    six = "Sell the boat before the summer!"
    assert "words 1 to 6 of" in leak([note(six)], page(six))
    assert "word 1 of the note stands in" in leak([note("Xylograph")], page("A xylograph."))
    audit_artifacts([note("Sell to Initech!")], [page("Sell to old Initech.")])
    audit_artifacts([note("")], [page("anything")])
    audit_artifacts([note("![](x.png)")], [page("anything")])


def test_a_short_note_is_no_leak_where_its_words_stand_on_other_pages() -> None:
    initech = "Sell to Initech."
    other = page("Initech builds winches.", "b.md", "site/b/index.html")
    audit_artifacts([note(initech)], [page(initech), other, asset(initech)])
    long = "Sell the boat to Initech."
    leak([note(long)], page(long), other)


def test_a_file_that_an_installed_theme_ships_is_no_leak() -> None:
    shipped = Path(mkdocs.contrib.search.__file__).parent / "templates" / "search" / "lunr.js"
    copied = asset(shipped.read_bytes(), "site/search/lunr.js")
    words = note("A convenience function for configuring and constructing a new lunr Index")
    audit_artifacts([words], [copied])
    leak([words], asset(copied.data() + b" ", "site/search/lunr.js"))


def test_a_title_is_private_when_it_is_as_long_as_a_run() -> None:
    assert "of the note's title" in leak([note("x y", RUN)], asset(RUN))
    audit_artifacts([note("x y", "The winch")], [page("The winch")])


@pytest.mark.parametrize("divider", [" ", "_", "%20", "/"])
def test_a_file_name_that_leaks_is_not_repeated(divider: str) -> None:
    name = f"site/img/{RUN.replace(' ', divider)}.png"
    text = leak([note()], Artifact(name, lambda: b"\x89PNG"))
    assert "of the note stand in site/" in text
    assert "…, its name; rename the file" in text
    assert "tractor" not in text


def test_a_listed_page_and_what_is_made_from_it_may_repeat_the_note() -> None:
    listed = note(published=("./a.md",))
    feed = asset(gzip.compress(f"<p>{BODY}</p>".encode()), "site/feed.xml.gz")
    audit_artifacts([listed], iter([feed, page(f"<p>{BODY}</p>")]))
    assert "in site/b/index.html" in leak(
        [listed], page(BODY), page(BODY, "b.md", "site/b/index.html")
    )


def test_published_in_of_one_note_allows_no_run_of_another() -> None:
    listed = note(published=("a.md",))
    other = Note("other.md", "note:2", "Plans", "", "a.md", "", BODY)
    assert leak([listed, other], page(BODY)).startswith("other.md: words 1 to 8")
    assert leak([listed, other], page(BODY), asset(BODY)).count("\n") == 1


def test_published_in_has_to_name_what_is_published() -> None:
    with pytest.raises(NotebookError, match=r"winch\.md: published_in: b\.md is not a published"):
        audit_artifacts([note(published=("b.md",))], [page("x")])
    audit_artifacts(
        [note(published=("/b.js",))], [Artifact("site/b.js", BODY.encode, None, "b.js")]
    )


def test_a_folder_is_walked_in_order(tmp_path: Path) -> None:
    for name in ("b/index.html", "a.txt", "model/x.bin", "model.txt"):
        put(tmp_path / name, name)
    artifacts = list(walk_artifacts(tmp_path, "site", {"b/index.html": "b.md"}))
    assert [(a.name, a.page) for a in artifacts] == [
        ("site/a.txt", None), ("site/b/index.html", "b.md"), ("site/model.txt", None),
        ("site/model/x.bin", None),
    ]  # fmt: skip
    assert artifacts[0].data() == b"a.txt"
    assert not list(walk_artifacts(tmp_path / "none", "site"))
    (tmp_path / "a.txt").unlink()
    with pytest.raises(FileNotFoundError):
        artifacts[0].data()


def test_linked_folders_are_read_once_and_a_link_to_itself_ends(tmp_path: Path) -> None:
    put(tmp_path / "site" / "z" / "a.txt", "a")
    put(tmp_path / "far" / "b.txt", "b")
    (tmp_path / "site" / "far").symlink_to(tmp_path / "far")
    (tmp_path / "site" / "a").symlink_to(tmp_path / "site" / "z")
    (tmp_path / "far" / "loop").symlink_to(tmp_path / "site")
    artifacts = walk_artifacts(tmp_path / "site", "site")
    assert [artifact.name for artifact in artifacts] == ["site/far/b.txt", "site/z/a.txt"]


RAW = (
    "WEBVTT\nKind: captions\n\n00:00:01.000 --> 00:00:04.000 align:start\n<v Ann>The gearbox of\n\n"
    "00:00:04.000 --> 00:00:06.000 align:start\nthe winch was\n\n"
    "NOTE cut the joke\n\n7\n00:00:06.000 --> 00:00:09.000 align:start\ntaken from a tractor.\n"
)


def talk(raw: str = RAW) -> Note:
    body = "Ann: The gearbox of\nthe winch was\ntaken from a tractor."
    return Note("winch.md", "note:1", "Plans", "", "a.md", "", body, raw=raw)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("site/a.vtt", RAW),
        ("site/a.txt", "Of the winch was (note: cut the joke)"),
    ],
)
def test_a_transcript_is_found_as_a_file_and_as_prose(name: str, text: str) -> None:
    leak([talk()], asset(text, name))


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every file whose content is read."""
    texts: list[str] = []

    def counting(name: str, data: bytes) -> Iterator[Reading]:
        texts.append(data.decode())
        return read_file(name, data)

    monkeypatch.setattr(audit, "read_file", counting)
    return texts


def test_an_unchanged_file_is_not_read_again(tmp_path: Path, counted: list[str]) -> None:
    sea, tide, ebb = (f"The {word} " * 20 for word in ("sea", "tide", "ebb"))
    artifacts = [page(sea), asset(tide), asset(ebb, "site/b.js")]
    audit_artifacts([note()], artifacts, tmp_path)
    assert {sea, tide, ebb} <= set(counted)
    counted.clear()
    audit_artifacts([note()], artifacts, tmp_path)
    assert not counted

    audit_artifacts([note()], [*artifacts[:2], asset(ebb.upper(), "site/b.js")], tmp_path)
    assert ebb.upper() in counted
    assert not {sea, tide} & set(counted)
    audit_artifacts([note(f"{BODY} So.")], artifacts, tmp_path)
    assert {sea, tide, ebb} <= set(counted)
    leak([note(), note(tide)], *artifacts, cache=tmp_path)


def test_the_cache_holds_no_words_and_survives_damage(tmp_path: Path) -> None:
    audit_artifacts([note()], [page("one two")], tmp_path)
    path = tmp_path / CACHE_FILE
    assert not re.search(rb"gearbox|one two|winch", path.read_bytes())
    path.write_bytes(b"no database" * 500)
    audit_artifacts([note()], [page("one two")], tmp_path)
    leak([note()], page(BODY), cache=tmp_path)
