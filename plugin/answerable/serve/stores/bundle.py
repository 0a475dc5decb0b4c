"""An index as a store: a bundle, or the files of a site that answers in the browser."""

import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import accumulate, pairwise
from pathlib import Path
from stat import S_ISREG
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..bundle_format import manifest as names
from ..bundle_format.container import (
    Allowance,
    Container,
    check_norms,
    check_urls,
    hash_file,
    map_array,
    unpack_container,
)
from ..bundle_format.manifest import (
    TEXTS_FILE,
    BundleFile,
    Manifest,
    array_file_name,
    read_manifest,
    stored_file_name,
)
from ..bundle_format.site_data import (
    UNPUBLISHED_COLUMNS,
    PhraseIndex,
    Postings,
    SiteColumns,
    check_text,
    check_texts,
    join_forms,
    join_postings,
    list_columns,
    load_label_terms,
    load_site_columns,
    pack_columns,
    read_columns,
)
from ..errors import BUILD_AGAIN, BundleError
from ..retrieval.rank import max_cosine_per_hint
from ..retrieval.store import Candidates, Floats, PassageQuery, Rows
from ..structure import (
    TITLE_SEPARATOR,
    Block,
    Span,
    unpack_blocks,
    unpack_spans,
)
from ..types import Passage, RoutingHint
from ..vectors import ARRAYS, CODES, INVERSE_NORMS, Int8Codes

# Texts of passages that are cached between questions, of some 3 KB each: to check their structure
# costs more than to parse their JSON.
_CACHED_TEXTS = 512
_CACHED_SHARDS = 64
_PAIR = 2
_LAST_OF_ONE_UNIT = "\uffff"

# Errors of data that is not what a build writes.
MALFORMED = (LookupError, TypeError, ValueError, ArithmeticError, RecursionError)


@dataclass(frozen=True, slots=True)
class HintColumns:
    """Hold the hints as columns; each is built on demand."""

    ids: Sequence[str] = ()
    labels: Sequence[str] = ()
    locators: Sequence[str] = ()
    urls: Sequence[str] = ()

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[RoutingHint]:
        return map(self.row, range(len(self)))

    def row(self, row: int) -> RoutingHint:
        """Build the hint of a row."""
        return RoutingHint(self.ids[row], self.labels[row], self.locators[row], self.urls[row])


@dataclass(frozen=True, slots=True)
class PassageText:
    """Hold the text of a passage, and offsets of it."""

    text: str
    sentences: tuple[tuple[int, int], ...]
    blocks: tuple[Block, ...] = ()
    spans: tuple[Span, ...] = ()


class PassageTexts:
    """Read the texts of passages on demand, in shards, and cache some.

    starts: (shards,) the first row of each. read_shard: by number.
    """

    def __init__(
        self, starts: Sequence[int], passages: int, read_shard: Callable[[int], Container]
    ) -> None:
        edges = [*starts, passages]
        if edges[0] != 0 or any(start >= end for start, end in pairwise(edges)):
            raise ValueError("textsStarts does not rise from 0")
        self.read_shard = read_shard
        # By row the number of its shard.
        self._numbers = np.repeat(np.arange(len(starts)), np.diff(edges)).tolist()
        self._starts = edges
        self._parse_cached = lru_cache(maxsize=_CACHED_TEXTS)(self._parse)

    def read_text(self, row: int) -> PassageText:
        """Return the text of a row; BundleError if it is malformed."""
        return self._parse_cached(row)

    def _parse(self, row: int) -> PassageText:
        number = self._numbers[row]
        shard = self.read_shard(number)
        start, end = self._starts[number : number + 2]
        try:
            texts = shard.values["passages"]
            if len(texts) != end - start:
                raise ValueError(f"{len(texts)} texts of {end - start} passages")
            return _parse_text(*texts[row - start])
        except MALFORMED as error:
            raise BundleError(
                f"the index is malformed ({TEXTS_FILE}: {error!s:.200}): {BUILD_AGAIN}"
            ) from None


def make_unit_converter(text: str) -> Callable[[int], int]:
    """Return a function that converts an offset of a text from UTF-16 units."""
    if text.isascii():
        return lambda offset: offset
    wide = (place for place, character in enumerate(text) if character > _LAST_OF_ONE_UNIT)
    # Each of them has one unit more, which the places of all later ones count.
    units = [place + before for before, place in enumerate(wide)]
    return lambda offset: offset - bisect_left(units, offset)


def _parse_text(
    text: str,
    gaps: Sequence[int],
    block_rows: Sequence[Any],
    spans: Sequence[Any],
) -> PassageText:
    """Parse a text and its structure; offsets become code points, which Python counts."""
    check_texts([text])
    convert = make_unit_converter(text)
    return PassageText(
        text,
        tuple(_expand_gaps(gaps, convert, len(text))),
        unpack_blocks(_expand_ranges(block_rows, convert), len(text)),
        unpack_spans(_expand_ranges(spans, convert), len(text)),
    )


def _expand_gaps(
    gaps: Sequence[int], convert: Callable[[int], int], size: int
) -> Iterator[tuple[int, int]]:
    """Yield sentences: each gives how far it starts after the last one's end, and its length."""
    last = 0
    for place in range(0, len(gaps), _PAIR):
        gap, length = gaps[place : place + _PAIR]
        start, end = last + gap, last + gap + length
        # A bool is an int to isinstance.
        is_whole = type(gap) is int and type(length) is int and gap >= 0 and length >= 0
        if not is_whole or convert(end) > size:
            raise ValueError(f"{start!r:.40} to {end!r:.40} is not a sentence")
        yield convert(start), convert(end)
        last = end


def _expand_ranges(
    rows: Iterable[Sequence[Any]], convert: Callable[[int], int]
) -> Iterator[list[Any]]:
    """Yield blocks and the like: each gives how far it starts after the last one's start."""
    last = 0
    for kind, gap, length, *values in rows:
        if type(gap) is not int or type(length) is not int:
            raise TypeError(f"{gap!r:.40}, {length!r:.40} is not a range of the text")
        start = last + gap
        yield [kind, convert(start), convert(start + length), *values]
        last = start


_WINDOW_SUFFIX = re.compile(r"~[0-9]+$")
_NOT_IN_ANCHOR, _ANCHOR_GAPS = re.compile("[^a-z0-9_ -]+"), re.compile("[ -]+")


def guess_anchor(title: str) -> str:
    """Make the anchor that Markdown gives the last heading of a title, of its letters in ASCII."""
    heading = _NOT_IN_ANCHOR.sub("", title.rpartition(TITLE_SEPARATOR)[2].lower())
    return _ANCHOR_GAPS.sub("-", heading.strip(" "))


def guess_url(passage_id: str, record_id: str, record_url: str) -> str:
    """Make the url of a passage from those of its page, by the anchor in its id."""
    anchor = passage_id.removeprefix(record_id)
    return record_url + (_WINDOW_SUFFIX.sub("", anchor) if "~" in anchor else anchor)


def restore_passages(
    columns: Mapping[str, Any], records: Sequence[int], spend: Callable[[int], None]
) -> tuple[list[str], list[str], list[str]]:
    """Restore the ids, urls and titles of passages; LookupError, TypeError or ValueError.

    columns: of the core. records: the row of each passage's page. spend: is told how many
    characters are restored from what passages share.
    """
    record_ids, record_urls = columns["recordIds"], columns["recordUrls"]
    check_texts(record_ids)
    check_texts(record_urls)
    check_texts(columns["titles"])
    ids: list[str] = []
    urls: list[str] = []
    titles: list[str] = []
    headings: list[str] = []
    rows = zip(
        records,
        columns["passageIds"],
        columns["passageUrls"],
        columns["sharedTitles"].tolist(),
        columns["titles"],
        strict=True,
    )
    for record, tail, url, shared, ending in rows:
        # A title shares its first headings with the one before it.
        headings = headings[:shared] + (ending.split(TITLE_SEPARATOR) if ending else [])
        title = TITLE_SEPARATOR.join(headings)
        # A whole id stands in a list where it does not begin with that of its page.
        passage_id = check_text(tail[0]) if isinstance(tail, list) else record_ids[record] + tail
        # An anchor that follows from the heading is left out.
        if tail == "#" or tail[:2] == "#~":
            passage_id = f"{record_ids[record]}#{guess_anchor(title)}{tail[1:]}"
        if url is None:
            url = guess_url(passage_id, record_ids[record], record_urls[record])
        spend(len(passage_id) + len(url) + len(title))
        ids.append(passage_id)
        urls.append(url)
        titles.append(title)
    check_texts(ids)
    check_texts(urls)
    return ids, urls, titles


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Bundle(SiteColumns):
    """Hold an opened index, whose every row can be looked at.

    ``passage_ids``, ``passage_urls`` and ``passage_titles`` have one value for each passage,
    ``record_ids``, ``record_summaries`` and ``record_themes`` one for each record, ``hint_owners``
    (a row of the hints) one for each row of ``hint_codes``. ``forms`` are by language those of each
    term but itself, with spaces between them. ``label_terms`` are the terms of labels
    and locators: what bears one is a row of the hints. ``store_key`` tells a store from others of
    the same id, "" for the bundle itself.
    """

    manifest: Manifest
    record_ids: Sequence[str]
    record_summaries: Sequence[str]
    record_themes: Sequence[Sequence[str]]
    passage_ids: Sequence[str]
    passage_urls: Sequence[str]
    passage_titles: Sequence[str]
    passage_codes: Int8Codes
    texts: PassageTexts
    postings: Postings
    forms: Mapping[str, Mapping[str, str]]
    hints: HintColumns
    label_terms: PhraseIndex
    hint_codes: Int8Codes
    hint_owners: NDArray[np.uint32]
    store_key: str = ""

    def passage(self, row: int) -> Passage:
        """Build the passage of a row."""
        record = int(self.passage_records[row])
        text = self.texts.read_text(row)
        return Passage(
            id=self.passage_ids[row],
            record=self.record_ids[record],
            url=self.passage_urls[row],
            title=self.passage_titles[row],
            text=text.text,
            sentences=text.sentences,
            date=self.dates[record],
            language=self.site.language_of(row),
            blocks=text.blocks,
            spans=text.spans,
            summary=self.record_summaries[record],
            themes=tuple(self.record_themes[record]),
        )

    def passages(self) -> Iterator[Passage]:
        """Build every passage, in the order of rows."""
        return map(self.passage, range(len(self.passage_ids)))

    def postings_of(self, terms: Collection[str]) -> Postings:
        """Return the postings of all terms, which are in memory."""
        del terms
        return self.postings

    def passage_candidates(self, query: PassageQuery) -> Candidates:
        """Score all passages."""
        return Candidates(np.arange(len(self.passage_codes)), self.passage_codes.score(query.unit))

    def passage_cosines(self, unit: Floats, rows: Rows) -> Candidates:
        """Score some passages."""
        return Candidates(rows, self.passage_codes.select_rows(rows).score(unit))

    def hint_candidates(self, unit: Floats, added: Floats, count: int) -> Candidates:
        """Score all hints."""
        del count
        windows = self.hint_codes.score(unit)
        cosines = max_cosine_per_hint(self.hint_owners, windows, len(added))
        return Candidates(np.arange(len(added)), cosines)

    def passages_at(self, rows: Collection[int]) -> Mapping[int, Passage]:
        """Build the passages of some rows."""
        # In the order of rows, so that each shard is decompressed once.
        return {row: self.passage(row) for row in sorted(rows)}

    def hints_at(self, rows: Collection[int]) -> Mapping[int, RoutingHint]:
        """Build the hints of some rows."""
        return {row: self.hints.row(row) for row in rows}

    def rows_of_page(self, name: str) -> Sequence[int]:
        """Find the passages of the page that has an id, or a url if no anchor counts, in order."""
        owners = self.passage_records.tolist()
        records = {row for row, record in enumerate(self.record_ids) if record == name}
        records |= {
            owner
            for owner, url in zip(owners, self.passage_urls, strict=True)
            if url.partition("#")[0] == name
        }
        return [row for row, owner in enumerate(owners) if owner in records]

    def check_reachable(self) -> None:
        """Do nothing: everything was checked when it was opened."""


NO_HINTS = pack_columns(
    list_columns(names.HINTS_FILE), {column.name: () for column in UNPUBLISHED_COLUMNS}
)


def load_index(
    manifest: Manifest,
    files: Mapping[str, Container],
    terms: Sequence[Container],
    read_texts: Callable[[int], Container],
    codes: tuple[Int8Codes, Int8Codes],
    spend: Callable[[int], None],
    store_key: str = "",
) -> Bundle:
    """Check and assemble an index; BundleError, or one of ``MALFORMED``.

    files: by their names in a bundle; the files of a site lack those that it does not publish.
    terms: the shards of terms. read_texts: reads a shard of texts by its number. codes: of passages
    and of hints. spend: is told how many characters are restored from what passages share.
    """
    counts = manifest.counts
    columns: dict[str, Any] = {}
    for name, container in {names.HINTS_FILE: NO_HINTS, **files}.items():
        columns |= read_columns(list_columns(name), container, counts)
    site = load_site_columns(columns)
    if len(codes[0]) != counts["passages"]:
        raise ValueError("its vectors do not match its passages")
    listed = list_columns(names.TERMS_FILE)
    shards = [read_columns(listed, shard, counts) for shard in terms]
    ids, urls, titles = restore_passages(columns, site.passage_records.tolist(), spend)
    check_urls(urls, names.CORE_FILE)
    if names.CONTEXTS_FILE not in files:
        # Unpublished: only a model is given them.
        pages = counts["records"]
        columns |= {"summaries": [""] * pages, "themes": [[]] * pages}
    for texts in (columns["summaries"], *columns["themes"]):
        check_texts(texts)
    return Bundle(
        **site.as_fields(),
        **_load_hints(columns, counts),
        manifest=manifest,
        record_ids=columns["recordIds"],
        record_summaries=columns["summaries"],
        record_themes=columns["themes"],
        passage_ids=ids,
        passage_urls=urls,
        passage_titles=titles,
        passage_codes=codes[0],
        texts=PassageTexts(columns["textsStarts"].tolist(), len(ids), read_texts),
        postings=join_postings(shards, site.lengths, counts["terms"]),
        forms=join_forms(shards, site.site.tags),
        hint_codes=codes[1],
        store_key=store_key,
    )


def _load_hints(columns: Mapping[str, Any], counts: Mapping[str, int]) -> dict[str, Any]:
    """Check what is left of notes: the fields of a bundle by name."""
    texts = [columns[name] for name in ("ids", "labels", "locators", "urls")]
    for column in texts:
        check_texts(column)
    check_urls(columns["urls"], names.HINTS_FILE)
    windows = columns["windowsPerHint"]
    # Before memory is allocated for so many.
    if int(windows.sum(dtype=np.int64)) != counts["windows"]:
        raise ValueError("its hints do not cover the windows of notes")
    return {
        "hints": HintColumns(*texts),
        "hint_owners": np.repeat(np.arange(len(windows), dtype=np.uint32), windows),
        "label_terms": load_label_terms(columns, counts["hints"]),
    }


def open_bundle(folder: Path, *, verify: bool = True) -> Bundle:
    """Open a bundle's folder; BundleError if anything in it is not what its manifest says.

    ``verify`` compares the SHA-256 of every file and of the manifest; sizes are always compared.
    """
    last_id = None
    while True:
        manifest = read_manifest(folder, verify=verify)
        try:
            return _open_files(folder, manifest, verify=verify)
        except FileNotFoundError as error:
            # A build that ends between our reading the manifest and its files replaces both.
            if last_id == manifest.id:
                raise BundleError(f"{error.filename} is missing: {BUILD_AGAIN}") from None
            last_id = manifest.id
        except OSError as error:
            name = error.filename or folder
            raise BundleError(
                f"{name} cannot be read ({error.strerror}): check its permissions, or build again"
            ) from None


def _open_files(folder: Path, manifest: Manifest, *, verify: bool) -> Bundle:
    paths = {
        name: _check_size(folder / stored_file_name(name, file.sha256), file)
        for name, file in manifest.files.items()
    }
    try:
        return _load_bundle(manifest, paths)
    except MALFORMED as error:
        raise BundleError(f"{folder} is malformed ({error!s:.200}): {BUILD_AGAIN}") from None
    finally:
        # A file that is not the one that was written says so, whatever else is wrong with it.
        for name, path in paths.items() if verify else ():
            if hash_file(path) != manifest.files[name].sha256:
                raise BundleError(f"{path} does not match its hash: {BUILD_AGAIN}")


def _check_size(path: Path, file: BundleFile) -> Path:
    status = path.stat()
    if not S_ISREG(status.st_mode):
        raise BundleError(f"{path} is not a file: delete it and {BUILD_AGAIN}")
    if status.st_size != file.bytes:
        raise BundleError(
            f"{path} has {status.st_size} bytes, its manifest says {file.bytes}: {BUILD_AGAIN}"
        )
    return path


def _load_bundle(manifest: Manifest, paths: Mapping[str, Path]) -> Bundle:
    counts, dimensions = manifest.counts, manifest.dimensions
    read_names = [name for name in names.SHARED_FILES if name != TEXTS_FILE]
    allowance = Allowance(sum(manifest.files[name].bytes for name in read_names))
    files = {
        name: unpack_container(paths[name].read_bytes(), name, allowance.spend)
        for name in read_names
    }
    terms = files.pop(names.TERMS_FILE)
    starts = files[names.COLUMNS_FILE].arrays["textsStarts"]
    sizes = files[names.CONTEXTS_FILE].arrays["textsSizes"]
    return load_index(
        manifest,
        files,
        [terms],
        _map_shards(paths[TEXTS_FILE], sizes, len(starts)),
        (
            _map_codes(paths, names.PASSAGE_STREAM, dimensions, counts["passages"]),
            _map_codes(paths, names.HINT_STREAM, dimensions, counts["windows"]),
        ),
        allowance.spend,
    )


def _map_shards(path: Path, sizes: NDArray[Any], count: int) -> Callable[[int], Container]:
    """Map a file of containers, one after another; return a function that reads one and caches."""
    is_whole = sizes.dtype.kind == "u" and len(sizes) == count
    edges = [0, *accumulate(sizes.tolist())] if is_whole else [-1]
    if edges[-1] != path.stat().st_size:
        raise ValueError("textsSizes is not of the texts")
    data = np.memmap(path, dtype=np.uint8, mode="r") if edges[-1] else np.zeros(0, np.uint8)
    return lru_cache(maxsize=_CACHED_SHARDS)(partial(_read_shard, data, edges))


def _read_shard(data: NDArray[np.uint8], edges: Sequence[int], number: int) -> Container:
    shard = data[edges[number] : edges[number + 1]].tobytes()
    return unpack_container(shard, TEXTS_FILE, max_bytes=names.MAX_SHARD_BYTES)


def _map_codes(paths: Mapping[str, Path], stream: str, dimensions: int, count: int) -> Int8Codes:
    """Map the vectors of a stream."""
    arrays = {}
    for name, (dtype, is_matrix) in ARRAYS.items():
        shape = (count, dimensions) if is_matrix else (count,)
        arrays[name] = map_array(paths[array_file_name(stream, name)], dtype, shape)
    check_norms(arrays[INVERSE_NORMS], stream)
    return Int8Codes(arrays[CODES], arrays[INVERSE_NORMS])
