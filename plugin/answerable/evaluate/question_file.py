"""Read a file of questions, one on a line, as gold queries that require nothing."""

from pathlib import Path

from ..serve.errors import GoldError
from ..serve.retrieval.question_text import clean_question, find_question_problem
from .gold import GoldQuery


def load_questions(path: Path) -> tuple[GoldQuery, ...]:
    """Read questions; each has the id of its line, such as `line-3`, a repeated one of its first.

    Empty lines and lines that begin with # are skipped. GoldError for a question that no reader
    could ask, and for a file without one.
    """
    queries: dict[str, GoldQuery] = {}
    for number, line in enumerate(_read_lines(path), 1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        question = clean_question(text)
        if problem := find_question_problem(question):
            raise GoldError(
                f"{path}: line {number}: no reader can ask it ({problem.rstrip('.').lower()}); "
                "write it anew"
            )
        queries.setdefault(question, GoldQuery(f"line-{number}", question, check_negation=False))
    if not queries:
        raise GoldError(f"{path} holds no question: write one on each line")
    return tuple(queries.values())


def _read_lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise GoldError(f"{path} is not UTF-8 (byte {error.start}): save it as UTF-8") from None
    except OSError as error:
        raise GoldError(f"{path} cannot be read ({error.strerror}): name a file") from None
