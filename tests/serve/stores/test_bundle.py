"""The bundle: what is written is what is opened, and nothing damaged is served."""

import datetime as dt
import gc
import io
import weakref
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from answerable.indexing.index import SiteIndex
from answerable.indexing.output import files
from answerable.indexing.output.bundle_writer import (
    PASSAGES_PER_SHARD,
    parse_build_time,
    serialize_index,
    write_bundle,
)
from answerable.serve.index import manifest as manifest_module
from answerable.serve.index.format import Container, pack_container
from answerable.serve.index.manifest import (
    LOCAL_PROFILE,
    Manifest,
    array_file_name,
    stored_file_name,
)
from answerable.serve.errors import BundleError, SiteError
from answerable.serve.retrieval.bm25 import score_bm25
from answerable.serve.retrieval.rank import score_all_codes
from answerable.serve.stores.bundle import PassageTexts, open_bundle
from answerable.serve.structure import is_safe_url
from answerable.serve.types import RoutingHint
from answerable.serve.vectors import INVERSE_NORMS
from support import doubles
from support.doubles import NOON, TINY, bundle_of, index_of, note, record
from support.forged_bundles import edit_manifest, forge, forge_columns, read_stored
from support.scripted import LetterEmbedder


def sample_index(folder: Path) -> SiteIndex:
    pages = [
        record(f"p{n}", f"<h2 id=a>A</h2><p>Rope {n} holds. Chain {n} too.</p>", date="2024-05-01")
        for n in range(40)
    ]
    return index_of(folder, pages, [note("one", "alpha"), note("two", "beta\n\ngamma")])


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> SiteIndex:
    return sample_index(tmp_path_factory.mktemp("index"))


def write_sample(index: SiteIndex, folder: Path, now: dt.datetime = NOON) -> Manifest:
    return write_bundle(serialize_index(index, TINY.dimensions), folder, TINY, LOCAL_PROFILE, now)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_opened_bundle_equals_the_written_index(index: SiteIndex, tmp_path: Path) -> None:
    opened = bundle_of(tmp_path, index)
    assert [opened.passage(row) for row in range(40)] == [
        indexed.passage for indexed in index.passages
    ]
    assert tuple(opened.hints) == index.hints
    assert tuple(opened.names) == index.names
    assert tuple(opened.themes) == index.themes
    assert tuple(opened.words) == index.words
    assert tuple(opened.label_terms) == index.label_terms
    assert tuple(opened.aliases) == index.aliases
    assert tuple(opened.title_terms) == index.titles.terms
    assert opened.title_norms == pytest.approx(index.titles.norms)
    assert opened.is_history.tolist() == list(index.is_history)
    assert opened.record_ids == [record.id for record in index.records]
    assert list(opened.postings.terms) == list(index.lexicon.terms)
    pairs = zip(index.lexicon.terms, index.forms["en"], strict=True)
    assert opened.forms == {"en": dict(pairs)}
    assert any(opened.forms["en"].values())
    assert opened.manifest.counts == {
        "records": 40, "passages": 40, "hints": 2, "windows": 2,
        "terms": len(index.lexicon.terms),
        "words": len(index.words),
        "questions": 0,
        "answers": 0,
    }  # fmt: skip


def test_bundle_bytes_are_reproducible_in_any_folder(tmp_path: Path) -> None:
    first = write_sample(sample_index(tmp_path / "a"), tmp_path / "here" / "bundle")
    second = write_sample(sample_index(tmp_path / "b"), tmp_path / "there" / "x" / "bundle")
    assert first.id == second.id
    assert contents(tmp_path / "here" / "bundle") == contents(tmp_path / "there" / "x" / "bundle")


def test_build_time_is_kept_while_the_id_is_unchanged(index: SiteIndex, tmp_path: Path) -> None:
    later = NOON + dt.timedelta(days=1)
    first = write_sample(index, tmp_path)
    before = contents(tmp_path)
    assert write_sample(index, tmp_path, later).built_at == first.built_at == "2024-05-01T12:00:00Z"
    assert contents(tmp_path) == before
    other = write_sample(index_of(tmp_path, [record("p", "<p>Other.</p>")]), tmp_path, later)
    assert other.built_at == "2024-05-02T12:00:00Z"


def test_writing_a_bundle_removes_files_of_the_old_one(index: SiteIndex, tmp_path: Path) -> None:
    write_sample(index, tmp_path)
    half = tmp_path / f".x.npy.{'0123' * 8}.tmp"
    half.write_bytes(b"half")
    (tmp_path / ".mine.tmp").write_bytes(b"whole")
    manifest = write_sample(index_of(tmp_path / "c", [record("p", "<p>Other.</p>")]), tmp_path)
    expected = {stored_file_name(name, file.sha256) for name, file in manifest.files.items()}
    assert {p.name for p in tmp_path.iterdir() if p.is_file()} == expected | {
        manifest_module.MANIFEST_FILE, files.LOCK_FILE, ".mine.tmp"
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
        assert score_all_codes(opened.passage_codes, query).shape == (len(some_pages),)
        assert score_bm25(opened.postings, {"rope": 1.0}).shape == (len(some_pages),)


@pytest.mark.parametrize("epoch", ["", "soon", "1e400", "9" * 30, "1.5"])
def test_invalid_source_date_epoch_is_named(epoch: str) -> None:
    assert parse_build_time("1714564800") == NOON
    with pytest.raises(SiteError, match="SOURCE_DATE_EPOCH"):
        parse_build_time(epoch)


@pytest.mark.parametrize(
    ("section", "changes"),
    [
        ("profile", {"hybrid": -1.0}),
        ("profile", {"hybrid": 0.0, "dense": 0.0}),
        ("profile", {"theme_fade": "yes"}),
        ("profile", {"history": -1}),
        ("profile", {"unknown": 1}),
        ("embedder", {"model": None}),
        ("files", {"../../etc/passwd": {"bytes": 1, "sha256": "0" * 64}}),
    ],
)
def test_manifest_of_the_wrong_shape_is_refused(
    index: SiteIndex, tmp_path: Path, section: str, changes: dict[str, Any]
) -> None:
    write_sample(index, tmp_path)
    edit_manifest(tmp_path, lambda data: data[section].update(changes))
    with pytest.raises(BundleError, match=r"malformed .*run `answerable build` again"):
        open_bundle(tmp_path)


NORMS = array_file_name(manifest_module.PASSAGE_STREAM, INVERSE_NORMS)
CODES = array_file_name(manifest_module.PASSAGE_STREAM, "codes")


@pytest.mark.parametrize(
    ("name", "values"),
    [
        (NORMS, np.full(40, np.nan, "<f4")),
        (NORMS, np.ones(40, "<f8")),
        (CODES, np.ones((40, 9), "i1")),
        (CODES, np.ones((40, 8), "u1")),
    ],
)
def test_forged_vectors_are_refused(
    index: SiteIndex, tmp_path: Path, name: str, values: NDArray[Any]
) -> None:
    write_sample(index, tmp_path)
    stream = io.BytesIO()
    np.save(stream, values)
    forge(tmp_path, name, stream.getvalue())
    with pytest.raises(BundleError, match="malformed"):
        open_bundle(tmp_path)


CORE, COLUMNS, CONTEXTS, HINTS, TERMS = (
    manifest_module.CORE_FILE, manifest_module.COLUMNS_FILE, manifest_module.CONTEXTS_FILE,
    manifest_module.HINTS_FILE, manifest_module.TERMS_FILE,
)  # fmt: skip


@pytest.mark.parametrize(
    ("name", "column", "change"),
    [
        (CORE, "passagesPerRecord", lambda values: values + 1),
        (CORE, "phraseRecords", lambda values: values + 40),
        (CORE, "weights", lambda values: values * np.float32(np.nan)),
        (CORE, "weights", lambda values: values * np.float32(11)),
        (COLUMNS, "textsStarts", lambda values: values[::-1]),
        (CONTEXTS, "textsSizes", lambda values: values + 1),
        (HINTS, "windowsPerHint", lambda values: values + 1),
        (TERMS, "sizes", lambda values: values * 0),
        (TERMS, "gaps", lambda values: values + 40),
        (TERMS, "gaps", lambda values: values * 0),
        (TERMS, "counts", lambda values: values[1:]),
        (TERMS, "forms", lambda _: {"en": ["ropes"] * 3}),
        (COLUMNS, "dates", lambda values: [*values[1:], "2024-02-30"]),
    ],
)
def test_forged_columns_are_refused(
    index: SiteIndex, tmp_path: Path, name: str, column: str, change: Callable[[Any], Any]
) -> None:
    write_sample(index, tmp_path)
    container = read_stored(tmp_path, name)
    values = {**container.values, **container.arrays}[column]
    forge_columns(tmp_path, name, **{column: change(values)})
    with pytest.raises(BundleError, match=r"malformed .*run `answerable build` again"):
        open_bundle(tmp_path)


LANGUAGES: tuple[Any, ...] = (
    [], [["en", 0, 39]], [["en", 0, 20], ["fr", 21, 40]], [["en", 0, 20], ["en", 20, 40]],
    [["../en", 0, 40]], "en",
)  # fmt: skip


@pytest.mark.parametrize("languages", LANGUAGES)
def test_each_passage_has_one_language(index: SiteIndex, tmp_path: Path, languages: Any) -> None:
    write_sample(index, tmp_path)
    site = read_stored(tmp_path, CORE).values["site"]
    forge_columns(tmp_path, CORE, site=site | {"languages": languages})
    with pytest.raises(BundleError, match=r"malformed .*run `answerable build` again"):
        open_bundle(tmp_path)


def test_shared_titles_of_passages_do_not_multiply(index: SiteIndex, tmp_path: Path) -> None:
    write_sample(index, tmp_path)
    shared = np.array([0, *[1] * 39], "|u1")
    forge_columns(tmp_path, CORE, titles=["x" * 250_000, *[""] * 39], sharedTitles=shared)
    with pytest.raises(BundleError, match="takes far more memory than its files"):
        open_bundle(tmp_path)


def test_safe_url_is_root_relative_or_http() -> None:
    safe = ["/guide/#a", "/", "https://a.example/x?y#z", "http://127.0.0.1:8000/"]
    unsafe = [
        "//evil.example/", "javascript:alert(1)", "data:text/html,x", "guide/", "", "/a b",
        "/a\nb", "/\\evil.example", "https://a.example/\x7f", "HTTPS://a.example/",
    ]  # fmt: skip
    assert [url for url in (*safe, *unsafe) if is_safe_url(url)] == safe


def test_passage_languages_are_read_from_row_ranges(index: SiteIndex, tmp_path: Path) -> None:
    write_sample(index, tmp_path)
    site = read_stored(tmp_path, CORE).values["site"]
    forge_columns(tmp_path, CORE, site=site | {"languages": [["en", 0, 15], ["fr", 15, 40]]})
    (forms,) = read_stored(tmp_path, TERMS).values["forms"].values()
    forge_columns(tmp_path, TERMS, forms={"en": forms, "fr": forms})
    opened = open_bundle(tmp_path)
    languages = [opened.passage(row).language for row in range(40)]
    assert languages == ["en"] * 15 + ["fr"] * 25
    assert opened.site.tags == ("en", "fr")


# A row of a shard: a text, and the gaps of its sentences, blocks and spans.
MALFORMED_TEXTS: tuple[list[Any], ...] = (
    [7, [], [], []],
    ["Rope.", [0, 6], [], []],
    ["Rope.", [-1, 5], [], []],
    ["Rope.", [0, 0.5], [], []],
    ["Rope.", [0, 5], []],
    *(
        ["Rope.", [], [block], []]
        for block in (
            ["text", 0, 6], ["text", 2, 0], ["prose", 0, 5], ["text", 0, 5, 1, 33],
            ["text", 0, 5, 0, 0, "tab"], ["code", 0, 5, 0, 0, "<b>"], ["label", 0, 5], 5,
        )
    ),
    *(
        ["Rope.", [], [], [span]]
        for span in (
            ["code", 0, 6], ["bold", 0, 5], ["code", 0, 5, "/x/"], ["link", 0, 5],
            ["link", 0, 5, "javascript:alert(1)"], ["link", 0, 5, "//e.example"], 5,
        )
    ),
)  # fmt: skip


@pytest.mark.parametrize("text", MALFORMED_TEXTS, ids=str)
def test_malformed_passage_text_is_refused(tmp_path: Path, text: list[Any]) -> None:
    write_sample(index_of(tmp_path, [record("p0", "<h2 id=a>A</h2><p>Rope.</p>")]), tmp_path / "b")
    texts = pack_container(Container({"passages": [text]}))
    forge_columns(tmp_path / "b", CONTEXTS, textsSizes=np.array([len(texts)], "<u2"))
    forge(tmp_path / "b", manifest_module.TEXTS_FILE, texts)
    opened = open_bundle(tmp_path / "b")
    with pytest.raises(BundleError, match=r"texts\.bin.*run `answerable build` again"):
        opened.passage(0)


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"hints": (RoutingHint("a", "A\nB", "b", "/"),) * 2}, r"line break.*write it on one line"),
        ({"hints": (RoutingHint("a", "A", "b", "//evil.example/"),) * 2}, "its url .* is neither"),
        ({"languages": (("English!", 0, 40),)}, "^language: 'English!' is not a language tag"),
    ],
)
def test_index_that_no_engine_would_open_is_not_written(
    index: SiteIndex, tmp_path: Path, changes: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(SiteError, match=complaint):
        write_sample(replace(index, **changes), tmp_path)


def test_shard_of_texts_is_decompressed_once_for_many_passages(tmp_path: Path) -> None:
    """In the order of scores, 7,000 passages were decompressed 7,000 times in blocks of 16."""
    shards = 20
    pages = [record(f"p{n}", f"<p>Rope {n} holds.</p>") for n in range(shards * PASSAGES_PER_SHARD)]
    opened = bundle_of(tmp_path, index_of(tmp_path, pages))
    numbers: list[int] = []

    def read_shard(number: int) -> Container:
        numbers.append(number)
        return opened.texts.read_shard(number)

    starts = range(0, len(pages), PASSAGES_PER_SHARD)
    cached = lru_cache(maxsize=2)(read_shard)
    counting = replace(opened, texts=PassageTexts(starts, len(pages), cached))
    by_score = np.random.default_rng(7).permutation(len(pages)).tolist()
    texts = {row: passage.text for row, passage in counting.passages_at(by_score).items()}
    assert texts == {row: opened.passage(row).text for row in by_score}
    assert sorted(numbers) == list(range(shards))


def test_page_too_large_for_a_shard_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(manifest_module, "MAX_SHARD_BYTES", 1000)
    index = index_of(tmp_path, [record("p", f"<pre><code>{'=' * 1000}</code></pre>")])
    with pytest.raises(SiteError, match=r"^p: it has 1000 characters .*break its lines"):
        write_sample(index, tmp_path / "b")


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
