"""Passages: windows of a section that are cited as one, cut at sentences."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, pairwise
from typing import Protocol, TypeVar
from urllib.parse import quote

from ...engine.text.markdown import Block, place_blocks
from ...engine.text.markdown_writer import write_blocks
from ...engine.text.sentences import split_sentences
from ...engine.text.tokenization import count_words
from ...engine.types import TITLE_SEPARATOR, Passage
from ..notes.transcripts import Cue
from .pieces import Cluster, Piece, cluster_pieces, cut_blocks, join_pieces
from .records import Record, Section

_UNSAFE_IN_FRAGMENT = frozenset(' "<>`\\')


class Measured(Protocol):
    """Something that knows how many words it has."""

    @property
    def words(self) -> int: ...


M = TypeVar("M", bound=Measured)


@dataclass(frozen=True, slots=True)
class PassageWindow:
    """The length of a passage in words, and the share of it that the next one is found by too."""

    words: int = 240
    overlap: float = 0.25


@dataclass(frozen=True, slots=True)
class IndexedPassage:
    """A passage, and what else it is found by, none of which is quoted.

    ``context``: what is said of it, line by line. ``retrieval_text``: all that it is found by:
    the context, the last words of the passage before it in its section, and its own.
    """

    passage: Passage
    context: str
    retrieval_text: str


def cut_passages(
    record: Record,
    window: PassageWindow,
    abbreviations: Mapping[str, str] | None = None,
    extra: str = "",
) -> list[IndexedPassage]:
    """Cut a record into passages in reading order, and then its transcript.

    abbreviations: short forms to long ones, the record's own if None. extra: text that all
    passages of the record are found by too.
    """
    last_numbers: dict[str, int] = {}
    cut: list[tuple[Section, Passage, str]] = []
    for section in record.sections:
        pieces = list(cut_blocks(section.blocks, window.words))
        clusters = cluster_pieces(pieces, window.words)
        for repeated, group in pack_windows(clusters, window, _repeat_table_header):
            passage = _make_passage(record, section, group, last_numbers)
            cut.append((section, passage, place_blocks(_join_clusters(repeated)).text))
    spoken = cut_transcript(record, window, [passage.id for _, passage, _ in cut])
    cut += [(Section((), "", ()), passage, before) for passage, before in spoken]
    abbreviations = record.abbreviations if abbreviations is None else abbreviations
    passages: list[IndexedPassage] = []
    for section, passage, before in cut:
        text = "\n".join(filter(None, (before, passage.text)))
        context = _join_context(record, section, extra, _find_other_forms(text, abbreviations))
        found_by = "\n".join(filter(None, (context, text)))
        passages.append(IndexedPassage(passage, context, found_by))
    return passages


def cut_plain_text(text: str, window: PassageWindow) -> list[str]:
    """Cut a plain text at its blank lines, the way a page is cut at its paragraphs."""
    parts = (part.strip() for part in re.split(r"\n\s*\n", text))
    pieces = cut_blocks([Block("text", part) for part in parts if part], window.words)
    return [
        place_blocks(join_pieces([*repeated, *group])).text
        for repeated, group in pack_windows(pieces, window)
    ]


def pack_windows(
    units: Iterable[M], window: PassageWindow, repeat: Callable[[M], M | None] = lambda _: None
) -> list[tuple[list[M], list[M]]]:
    """Group units in order, so that no group but one of a single unit is longer than the window.

    Before each group stand the last units before it that together fit the overlap, and count for
    its length. repeat: returns what a group begins with before a unit, if that fits too.
    """
    groups: list[tuple[list[M], list[M]]] = []
    repeated: list[M] = []
    group: list[M] = []
    words = 0
    for unit in units:
        if group and words + unit.words > window.words:
            groups.append((repeated, group))
            header = repeat(unit)
            last, group = [*repeated, *group], [unit]
            if header and header.words + unit.words <= window.words:
                group = [header, unit]
            words = sum(member.words for member in group)
            overlap = min(window.words * window.overlap, window.words - words)
            start = len(last)
            while start and last[start - 1].words <= overlap:
                start -= 1
                overlap -= last[start].words
                words += last[start].words
            repeated = last[start:]
        else:
            group.append(unit)
            words += unit.words
    return [*groups, (repeated, group)] if group else groups


def _repeat_table_header(cluster: Cluster) -> Cluster | None:
    """Return the column names that a window repeats which begins within a table."""
    header = cluster.header
    return Cluster((header,), header.words) if header else None


def _join_clusters(clusters: Iterable[Cluster]) -> list[Block]:
    return join_pieces([piece for cluster in clusters for piece in cluster.pieces])


def _make_passage(
    record: Record, section: Section, group: Sequence[Cluster], last_numbers: dict[str, int]
) -> Passage:
    name = "-".join(section.anchor.split())
    return Passage(
        id=_assign_id(f"{record.id}#{name}" if name else record.id, last_numbers),
        record=record.id,
        url=f"{record.url}#{_encode_fragment(section.anchor)}" if section.anchor else record.url,
        title=TITLE_SEPARATOR.join((record.title, *section.path)),
        markdown=write_blocks(_join_clusters(group)),
        date=record.metadata.date,
        language=record.language,
    )


def _assign_id(name: str, last_numbers: dict[str, int]) -> str:
    """Return the first free of NAME, NAME~2, NAME~3 …; an anchor may look like a window's id.

    last_numbers: every id in use, with the last number that was assigned under it.
    """
    number = last_numbers.get(name, 0) + 1
    while (unique := f"{name}~{number}" if number > 1 else name) in last_numbers:
        number += 1
    last_numbers[unique] = 1
    last_numbers[name] = number
    return unique


def _encode_fragment(anchor: str) -> str:
    """Encode an anchor as browsers write a url's fragment: they find it by its decoded form."""
    if all(map(_is_safe, anchor)):
        return anchor
    # A percent sign that stood as it is would be decoded with the others.
    return "".join(
        c if c != "%" and _is_safe(c) else quote(c, safe="", errors="replace") for c in anchor
    )


def _is_safe(character: str) -> bool:
    return character.isprintable() and character not in _UNSAFE_IN_FRAGMENT


def _join_context(record: Record, section: Section, extra: str, expansions: Iterable[str]) -> str:
    metadata = record.metadata
    page = (record.title, *metadata.aliases, *section.path, metadata.summary, *metadata.themes)
    return "\n".join(part for part in (*page, extra, *expansions) if part)


def _find_other_forms(text: str, abbreviations: Mapping[str, str]) -> Iterator[str]:
    """Find the other form of each abbreviation that a text uses, the long one or the short one."""
    for short, long in abbreviations.items():
        if _match_whole_phrase(short).search(text):
            yield long
        elif _match_whole_phrase(long, re.IGNORECASE).search(text):
            yield short


@cache
def _match_whole_phrase(phrase: str, flags: int = 0) -> re.Pattern[str]:
    words = r"\s+".join(map(re.escape, phrase.split()))
    return re.compile(rf"(?<!\w){words}(?!\w)", flags)


# The longest passage of a transcript in words, some fifty seconds of speech: its link leads to
# where the passage begins, and nobody wants to listen for minutes.
MAX_WINDOW_WORDS = 120
# A longer sentence is divided between cues: automatic captions have no punctuation.
MAX_SENTENCE_WORDS = 40
# After a longer pause another passage begins.
MAX_PAUSE_SECONDS = 10.0
# What an address of a recording may hold in place of the parameter ``t``.
SECONDS_FIELD = "{seconds}"


def cut_transcript(
    record: Record, window: PassageWindow, used_ids: Collection[str]
) -> list[tuple[Passage, str]]:
    """Cut a record's transcript into passages in the order of time; none without one.

    A passage holds whole sentences as far as the captions have any; beside it are the last words
    of the one before. used_ids: of the record's other passages.
    """
    transcript = record.transcript
    if transcript is None:
        return []
    limit = PassageWindow(min(window.words, MAX_WINDOW_WORDS), window.overlap)
    last_numbers = dict.fromkeys(used_ids, 1)
    passages: list[tuple[Passage, str]] = []
    for cues in _split_at_pauses(transcript.cues):
        text = " ".join(cue.text for cue in cues)
        lengths = (len(cue.text) + 1 for cue in cues)
        offsets = list(accumulate(lengths, initial=0))[:-1]
        for repeated, group in pack_windows(_split_speech(text, offsets), limit):
            start, end = group[0].start, group[-1].end
            before = text[repeated[0].start : repeated[-1].end] if repeated else ""
            seconds = int(cues[bisect_right(offsets, start) - 1].start)
            passage = Passage(
                id=_assign_id(f"{record.id}#t={seconds}", last_numbers),
                record=record.id,
                url=link_to_time(transcript.media or record.url, seconds),
                title=f"{record.title} › {format_clock(seconds)}",
                markdown=write_blocks([Block("text", text[start:end])]),
                date=record.metadata.date,
                language=record.language,
            )
            passages.append((passage, before))
    return passages


def link_to_time(url: str, seconds: int) -> str:
    """Add a time to the url of a page or a recording, as the parameter ``t`` or in its field."""
    if SECONDS_FIELD in url:
        return url.replace(SECONDS_FIELD, str(seconds))
    address, mark, fragment = url.partition("#")
    return f"{address}{'&' if '?' in address else '?'}t={seconds}{mark}{fragment}"


def format_clock(seconds: int) -> str:
    """Format seconds as a player does: ``12:34``, ``1:02:03``."""
    minutes, second = divmod(seconds, 60)
    hour, minute = divmod(minutes, 60)
    return f"{hour}:{minute:02d}:{second:02d}" if hour else f"{minute}:{second:02d}"


def _split_at_pauses(cues: Sequence[Cue]) -> Iterator[Sequence[Cue]]:
    """Split cues where nobody speaks for a while, so that no passage begins long before its end."""
    start = 0
    for n, (before, after) in enumerate(pairwise(cues), 1):
        if after.start - before.end > MAX_PAUSE_SECONDS:
            yield cues[start:n]
            start = n
    yield cues[start:]


def _split_speech(text: str, offsets: Sequence[int]) -> Iterator[Piece]:
    """Split what is said into sentences, long ones between cues. offsets: of the cues, rising."""
    block = Block("text", text)
    for start, end in split_sentences(block):
        edges = [start, end]
        if count_words(text[start:end]) > MAX_SENTENCE_WORDS:
            inner = offsets[bisect_right(offsets, start) : bisect_left(offsets, end)]
            edges = [start, *_choose_breaks(text, start, [*inner, end]), end]
        for first, last in pairwise(edges):
            words = text[first:last].rstrip()
            yield Piece(0, block, first, first + len(words), count_words(words))


def _choose_breaks(text: str, start: int, offsets: Sequence[int]) -> Iterator[int]:
    """Choose the fewest breaks that keep every piece short, unless a cue alone is longer.

    offsets: of the cues after the first, and the end.
    """
    last = start
    for offset, following in pairwise(offsets):
        if count_words(text[last:following]) > MAX_SENTENCE_WORDS:
            yield offset
            last = offset
