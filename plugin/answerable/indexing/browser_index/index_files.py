"""Files of the browser's index: manifest, core and shards, each named by the hash of its own."""

import hashlib
import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...serve.bundle_format.columns import THEME_SEPARATOR
from ...serve.bundle_format.container import Container, pack_container, shrink_array
from ...serve.bundle_format.manifest import Profile
from ...serve.bundle_format.site_data import LanguageRows, PhraseEntry, SiteMetadata
from ...serve.embedders.embedder import Vectors
from ...serve.embedders.local_embedder import LOCAL_IDENTITY
from ...serve.errors import SiteError
from ...serve.retrieval.selection import has_code
from ...serve.retrieval.word_forms import MIN_SHARED_LETTERS
from ...serve.structure import TITLE_SEPARATOR, Block, Span, pack_structure
from ...serve.types import Passage
from ...serve.vectors import Encoding
from ..index import Lexicon, SiteIndex, encode_vectors
from ..output.bundle_writer import clip_context, join_themes
from ..pages.records import Record
from .recipe import collect_recipe


@dataclass(frozen=True, slots=True)
class PublicRecord:
    """Hold what an index says of a page: its id, url, weight, date, and its title's norm.

    ``context_length``: characters of its summary and themes, which count as evidence beside a text.
    """

    id: str
    url: str
    weight: float
    date: str | None
    title_norm: float
    is_history: bool
    context_length: int


@dataclass(frozen=True, slots=True)
class PublicPhrases:
    """Hold the phrases that a question may name, and the terms of titles, sorted."""

    names: tuple[PhraseEntry, ...]
    aliases: tuple[PhraseEntry, ...]
    themes: tuple[PhraseEntry, ...]
    title_terms: tuple[PhraseEntry, ...]


@dataclass(frozen=True, slots=True)
class PublicIndex:
    """Hold the index of a site's published pages.

    ``passage_records`` gives each passage's record as a row. ``passage_vectors`` (n, d) are in
    full precision.
    """

    site: SiteMetadata
    profile: Profile
    records: tuple[PublicRecord, ...]
    phrases: PublicPhrases
    passages: tuple[Passage, ...]
    passage_records: tuple[int, ...]
    passage_vectors: Vectors
    lexicon: Lexicon
    words: tuple[str, ...]
    forms: Mapping[str, tuple[str, ...]]


def select_public_index(index: SiteIndex, profile: Profile) -> PublicIndex:
    """Select what the published pages hold; SiteError for a site with notes."""
    if index.hints:
        raise SiteError(
            "notebook: a site with private notes cannot answer in the browser; set answers_in to "
            "function"
        )
    columns = (index.records, index.weights, index.titles.norms, index.is_history)
    return PublicIndex(
        site=SiteMetadata(
            name=index.site.name,
            url=index.site.url,
            language=index.site.language,
            scripts=index.scripts,
            route=index.site.route,
            languages=tuple(LanguageRows(*each) for each in index.languages),
            names=index.site.names,
            author=index.site.author,
        ),
        profile=profile,
        records=tuple(
            PublicRecord(
                record.id,
                record.url,
                weight,
                record.metadata.date,
                norm,
                is_history,
                _count_context_characters(record),
            )
            for record, weight, norm, is_history in zip(*columns, strict=True)
        ),
        phrases=PublicPhrases(index.names, index.aliases, index.themes, index.titles.terms),
        passages=tuple(each.passage for each in index.passages),
        passage_records=index.passage_records,
        passage_vectors=index.passage_vectors,
        lexicon=index.lexicon,
        words=index.words,
        forms={tag: index.forms[tag] for tag, _, _ in index.languages},
    )


def _count_context_characters(record: Record) -> int:
    """Count the characters of a page's context as a bundle holds it."""
    themes = join_themes(record.metadata.themes)
    return len(clip_context(record.metadata.summary)) + len(themes.replace(THEME_SEPARATOR, ""))


WINDOW_SUFFIX = re.compile(r"~[0-9]+$")


def serialize_core(index: PublicIndex) -> bytes:
    """Serialize the recipe, the site's metadata and what an edit of a few words does not change."""
    titles = _share_prefixes([passage.title for passage in index.passages])
    values = {
        "recipe": collect_recipe(index.site),
        "site": {**index.site.as_json(), "tags": list(index.site.tags)},
        "recordIds": [record.id for record in index.records],
        "recordUrls": [record.url for record in index.records],
        "passageIds": _shorten_ids(index),
        "passageUrls": _shorten_urls(index),
        "titles": [headings for _, headings in titles],
        "phrases": {
            name: [entry.phrase for entry in entries]
            for name, entries in _list_phrases(index).items()
        },
    }
    entries = [entry for table in _list_phrases(index).values() for entry in table]
    arrays = {
        "weights": np.array([record.weight for record in index.records], "<f4"),
        "isHistory": np.array([record.is_history for record in index.records], "|u1"),
        "passagesPerRecord": shrink_array(
            np.bincount(index.passage_records, minlength=len(index.records))
        ),
        "sharedTitles": shrink_array(np.array([shared for shared, _ in titles], int)),
        "phraseSizes": shrink_array(np.array([len(entry.records) for entry in entries], int)),
        "phraseRecords": shrink_array(np.array([r for e in entries for r in e.records], int)),
    }
    return pack_container(Container(values, arrays))


def _collect_counts(index: PublicIndex) -> dict[str, NDArray[Any]]:
    """Collect the columns that an edit of a few words changes, which the manifest holds."""
    entries = [entry for table in _list_phrases(index).values() for entry in table]
    lengths = [record.context_length for record in index.records]
    return {
        "titleNorms": np.array([record.title_norm for record in index.records], "<f4"),
        "contextLengths": shrink_array(np.array(lengths, int)),
        "passageLengths": shrink_array(index.lexicon.lengths),
        "hasCode": np.array([has_code(passage) for passage in index.passages], "|u1"),
        "phraseFrequencies": shrink_array(np.array([entry.frequency for entry in entries], int)),
    }


# A question loads all signs, 32 bytes a passage; an edit changes one file of 16 kB.
SIGN_ROWS = 512


def serialize_signs(codes: NDArray[np.int8]) -> Mapping[int, bytes]:
    """Serialize a bit for each dimension of each passage, set for a code above 0, by shard."""
    return {
        number: pack_container(
            Container({}, {"signs": np.packbits(codes[start : start + SIGN_ROWS] > 0, 1).ravel()})
        )
        for number, start in enumerate(range(0, len(codes), SIGN_ROWS))
    }


def serialize_words(index: PublicIndex) -> bytes:
    """Serialize the words that passages hold as they are written."""
    return pack_container(Container({"words": index.words}))


def _shorten_ids(index: PublicIndex) -> list[str | list[str]]:
    """List the ids of passages without the record's, or the whole id in a list.

    An anchor that follows from the passage's heading is left out too.
    """
    return [
        _shorten_id(passage, index.records[row].id)
        for passage, row in zip(index.passages, index.passage_records, strict=True)
    ]


def _shorten_id(passage: Passage, record_id: str) -> str | list[str]:
    tail = passage.id.removeprefix(record_id)
    anchor = f"#{guess_anchor(passage.title)}"
    if not passage.id.startswith(record_id) or re.match("#(?:~|$)", tail):
        return [passage.id]
    window = tail.removeprefix(anchor)
    return f"#{window}" if tail != window and re.fullmatch("(?:~[0-9]+)?", window) else tail


def guess_anchor(title: str) -> str:
    """Make the anchor that Markdown gives the last heading of a title, of its letters in ASCII."""
    heading = re.sub("[^a-z0-9_ -]+", "", title.rpartition(TITLE_SEPARATOR)[2].lower())
    return re.sub("[ -]+", "-", heading.strip(" "))


def _shorten_urls(index: PublicIndex) -> list[str | None]:
    """List the urls of passages, None where it follows from the record's url and the id."""
    pairs = zip(index.passages, index.passage_records, strict=True)
    return [
        None if passage.url == _guess_url(passage.id, index, row) else passage.url
        for passage, row in pairs
    ]


def _guess_url(passage_id: str, index: PublicIndex, row: int) -> str:
    record = index.records[row]
    return record.url + WINDOW_SUFFIX.sub("", passage_id.removeprefix(record.id))


def _share_prefixes(titles: Sequence[str]) -> list[tuple[int, str]]:
    """Return how many headings each title shares with the one before it, and its other headings.

    A title that is equal to the one before it shares all its headings.
    """
    shared: list[tuple[int, str]] = []
    before: list[str] = []
    for title in titles:
        headings = title.split(TITLE_SEPARATOR)
        count = 0
        while count < min(len(before), len(headings)) and before[count] == headings[count]:
            count += 1
        shared.append((count, TITLE_SEPARATOR.join(headings[count:])))
        before = headings
    return shared


def _list_phrases(index: PublicIndex) -> Mapping[str, tuple[PhraseEntry, ...]]:
    phrases = index.phrases
    return {
        "names": phrases.names,
        "aliases": phrases.aliases,
        "themes": phrases.themes,
        "titleTerms": phrases.title_terms,
    }


# A question reads a shard for each of its words: one of so many postings has some 3 kB. A small
# site has smaller ones, of so many terms.
POSTINGS_PER_SHARD = 1_500
TERMS_PER_SHARD = 40
FEW_SHARDS, MAX_SHARDS = 32, 512


def count_shards(lexicon: Lexicon) -> int:
    """Count about how many shards a site's postings make, at least one."""
    few = min(max(1, len(lexicon.terms) // TERMS_PER_SHARD), FEW_SHARDS)
    return min(max(few, round(len(lexicon.passages) / POSTINGS_PER_SHARD)), MAX_SHARDS)


def divide_terms(index: PublicIndex) -> dict[str, list[int]]:
    """Divide the terms among shards: the rows of each, by the beginning of its first words.

    Words that begin alike are in one shard, in the order of a browser's texts. A term is in each
    shard that one of its forms belongs to, so that a question finds all that it reads of a word by
    the word alone.
    """
    lexicon = index.lexicon
    rows_by_beginning: dict[str, list[int]] = {}
    for row, forms in enumerate(zip(lexicon.terms, *index.forms.values(), strict=True)):
        words = (word for text in forms for word in text.split())
        for beginning in {word[:MIN_SHARED_LETTERS] for word in words}:
            rows_by_beginning.setdefault(beginning, []).append(row)
    sizes = np.diff(lexicon.edges.astype(np.int64))
    weights = {key: int(sizes[rows].sum()) for key, rows in rows_by_beginning.items()}
    most = sum(weights.values()) / count_shards(lexicon)
    shards: dict[str, list[int]] = {"": []}
    filled, first = 0, ""
    for beginning in sorted(weights, key=lambda text: text.encode("utf-16-be", "surrogatepass")):
        if filled >= most:
            filled, first = 0, beginning
        shards.setdefault(first, []).extend(rows_by_beginning[beginning])
        filled += weights[beginning]
    return {first: sorted(set(rows)) for first, rows in shards.items()}


def serialize_postings(index: PublicIndex, shards: Iterable[list[int]]) -> Mapping[int, bytes]:
    """Serialize the forms and postings of terms by the number of their shard.

    shards: the rows of the terms of each.
    """
    return {
        number: pack_container(_make_shard(index, shard)) for number, shard in enumerate(shards)
    }


def _make_shard(index: PublicIndex, rows: list[int]) -> Container:
    """Make a shard. rows: of its terms, rising."""
    lexicon = index.lexicon
    edges = lexicon.edges.astype(np.int64)
    sizes = edges[np.array(rows, dtype=np.int64) + 1] - edges[rows] if rows else np.zeros(0, int)
    places = np.concatenate([np.arange(edges[row], edges[row + 1]) for row in rows] or [sizes])
    return Container(
        {
            "terms": [lexicon.terms[row] for row in rows],
            "forms": {tag: [forms[row] for row in rows] for tag, forms in index.forms.items()},
        },
        {
            "sizes": shrink_array(sizes),
            "gaps": shrink_array(_difference_rows(lexicon.passages[places], sizes)),
            "counts": shrink_array(lexicon.counts[places]),
        },
    )


def _difference_rows(passages: NDArray[np.uint32], sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Subtract from each passage the one before it of the same term; the first stays."""
    rows = passages.astype(np.int64)
    gaps = rows - np.concatenate(([0], rows[:-1]))[: len(rows)]
    starts = np.concatenate(([0], np.cumsum(sizes)[:-1]))[: len(sizes)]
    gaps[starts] = rows[starts]
    return gaps


_LAST_OF_ONE_UNIT = "\uffff"


def make_offset_converter(text: str) -> Callable[[int], int]:
    """Return a function that converts an offset of a text to UTF-16 units."""
    if text.isascii():
        return lambda offset: offset
    wide = _find_wide_characters(text)
    return lambda offset: offset + bisect_left(wide, offset)


def make_unit_converter(text: str) -> Callable[[int], int]:
    """Return a function that converts an offset of a text from UTF-16 units."""
    # Each of them has one unit more, which the places of all later ones count.
    units = [place + before for before, place in enumerate(_find_wide_characters(text))]
    return lambda offset: offset - bisect_left(units, offset)


def _find_wide_characters(text: str) -> list[int]:
    """Find the places of the characters that take two units."""
    return [place for place, character in enumerate(text) if character > _LAST_OF_ONE_UNIT]


# How many shards a large site has of each kind, and the fewest and the most passages of one. The
# vectors of statements take four fifths of the bytes of passages, and a question reads those of few
# passages, so that their shards are small. The passages that a question reads are often of one
# page: shards that end with a page save a sixth of the bytes.
_SHARDS = {"codes": (200, 8, 24), "texts": (250, 4, 12), "statements": (400, 3, 8)}

Codes = NDArray[np.int8]
# Returns the 8-bit vectors of a passage's statements, (statements, dimensions).
QuantizeStatements = Callable[[Passage], Codes]


def split_passages(kind: str, passage_records: Sequence[int]) -> list[int]:
    """Return the first row of each shard of a kind. passage_records: the page of each passage."""
    shards, least, most = _SHARDS[kind]
    return split_pages(passage_records, min(max(least, round(len(passage_records) / shards)), most))


def split_pages(passage_records: Sequence[int], size: int) -> list[int]:
    """Return the first row of each shard of about ``size`` passages.

    A longer page is cut into even parts; short ones in a row share a shard.
    """
    starts: list[int] = []
    # No page fits behind the first parts of a long one.
    free = 0
    for _, group in groupby(range(len(passage_records)), key=passage_records.__getitem__):
        rows = list(group)
        if len(rows) <= free:
            free -= len(rows)
            continue
        parts = max(1, round(len(rows) / size))
        starts += (rows[part * len(rows) // parts] for part in range(parts))
        free = size - len(rows) if parts == 1 else 0
    return starts


def serialize_codes(codes: Codes, starts: Sequence[int]) -> Mapping[int, bytes]:
    """Serialize the codes of passages, (n, dimensions), by the number of their shard.

    starts: the first row of each shard.
    """
    return {
        number: pack_container(Container({}, {"codes": codes[start:end].reshape(-1)}))
        for number, (start, end) in enumerate(pairwise([*starts, len(codes)]))
    }


def serialize_texts(passages: Sequence[Passage], starts: Sequence[int]) -> Mapping[int, bytes]:
    """Serialize texts and their structure by the shard's number.

    starts: the first row of each shard.
    """
    return {
        number: pack_container(
            Container({"passages": [_describe_text(passage) for passage in passages[start:end]]})
        )
        for number, (start, end) in enumerate(pairwise([*starts, len(passages)]))
    }


def serialize_statements(
    passages: Sequence[Passage], starts: Sequence[int], quantize_statements: QuantizeStatements
) -> Mapping[int, bytes]:
    """Serialize the vectors of passages' statements by the shard's number.

    starts: the first row of each shard.
    """
    shards: dict[int, bytes] = {}
    for number, (start, end) in enumerate(pairwise([*starts, len(passages)])):
        codes = [quantize_statements(passage) for passage in passages[start:end]]
        arrays = {
            "counts": shrink_array(np.array([len(rows) for rows in codes])),
            "codes": np.concatenate([rows.reshape(-1) for rows in codes]),
        }
        shards[number] = pack_container(Container({}, arrays))
    return shards


def _describe_text(passage: Passage) -> list[Any]:
    """Describe a text: itself, then its sentences, blocks and spans, in UTF-16 units."""
    convert = make_offset_converter(passage.text)
    return [
        passage.text,
        list(_iterate_gaps(((convert(start), convert(end)) for start, end in passage.sentences))),
        _pack_ranges(passage.blocks, convert),
        _pack_ranges(passage.spans, convert),
    ]


def _iterate_gaps(ranges: Iterable[tuple[int, int]]) -> Iterator[int]:
    """Yield of each range how far it starts after the last one's end, and its length."""
    last = 0
    for start, end in ranges:
        yield start - last
        yield end - start
        last = end


def _pack_ranges(rows: Iterable[Block | Span], convert: Callable[[int], int]) -> list[list[object]]:
    """Pack blocks or spans: kind, start after the last one's start, length, and what else."""
    packed: list[list[object]] = []
    last = 0
    for row, (kind, _, _, *values) in zip(rows, pack_structure(rows), strict=True):
        start, end = convert(row.start), convert(row.end)
        packed.append([kind, start - last, end - start, *values])
        last = start
    return packed


@dataclass(frozen=True, slots=True)
class AddressedFiles:
    """Hold files by their path in a folder, and the folder, such as ``engine/0123456789abcdef``."""

    folder: str
    files: Mapping[str, bytes]


INDEX_FORMAT = 3
# Bytes of a file's hash in its name: enough that no two files of a site have the same.
NAME_BYTES = 6


@dataclass(frozen=True, slots=True)
class BrowserIndex:
    """Hold the files of an index by name, its folder, and the names of the first two to fetch."""

    folder: str
    files: Mapping[str, bytes]
    manifest: str
    core: str


def name_file(kind: str, digest: bytes) -> str:
    """Name a file by its kind and the first bytes of its SHA-256."""
    return f"{kind}-{digest[:NAME_BYTES].hex()}.bin"


def serialize_browser_index(
    index: PublicIndex, quantize_statements: QuantizeStatements, bundle_id: str
) -> BrowserIndex:
    """Serialize an index. bundle_id: of the bundle that holds the same, as a reply names it."""
    dimensions = index.passage_vectors.shape[1]
    codes = encode_vectors(index.passage_vectors, Encoding("int8", dimensions))["codes"]
    starts = {kind: split_passages(kind, index.passage_records) for kind in _SHARDS}
    terms = divide_terms(index)
    shards: Mapping[str, Mapping[int, bytes]] = {
        "terms": serialize_postings(index, terms.values()),
        "codes": serialize_codes(codes, starts["codes"]),
        "texts": serialize_texts(index.passages, starts["texts"]),
        "statements": serialize_statements(
            index.passages, starts["statements"], quantize_statements
        ),
        "signs": serialize_signs(codes),
        "words": {0: serialize_words(index)},
    }
    digests = {
        kind: [hashlib.sha256(data).digest()[:NAME_BYTES] for _, data in sorted(parts.items())]
        for kind, parts in shards.items()
    }
    values = {
        "format": INDEX_FORMAT,
        "id": bundle_id,
        # The only embedder that a browser has.
        "embedder": LOCAL_IDENTITY.as_json(),
        "profile": index.profile.as_json(),
        "dimensions": dimensions,
        "counts": {
            "records": len(index.records),
            "passages": len(index.passages),
            "terms": len(index.lexicon.terms),
            "words": len(index.words),
        },
        "signRows": SIGN_ROWS,
        "termStarts": list(terms),
        "dates": [record.date for record in index.records],
    }
    arrays = {
        **{f"{kind}Names": np.frombuffer(b"".join(of), "|u1") for kind, of in digests.items()},
        **{f"{kind}Starts": shrink_array(np.array(rows, int)) for kind, rows in starts.items()},
        **_collect_counts(index),
    }
    first = {"core": serialize_core(index), "manifest": pack_container(Container(values, arrays))}
    names = {kind: name_file(kind, hashlib.sha256(data).digest()) for kind, data in first.items()}
    files = {
        name_file(kind, digest): parts[number]
        for kind, parts in shards.items()
        for number, digest in enumerate(digests[kind])
    }
    files |= {names[kind]: data for kind, data in first.items()}
    folder = f"index/{re.sub('[^A-Za-z0-9-]', '-', index.site.language)}"
    return BrowserIndex(folder, files, names["manifest"], names["core"])
