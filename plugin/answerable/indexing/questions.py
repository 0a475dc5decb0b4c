"""Questions that sections are known to answer: their file, its lint, and their index."""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import msgspec

from ..engine.bundle import Bundle
from ..engine.engine import find_stored_answer
from ..engine.errors import SiteError
from ..engine.index.columns import StoredClaims, locate_claims
from ..engine.retrieval.question import (
    FRAMING_WORDS,
    clean_question,
    drop_framing,
    list_site_name_words,
    read_question,
)
from ..engine.retrieval.rank import SAME_QUESTION, hash_words, score_questions
from ..engine.retrieval.store import Store, has_form, read_forms
from ..engine.text.tokenization import detect_scripts, extract_words, split_lowercase_words
from ..engine.types import Answer, Passage
from ..engine.vectors import Embedder
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
        return self.windows[0].section

    @property
    def text(self) -> str:
        """Return the texts of its windows."""
        return "\n".join(passage.text for passage in self.windows)

    @property
    def hash(self) -> str:
        """Hash its title and text to 16 hexadecimal digits."""
        described = f"{self.windows[0].title}\n{self.text}"
        digest = hashlib.sha256(described.encode("utf-8", "surrogatepass"))
        return digest.hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class KnownQuestion:
    """A question that a section is known to answer.

    ``terms`` are its distinct terms, ``key`` the hash of its words, 0 where its section has changed
    since, ``passage`` the first one of its section, and ``answer`` what is stored for it.
    """

    text: str
    language: str
    terms: tuple[str, ...]
    key: int
    passage: int
    answer: StoredClaims | None


def list_sections(passages: Iterable[Passage]) -> list[SectionPassages]:
    """List the sections of passages, which stand in the order of their rows."""
    sections = []
    for _, numbered in groupby(enumerate(passages), lambda numbered: numbered[1].section):
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


def list_known_questions(
    bundle: Bundle,
    questions: Mapping[str, SectionQuestions],
    answers: Mapping[tuple[str, str], Answer],
) -> list[KnownQuestion]:
    """List the questions of sections, without those of no section and what the lint refuses.

    bundle: one without questions. answers: that are stored, by section and question.
    """
    rows = {name: row for row, name in enumerate(bundle.index.passage_ids)}
    known: list[KnownQuestion] = []
    for section in list_sections(bundle.passages()):
        language, line = section.windows[0].language, questions.get(section.id)
        for question in list_allowed_questions(line, section) if line else ():
            terms = _extract_terms(bundle, question, language)
            answer = answers.get((section.id, question))
            # A bundle of one language lacks the pages of the others.
            has_pages = answer and all(citation.id in rows for citation in answer.citations)
            claims = locate_claims(answer, rows) if answer and has_pages else None
            key = hash_words(question) if line and line.hash == section.hash else 0
            if terms:
                known.append(
                    KnownQuestion(question, language, tuple(terms), key, section.first, claims)
                )
    return known


def _extract_terms(store: Store, question: str, language: str) -> dict[str, None]:
    """Extract the distinct terms that a question will be asked with.

    A word that no page has in any form stands for itself there: "backend" is not a form of "back".
    """
    words = drop_framing(extract_words(question, language))
    forms, stem = read_forms(store, words, language), load_stemmer(language)
    scripts, names = store.index.site.scripts, list_site_name_words(store, language)
    terms: dict[str, None] = {}
    for word in words:
        is_known = has_form(store, word, language)
        term = forms[word] if is_known or forms[word] == stem(word) else word
        # No question asks with a name of the site that no page has, or in another script.
        is_foreign = scripts and not detect_scripts(term) <= scripts
        if not is_foreign and (has_form(store, term, language) or word not in names):
            terms[term] = None
    return terms


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
