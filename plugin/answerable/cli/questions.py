"""``answerable questions``: write and check the questions that sections are known to answer."""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from ..evaluate.question_writer import QuestionWriter, read_written_questions
from ..evaluate.verdict import CallUsage, ModelPrice
from ..indexing.caches import show_progress
from ..indexing.output.files import format_count
from ..indexing.questions import (
    SectionPassages,
    SectionQuestions,
    check_questions,
    describe_section,
    list_sections,
    read_questions,
    write_questions,
)
from ..mkdocs.options import resolve_questions_path
from ..mkdocs.site_config import find_plugin, load_mkdocs_config, load_site_config
from ..serve.engine import Engine
from ..serve.errors import SiteError
from ..serve.retrieval.selection import WINDOW_SUFFIX
from ..serve.stores.bundle import Bundle
from .context import SiteLocation, open_engine

Questions = dict[str, SectionQuestions]


@click.command("questions")
@click.option("--write", is_flag=True, help="Ask a model for those of new and changed sections.")
@click.option("--yes", is_flag=True, help="Do not ask before a call that costs money.")
@click.option("--export", is_flag=True, help="Print new and changed sections as JSON lines.")
@click.option(
    "--import",
    "imported",
    type=click.Path(path_type=Path, allow_dash=True),
    metavar="FILE",
    help='Take lines {"id": …, "questions": […]}, written by a person or an agent; - for stdin.',
)
@click.option("--check", is_flag=True, help="Name what is stale, orphaned, doubled or refused.")
@click.option("--strict", is_flag=True, help="With --check: a question not answered fails too.")
@click.option(
    "--gold", type=click.IntRange(1, 1000), metavar="N", help="Propose N of them as gold queries."
)
@click.pass_obj
def command(
    location: SiteLocation,
    write: bool,
    yes: bool,
    export: bool,
    imported: Path | None,
    check: bool,
    strict: bool,
    gold: int | None,
) -> None:
    """Write and check the questions that the site's sections answer; exit status 1 for a fault."""
    if sum((write, export, imported is not None, check, gold is not None)) != 1:
        raise click.UsageError("name one of --write, --export, --import FILE, --check and --gold N")
    bundle, config_file = location
    options = find_plugin(load_mkdocs_config(config_file)).config
    path = resolve_questions_path(options)
    engine = open_engine(bundle or load_site_config(config_file).bundle, config_file)
    sections = list_sections(engine.store.passages())
    questions = read_questions(path) if path.is_file() else {}
    if check:
        raise SystemExit(_check(engine, path, questions, sections, strict=strict))
    if gold is not None:
        click.echo(_propose_gold_queries(engine, questions, gold))
        return
    unwritten = _list_unwritten(engine.store, sections, questions)
    if export:
        for section in unwritten:
            click.echo(json.dumps(describe_section(section), ensure_ascii=False))
    elif imported is not None:
        with click.open_file(str(imported), encoding="utf-8") as file:
            _import(file.read(), path, questions, sections)
    else:
        writer = QuestionWriter(options.questions.model, options.questions.base_url or None)
        price = options.evaluate.prices.get(writer.model)
        known_price = ModelPrice(price.input, price.output) if price else None
        _write(writer, known_price, path, questions, sections, unwritten, is_agreed=yes)


def _list_unwritten(
    store: Bundle, sections: Sequence[SectionPassages], questions: Mapping[str, SectionQuestions]
) -> list[SectionPassages]:
    """List the sections that are new or have changed, but for those of pages of history."""
    return [
        section
        for section in sections
        if not store.is_history[store.passage_records[section.first]]
        and (section.id not in questions or questions[section.id].hash != section.hash)
    ]


def _save(path: Path, questions: Questions, sections: Sequence[SectionPassages]) -> None:
    """Save all lines in the order of the site's sections; those of no section come last."""
    places = {section.id: place for place, section in enumerate(sections)}
    lines = sorted(questions.values(), key=lambda line: places.get(line.id, len(places)))
    write_questions(path, lines)


def _write(
    writer: QuestionWriter,
    price: ModelPrice | None,
    path: Path,
    questions: Questions,
    sections: Sequence[SectionPassages],
    unwritten: Sequence[SectionPassages],
    *,
    is_agreed: bool,
) -> None:
    if not unwritten:
        click.echo(f"{path} has questions for every section")
        return
    estimate = _describe_tokens(writer.estimate_tokens(unwritten), price)
    count = format_count(len(unwritten), "section")
    click.echo(f"{count}, {writer.model}: about {estimate}; only public text is sent.", err=True)
    if sys.stdin.isatty() and not is_agreed:
        click.confirm("Go on?", default=True, abort=True, err=True)
    done = written = refused = 0
    tokens = [0, 0]
    failures: dict[str, None] = {}
    with show_progress("questions") as progress:
        for result in writer.write_lines(unwritten):
            for line in result.lines:
                questions[line.id] = line
                written += len(line.questions)
            # At once, so that a run that is killed has lost no more than its last calls.
            _save(path, questions, sections)
            refused += result.refused
            tokens = [tokens[0] + result.tokens[0], tokens[1] + result.tokens[1]]
            if result.failure:
                failures[result.failure] = None
            done += len(result.lines)
            if progress:
                progress(done, len(unwritten))
    total = _describe_tokens((tokens[0], tokens[1]), price)
    click.echo(
        f"{format_count(written, 'question')} for {format_count(done, 'section')} in {path}; "
        f"{refused} refused by the lint; {total}"
    )
    if done < len(unwritten):
        reason = f" ({'; '.join(failures)})" if failures else ""
        missing = format_count(len(unwritten) - done, "section")
        raise SiteError(f"{missing} got no questions{reason}: run the same command again")


def _describe_tokens(tokens: tuple[int, int], price: ModelPrice | None) -> str:
    cost = ""
    if price:
        cost = f", cost {price.compute_cost(CallUsage(*tokens, 0)):.4f} by evaluate.prices"
    return f"{tokens[0]} tokens in and {tokens[1]} out{cost}"


def _import(
    text: str, path: Path, questions: Questions, sections: Sequence[SectionPassages]
) -> None:
    rows: list[object] = []
    for number, row in enumerate(text.split("\n"), 1):
        try:
            rows += [json.loads(row)] if row.strip() else []
        except ValueError:
            raise SiteError(
                f"--import: line {number} is not JSON; write lines "
                '{"id": "…", "questions": ["…"]}, nothing was taken'
            ) from None
    lines, refused = read_written_questions({"sections": rows}, sections)
    questions.update({line.id: line for line in lines})
    _save(path, questions, sections)
    ignored = len(rows) - len(lines)
    click.echo(
        f"{format_count(sum(len(line.questions) for line in lines), 'question')} for "
        f"{format_count(len(lines), 'section')} in {path}; {refused} refused by the lint; "
        f"{format_count(ignored, 'line')} of no section"
    )


def _check(
    engine: Engine[Bundle],
    path: Path,
    questions: Mapping[str, SectionQuestions],
    sections: Sequence[SectionPassages],
    *,
    strict: bool,
) -> int:
    """Print what is wrong with a file; return the exit status."""
    faults = check_questions(questions, sections)
    for fault in faults:
        click.echo(f"{path}: {fault.section}: {fault.problem}")
    listed = [
        (section.id, text)
        for section in sections
        if section.id in questions
        for text in dict.fromkeys(questions[section.id].questions)
    ]
    if len(listed) != len(engine.store.question_norms):
        raise SiteError(
            f"{path} has changed since the last build: build the site, then check again"
        )
    unanswered = []
    with show_progress("questions") as progress:
        for done, (name, text) in enumerate(listed, 1):
            if not _is_answered_by(engine, name, text):
                unanswered.append((name, text))
            if progress:
                progress(done, len(listed))
    for name, text in unanswered:
        click.echo(f"{path}: {name}: “{text}” is not answered by its section first")
    answered = len(listed) - len(unanswered)
    click.echo(
        f"{format_count(len(listed), 'question')} of {format_count(len(questions), 'section')}: "
        f"{answered} answered by their section; {format_count(len(faults), 'fault')}"
    )
    return int(bool(faults) or (strict and bool(unanswered)))


def _is_answered_by(engine: Engine[Bundle], section: str, question: str) -> bool:
    """Test whether the first source of a question's answer is of a section."""
    citations = engine.answer(question).answer.citations
    return bool(citations) and WINDOW_SUFFIX.sub("", citations[0].id) == section


def _propose_gold_queries(
    engine: Engine[Bundle], questions: Mapping[str, SectionQuestions], count: int
) -> str:
    """Propose gold queries, of as many pages as there are, for an author to prune."""
    by_page: dict[str, list[tuple[str, str]]] = {}
    for name, line in questions.items():
        for text in line.questions[:1]:
            by_page.setdefault(name.partition("#")[0], []).append((name, text))
    rounds = range(max(map(len, by_page.values()), default=0))
    ordered = [pairs[turn] for turn in rounds for pairs in by_page.values() if turn < len(pairs)]
    if not ordered:
        raise SiteError("there are no questions: run `answerable questions --write` first")
    rows = []
    for name, text in ordered[:count]:
        mode = engine.answer(text).answer.mode
        rows.append(
            f"  - id: {name.replace('/', '-').replace('#', '-')}\n"
            f"    query: {json.dumps(text, ensure_ascii=False)}\n"
            f"    expectCited: [{json.dumps(name, ensure_ascii=False)}]\n"
            "    expectAnswerMode: [partial, supported]"
            + ("" if mode in ("partial", "supported") else "  # refused today")
        )
    return "queries:\n" + "\n".join(rows)
