"""Read the passages of a published index: their ids, titles and urls, texts and structure."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from ...serve.bundle_format.site_metadata import SiteColumns
from ...serve.structure import TITLE_SEPARATOR, is_safe_url, unpack_blocks, unpack_spans
from ...serve.types import Passage
from .container import Container
from .core_file import WINDOW_SUFFIX
from .utf16_offsets import make_unit_converter

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
