"""Measure what known questions change: real questions on real sites, without them and with them.

``generated/NAME.jsonl`` holds questions that a model wrote for passages of ``sites/NAME`` without
having seen the real ones. ``at``: the share of answerable questions of which a right page is among
the first 1 / 3 / 8; ``first_section``: whose first excerpt is of a gold section; ``contains_first``
and ``contains``: whose first excerpt, or all, hold the answer; ``precision``: of all that is shown,
the share that holds it; ``page_visible``: whose right page is in a card or a place. See questions.
"""

import re
from pathlib import Path

from questions import measure_site
from tables import DataError, Results, Row, main, measure_each, read_lines

from answerable.indexing.questions import (
    SectionQuestions,
    find_question_fault,
    list_sections,
    write_questions,
)
from answerable.serve.stores.bundle import open_bundle

_MEASURES = (
    "at_1", "at_3", "at_8", "first_section", "contains_first", "contains", "precision", "refused",
    "auroc_unanswerable",
)  # fmt: skip
_MISSING = "no file generated/NAME.jsonl with questions/NAME.jsonl and sites/NAME"
_WINDOW = re.compile(r"~\d+$")


def measure(data: Path) -> Results:
    """Measure every ``generated/NAME.jsonl``, a row for each site with a row for each state."""
    files = sorted((data / "generated").glob("*.jsonl"))
    return measure_each(files, lambda path: _measure_states(path, data), f"{_MISSING} in {data}")


def _measure_states(path: Path, data: Path) -> Row:
    real = data / "questions" / path.name
    if not real.is_file():
        raise DataError(f"{real} is missing")
    states = {
        "without": measure_site(real, data),
        "with": measure_site(real, data, lambda folder: _write_known_questions(folder, path)),
    }
    return {
        "name": path.stem,
        "states": [
            {
                "known_questions": name,
                **{measure: row[measure] for measure in _MEASURES if measure in row},
                "page_visible": row["seen"][0]["page_visible"],
            }
            for name, row in states.items()
        ],
    }


def _write_known_questions(folder: Path, path: Path) -> None:
    """Write the questions that the lint allows, each by the section of its passage."""
    questions: dict[str, list[str]] = {}
    for row in read_lines(path, lambda _: ("id", "questions")):
        questions.setdefault(_WINDOW.sub("", row["id"]), []).extend(row["questions"])
    sections = list_sections(open_bundle(folder / "function" / "bundle").passages())
    lines = []
    for section in sections:
        texts = dict.fromkeys(questions.get(section.id, ()))
        allowed = tuple(text for text in texts if not find_question_fault(text, section.text))
        if allowed:
            lines.append(SectionQuestions(section.id, section.hash, allowed))
    write_questions(folder / "eval" / "questions.jsonl", lines)


if __name__ == "__main__":
    main("Known questions: real questions without them and with them", measure)
