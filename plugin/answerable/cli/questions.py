"""``answerable questions``: questions that sections are known to answer, and stored answers."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import click
import msgspec

from ..engine.answers.prompt import fill_prompt
from ..engine.bundle import Bundle
from ..engine.engine import Engine
from ..engine.errors import SiteError
from ..engine.retrieval.retrieve import POOL_SIZE
from ..engine.settings import MAX_EVIDENCE_CHARACTERS
from ..indexing.answers import (
    WrittenAnswer,
    check_answers,
    read_answers,
    stamp_answer,
    write_answers,
)
from ..indexing.files import format_count
from ..indexing.questions import (
    QuestionFault,
    SectionPassages,
    SectionQuestions,
    WrittenQuestions,
    check_questions,
    list_allowed_questions,
    list_sections,
    write_questions,
)
from ..mkdocs.options import read_known_questions, resolve_answers_path
from ..mkdocs.site_config import load_site
from .context import SiteLocation, open_engine

# Of the text of a section: what follows rarely answers another question.
_MAX_WORDS = 200

Item = TypeVar("Item")
# The id of a section and a question of it.
KnownQuestion = tuple[str, str]


@dataclass(frozen=True, slots=True)
class QuestionFiles:
    """The files of questions and answers, and the sections of the site that they belong to."""

    path: Path
    answers_path: Path
    questions: dict[str, SectionQuestions]
    sections: Sequence[SectionPassages]
    engine: Engine[Bundle]

    def list_unwritten(self) -> list[SectionPassages]:
        """List the sections that are new or have changed, except those of pages of history."""
        store = self.engine.store
        return [
            section
            for section in self.sections
            if not store.index.is_history[store.index.passage_records[section.first]]
            and not self._is_current(section)
        ]

    def _is_current(self, section: SectionPassages) -> bool:
        """True if a section has questions that were written for its text."""
        return section.id in self.questions and self.questions[section.id].hash == section.hash

    def list_unanswered(self) -> list[KnownQuestion]:
        """List the questions of unchanged sections that have no valid answer."""
        answered, _ = self.check_answers(read_answers(self.answers_path))
        return [
            (section.id, text)
            for section in self.sections
            if self._is_current(section)
            for text in list_allowed_questions(self.questions[section.id], section)
            if (section.id, text) not in answered
        ]

    def check_answers(
        self, answers: Sequence[WrittenAnswer]
    ) -> tuple[set[KnownQuestion], list[QuestionFault]]:
        """Check answers as a build does: which still hold, and why others do not."""
        names = self.engine.store.index.site.claim_names
        checked, faults = check_answers(answers, self.questions, self.sections, names)
        return set(checked), faults


@click.command("questions")
@click.option("--export", is_flag=True, help="Print new and changed sections as JSON lines.")
@click.option(
    "--import",
    "imported",
    type=click.Path(path_type=Path, allow_dash=True),
    metavar="FILE",
    help='Take lines {"id": …, "questions": […]}, written by a person or an agent; - for stdin.',
)
@click.option(
    "--answers", is_flag=True, help="With --export or --import: work on stored answers instead."
)
@click.option(
    "--check", is_flag=True, help="Name what is stale, orphaned, doubled, too near or refused."
)
@click.pass_obj
def command(
    location: SiteLocation,
    export: bool,
    imported: Path | None,
    answers: bool,
    check: bool,
) -> None:
    """Manage known questions: what readers may ask, and the section that answers it.

    The exit status is 1 if --check finds a fault.
    """
    if sum((export, imported is not None, check)) != 1:
        raise click.UsageError("name one of --export, --import FILE and --check")
    _, options = load_site(location[1])
    engine = open_engine(*location)
    files = QuestionFiles(
        Path(options.questions),
        resolve_answers_path(options),
        read_known_questions(options),
        list_sections(engine.store.passages()),
        engine,
    )
    if check:
        raise SystemExit(_check(files))
    if imported and answers:
        _import_answers(files, _read_lines(imported, WrittenAnswer))
    elif imported:
        _import_questions(files, _read_lines(imported, WrittenQuestions))
    elif export and answers:
        for question in files.list_unanswered():
            _print_line(_describe_evidence(files, question))
    else:
        for section in files.list_unwritten():
            _print_line({**_describe_section(section), "hash": section.hash})


def _print_line(row: Mapping[str, Any]) -> None:
    click.echo(json.dumps(row, ensure_ascii=False))


def _describe_section(section: SectionPassages) -> dict[str, str]:
    text = " ".join(section.text.split(" ")[:_MAX_WORDS])
    return {"id": section.id, "title": section.windows[0].title, "text": text}


def _describe_evidence(files: QuestionFiles, question: KnownQuestion) -> dict[str, Any]:
    """Describe a question and its evidence for whoever answers it, a person or a program.

    The evidence is of pages alone, without a hint to a note.
    """
    section, text = question
    retrieved = replace(files.engine.retrieve(text, POOL_SIZE, near=POOL_SIZE), hints=())
    evidence = fill_prompt(files.engine.store, retrieved, MAX_EVIDENCE_CHARACTERS)
    sources = [{"id": p.id, "title": p.title, "text": p.text} for p in evidence.passages]
    return {"section": section, "question": text, "sources": sources}


def _read_lines(path: Path, kind: type[Item]) -> list[Item]:
    """Read lines of JSON, or of standard input for -; SiteError names the bad one."""
    with click.open_file(str(path), "rb") as file:
        data: bytes = file.read()
    rows = []
    for number, line in enumerate(data.split(b"\n"), 1):
        if line.strip():
            try:
                rows.append(msgspec.json.decode(line, type=kind))
            except (msgspec.MsgspecError, UnicodeDecodeError) as error:
                raise SiteError(
                    f"--import: line {number}: {error}; correct it, nothing was taken"
                ) from None
    return rows


def add_questions(
    questions: dict[str, SectionQuestions],
    rows: Sequence[WrittenQuestions],
    sections: Sequence[SectionPassages],
) -> Counter[str]:
    """Add questions to those of their sections, or replace those of a text that has changed.

    Rows of other sections are left out. Returns how many sections and questions were written, and
    how many questions the lint has refused.
    """
    by_id = {section.id: section for section in sections}
    written: set[str] = set()
    totals: Counter[str] = Counter()
    for row in rows:
        section = by_id.get(row.id)
        if section is None:
            continue
        texts = tuple(" ".join(text.split()) for text in row.questions)
        line = SectionQuestions(section.id, section.hash, texts)
        allowed = list_allowed_questions(line, section)
        totals["questions"] += len(allowed)
        totals["refused"] += len(texts) - len(allowed)
        # What was there before is better than nothing that may stand there.
        if allowed or not texts:
            before = questions.get(section.id)
            kept = before.questions if before and before.hash == section.hash else ()
            joined = tuple(dict.fromkeys((*kept, *allowed)))
            questions[section.id] = SectionQuestions(section.id, section.hash, joined)
            written.add(section.id)
    totals["sections"] = len(written)
    return totals


def _import_questions(files: QuestionFiles, rows: Sequence[WrittenQuestions]) -> None:
    totals = add_questions(files.questions, rows, files.sections)
    # In the order of the site's sections; those of no section come last.
    places = {section.id: place for place, section in enumerate(files.sections)}
    lines = sorted(files.questions.values(), key=lambda row: places.get(row.id, len(places)))
    write_questions(files.path, lines)
    click.echo(
        f"{format_count(totals['questions'], 'question')} for "
        f"{format_count(totals['sections'], 'section')} in {files.path}; {totals['refused']} "
        "refused"
    )
    for row in rows:
        if row.id not in places:
            click.echo(f"{row.id}: ignored, since the site has no such section")


def _import_answers(files: QuestionFiles, rows: Sequence[WrittenAnswer]) -> None:
    """Store the answers that a build would keep, and say why others are refused."""
    checked, faults = files.check_answers(rows)
    stored = {(row.section, row.question): row for row in read_answers(files.answers_path)}
    for row in rows:
        if (key := (row.section, row.question)) in checked:
            stored[key] = stamp_answer(row, files.sections)
    write_answers(files.answers_path, stored.values(), files.sections)
    for fault in faults:
        click.echo(f"{fault.section}: {fault.problem}")
    count = format_count(len(checked), "answer")
    click.echo(f"{count} stored in {files.answers_path}; {len(faults)} refused")


def _check(files: QuestionFiles) -> int:
    """Print what is wrong with the files, and return the exit status."""
    lines = files.questions
    faults = check_questions(lines, files.sections)
    answers, answer_faults = files.check_answers(read_answers(files.answers_path))
    for source, problems in ((files.path, faults), (files.answers_path, answer_faults)):
        for fault in problems:
            click.echo(f"{source}: {fault.section}: {fault.problem}")
    click.echo(
        f"{format_count(sum(len(row.questions) for row in lines.values()), 'question')} of "
        f"{format_count(len(lines), 'section')}; {format_count(len(answers), 'answer')} stored; "
        f"{format_count(len(faults) + len(answer_faults), 'fault')}"
    )
    return int(bool(faults or answer_faults))
