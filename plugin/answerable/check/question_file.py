"""Read a file of questions, one on a line: plain, a JSON string, or JSON with more fields."""

import json
from dataclasses import dataclass
from typing import Any

from ..engine.errors import GoldError
from ..engine.retrieval.question import clean_question, find_question_problem
from ..engine.text.tokenization import is_language_tag
from ..indexing.files import join_problems


@dataclass(frozen=True, slots=True)
class QuestionLine:
    """One line of a question file. ``line``: its number; ``id``: any JSON that the file gives."""

    line: int
    question: str
    language: str | None = None
    id: object = None


def parse_questions(text: str, name: str) -> list[QuestionLine]:
    """Parse the questions of a file.

    Empty lines and lines that begin with # are skipped. GoldError names every bad line by its
    number, so that no question is asked before all can be.
    """
    lines: list[QuestionLine] = []
    problems: list[str] = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip() and not line.lstrip().startswith("#"):
            try:
                lines.append(_parse_line(number, line))
            except ValueError as error:
                problems.append(f"line {number}: {error}")
    if problems:
        raise GoldError(f"{name}: {join_problems(problems)}; correct the file, nothing was asked")
    if not lines:
        raise GoldError(
            f'{name} holds no question: write one on each line, or lines {{"question": "…"}}'
        )
    return lines


def _parse_line(number: int, line: str) -> QuestionLine:
    """Parse one line of a question file; ValueError says what is wrong with it."""
    try:
        value: Any = json.loads(line)
    except ValueError:
        if line.lstrip()[0] in '{["':
            raise ValueError("not JSON") from None
        value = line
    fields = {"question": value} if isinstance(value, str) else value
    if not isinstance(fields, dict) or not isinstance(fields.get("question"), str):
        raise ValueError('not an object with a text "question"')
    question = clean_question(fields["question"])
    if problem := find_question_problem(question):
        raise ValueError(problem.removesuffix("."))
    language = fields.get("language")
    if language is not None and not (isinstance(language, str) and is_language_tag(language)):
        raise ValueError('"language" is not a tag such as en or pt-BR')
    return QuestionLine(number, question, language, fields.get("id"))
