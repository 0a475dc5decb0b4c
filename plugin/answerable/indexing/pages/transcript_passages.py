"""Cut the transcript of a recording into passages with time locators and links to the second."""

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from ...serve.structure import Block
from ...serve.text.tokenization import count_words
from ...serve.types import Passage
from .passages import PassageWindow, pack_windows
from .records import PageBlock, Record, SpokenCue
from .text_units import split_sentences

# The longest passage of a transcript in words, some fifty seconds of speech: its link leads to
# where the passage begins, and nobody wants to listen for minutes.
MAX_WINDOW_WORDS = 120
# A longer sentence is divided between cues: automatic captions have no punctuation.
MAX_SENTENCE_WORDS = 40
# After a longer pause another passage begins.
MAX_PAUSE_SECONDS = 10.0
# What an address of a recording may hold in place of the parameter ``t``.
SECONDS_FIELD = "{seconds}"


@dataclass(frozen=True, slots=True)
class _SpokenSentence:
    """Locate a sentence, or some cues of a long one, in the text of a transcript."""

    start: int
    end: int
    words: int


def cut_transcript(
    record: Record, window: PassageWindow, used_ids: Collection[str]
) -> list[Passage]:
    """Cut a record's transcript into passages in the order of time; none without one.

    A passage holds whole sentences as far as the captions have any. used_ids: of the record's
    other passages.
    """
    transcript = record.transcript
    if transcript is None:
        return []
    limit = PassageWindow(min(window.words, MAX_WINDOW_WORDS), window.overlap)
    ids = set(used_ids)
    passages: list[Passage] = []
    for cues in _split_at_pauses(transcript.cues):
        text = " ".join(cue.text for cue in cues)
        lengths = (len(cue.text) + 1 for cue in cues)
        offsets = list(accumulate(lengths, initial=0))[:-1]
        for group in pack_windows(_split_speech(text, offsets, record.language), limit):
            start, end = group[0].start, group[-1].end
            seconds = int(cues[bisect_right(offsets, start) - 1].start)
            passages.append(
                Passage(
                    id=_choose_id(f"{record.id}#t={seconds}", ids),
                    record=record.id,
                    url=link_to_time(transcript.media or record.url, seconds),
                    title=f"{record.title} › {format_clock(seconds)}",
                    text=text[start:end],
                    sentences=tuple((each.start - start, each.end - start) for each in group),
                    date=record.metadata.date,
                    language=record.language,
                    blocks=(Block("text", 0, end - start),),
                )
            )
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


def _choose_id(name: str, ids: set[str]) -> str:
    """Choose the first free of NAME, NAME~2, … and note that it is in use."""
    number, unique = 1, name
    while unique in ids:
        number += 1
        unique = f"{name}~{number}"
    ids.add(unique)
    return unique


def _split_at_pauses(cues: Sequence[SpokenCue]) -> Iterator[Sequence[SpokenCue]]:
    """Split cues where nobody speaks for a while, so that no passage begins long before its end."""
    start = 0
    for n, (before, after) in enumerate(pairwise(cues), 1):
        if after.start - before.end > MAX_PAUSE_SECONDS:
            yield cues[start:n]
            start = n
    yield cues[start:]


def _split_speech(text: str, offsets: Sequence[int], language: str) -> Iterator[_SpokenSentence]:
    """Split what is said into sentences, long ones between cues. offsets: of the cues, rising."""
    for start, end in split_sentences(PageBlock("text", text), language):
        edges = [start, end]
        if count_words(text[start:end]) > MAX_SENTENCE_WORDS:
            inner = offsets[bisect_right(offsets, start) : bisect_left(offsets, end)]
            edges = [start, *_choose_breaks(text, start, inner), end]
        for first, last in pairwise(edges):
            piece = text[first:last].rstrip()
            yield _SpokenSentence(first, first + len(piece), count_words(piece))


def _choose_breaks(text: str, start: int, offsets: Sequence[int]) -> Iterator[int]:
    """Choose the fewest breaks that keep every piece short, unless a cue alone is longer."""
    last = start
    for offset, following in zip(offsets, [*offsets[1:], len(text)], strict=True):
        if count_words(text[last:following]) > MAX_SENTENCE_WORDS:
            yield offset
            last = offset
