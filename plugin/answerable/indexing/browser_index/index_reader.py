"""Reader of the browser's files, by which a static site is asked from the terminal."""

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...serve.bundle_format import columns
from ...serve.bundle_format.columns import (
    TextLines,
    bound_inflated_size,
    check_row_bounds,
    check_row_order,
    unpack_lines,
)
from ...serve.bundle_format.container import Container, unpack_container
from ...serve.bundle_format.manifest import Manifest, parse_profile
from ...serve.bundle_format.site_data import Postings, SiteColumns, load_site_columns
from ...serve.embedders.embedder import EmbedderIdentity
from ...serve.errors import BUILD_AGAIN, BundleError
from ...serve.retrieval.scoring import find_passage_candidates, score_codes
from ...serve.retrieval.store import Candidates, Floats, PassageQuery, Rows
from ...serve.structure import TITLE_SEPARATOR, is_safe_url, unpack_blocks, unpack_spans
from ...serve.types import Passage, RoutingHint
from ...serve.vectors import Codes, Encoding, Int8Codes, invert_row_norms
from .index_files import (
    INDEX_FORMAT,
    NAME_BYTES,
    WINDOW_SUFFIX,
    guess_anchor,
    make_unit_converter,
    name_file,
)

_PAIR = 2
# More than a bundle holds of a page's summary and themes.
_MAX_CONTEXT_CHARACTERS = 1_000


def read_passages(
    core: Container,
    site: SiteColumns,
    shards: Sequence[Container],
    spend: Callable[[int], None],
) -> list[Passage]:
    """Read all passages in the order of rows; LookupError, TypeError or ValueError for bad ones.

    shards: of texts, in order. spend: is told how many characters are restored from what passages
    share, which may raise an error of its own.
    """
    values = core.values
    texts = [text for shard in shards for text in shard.values["passages"]]
    titles = _expand_titles(core.arrays["sharedTitles"].tolist(), values["titles"])
    owners = site.passage_records.tolist()
    # The words of summaries and themes are not published, only how many characters they take of
    # the evidence.
    lengths = [
        min(length, _MAX_CONTEXT_CHARACTERS) for length in core.arrays["contextLengths"].tolist()
    ]
    spend(sum(lengths))
    contexts = [" " * length for length in lengths]
    names = zip(owners, values["passageIds"], values["passageUrls"], strict=True)
    passages = []
    for row, ((record, tail, url), title, text) in enumerate(
        zip(names, titles, texts, strict=True)
    ):
        record_id = _check_text(values["recordIds"][record])
        # A whole id stands in a list where it does not begin with that of its page.
        passage_id = _check_text(tail[0]) if isinstance(tail, list) else record_id + tail
        # An anchor that follows from the heading is left out.
        if not isinstance(tail, list) and (tail == "#" or tail.startswith("#~")):
            passage_id = f"{record_id}#{guess_anchor(title)}{tail[1:]}"
        if url is None:
            anchor = WINDOW_SUFFIX.sub("", passage_id.removeprefix(record_id))
            url = values["recordUrls"][record] + anchor
        spend(len(passage_id) + len(url) + len(title))
        passages.append(
            Passage(
                id=passage_id,
                record=record_id,
                url=_check_url(url),
                title=_check_text(title),
                date=site.dates[record],
                language=site.site.language_of(row),
                summary=contexts[record],
                **_parse_text(*text),
            )
        )
    return passages


def _expand_titles(shared: Sequence[int], endings: Sequence[str]) -> Iterator[str]:
    """Yield titles, each of which shares its first headings with the one before it."""
    headings: list[str] = []
    for count, ending in zip(shared, endings, strict=True):
        headings = headings[:count] + (_check_text(ending).split(TITLE_SEPARATOR) if ending else [])
        yield TITLE_SEPARATOR.join(headings)


def _parse_text(
    text: str, gaps: Sequence[int], blocks: Sequence[Any], spans: Sequence[Any]
) -> Mapping[str, Any]:
    """Parse a text and its structure; offsets become code points, which Python counts."""
    convert = make_unit_converter(_check_text(text))
    return {
        "text": text,
        "sentences": tuple(_expand_gaps(gaps, convert, len(text))),
        "blocks": unpack_blocks(_expand_ranges(blocks, convert), len(text)),
        "spans": unpack_spans(_expand_ranges(spans, convert), len(text)),
    }


def _expand_gaps(
    gaps: Sequence[int], convert: Callable[[int], int], size: int
) -> Iterator[tuple[int, int]]:
    """Yield sentences: each gives how far it starts after the last one's end, and its length."""
    last = 0
    for place in range(0, len(gaps), _PAIR):
        gap, length = gaps[place : place + _PAIR]
        start, end = last + gap, last + gap + length
        if not gap >= 0 or not length >= 0 or convert(end) > size:
            raise ValueError(f"{start!r:.40} to {end!r:.40} is not a sentence")
        yield convert(start), convert(end)
        last = end


def _expand_ranges(
    rows: Iterable[Sequence[Any]], convert: Callable[[int], int]
) -> Iterator[list[Any]]:
    """Yield blocks or spans: each gives how far it starts after the last one's start."""
    last = 0
    for kind, gap, length, *values in rows:
        start = last + gap
        yield [kind, convert(start), convert(start + length), *values]
        last = start


def _check_text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r:.80} is not a text")
    return value


def _check_url(value: object) -> str:
    url = _check_text(value)
    if not is_safe_url(url):
        raise ValueError(f"the url {url!r:.80} is not safe")
    return url


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class PublishedStore(SiteColumns):
    """Hold a published index in memory: ``passages`` in the order of rows, and no hint at all.

    It gives the answers of the bundle that was built with it.
    """

    manifest: Manifest
    passages: Sequence[Passage]
    passage_codes: Codes
    postings: Postings
    forms: Mapping[str, Mapping[str, str]]
    words: Sequence[str]

    @property
    def store_key(self) -> str:
        """Tell it from the bundle of the same id."""
        return "published"

    def term_forms(self, language: str) -> Iterable[tuple[str, str]]:
        """List the forms of each term in a language."""
        return self.forms[language].items()

    def postings_of(self, terms: Collection[str]) -> Postings:
        """Return the postings of all terms."""
        del terms
        return self.postings

    def passage_candidates(self, query: PassageQuery) -> Candidates:
        """Score the best passages by the estimates of all."""
        return find_passage_candidates(self.passage_codes, self.manifest.profile, query)

    def passage_cosines(self, unit: Floats, rows: Rows) -> Candidates:
        """Score some passages."""
        return Candidates(rows, score_codes(self.passage_codes, unit, rows))

    def hint_candidates(self, unit: Floats, added: Floats, count: int) -> Candidates:
        """Find no hint: a site with notes publishes no index."""
        del unit, added, count
        return Candidates(np.zeros(0, np.intp), np.zeros(0, np.float32))

    def passages_at(self, rows: Collection[int]) -> Mapping[int, Passage]:
        """Return the passages of some rows."""
        return {row: self.passages[row] for row in rows}

    def hints_at(self, rows: Collection[int]) -> Mapping[int, RoutingHint]:
        """Return no hint."""
        del rows
        return {}

    def rows_of_page(self, name: str) -> Sequence[int]:
        """Find the passages of the page that has an id, or a url if no anchor counts, in order."""
        owners = self.passage_records.tolist()
        records = {
            owner
            for owner, passage in zip(owners, self.passages, strict=True)
            if name in (passage.record, passage.url.partition("#")[0])
        }
        return [row for row, owner in enumerate(owners) if owner in records]

    def check_reachable(self) -> None:
        """Do nothing: everything is in memory."""


# Returns a file of the index by its name.
ReadFile = Callable[[str], bytes]

# The tables of phrases, in the order of ``columns.PHRASE_KINDS`` without that of hints.
_PHRASE_TABLES = ("names", "aliases", "themes", "titleTerms")
# Of one kind: enough for 80,000 passages, and few enough to fetch.
_MAX_SHARDS = 10_000


# The kinds of files whose names stand in the manifest.
_KINDS = ("terms", "codes", "texts", "words")


@dataclass(frozen=True, slots=True)
class IndexManifest:
    """Describe a published index: as a bundle, its columns that edits change, and its files.

    ``files``: the names of each kind, in order.
    """

    manifest: Manifest
    columns: Container
    files: Mapping[str, Sequence[str]]


def parse_index_manifest(data: bytes, where: str, core: str, built_at: str) -> IndexManifest:
    """Parse the manifest of an index; BundleError names what is wrong.

    where: its address. core: the name of the core file. built_at: the time of the build.
    """
    columns = unpack_container(data, where)
    number = columns.values.get("format")
    if number != INDEX_FORMAT:
        raise BundleError(
            f"{where} has the format {number!r:.20}, and this program reads {INDEX_FORMAT}: "
            "install the version of mkdocs-answerable that the site was built with"
        )
    try:
        files = {kind: _list_names(kind, columns.arrays[f"{kind}Names"]) for kind in _KINDS}
        manifest = _parse_manifest(columns.values, built_at)
        return IndexManifest(manifest, columns, {"core": [core], **files})
    except (LookupError, TypeError, ValueError, RecursionError) as error:
        raise BundleError(f"{where} is malformed ({error!s:.200}): {BUILD_AGAIN}") from None


def _parse_manifest(fields: Mapping[str, Any], built_at: str) -> Manifest:
    identity = EmbedderIdentity(**fields["embedder"])
    return Manifest(
        id=str(fields["id"]),
        built_at=built_at,
        generator=f"mkdocs-answerable {version('mkdocs-answerable')}",
        identity=identity,
        profile=parse_profile(fields["profile"]),
        encoding=Encoding("int8", identity.dimensions),
        counts={**fields["counts"], "hints": 0, "windows": 0},
        files={},
    )


def _list_names(kind: str, digests: NDArray[np.uint8]) -> list[str]:
    if len(digests) > _MAX_SHARDS * NAME_BYTES:
        raise ValueError(f"it has {len(digests) // NAME_BYTES} files of {kind}")
    return [name_file(kind, digest.tobytes()) for digest in digests.reshape(-1, NAME_BYTES)]


def check_file_name(name: str, data: bytes, where: str) -> None:
    """Refuse a file whose name does not follow from its bytes; BundleError. where: its address."""
    if name_file(name.partition("-")[0], hashlib.sha256(data).digest()) != name:
        raise BundleError(f"{where} is another file than was built: deploy the whole site again")


def read_published_index(index: IndexManifest, read: ReadFile) -> PublishedStore:
    """Read the files of an index into a store; BundleError for a damaged or missing one."""

    packed = {name: read(name) for names in index.files.values() for name in names}
    allowance = _Allowance(sum(map(len, packed.values())))

    def unpack(kind: str) -> list[Container]:
        names = index.files[kind]
        return [unpack_container(packed[name], name, allowance.spend) for name in names]

    (stable,), (words,) = unpack("core"), unpack("words")
    columns_of_edits = index.columns
    core = Container(
        {**stable.values, **columns_of_edits.values}, {**stable.arrays, **columns_of_edits.arrays}
    )
    try:
        terms = unpack("terms")
        _check_counts(index.manifest.counts, core, words, terms)
        lengths = core.arrays["passageLengths"].astype(np.uint32)
        columns_of_site = _load_columns(core, len(lengths))
        return PublishedStore(
            **columns_of_site.as_fields(),
            manifest=index.manifest,
            passages=read_passages(core, columns_of_site, unpack("texts"), allowance.spend),
            passage_codes=_join_codes(unpack("codes"), len(lengths), index.manifest.encoding),
            postings=_join_postings(terms, lengths),
            forms={tag: _join_forms(terms, tag) for tag in columns_of_site.site.tags},
            words=[str(word) for word in words.values["words"]],
        )
    except (LookupError, TypeError, ValueError, ArithmeticError, RecursionError) as error:
        raise BundleError(f"the index is malformed ({error!s:.200}): {BUILD_AGAIN}") from None


class _Allowance:
    """Count what an index takes once it is expanded, against what its files may become.

    Bytes that decompress and texts that many passages share would else take any amount of memory
    for a few bytes that were sent.
    """

    def __init__(self, packed_bytes: int) -> None:
        self.left = bound_inflated_size(packed_bytes)

    def spend(self, count: int) -> None:
        """Take bytes or characters; BundleError if no more of them are left."""
        self.left -= count
        if self.left < 0:
            raise BundleError(f"the index takes far more memory than its files: {BUILD_AGAIN}")


def _check_counts(
    counts: Mapping[str, int], core: Container, words: Container, terms: Sequence[Container]
) -> None:
    """Compare the manifest's counts with the data; ValueError if they differ."""
    data = {
        "records": len(core.values["recordIds"]),
        "passages": len(core.arrays["passageLengths"]),
        # A term is in each shard that a form of it belongs to.
        "terms": len({term for shard in terms for term in shard.values["terms"]}),
        "words": len(words.values["words"]),
    }
    for name, count in data.items():
        if counts[name] != count:
            raise ValueError(f"its manifest counts {counts[name]!r:.20} {name} instead of {count}")


def _load_columns(core: Container, passages: int) -> SiteColumns:
    """Load what is small of a site, as a bundle has it."""
    values, arrays = core.values, core.arrays
    tables = [values["phrases"][name] for name in _PHRASE_TABLES]
    sizes = arrays["phraseSizes"].astype(np.int64)
    counts = {
        "records": len(values["recordIds"]),
        "passages": passages,
        "hints": 0,
        "bearers": len(arrays["phraseRecords"]),
        **dict(zip(columns.PHRASE_KINDS, [*map(len, tables), 0], strict=True)),
    }
    per_record = arrays["passagesPerRecord"].astype(np.int64)
    # Before memory is allocated for so many.
    if int(per_record.sum()) != passages or len(per_record) != counts["records"]:
        raise ValueError("its records do not cover the passages")
    numbers = {
        columns.RECORD_WEIGHTS.name: arrays["weights"],
        columns.RECORD_TITLE_NORMS.name: arrays["titleNorms"],
        columns.RECORD_HISTORY.name: arrays["isHistory"],
        columns.PASSAGE_RECORDS.name: np.repeat(
            np.arange(len(per_record), dtype=np.uint32), per_record
        ),
        columns.PHRASE_EDGES.name: np.cumsum([0, *sizes.tolist()]).astype(np.uint32),
        columns.PHRASE_RECORDS.name: arrays["phraseRecords"].astype(np.uint32),
        columns.PHRASE_FREQUENCIES.name: arrays["phraseFrequencies"].astype(np.uint32),
    }
    for column in (columns.RECORD_WEIGHTS, columns.RECORD_TITLE_NORMS, columns.RECORD_HISTORY):
        if len(numbers[column.name]) != counts["records"]:
            raise ValueError(f"{column.name} has {len(numbers[column.name])} numbers")
    (dates,) = _make_lines([[date or "" for date in values["dates"]]])
    return load_site_columns(values["site"], dates, _make_lines([*tables, []]), numbers, counts)


def _make_lines(columns_of_texts: Sequence[Sequence[str]]) -> list[TextLines]:
    """Make the columns of texts that a bundle has."""
    text = "\n".join(line for column in columns_of_texts for line in column)
    data = text.encode("utf-8", "surrogatepass")
    return unpack_lines(data, "core.bin", *map(len, columns_of_texts))


def _join_codes(shards: Sequence[Container], passages: int, encoding: Encoding) -> Codes:
    rows = [shard.arrays["codes"] for shard in shards]
    empty: NDArray[np.int8] = np.zeros(0, np.int8)
    codes = np.concatenate([*rows, empty]).reshape(passages, encoding.dimensions)
    return Int8Codes(codes, invert_row_norms(codes))


def _join_forms(shards: Sequence[Container], language: str) -> dict[str, str]:
    pairs = (
        (_check_text(term), _check_text(forms))
        for shard in shards
        for term, forms in zip(shard.values["terms"], shard.values["forms"][language], strict=True)
    )
    return dict(pairs)


def _join_postings(shards: Sequence[Container], lengths: NDArray[np.uint32]) -> Postings:
    terms = [str(term) for shard in shards for term in shard.values["terms"]]
    none: NDArray[np.int64] = np.zeros(0, np.int64)

    def join(name: str) -> NDArray[np.int64]:
        return np.concatenate([*(shard.arrays[name] for shard in shards), none]).astype(np.int64)

    sizes, gaps, counts = join("sizes"), join("gaps"), join("counts")
    is_whole = len(sizes) == len(terms) and int(sizes.sum()) == len(gaps) == len(counts)
    if not is_whole or not sizes.all():
        raise ValueError("its postings do not match its terms")
    edges = np.cumsum([0, *sizes.tolist()])
    # The first number of a term is a passage, each other one the distance to the next.
    sums = np.cumsum(gaps)
    firsts = edges[:-1]
    passages = sums - np.repeat(sums[firsts] - gaps[firsts], sizes)
    check_row_bounds(columns.POSTING_PASSAGES, passages, len(lengths))
    check_row_order(columns.POSTING_PASSAGES, passages, edges)
    return Postings(
        terms={term: row for row, term in enumerate(terms)},
        edges=edges.astype(np.uint32),
        passages=passages.astype(np.uint32),
        counts=counts.astype(np.uint16),
        lengths=lengths,
    )
