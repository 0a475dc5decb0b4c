"""Runs of words of private notes: eight words, or all words of a short note."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass

from ...engine.embedders.local_embedder import SPACE
from ..local_model import open_local_embedder
from ..notes.notebook import Note
from ..word_runs import WORD_WEIGHT, WordRun, cut_runs, split_words, weigh_word
from .readings import decode_escapes, strip_cue_times, strip_markdown

RUN_WEIGHT = 8 * WORD_WEIGHT
# A note's whole text is a short run if it has fewer words or characters than these.
_SHORT_WORDS = 5
_SHORT_CHARACTERS = 24
# A shorter word is an abbreviation or a number that could stand anywhere.
_MIN_RARE_LETTERS = 4


@dataclass(frozen=True, slots=True)
class RunOwner:
    """The place of a run in a note. note: its index; part: what an error calls the text;
    start and end: its first and last word in it, counted from 1.
    """

    note: int
    part: str
    start: int
    end: int


def cut_notes(notes: Sequence[Note]) -> dict[WordRun, list[RunOwner]]:
    """Cut every note's body, and a title that is as long as a run, into runs with their owners."""
    owners: dict[WordRun, list[RunOwner]] = {}
    for number, note in enumerate(notes):
        for part, words, least in _iter_parts(note):
            for start, run in cut_runs(words, least):
                run_owners = owners.setdefault(run, [])
                if all(owner.note != number for owner in run_owners):
                    run_owners.append(RunOwner(number, part, start + 1, start + len(run)))
    return owners


def _iter_parts(note: Note) -> Iterator[tuple[str, list[str], int]]:
    """Yield the texts of a note: a name for errors, the words, and the weight of a run of them."""
    parts = {
        "the note": note.body,
        # Published files are decoded before they are compared.
        "the note as it is decoded": decode_escapes(note.body),
        "the note as a page shows it": strip_markdown(note.body),
        "the note without its times": strip_cue_times(note.raw),
    }
    for part, text in parts.items():
        words = split_words(text)
        yield part, words, min(RUN_WEIGHT, sum(map(weigh_word, words)))
    yield "the note's title", split_words(note.title), RUN_WEIGHT


def find_common_runs(
    runs: Iterable[WordRun], pages: Iterable[tuple[str, str]]
) -> frozenset[WordRun]:
    """Find the short runs that may stand anywhere by chance, since no word of them is rare.

    A rare word is none of an ordinary language, and stands on fewer than two pages. pages: the name
    and the text of each.
    """
    short = [run for run in runs if _is_short(run)]
    if not short:
        return frozenset()
    pieces = frozenset(open_local_embedder().pieces.ids)
    rare = {word for word in {word for run in short for word in run} if _is_unusual(word, pieces)}
    places: dict[str, set[str]] = defaultdict(set)
    for name, text in pages if rare else ():
        for word in rare.intersection(split_words(text)):
            places[word].add(name)
    rare -= {word for word, names in places.items() if len(names) > 1}
    return frozenset(run for run in short if rare.isdisjoint(run))


def _is_short(run: WordRun) -> bool:
    weights = list(map(weigh_word, run))
    if sum(weights) >= RUN_WEIGHT:
        return False
    spaces = weights.count(WORD_WEIGHT) - 1
    return len(run) < _SHORT_WORDS or sum(map(len, run)) + spaces < _SHORT_CHARACTERS


def _is_unusual(word: str, pieces: Set[str]) -> bool:
    """True if a word is too long for an abbreviation, and no piece of the local model's words."""
    if len(word) < _MIN_RARE_LETTERS and weigh_word(word) == WORD_WEIGHT:
        return False
    spellings = (word, word.capitalize(), word.upper())
    return not any(spelling in pieces or SPACE + spelling in pieces for spelling in spellings)
