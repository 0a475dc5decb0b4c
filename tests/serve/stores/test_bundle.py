"""The bundle: what is written is what is opened, and nothing damaged is served."""

import datetime as dt
import gc
import hashlib
import json
import weakref
import zlib
from collections.abc import Callable
from dataclasses import astuple, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from answerable.indexing.index import SiteIndex
from answerable.indexing.output import files
from answerable.indexing.output.bundle_writer import (
    PASSAGES_PER_SHARD,
    parse_build_time,
    serialize_index,
    write_bundle,
)
from answerable.serve.bundle_format import container as compression
from answerable.serve.bundle_format import manifest as manifest_module
from answerable.serve.bundle_format.container import (
    MAX_DECOMPRESSED_BYTES,
    Container,
    pack_container,
    unpack_container,
)
from answerable.serve.bundle_format.manifest import (
    LOCAL_PROFILE,
    BundleFile,
    Manifest,
    array_file_name,
    compute_bundle_id,
    read_manifest,
    stored_file_name,
)
from answerable.serve.errors import BundleError, SiteError
from answerable.serve.retrieval.bm25 import score_bm25
from answerable.serve.retrieval.scoring import score_all_codes
from answerable.serve.stores.bundle import PassageTexts, open_bundle
from answerable.serve.structure import is_safe_url
from answerable.serve.types import RoutingHint
from answerable.serve.vectors import INVERSE_NORMS
from support import doubles
from support.doubles import NOON, TINY, bundle_of, index_of, note, record
from support.scripted import LetterEmbedder


def sample_index(folder: Path) -> SiteIndex:
    pages = [
        record(f"p{n}", f"<h2 id=a>A</h2><p>Rope {n} holds. Chain {n} too.</p>", date="2024-05-01")
        for n in range(40)
    ]
    return index_of(folder, pages, [note("one", "alpha"), note("two", "beta\n\ngamma")])


INT8 = TINY.dimensions


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> SiteIndex:
    return sample_index(tmp_path_factory.mktemp("index"))


def write_sample(index: SiteIndex, folder: Path, now: dt.datetime = NOON) -> Manifest:
    return write_bundle(serialize_index(index, INT8), folder, TINY, LOCAL_PROFILE, now)


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


def test_quantized_vectors_keep_their_directions(index: SiteIndex, tmp_path: Path) -> None:
    opened = bundle_of(tmp_path, index)
    query = LetterEmbedder().embed(["rope"])[0]
    exact = index.passage_vectors @ query
    assert np.abs(score_all_codes(opened.passage_codes, query) - exact).max() < 0.01


def test_bundle_bytes_are_reproducible_in_any_folder(tmp_path: Path) -> None:
    first = write_sample(sample_index(tmp_path / "a"), tmp_path / "here" / "bundle")
    second = write_sample(sample_index(tmp_path / "b"), tmp_path / "there" / "x" / "bundle")
    assert first.id == second.id
    assert contents(tmp_path / "here" / "bundle") == contents(tmp_path / "there" / "x" / "bundle")


def test_bundle_id_changes_with_text_or_floor(index: SiteIndex, tmp_path: Path) -> None:
    whole = serialize_index(index, INT8)
    ids = {
        write_sample(index, tmp_path / "a").id,
        write_bundle(whole, tmp_path / "b", TINY, replace(LOCAL_PROFILE, floor=0.5), NOON).id,
        write_bundle(whole, tmp_path / "c", replace(TINY, model="x"), LOCAL_PROFILE, NOON).id,
        write_sample(index_of(tmp_path, [record("p0", "<p>Other.</p>")]), tmp_path / "d").id,
    }
    assert len(ids) == 4


def test_build_time_is_kept_while_the_id_is_unchanged(index: SiteIndex, tmp_path: Path) -> None:
    later = NOON + dt.timedelta(days=1)
    first = write_sample(index, tmp_path)
    before = contents(tmp_path)
    assert write_sample(index, tmp_path, later).built_at == first.built_at == "2024-05-01T12:00:00Z"
    assert contents(tmp_path) == before
    other = write_sample(index_of(tmp_path, [record("p", "<p>Other.</p>")]), tmp_path, later)
    assert other.built_at == "2024-05-02T12:00:00Z"


def test_build_time_is_source_date_epoch_when_set() -> None:
    assert parse_build_time("1714564800") == NOON
    assert abs(parse_build_time(None) - dt.datetime.now(dt.UTC)) < dt.timedelta(minutes=1)


@pytest.mark.parametrize("epoch", ["", "soon", "1e400", "9" * 30, "1.5"])
def test_invalid_source_date_epoch_is_named(epoch: str) -> None:
    with pytest.raises(SiteError, match="SOURCE_DATE_EPOCH"):
        parse_build_time(epoch)


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


def test_text_without_tokens_has_cosine_zero(tmp_path: Path) -> None:
    opened = bundle_of(tmp_path, index_of(tmp_path, [record("p", "<p>…</p>", "—")]))
    assert score_all_codes(opened.passage_codes, LetterEmbedder().embed(["a"])[0]).tolist() == [0.0]


@pytest.mark.parametrize("name", sorted(manifest_module.BUNDLE_FILES))
def test_missing_short_or_altered_file_is_named(
    index: SiteIndex, tmp_path: Path, name: str
) -> None:
    manifest = write_sample(index, tmp_path)
    path = tmp_path / stored_file_name(name, manifest.files[name].sha256)
    whole = path.read_bytes()

    path.write_bytes(whole[:-1])
    with pytest.raises(BundleError, match=f"{path.name} has .* bytes"):
        open_bundle(tmp_path)

    path.write_bytes(whole[: len(whole) // 2] + bytes([whole[len(whole) // 2] ^ 1])
                     + whole[len(whole) // 2 + 1 :])  # fmt: skip
    with pytest.raises(BundleError, match=f"{path.name} does not match its hash"):
        open_bundle(tmp_path)

    path.unlink()
    with pytest.raises(BundleError, match=f"{path.name} is missing"):
        open_bundle(tmp_path)


def test_folder_without_manifest_says_what_to_run(tmp_path: Path) -> None:
    with pytest.raises(BundleError, match="run `answerable build` first"):
        open_bundle(tmp_path)


Edit = Callable[[dict[str, Any]], object]


def edited(data: dict[str, Any], **changes: Any) -> None:
    data.update(changes)


@pytest.mark.parametrize(
    ("edit", "complaint"),
    [
        (lambda d: edited(d, wire=4), "not wire version 7"),
        (lambda d: d.pop("wire"), "not wire version 7"),
        (lambda d: edited(d, id="0" * 64), "id does not match"),
        (lambda d: edited(d["profile"], floor=0.0), "id does not match"),
        (lambda d: edited(d["profile"], floor=float("nan")), "malformed"),
        (lambda d: edited(d["profile"], floor=float("inf")), "malformed"),
        (lambda d: edited(d["profile"], floor="0.36"), "malformed"),
        (lambda d: edited(d["profile"], hybrid=-1.0), "malformed"),
        (lambda d: edited(d["profile"], own=1), "malformed"),
        (
            lambda d: d["profile"].pop("recency"),
            r"malformed .*no recency.*run `answerable build` again",
        ),
        (lambda d: edited(d["profile"], name_boost=-0.1), "malformed"),
        (lambda d: edited(d["profile"], theme_boost="0.15"), "malformed"),
        (lambda d: edited(d["profile"], title_share=-0.1), "malformed"),
        (lambda d: edited(d["profile"], history="0.8"), "malformed"),
        (lambda d: edited(d["profile"], recency=float("nan")), "malformed"),
        (lambda d: edited(d["profile"], passages_per_page=0), "no passages a page"),
        (lambda d: edited(d["profile"], passages_per_page=1.5), "malformed"),
        (lambda d: edited(d["embedder"], dimensions="8"), "malformed"),
        (lambda d: edited(d["embedder"], model=None), "malformed"),
        (lambda d: d["files"].pop(manifest_module.CORE_FILE), "malformed"),
        (
            lambda d: edited(
                d["files"], **{"../../etc/passwd": d["files"][manifest_module.CORE_FILE]}
            ),
            "malformed",
        ),
        (lambda d: edited(d["files"][manifest_module.CORE_FILE], sha256="../x"), "malformed"),
        (lambda d: edited(d["files"][manifest_module.CORE_FILE], bytes=-1), "malformed"),
        (lambda d: d.pop("files"), "malformed"),
        (lambda d: edited(d, files=[]), "malformed"),
        (lambda d: edited(d, counts=[]), "malformed"),
        (lambda d: edited(d["counts"], passages=3), "malformed"),
        (lambda d: d["counts"].pop("passages"), "malformed"),
    ],
)
def test_tampered_manifest_is_refused(
    index: SiteIndex, tmp_path: Path, edit: Edit, complaint: str
) -> None:
    write_sample(index, tmp_path)
    data = json.loads((tmp_path / manifest_module.MANIFEST_FILE).read_bytes())
    edit(data)
    (tmp_path / manifest_module.MANIFEST_FILE).write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(BundleError, match=complaint):
        open_bundle(tmp_path)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "\xff", "[" * 100_000])
def test_malformed_manifest_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / manifest_module.MANIFEST_FILE).write_bytes(text.encode("latin-1"))
    with pytest.raises(BundleError):
        open_bundle(tmp_path)


def forge(folder: Path, name: str, data: bytes) -> None:
    """Replace a file and make the manifest agree, as somebody who knows the format would."""
    manifest = read_manifest(folder)
    file = BundleFile(len(data), hashlib.sha256(data).hexdigest())
    (folder / stored_file_name(name, file.sha256)).write_bytes(data)
    listed = {**manifest.files, name: file}
    forged = replace(
        manifest,
        files=listed,
        id=compute_bundle_id(manifest.identity, manifest.profile, manifest.dimensions, listed),
    )
    (folder / manifest_module.MANIFEST_FILE).write_text(
        json.dumps(forged.as_json()), encoding="utf-8"
    )


def array(values: object, dtype: str, tmp_path: Path) -> bytes:
    np.save(tmp_path / "forged.npy", np.array(values, dtype=dtype), allow_pickle=True)
    return (tmp_path / "forged.npy").read_bytes()


NORMS = array_file_name(manifest_module.PASSAGE_STREAM, INVERSE_NORMS)
CODES = array_file_name(manifest_module.PASSAGE_STREAM, "codes")


@pytest.mark.parametrize(
    ("name", "values", "dtype"),
    [
        (NORMS, [float("nan")] * 40, "<f4"),
        (array_file_name(manifest_module.HINT_STREAM, INVERSE_NORMS), [1.0, float("inf")], "<f4"),
        (NORMS, [-0.1] * 40, "<f4"),
        (NORMS, [1.1] * 40, "<f4"),
        (NORMS, [1.0] * 40, "<f8"),
        (NORMS, [1.0] * 39, "<f4"),
        (CODES, [[1] * 9] * 40, "i1"),
        (CODES, [[1] * 8] * 40, "u1"),
        (CODES, [None] * 40, "O"),
    ],
)
def test_forged_arrays_are_refused(
    index: SiteIndex, tmp_path: Path, name: str, values: object, dtype: str
) -> None:
    write_sample(index, tmp_path / "b")
    forge(tmp_path / "b", name, array(values, dtype, tmp_path))
    with pytest.raises(BundleError, match="malformed"):
        open_bundle(tmp_path / "b")


def read_data(folder: Path, name: str) -> bytes:
    return (folder / stored_file_name(name, read_manifest(folder).files[name].sha256)).read_bytes()


def read_container(folder: Path, name: str) -> Container:
    return unpack_container(read_data(folder, name), name)


def forge_columns(folder: Path, name: str, **columns: Any) -> None:
    """Forge a container with other columns, those of numbers as arrays."""
    values, arrays = (dict(part) for part in astuple(read_container(folder, name)))
    for column, value in columns.items():
        (arrays if isinstance(value, np.ndarray) else values)[column] = value
    forge(folder, name, pack_container(Container(values, arrays)))


CORE, COLUMNS, CONTEXTS, TERMS = (
    manifest_module.CORE_FILE, manifest_module.COLUMNS_FILE, manifest_module.CONTEXTS_FILE,
    manifest_module.TERMS_FILE,
)  # fmt: skip


@pytest.mark.parametrize(
    ("name", "column", "change"),
    [
        (CORE, "passagesPerRecord", lambda values: values + 1),
        (CORE, "passagesPerRecord", lambda values: values[1:]),
        (CORE, "passagesPerRecord", lambda values: values.astype(np.int8)),
        (CORE, "phraseRecords", lambda values: values + 40),
        (CORE, "phraseSizes", lambda values: values[1:]),
        (CORE, "weights", lambda values: values.astype(np.uint8)),
        (COLUMNS, "passageLengths", lambda values: np.append(values, 1).astype(np.uint8)),
        (COLUMNS, "phraseFrequencies", lambda values: values[1:]),
        (COLUMNS, "textsStarts", lambda values: values[::-1]),
        (COLUMNS, "textsStarts", lambda values: values + 1),
        (COLUMNS, "textsStarts", lambda values: values[:-1]),
        (CONTEXTS, "textsSizes", lambda values: values + 1),
        (CONTEXTS, "textsSizes", lambda values: values[1:]),
        (manifest_module.HINTS_FILE, "windowsPerHint", lambda values: values + 1),
        (manifest_module.HINTS_FILE, "labelHints", lambda values: values + 2),
        (TERMS, "sizes", lambda values: values + 1),
        (TERMS, "sizes", lambda values: values * 0),
        (TERMS, "gaps", lambda values: values + 40),
        (TERMS, "counts", lambda values: values[1:]),
    ],
)
def test_forged_columns_are_refused(
    index: SiteIndex, tmp_path: Path, name: str, column: str, change: Callable[[Any], Any]
) -> None:
    write_sample(index, tmp_path)
    forge_columns(tmp_path, name, **{column: change(read_container(tmp_path, name).arrays[column])})
    with pytest.raises(BundleError, match=r"malformed .*run `answerable build` again"):
        open_bundle(tmp_path)


@pytest.mark.parametrize("forms", [{}, [], {"en": []}, {"en": ["ropes"] * 3}, {"en": "ropes"}])
def test_forged_forms_are_refused(index: SiteIndex, tmp_path: Path, forms: Any) -> None:
    write_sample(index, tmp_path)
    forge_columns(tmp_path, TERMS, forms=forms)
    with pytest.raises(BundleError, match=r"malformed .*run `answerable build` again"):
        open_bundle(tmp_path)


def test_opened_postings_equal_those_of_the_index(index: SiteIndex, tmp_path: Path) -> None:
    postings = bundle_of(tmp_path, index).postings
    assert np.array_equal(postings.passages, index.lexicon.passages)
    assert np.array_equal(postings.edges, index.lexicon.edges)
    assert np.array_equal(postings.counts, index.lexicon.counts)
    assert np.array_equal(postings.lengths, index.lexicon.lengths)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        (manifest_module.HINTS_FILE, b""),
        (manifest_module.HINTS_FILE, zlib.compress(b"a")),
        (manifest_module.HINTS_FILE, pack_container(Container({}))),
        (CORE, pack_container(Container({}))),
        (CORE, pack_container(Container([]))),  # type: ignore[arg-type]
        (CORE, zlib.compress(b"[]")),
        (CORE, b""),
        (manifest_module.CONTEXTS_FILE, pack_container(Container({"summaries": [], "themes": []}))),
        (TERMS, zlib.compress(b"\xff")),
        (TERMS, b"plain"),
        (CODES, b""),
        (CODES, b"\x93NUMPY"),
        (COLUMNS, zlib.compress(b"")),
        (COLUMNS, b""),
    ],
)
def test_forged_files_are_refused(index: SiteIndex, tmp_path: Path, name: str, data: bytes) -> None:
    write_sample(index, tmp_path)
    forge(tmp_path, name, data)
    with pytest.raises(BundleError):
        open_bundle(tmp_path)


URLS = {
    "/guide/#a": True,
    "/": True,
    "https://a.example/x?y#z": True,
    "http://127.0.0.1:8000/": True,
    "//evil.example/": False,
    "javascript:alert(1)": False,
    "data:text/html,x": False,
    "guide/": False,
    "": False,
    "/a b": False,
    "/a\nb": False,
    "/\\evil.example": False,
    "https://a.example/\x7f": False,
    "HTTPS://a.example/": False,
}


@pytest.mark.parametrize(("url", "safe"), URLS.items())
def test_safe_url_is_root_relative_or_http(url: str, safe: bool) -> None:
    assert is_safe_url(url) is safe


@pytest.mark.parametrize("url", ["javascript:alert(1)", "//evil.example/"])
def test_unsafe_url_is_neither_written_nor_read(index: SiteIndex, tmp_path: Path, url: str) -> None:
    unsafe = replace(index, hints=(RoutingHint("a", "A", "b", url), *index.hints[1:]))
    with pytest.raises(SiteError, match=r"^a: its url .* is neither root-relative nor http"):
        write_sample(unsafe, tmp_path)
    write_sample(index, tmp_path)
    forge_columns(tmp_path, manifest_module.HINTS_FILE, urls=[url, "/"])
    with pytest.raises(BundleError, match=r"hints.bin holds the unsafe url"):
        open_bundle(tmp_path)
    for column in ("passageUrls", "recordUrls"):
        write_sample(index, tmp_path)
        forge_columns(tmp_path, CORE, **{column: [*["/"] * 39, url]})
        with pytest.raises(BundleError, match=r"core.bin holds the unsafe url"):
            open_bundle(tmp_path)


def described(folder: Path, **changes: Any) -> None:
    """Forge the site's metadata with other values for some keys; None leaves a key out."""
    site = read_container(folder, CORE).values["site"] | changes
    for key in (key for key, value in changes.items() if value is None):
        del site[key]
    forge_columns(folder, CORE, site=site)


BAD_LANGUAGES: list[Any] = [
    None,
    [],
    [["en", 0, 39]],
    [["en", 0, 41]],
    [["en", 1, 40]],
    [["en", 0, 20], ["fr", 21, 40]],
    [["en", 0, 20], ["fr", 19, 40]],
    [["en", 0, 20], ["en", 20, 40]],
    [["en", 0, 40], ["fr", 40, 40]],
    [["en", 0, 50], ["fr", 50, 40]],
    [["../en", 0, 40]],
    [["en", 0]],
    "en",
]


@pytest.mark.parametrize("languages", BAD_LANGUAGES)
def test_each_passage_has_one_language(index: SiteIndex, tmp_path: Path, languages: Any) -> None:
    write_sample(index, tmp_path)
    described(tmp_path, languages=languages)
    with pytest.raises(BundleError, match=r"malformed .*run `answerable build` again"):
        open_bundle(tmp_path)


def test_passage_languages_are_read_from_row_ranges(index: SiteIndex, tmp_path: Path) -> None:
    write_sample(index, tmp_path)
    described(tmp_path, languages=[["en", 0, 15], ["fr", 15, 40]])
    (forms,) = read_container(tmp_path, TERMS).values["forms"].values()
    forge_columns(tmp_path, TERMS, forms={"en": forms, "fr": forms})
    opened = open_bundle(tmp_path)
    languages = [opened.passage(row).language for row in range(40)]
    assert languages == ["en"] * 15 + ["fr"] * 25
    assert opened.site.tags == ("en", "fr")


def test_unordered_postings_are_refused(index: SiteIndex, tmp_path: Path) -> None:
    write_sample(index, tmp_path)
    terms = read_container(tmp_path, TERMS)
    gaps = terms.arrays["gaps"].copy()
    # The second passage of a term is the first one again.
    row = int(np.argmax(terms.arrays["sizes"] > 1))
    gaps[int(terms.arrays["sizes"][:row].sum()) + 1] = 0
    forge_columns(tmp_path, TERMS, gaps=gaps)
    with pytest.raises(BundleError, match="rows out of order"):
        open_bundle(tmp_path)


@pytest.mark.parametrize("weight", [-0.1, 10.1, float("nan"), float("inf")])
def test_record_weight_out_of_bounds_is_refused(
    index: SiteIndex, tmp_path: Path, weight: float
) -> None:
    write_sample(index, tmp_path)
    forge_columns(tmp_path, CORE, weights=np.array([1.0] * 39 + [weight], dtype=np.float32))
    with pytest.raises(BundleError, match=r"malformed .*weights .*run `answerable build` again"):
        open_bundle(tmp_path)


@pytest.mark.parametrize("date", ["soon", "20240501", "2024-02-30", "1", "", 5])
def test_malformed_record_date_is_refused(index: SiteIndex, tmp_path: Path, date: object) -> None:
    write_sample(index, tmp_path)
    forge_columns(tmp_path, COLUMNS, dates=[*[None] * 39, date])
    with pytest.raises(BundleError, match=r"malformed .*run `answerable build` again"):
        open_bundle(tmp_path)


def test_titles_that_passages_share_do_not_multiply(index: SiteIndex, tmp_path: Path) -> None:
    write_sample(index, tmp_path)
    shared = np.array([0, *[1] * 39], "|u1")
    forge_columns(tmp_path, CORE, titles=["x" * 250_000, *[""] * 39], sharedTitles=shared)
    with pytest.raises(BundleError, match="takes far more memory than its files"):
        open_bundle(tmp_path)


def test_label_with_line_break_is_refused(index: SiteIndex, tmp_path: Path) -> None:
    two = RoutingHint("a", "A\nB", "b", "/")
    with pytest.raises(SiteError, match=r"'A\\nB' has a line break.*write it on one line"):
        write_sample(replace(index, hints=(two, *index.hints[1:])), tmp_path / "b")


BAD_BLOCKS: tuple[object, ...] = (
    [["text", 0, 6]], [["text", -1, 5]], [["text", 3, 2]], [["text", 2, 2]], [["text", 0, True]],
    [["text", 0, 3], ["text", 2, 5]], [["text", 3, 5], ["text", 0, 2]], [["prose", 0, 5]],
    [["text", 0]], [["text", 0, 5, 1, 0, "", 0]], [["text", 0, 5, -1]], [["text", 0, 5, 1, 33]],
    [["text", 0, 5, 2**31 + 1]], [["text", 0, 5, 1, 10**9]], [["text", 0, 5, 0, 0, "tab"]],
    [["text", 0, 5, 0.5]], [["code", 0, 5, 0, 0, "a b"]], [["code", 0, 5, 0, 0, "<b>"]],
    [["code", 0, 5, 0, 0, "x" * 33]], [["item", 0, 5, 0, 0, "one"]], [["label", 0, 5]],
    [["row", 0, 5, 0, 0, "tab"]], [["code", 0, 5, 0, 0, 7]], [[["text"], 0, 5]], [5], 5, None,
)  # fmt: skip
BAD_SPANS: tuple[object, ...] = (
    [["code", 0, 6]], [["code", -1, 5]], [["code", 3, 2]], [["code", 0, True]], [["bold", 0, 5]],
    [["code", 3, 5], ["code", 0, 2]], [["code", 0]], [["code", 0, 5, "", ""]], [["link", 0, 5]],
    [["link", 0, 5, "javascript:alert(1)"]], [["link", 0, 5, "//e.example"]],
    [["link", 0, 5, "/a b"]], [["link", 0, 5, 7]], [["code", 0, 5, "/x/"]], [5], 5, None,
)  # fmt: skip
# Of a text with one block, which is no label.
BAD_STATEMENTS: tuple[object, ...] = (
    [["sentence", 0, 6, 0, 1]], [["sentence", -1, 5, 0, 1]], [["sentence", 2, 2, 0, 1]],
    [["sentence", 0, 3, 0, 1], ["sentence", 2, 5, 0, 1]], [["prose", 0, 5, 0, 1]],
    [["sentence", 0, 5, 1, 1]], [["sentence", 0, 5, -1, 1]], [["sentence", 0, 5, True, 1]],
    [["sentence", 0, 5, 0]], [["sentence", 0, 5, 0, -1]], [["sentence", 0, 5, 0, 1, 128]],
    [["sentence", 0, 5, 0, 1, 0, 0]], [["sentence", 0, 5, 0, 1, 0, 1]],
    [["sentence", 0, 5, 0, 1, 0, -2]], [["sentence", 0, 5, 0, 1, 0, -1, -1]],
    [["sentence", 0, 5, 0, 1, 0, -1, 0, 6]], [["sentence", 0, 5, 0, 1, 0, -1, 0, 0, 0.5]],
    [["sentence", 0, 5, 0, 1, 0, -1, 0, 0, 0, -1]], [["item"], 0, 5, 0, 1], [5], 5, None,
)  # fmt: skip


def as_gaps(rows: Any) -> Any:
    """Pack blocks and the like as a shard has them, as far as they have the shape for it."""
    try:
        starts = [0, *(row[1] for row in rows)]
        return [
            [row[0], row[1] - last, row[2] if row[2] is True else row[2] - row[1], *row[3:]]
            for last, row in zip(starts, rows, strict=False)
        ]
    except (TypeError, LookupError):
        return rows


@pytest.mark.parametrize(
    "shard",
    [
        [[7, [], [], [], []]],
        [["Rope.", [0, 6], [], [], []]],
        [["Rope.", [-1, 5], [], [], []]],
        [["Rope.", [3, -1], [], [], []]],
        [["Rope.", [0, 3, -1, 5], [], [], []]],
        [["Rope.", [0, 1, 2], [], [], []]],
        [["Rope.", [0, True], [], [], []]],
        [["Rope.", [0, 0.5], [], [], []]],
        [["Rope.", [0, 5], [], []]],
        *([["Rope.", [], as_gaps(bad), [], []]] for bad in BAD_BLOCKS),
        *([["Rope.", [], [], as_gaps(bad), []]] for bad in BAD_SPANS),
        *([["Rope.", [], [["text", 0, 5]], [], as_gaps(bad)]] for bad in BAD_STATEMENTS),
        [["Rope.", [], [], [], []]] * 2,
        [[]],
        [None],
        [],
        None,
    ],
)
def test_malformed_passage_text_is_refused(tmp_path: Path, shard: object) -> None:
    write_sample(index_of(tmp_path, [record("p0", "<h2 id=a>A</h2><p>Rope.</p>")]), tmp_path / "b")
    texts = pack_container(Container({"passages": shard}))
    forge_columns(tmp_path / "b", CONTEXTS, textsSizes=np.array([len(texts)], "<u2"))
    forge(tmp_path / "b", manifest_module.TEXTS_FILE, texts)
    opened = open_bundle(tmp_path / "b")
    with pytest.raises(BundleError, match=r"texts\.bin.*run `answerable build` again"):
        opened.passage(0)


def test_invalid_language_tag_is_not_written(index: SiteIndex, tmp_path: Path) -> None:
    with pytest.raises(SiteError, match=r"^language: 'English!' is not a language tag"):
        write_sample(replace(index, languages=(("English!", 0, 40),)), tmp_path)


def test_opened_weights_dates_and_names_equal_the_index(tmp_path: Path) -> None:
    pages = [record("a", "<p>Rope.</p>", date="2024-05-01"), record("b", "<p>Wind.</p>")]
    opened = bundle_of(
        tmp_path, index_of(tmp_path, pages, names=("Harbour", "Ada"), weights={"b": 0.5})
    )
    assert opened.weights.tolist() == [1.0, 0.5]
    assert opened.dates == ("2024-05-01", None)
    assert opened.site.names == ("Harbour", "Ada")


def test_decompression_bomb_is_refused(index: SiteIndex, tmp_path: Path) -> None:
    write_sample(index, tmp_path)
    forge(
        tmp_path, manifest_module.HINTS_FILE, zlib.compress(b" " * (MAX_DECOMPRESSED_BYTES + 1), 9)
    )
    with pytest.raises(BundleError, match="does not decompress"):
        open_bundle(tmp_path)


def test_shard_of_texts_is_decompressed_once_for_many_passages(tmp_path: Path) -> None:
    """In the order of scores, 7,000 passages were decompressed 7,000 times in blocks of 16."""
    shards = 70
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


def test_very_repetitive_page_is_read_back(tmp_path: Path) -> None:
    line = "=" * 3_000_000
    opened = bundle_of(
        tmp_path, index_of(tmp_path, [record("p", f"<pre><code>{line}</code></pre>")])
    )
    assert max(len(passage.text) for passage in opened.passages()) == len(line)


def test_page_too_large_for_a_shard_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(manifest_module, "MAX_SHARD_BYTES", 1000)
    index = index_of(tmp_path, [record("p", f"<pre><code>{'=' * 1000}</code></pre>")])
    with pytest.raises(SiteError, match=r"^p: it has 1000 characters .*break its lines"):
        write_sample(index, tmp_path / "b")


def test_trailing_bytes_of_a_file_are_refused(index: SiteIndex, tmp_path: Path) -> None:
    manifest = write_sample(index, tmp_path)
    column = tmp_path / stored_file_name(
        manifest_module.HINTS_FILE, manifest.files[manifest_module.HINTS_FILE].sha256
    )
    forge(tmp_path, manifest_module.HINTS_FILE, column.read_bytes() + b"more")
    with pytest.raises(BundleError, match="does not decompress"):
        open_bundle(tmp_path)


def test_no_bundle_file_is_a_pickle(index: SiteIndex, tmp_path: Path) -> None:
    write_sample(index, tmp_path)
    for path in tmp_path.glob("*.npy"):
        assert np.load(path, allow_pickle=False).dtype.kind in "iuf"


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


def test_file_too_large_to_read_is_not_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compression, "MAX_DECOMPRESSED_BYTES", 100)
    assert compression.inflate(compression.deflate(b"a" * 100), "x", 100) == b"a" * 100
    with pytest.raises(BundleError, match=r"a file of 101 bytes.*leave pages or notes out"):
        compression.deflate(b"a" * 101)


def test_highly_compressible_data_is_compressed_within_the_ratio() -> None:
    data = b"=" * 10_000_000
    packed = compression.deflate(data)
    assert compression.inflate(packed, "x") == data
    assert len(packed) < len(data) / 7
    with pytest.raises(BundleError, match="does not decompress"):
        compression.inflate(zlib.compress(data, 9), "x")
