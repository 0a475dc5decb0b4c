"""The bundle: what is written is what is opened, and nothing damaged is served."""

import datetime as dt
import gc
import weakref
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from answerable.engine.bundle import open_bundle
from answerable.engine.errors import BundleError, SiteError
from answerable.engine.index.columns import COLUMNS, Index, PhraseIndex, Postings, SiteMetadata
from answerable.engine.index.manifest import LOCAL_PROFILE, MANIFEST_FILE, Manifest
from answerable.engine.retrieval.store import score_bm25
from answerable.engine.text.urls import is_safe_url
from answerable.engine.vectors import Int8Codes
from answerable.indexing import files
from answerable.indexing.write import keep_manifest, pack_index, parse_build_time, write_index
from support import doubles
from support.browser_index import sort_terms
from support.doubles import NOON, TINY, bundle_of, index_of, note, record
from support.forged_bundles import edit_manifest, forge_columns, read_stored
from support.scripted import LetterEmbedder


def sample_index(folder: Path) -> Index:
    pages = [
        record(f"p{n}", f"<h2 id=a>A</h2><p>Rope {n} holds. Chain {n} too.</p>", date="2024-05-01")
        for n in range(40)
    ]
    return index_of(folder, pages, [note("one", "alpha"), note("two", "beta\n\ngamma")])


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    return sample_index(tmp_path_factory.mktemp("index"))


def write_sample(index: Index, folder: Path, now: dt.datetime = NOON) -> Manifest:
    packed = keep_manifest(pack_index(index, TINY, LOCAL_PROFILE, now), folder)
    write_index(packed, folder)
    return packed.manifest


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def simplify(value: Any) -> Any:
    """Plain values of a column, which can be compared."""
    if isinstance(value, PhraseIndex):
        return [(p, value.find_records(p), value.count_records(p)) for p in value.rows]
    if isinstance(value, Postings | Int8Codes):
        return [simplify(getattr(value, each.name)) for each in fields(value)]
    if isinstance(value, SiteMetadata | dict):
        return value
    return value.tolist() if isinstance(value, np.ndarray) else list(value)


def test_opened_bundle_equals_the_written_index(index: Index, tmp_path: Path) -> None:
    opened = bundle_of(tmp_path, index)
    read = sort_terms(opened.index)
    for column in COLUMNS:
        written = getattr(index, column.name)
        assert simplify(getattr(read, column.name)) == simplify(written), column.name
    assert opened.manifest.counts == {
        "records": 40, "passages": 40, "hints": 2, "windows": 2, "questions": 0, "answers": 0,
        "terms": len(index.terms),
        "words": len(index.words),
    }  # fmt: skip
    assert [passage.date for passage in opened.passages()] == ["2024-05-01"] * 40


def test_bundle_bytes_are_reproducible_in_any_folder(tmp_path: Path) -> None:
    first = write_sample(sample_index(tmp_path / "a"), tmp_path / "here" / "bundle")
    second = write_sample(sample_index(tmp_path / "b"), tmp_path / "there" / "x" / "bundle")
    assert first.id == second.id
    assert contents(tmp_path / "here" / "bundle") == contents(tmp_path / "there" / "x" / "bundle")


def test_build_time_is_kept_while_the_id_is_unchanged(index: Index, tmp_path: Path) -> None:
    later = NOON + dt.timedelta(days=1)
    first = write_sample(index, tmp_path)
    before = contents(tmp_path)
    assert write_sample(index, tmp_path, later).built_at == first.built_at == "2024-05-01T12:00:00Z"
    assert contents(tmp_path) == before
    other = write_sample(index_of(tmp_path, [record("p", "<p>Other.</p>")]), tmp_path, later)
    assert other.built_at == "2024-05-02T12:00:00Z"


def test_writing_a_bundle_removes_files_of_the_old_one(index: Index, tmp_path: Path) -> None:
    write_sample(index, tmp_path)
    half = tmp_path / f".x.npy.{'0123' * 8}.tmp"
    half.write_bytes(b"half")
    (tmp_path / ".mine.tmp").write_bytes(b"whole")
    manifest = write_sample(index_of(tmp_path / "c", [record("p", "<p>Other.</p>")]), tmp_path)
    assert {p.name for p in tmp_path.iterdir() if p.is_file()} == {
        *(pack.name for pack in manifest.packs), MANIFEST_FILE, files.LOCK_FILE, ".mine.tmp"
    }  # fmt: skip


def test_bundle_without_notes_or_pages_is_opened(tmp_path: Path) -> None:
    pages = [record("p", "<p>Rope holds.</p>")]
    notes = [note("one", "alpha")]
    for number, (some_pages, some_notes) in enumerate([(pages, []), ([], notes), ([], [])]):
        folder = tmp_path / str(number)
        opened = bundle_of(folder, index_of(folder, some_pages, some_notes))
        assert opened.manifest.counts["passages"] == len(some_pages)
        assert len(opened.hints) == len(some_notes)
        query = LetterEmbedder().embed(["rope"])[0]
        assert opened.index.codes.score(query).shape == (len(some_pages),)
        rows = (0, len(some_pages))
        assert score_bm25(opened.postings_of(()), {"rope": 1.0}, rows).shape == rows[1:]


@pytest.mark.parametrize("epoch", ["", "soon", "1e400", "9" * 30, "1.5"])
def test_invalid_source_date_epoch_is_named(epoch: str) -> None:
    assert parse_build_time("1714564800") == NOON
    with pytest.raises(SiteError, match="SOURCE_DATE_EPOCH"):
        parse_build_time(epoch)


def test_a_manifest_names_files_of_its_own_folder_only(index: Index, tmp_path: Path) -> None:
    write_sample(index, tmp_path)
    edit_manifest(tmp_path, lambda data: data["packs"].append(["../../etc/passwd", []]))
    with pytest.raises(BundleError, match=r"malformed .* at `\$\.packs"):
        open_bundle(tmp_path)


@pytest.mark.parametrize(
    ("kind", "column", "change"),
    [
        ("core", "passage_records", lambda values: values + 1),
        ("core", "passage_sections", lambda values: values * 0 + 3),
        ("core", "names.rows", lambda values: values + 40),
        ("core", "weights", lambda values: values * np.float32(np.nan)),
        ("core", "weights", lambda values: values.astype("<u4")),
        ("core", "dates", lambda values: [*values[1:], 20240230]),
        ("core", "passage_titles", lambda values: values[1:]),
        ("codes", "codes", lambda values: values[:-8]),
        ("codes", "codes.norms", lambda values: values * np.float32(np.nan)),
        ("hints", "hint_owners", lambda values: values + 2),
        ("hints", "hint_labels", lambda values: [7, *values[1:]]),
        ("terms", "postings.gaps", lambda values: values + 40),
        ("terms", "forms", lambda _: {"en": ["ropes"] * 300}),
    ],
)
def test_forged_columns_are_refused(
    index: Index, tmp_path: Path, kind: str, column: str, change: Callable[[Any], Any]
) -> None:
    write_sample(index, tmp_path)
    container = read_stored(tmp_path, kind)
    values = {**container.values, **container.arrays}[column]
    forge_columns(tmp_path, kind, **{column: change(values)})
    with pytest.raises(BundleError, match=r"malformed .*run `answerable build` again"):
        open_bundle(tmp_path)


def test_safe_url_is_root_relative_or_http() -> None:
    safe = ["/guide/#a", "/", "https://a.example/x?y#z", "http://127.0.0.1:8000/"]
    unsafe = [
        "//evil.example/", "javascript:alert(1)", "data:text/html,x", "guide/", "", "/a b",
        "/a\nb", "/\\evil.example", "https://a.example/\x7f", "HTTPS://a.example/",
    ]  # fmt: skip
    assert [url for url in (*safe, *unsafe) if is_safe_url(url)] == safe


@pytest.mark.parametrize(
    ("page", "complaint"),
    [
        ({"title": "A\nB"}, r"line break.*write it on one line"),
        ({"url": "//evil.example/"}, "its url .* is neither"),
        ({"language": "English!"}, "^language: 'English!' is not a language tag"),
    ],
)
def test_index_that_no_engine_would_open_is_not_made(
    tmp_path: Path, page: dict[str, Any], complaint: str
) -> None:
    html = "<p>Rope.</p>"
    pages = [replace(record("p", html), **page)]
    with pytest.raises(SiteError, match=complaint):
        index_of(tmp_path, pages, languages={"p": page.get("language", "en")})


def test_bundle_is_garbage_collected_after_a_question(tmp_path: Path) -> None:
    """A dev server opens one at every rebuild."""
    index = index_of(tmp_path, [record("a", "<p>Rope.", tags=["hemp"], date="2024-05-01")])
    bundle = bundle_of(tmp_path, index)
    vector = np.ones(TINY.dimensions, dtype=np.float32)
    assert doubles.retrieve(bundle, "Is the latest rope of hemp?", vector).passages
    alive = weakref.ref(bundle)
    del bundle
    gc.collect()
    assert alive() is None
