"""Known questions of a built site, and an answer that is stored for one of them."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from answerable.indexing.answers import WrittenAnswer, WrittenCitation, WrittenClaim, write_answers
from answerable.indexing.questions import (
    SectionPassages,
    SectionQuestions,
    list_sections,
    write_questions,
)
from support.sites import opened


def write_known_questions(
    folder: Path, lines: Mapping[str, Sequence[str]]
) -> dict[str, SectionPassages]:
    """Write the questions of sections that the last build has; return its sections by id."""
    sections = {section.id: section for section in list_sections(opened(folder).passages())}
    rows = [
        SectionQuestions(name, sections[name].hash, tuple(texts)) for name, texts in lines.items()
    ]
    write_questions(folder / "eval" / "questions.jsonl", rows)
    return sections


def store_answer(
    folder: Path, section: SectionPassages, question: str, text: str, quote: str
) -> None:
    """Store an answer of one claim, which quotes the question's own section."""
    citation = WrittenCitation(section.id, quote, section.hash)
    answer = WrittenAnswer(question, section.id, (WrittenClaim(text, (citation,)),))
    write_answers(folder / "eval" / "questions.answers.json", [answer], [section])
