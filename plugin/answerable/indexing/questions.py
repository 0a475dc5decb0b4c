"""Questions that sections are known to answer: their file, its lint, and their index."""

import hashlib
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

import msgspec

from ..serve.embedders.embedder import Embedder
from ..serve.engine import find_stored_answer
from ..serve.errors import SiteError
from ..serve.index.column_types import PhraseEntry
from ..serve.index.stored_answers import StoredAnswer, locate_answer
from ..serve.retrieval.question import FRAMING_WORDS, clean_question, drop_framing, read_question
from ..serve.retrieval.rank import SAME_QUESTION, hash_words, score_questions
from ..serve.retrieval.sections import WINDOW_SUFFIX
from ..serve.retrieval.store import Store
from ..serve.retrieval.word_forms import find_nearest_term
from ..serve.text.tokenization import detect_scripts, extract_words, split_lowercase_words
from ..serve.types import Answer, Passage
from .files import join_problems, write_file
from .notes.note_lint import find_private_pattern
from .stems import load_stemmer

MIN_WORDS, MAX_WORDS = 3, 20
# Code of a question: what no sentence of words has. It has to stand in the section.
_CODE = re.compile(r"`[^`]+`|\S*[_=<>{}\[\]();$\\|]\S*|--\S+")


class SectionQuestions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Questions that one section answers, and the hash of the text that they were written for.

    ``id`` is that of the section's first passage.
    """

    id: str
    hash: str
    questions: tuple[str, ...]


class WrittenQuestions(msgspec.Struct, frozen=True):
    """Questions that were written for a section, before the lint."""

    id: str
    questions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SectionPassages:
    """A section of a page: the passages that are its windows, from row ``first`` on."""

    first: int
    windows: tuple[Passage, ...]

    @property
    def id(self) -> str:
        """Return the id of its first passage, without the number of a window."""
        return WINDOW_SUFFIX.sub("", self.windows[0].id)

    @property
    def text(self) -> str:
        """Return the texts of its windows, which overlap."""
        return "\n".join(passage.text for passage in self.windows)

    @property
    def hash(self) -> str:
        """Hash its title and text to 16 hexadecimal digits."""
        described = f"{self.windows[0].title}\n{self.text}"
        digest = hashlib.sha256(described.encode("utf-8", "surrogatepass"))
        return digest.hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class QuestionIndex:
    """The questions of an index, in the order of their sections.

    ``terms`` are the distinct terms of questions with the questions that have them. By question:
    ``norms`` of the vector of its terms' idfs, ``keys`` the hash of its words, 0 where its section
    has changed since, ``passages`` the first passage of its section, and ``texts``. ``answers``:
    those that are stored, by the rows of their questions.
    """

    terms: tuple[PhraseEntry, ...] = ()
    norms: tuple[float, ...] = ()
    keys: tuple[int, ...] = ()
    passages: tuple[int, ...] = ()
    texts: tuple[str, ...] = ()
    answers: Mapping[int, StoredAnswer] = field(default_factory=dict)


NO_QUESTIONS = QuestionIndex()


def list_sections(passages: Iterable[Passage]) -> list[SectionPassages]:
    """List the sections of passages, which stand in the order of their rows."""

    def name_section(numbered: tuple[int, Passage]) -> str:
        return WINDOW_SUFFIX.sub("", numbered[1].id)

    sections = []
    for _, numbered in groupby(enumerate(passages), name_section):
        (row, first), *others = numbered
        sections.append(SectionPassages(row, (first, *(passage for _, passage in others))))
    return sections


def read_questions(path: Path) -> dict[str, SectionQuestions]:
    """Read a file of questions by section; SiteError names every bad line by its number."""
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, ValueError) as error:
        raise SiteError(f"questions: {path} cannot be read ({error}); name another file") from None
    sections: dict[str, SectionQuestions] = {}
    problems: list[str] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = msgspec.json.decode(line, type=SectionQuestions)
        except msgspec.MsgspecError as error:
            problems.append(f"line {number}: {error}")
            continue
        if row.id in sections:
            problems.append(f"line {number}: {row.id} has a line already; join the two")
        sections[row.id] = row
    if problems:
        raise SiteError(
            f'questions: {path}: {join_problems(problems)}; write lines {{"id": "…", "hash": "…", '
            '"questions": ["…"]}'
        )
    return sections


def write_questions(path: Path, sections: Iterable[SectionQuestions]) -> None:
    """Write a file of questions in one step: a line for each section, as it is reviewed."""
    lines = (
        json.dumps(msgspec.to_builtins(row), ensure_ascii=False, separators=(", ", ": "))
        for row in sections
    )
    write_file(path, "".join(f"{line}\n" for line in lines).encode())


@dataclass(frozen=True, slots=True)
class ReadingRules:
    """What a site reads a question by: its names, their words and its scripts."""

    names: tuple[str, ...]
    name_words: frozenset[str]
    scripts: frozenset[str]


def list_allowed_questions(line: SectionQuestions, section: SectionPassages) -> list[str]:
    """List the questions of a line that the lint lets pass, each once."""
    texts = dict.fromkeys(line.questions)
    return [text for text in texts if not find_question_fault(text, section.text)]


def find_question_fault(question: str, section_text: str) -> str | None:
    """Find why a question may not stand in the file, as the end of a sentence; None if it may."""
    words = split_lowercase_words(question)
    if not MIN_WORDS <= len(words) <= MAX_WORDS:
        return f"has {len(words)} words; write {MIN_WORDS} to {MAX_WORDS}"
    if question != clean_question(question) or "\n" in question:
        return "holds a line break or invisible characters; take them out"
    if kind := find_private_pattern(question):
        return f"holds {kind}; leave it out"
    dense = "".join(section_text.split())
    for match in _CODE.finditer(question):
        code = match[0].strip("`?.,;:!\"'")
        if "".join(code.split()) not in dense:
            return f"holds {code}, which its section does not; write what the section says"
    if FRAMING_WORDS.issuperset(extract_words(question)):
        return "names nothing; say what it asks about"
    return None


def index_questions(
    questions: Mapping[str, SectionQuestions],
    answers: Mapping[tuple[str, str], Answer],
    sections: Sequence[SectionPassages],
    terms_by_form: Mapping[str, Mapping[str, str]],
    weigh: Callable[[str, str], float],
    site: ReadingRules,
) -> QuestionIndex:
    """Index the questions of sections, without those of no section and what the lint refuses.

    answers: that are stored, by section and question.
    terms_by_form: by language, the term of each form that a page has. weigh: the idf of a term in a
    language.
    """
    words = {
        language: sorted(filter(str.isalpha, forms)) for language, forms in terms_by_form.items()
    }
    rows_by_term: dict[str, list[int]] = {}
    norms: list[float] = []
    keys: list[int] = []
    passages: list[int] = []
    texts: list[str] = []
    located: dict[int, StoredAnswer] = {}
    rows = {
        passage.id: section.first + place
        for section in sections
        for place, passage in enumerate(section.windows)
    }
    for section in sections:
        language = section.windows[0].language
        line = questions.get(section.id)
        forms = terms_by_form[language]
        for question in list_allowed_questions(line, section) if line else ():
            terms = _extract_terms(question, language, forms, words[language], site)
            if not terms:
                continue
            for term in terms:
                rows_by_term.setdefault(term, []).append(len(texts))
            norms.append(math.sqrt(sum(weigh(term, language) ** 2 for term in terms)))
            keys.append(hash_words(question) if line and line.hash == section.hash else 0)
            passages.append(section.first)
            answer = answers.get((section.id, question))
            # A bundle of one language lacks the pages of the others.
            if answer and all(citation.id in rows for citation in answer.citations):
                located[len(texts)] = locate_answer(question, answer, rows)
            texts.append(question)
    entries = sorted(rows_by_term.items())
    return QuestionIndex(
        tuple(PhraseEntry(term, tuple(rows), len(rows)) for term, rows in entries),
        tuple(norms),
        tuple(keys),
        tuple(passages),
        tuple(texts),
        located,
    )


def mark_answered(store: Store, embedder: Embedder, questions: Sequence[str]) -> list[bool]:
    """Mark the questions that a site reads as their authors did.

    Their own sections answer them, or the answers that are stored for them. questions: of the
    store, in its order. Only such a question is suggested.
    """
    marks: list[bool] = []
    for question, first in zip(questions, store.index.question_passages.tolist(), strict=True):
        reading = read_question(store, clean_question(question), embedder.word_rank)
        is_same = float(score_questions(store, reading)[first]) > SAME_QUESTION
        marks.append(is_same or find_stored_answer(store, reading.question) is not None)
    return marks


def _extract_terms(
    question: str,
    language: str,
    terms_by_form: Mapping[str, str],
    words: Sequence[str],
    site: ReadingRules,
) -> dict[str, None]:
    """Extract the distinct terms that a question would be asked with, as ``read_question`` does.

    A word that no page has in any form stands for itself there: "backend" is not a form of "back".
    """
    stem = load_stemmer(language)

    terms: dict[str, None] = {}
    for word in drop_framing(extract_words(question, language)):
        term = terms_by_form.get(word)
        nearest = term or find_nearest_term(terms_by_form, words, word)
        asked_term = nearest if term or nearest == stem(word) else word
        # No question asks with a name of the site that no page has, or in another script.
        is_foreign = site.scripts and not detect_scripts(asked_term) <= site.scripts
        if not is_foreign and (asked_term in terms_by_form or word not in site.name_words):
            terms[asked_term] = None
    return terms


@dataclass(frozen=True, slots=True)
class QuestionFault:
    """What is wrong with the line or the answer of a section."""

    section: str
    problem: str


def check_questions(
    questions: Mapping[str, SectionQuestions], sections: Sequence[SectionPassages]
) -> list[QuestionFault]:
    """List what is wrong with the lines of a file.

    A line is orphaned or stale; a question is refused by the lint, doubled, or with one word less
    it is that of another section.
    """
    by_id = {section.id: section for section in sections}
    faults: list[QuestionFault] = []
    owners: dict[tuple[str, ...], tuple[str, str]] = {}
    asked: list[tuple[str, str, tuple[str, ...]]] = []
    for name, listed in questions.items():
        section = by_id.get(name)
        if section is None:
            faults.append(QuestionFault(name, "the site has no such section; drop the line"))
            continue
        if listed.hash != section.hash:
            problem = "its text has changed since its questions were written"
            faults.append(QuestionFault(name, problem))
        for question in listed.questions:
            if fault := find_question_fault(question, section.text):
                faults.append(QuestionFault(name, f"“{question}” {fault}"))
                continue
            words = tuple(drop_framing(extract_words(question, section.windows[0].language)))
            owner, _ = owners.setdefault(words, (name, question))
            if owner != name:
                problem = f"“{question}” asks what a question of {owner} asks; keep one"
                faults.append(QuestionFault(name, problem))
            asked.append((name, question, words))
    for name, question, words in asked:
        for place, word in enumerate(words):
            owner, other = owners.get(words[:place] + words[place + 1 :], (name, ""))
            if owner != name:
                problem = f"“{question}” without “{word}” is “{other}” of {owner}; ask it otherwise"
                faults.append(QuestionFault(name, problem))
    return faults
