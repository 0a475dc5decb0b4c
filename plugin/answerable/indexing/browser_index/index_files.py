"""Writer of an index: its columns and shards, and the files of them that a browser reads."""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...serve.bundle_format import manifest
from ...serve.bundle_format.container import (
    Container,
    deflate,
    join_content,
    pack_container,
    shrink_array,
)
from ...serve.bundle_format.manifest import (
    ANSWERS_FILE,
    COLUMNS_FILE,
    CORE_FILE,
    QUESTIONS_FILE,
    SUGGESTIONS_FILE,
    TERMS_FILE,
    WORDS_FILE,
    Profile,
)
from ...serve.bundle_format.site_data import (
    LanguageRows,
    SiteColumns,
    SiteMetadata,
    collect_site_columns,
    index_entries,
    list_columns,
    pack_columns,
)
from ...serve.bundle_format.stored_answers import ANSWERS_PER_SHARD
from ...serve.embedders.embedder import Vectors
from ...serve.embedders.local_embedder import LOCAL_IDENTITY
from ...serve.errors import SiteError
from ...serve.retrieval.sections import has_code
from ...serve.retrieval.word_forms import MIN_SHARED_LETTERS
from ...serve.stores.bundle import guess_anchor, guess_url
from ...serve.types import TITLE_SEPARATOR, Passage
from ..index import Lexicon, SiteIndex, encode_vectors
from ..questions import list_sections

# Of a page's summary, and of all its themes, that a model reads beside the passages.
MAX_SUMMARY_CHARACTERS = 400


def clip_summary(text: str) -> str:
    """Cut a text between words where it is longer than a model that answers has to read."""
    if len(text) <= MAX_SUMMARY_CHARACTERS:
        return text
    cut = text[:MAX_SUMMARY_CHARACTERS]
    return f"{cut.rpartition(' ')[0] or cut} …"


def clip_themes(themes: Sequence[str]) -> list[str]:
    """Keep the first themes of a page, as many as are no longer than a summary."""
    ends = accumulate(len(theme) for theme in themes)
    pairs = zip(themes, ends, strict=True)
    return [theme for theme, end in pairs if end <= MAX_SUMMARY_CHARACTERS]


@dataclass(frozen=True, slots=True)
class PublicIndex:
    """Hold the index of a site's published pages, from which it is written.

    ``record_ids`` and ``record_urls`` have one value for each record. ``passage_vectors`` (n, d)
    are in full precision. ``forms`` are by language those of each term of the lexicon but itself,
    with spaces between them.
    """

    columns: SiteColumns
    record_ids: tuple[str, ...]
    record_urls: tuple[str, ...]
    passages: tuple[Passage, ...]
    passage_vectors: Vectors
    lexicon: Lexicon
    forms: Mapping[str, Sequence[str]]


def select_public_index(index: SiteIndex) -> PublicIndex:
    """Select what the published pages hold, and nothing that notes do."""
    records, site = index.records, index.site
    tables = (index.names, index.aliases, index.themes, index.titles.terms)
    names, aliases, themes, title_terms = index_entries(tables, len(records))
    columns = SiteColumns(
        site=SiteMetadata(
            name=site.name,
            url=site.url,
            language=site.language,
            scripts=index.scripts,
            route=site.route,
            languages=tuple(LanguageRows(*each) for each in index.languages),
            names=site.names,
            author=site.author,
        ),
        weights=np.array(index.weights, "<f4"),
        dates=tuple(record.metadata.date for record in records),
        title_norms=np.array(index.titles.norms, "<f4"),
        is_history=np.array(index.is_history, np.bool_),
        names=names,
        aliases=aliases,
        themes=themes,
        title_terms=title_terms,
        passage_records=np.array(index.passage_records, "<u4"),
        lengths=index.lexicon.lengths,
        question_terms=index_entries([index.questions.terms], len(index.questions.texts))[0],
        question_norms=np.array(index.questions.norms, np.float64),
        question_keys=np.array(index.questions.keys, "<u4"),
        question_passages=np.array(index.questions.passages, "<u4"),
        answers=index.questions.answers,
        questions=index.questions.texts,
        passage_sections=_find_sections(index),
        words=index.words,
    )
    return PublicIndex(
        columns=columns,
        record_ids=tuple(record.id for record in records),
        record_urls=tuple(record.url for record in records),
        passages=tuple(each.passage for each in index.passages),
        passage_vectors=index.passage_vectors,
        lexicon=index.lexicon,
        # A site without pages has a language, and no forms in it.
        forms={tag: index.forms.get(tag, ()) for tag in columns.site.tags},
    )


def _find_sections(index: SiteIndex) -> NDArray[np.uint32]:
    """Find the first passage of each passage's section, (n,)."""
    sections = list_sections(entry.passage for entry in index.passages)
    sizes = [len(section.windows) for section in sections]
    return np.repeat(np.array([section.first for section in sections], "<u4"), sizes)


def collect_columns(index: PublicIndex, text_starts: Sequence[int]) -> Mapping[str, Any]:
    """Collect the columns of an index by name. text_starts: the first row of each shard of texts.

    Those of the terms are made with their shards.
    """
    ids, urls = index.record_ids, index.record_urls
    passages = list(zip(index.passages, index.columns.passage_records.tolist(), strict=True))
    titles = _share_prefixes([passage.title for passage in index.passages])
    return {
        **collect_site_columns(index.columns),
        "recordIds": ids,
        "recordUrls": urls,
        "passageIds": [_shorten_id(passage, ids[row]) for passage, row in passages],
        "passageUrls": [
            None if passage.url == guess_url(passage.id, ids[row], urls[row]) else passage.url
            for passage, row in passages
        ],
        "titles": [headings for _, headings in titles],
        "sharedTitles": [shared for shared, _ in titles],
        "hasCode": [has_code(passage) for passage in index.passages],
        "textsStarts": text_starts,
    }


def _shorten_id(passage: Passage, record_id: str) -> str | list[str]:
    """Return the id of a passage without the record's, or the whole id in a list.

    An anchor that follows from the passage's heading is left out too.
    """
    tail = passage.id.removeprefix(record_id)
    anchor = f"#{guess_anchor(passage.title)}"
    if not passage.id.startswith(record_id) or re.match("#(?:~|$)", tail):
        return [passage.id]
    window = tail.removeprefix(anchor)
    return f"#{window}" if tail != window and re.fullmatch("(?:~[0-9]+)?", window) else tail


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


# A question loads all signs, 32 bytes a passage; an edit changes one file of 16 kB.
SIGN_ROWS = 512


def serialize_signs(codes: NDArray[np.int8]) -> list[bytes]:
    """Serialize a bit for each dimension of each passage, set for a code above 0, in shards."""
    return [
        pack_container(
            Container({}, {"signs": np.packbits(codes[start : start + SIGN_ROWS] > 0, 1).ravel()})
        )
        for start in range(0, len(codes), SIGN_ROWS)
    ]


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


def serialize_terms(index: PublicIndex, shards: Iterable[Sequence[int]]) -> list[bytes]:
    """Serialize the forms and postings of terms. shards: the rows of the terms of each."""
    return [pack_container(_make_shard(index, shard)) for shard in shards]


def _make_shard(index: PublicIndex, rows: Sequence[int]) -> Container:
    """Make a shard. rows: of its terms, rising."""
    lexicon = index.lexicon
    edges = lexicon.edges.astype(np.int64)
    sizes = edges[np.array(rows, dtype=np.int64) + 1] - edges[rows] if rows else np.zeros(0, int)
    places = np.concatenate([np.arange(edges[row], edges[row + 1]) for row in rows] or [sizes])
    columns = {
        "terms": [lexicon.terms[row] for row in rows],
        "forms": {tag: [forms[row] for row in rows] for tag, forms in index.forms.items()},
        "sizes": sizes,
        "gaps": _difference_rows(lexicon.passages[places], sizes),
        "counts": lexicon.counts[places],
    }
    return pack_columns(list_columns(TERMS_FILE), columns)


def _difference_rows(passages: NDArray[np.uint32], sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Subtract from each passage the one before it of the same term; the first stays."""
    rows = passages.astype(np.int64)
    gaps = rows - np.concatenate(([0], rows[:-1]))[: len(rows)]
    starts = np.concatenate(([0], np.cumsum(sizes)[:-1]))[: len(sizes)]
    gaps[starts] = rows[starts]
    return gaps


# How many shards a large site has of each kind, and the fewest and the most passages of one. The
# passages that a question reads are often of one page: shards that end with a page save a sixth of
# the bytes.
_SHARDS = {"codes": (200, 8, 24), "texts": (250, 4, 12)}

Codes = NDArray[np.int8]


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


def serialize_codes(codes: Codes, starts: Sequence[int]) -> list[bytes]:
    """Serialize the codes of passages, (n, dimensions). starts: the first row of each shard."""
    return [
        pack_container(Container({}, {"codes": codes[start:end].reshape(-1)}))
        for start, end in pairwise([*starts, len(codes)])
    ]


def serialize_texts(passages: Sequence[Passage], starts: Sequence[int]) -> list[bytes]:
    """Serialize the Markdown of passages. starts: the first row of each shard.

    SiteError for a passage that is too large to be read.
    """
    return [
        _serialize_shard(passages[start:end]) for start, end in pairwise([*starts, len(passages)])
    ]


def _serialize_shard(passages: Sequence[Passage]) -> bytes:
    texts = [passage.markdown for passage in passages]
    content = join_content(Container({"passages": texts}))
    if len(content) > manifest.MAX_SHARD_BYTES:
        largest = max(passages, key=lambda passage: len(passage.text))
        raise SiteError(
            f"{largest.record}: it has {len(largest.text)} characters under one heading that "
            "cannot be cut; break its lines"
        )
    return deflate(content)


def serialize_answers(answers: Sequence[Any]) -> list[bytes]:
    """Serialize stored answers in shards, of which a question that has one loads one."""
    listed, size = list_columns(ANSWERS_FILE), ANSWERS_PER_SHARD
    return [
        pack_container(pack_columns(listed, {"answers": answers[first : first + size]}))
        for first in range(0, len(answers), size)
    ]


@dataclass(frozen=True, slots=True)
class AddressedFiles:
    """Hold files by their path in a folder, and the folder, such as ``engine/0123456789abcdef``."""

    folder: str
    files: Mapping[str, bytes]


INDEX_FORMAT = 5
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


def serialize_browser_index(index: PublicIndex, profile: Profile, bundle_id: str) -> BrowserIndex:
    """Serialize an index. bundle_id: of the bundle that holds the same, as a reply names it."""
    site, dimensions = index.columns, index.passage_vectors.shape[1]
    codes = encode_vectors(index.passage_vectors, dimensions).codes
    records = site.passage_records.tolist()
    starts = {kind: split_passages(kind, records) for kind in _SHARDS}
    columns = collect_columns(index, starts["texts"])
    terms = divide_terms(index)
    shards: Mapping[str, list[bytes]] = {
        "terms": serialize_terms(index, terms.values()),
        "codes": serialize_codes(codes, starts["codes"]),
        "texts": serialize_texts(index.passages, starts["texts"]),
        "signs": serialize_signs(codes),
        **{
            file.removesuffix(".bin"): [pack_container(pack_columns(list_columns(file), columns))]
            for file in (WORDS_FILE, QUESTIONS_FILE, SUGGESTIONS_FILE)
        },
        "answers": serialize_answers(columns["answers"]),
    }
    digests = {
        kind: [hashlib.sha256(data).digest()[:NAME_BYTES] for data in parts]
        for kind, parts in shards.items()
    }
    values = {
        "format": INDEX_FORMAT,
        "id": bundle_id,
        # The only embedder that a browser has.
        "embedder": LOCAL_IDENTITY.as_json(),
        "profile": profile.as_json(),
        "dimensions": dimensions,
        "counts": {
            "records": len(index.record_ids),
            "passages": len(index.passages),
            "terms": len(index.lexicon.terms),
            "words": len(site.words),
            "questions": len(site.questions),
            "answers": len(site.answers),
        },
        "termStarts": list(terms),
    }
    core = pack_columns(list_columns(CORE_FILE), columns)
    # Imported late: it collects constants of nearly all that answers.
    from .recipe import collect_recipe

    recipe = {"recipe": collect_recipe(site.site)}
    edited = pack_columns(list_columns(COLUMNS_FILE), columns)
    arrays = {
        **edited.arrays,
        **{f"{kind}Names": np.frombuffer(b"".join(of), "|u1") for kind, of in digests.items()},
        **{f"{kind}Starts": shrink_array(np.array(rows, int)) for kind, rows in starts.items()},
    }
    first = {
        "core": pack_container(Container({**recipe, **core.values}, core.arrays)),
        "manifest": pack_container(Container({**values, **edited.values}, arrays)),
    }
    names = {kind: name_file(kind, hashlib.sha256(data).digest()) for kind, data in first.items()}
    files = {
        name_file(kind, digest): data
        for kind, parts in shards.items()
        for digest, data in zip(digests[kind], parts, strict=True)
    }
    files |= {names[kind]: data for kind, data in first.items()}
    folder = f"index/{re.sub('[^A-Za-z0-9-]', '-', site.site.language)}"
    return BrowserIndex(folder, files, names["manifest"], names["core"])
