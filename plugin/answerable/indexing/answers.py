"""Answers that are stored for questions: their file, and the contract they keep at every build."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from ..engine.answers.contract import enforce_contract
from ..engine.answers.quotes import find_quotes
from ..engine.errors import ContractViolation, SiteError
from ..engine.index.columns import StoredClaim, locate_claims, make_draft
from ..engine.types import Answer, Evidence, Passage
from .files import write_file
from .questions import (
    QuestionFault,
    SectionPassages,
    SectionQuestions,
    list_allowed_questions,
)

# After the name of the file of questions: one file a site, beside it.
ANSWERS_SUFFIX = ".answers.json"


class WrittenCitation(msgspec.Struct, frozen=True):
    """The id of a passage, and the words of it that back a claim.

    ``hash`` is that of its section when the answer was written. An author who writes one by hand
    may leave it out, and then the words alone are compared.
    """

    id: str
    quote: str
    hash: str = ""


class WrittenClaim(msgspec.Struct, frozen=True):
    """One sentence of an answer, and what backs it."""

    text: str
    citations: tuple[WrittenCitation, ...]


class WrittenAnswer(msgspec.Struct, frozen=True):
    """An answer as its file holds it. ``section`` is the id of the section of its question."""

    question: str
    section: str
    claims: tuple[WrittenClaim, ...]


# Answers that keep the contract against the passages of the site as they are, by the section and
# the question.
CheckedAnswers = Mapping[tuple[str, str], Answer]


def read_answers(path: Path) -> tuple[WrittenAnswer, ...]:
    """Read a file of answers, none without a file, or raise SiteError that names what is wrong."""
    if not path.is_file():
        return ()
    try:
        return msgspec.json.decode(path.read_bytes(), type=tuple[WrittenAnswer, ...])
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise SiteError(
            f"{path} cannot be read ({error}); correct it, or delete it and write it anew"
        ) from None


def write_answers(
    path: Path, answers: Iterable[WrittenAnswer], sections: Sequence[SectionPassages]
) -> None:
    """Write a file of answers in one step, in the order of sections: a line for each text."""
    places = {section.id: place for place, section in enumerate(sections)}
    ordered = sorted(answers, key=lambda answer: places.get(answer.section, len(places)))
    data = msgspec.json.format(msgspec.json.encode(ordered), indent=2)
    write_file(path, data + b"\n")


def stamp_answer(answer: WrittenAnswer, sections: Sequence[SectionPassages]) -> WrittenAnswer:
    """Stamp the citations of an answer with the hashes of their sections, as they are now."""
    hashes = {passage.id: section.hash for section in sections for passage in section.windows}
    claims = (
        WrittenClaim(
            claim.text,
            tuple(WrittenCitation(c.id, c.quote, hashes[c.id]) for c in claim.citations),
        )
        for claim in answer.claims
    )
    return WrittenAnswer(answer.question, answer.section, tuple(claims))


def check_answers(
    answers: Iterable[WrittenAnswer],
    questions: Mapping[str, SectionQuestions],
    sections: Sequence[SectionPassages],
    names: Sequence[str],
) -> tuple[CheckedAnswers, list[QuestionFault]]:
    """Check answers against the site as it is, each as a whole: a claim that fails drops it.

    names: of the site, which a claim may use. Returns those that hold, and why others do not.
    """
    by_id = {section.id: section for section in sections}
    sources = {
        passage.id: (passage, section.hash) for section in sections for passage in section.windows
    }
    checked: dict[tuple[str, str], Answer] = {}
    faults: list[QuestionFault] = []
    for written in answers:
        key = written.section, written.question
        fault = "is stored twice: keep one" if key in checked else None
        fault = fault or _find_question_change(written, questions, by_id)
        fault = fault or _find_source_change(written, sources)
        answer = fault or _settle(written, sources, names)
        if isinstance(answer, Answer):
            checked[key] = answer
        else:
            problem = f"the answer to “{written.question}” {answer}"
            faults.append(QuestionFault(written.section, problem))
    return checked, faults


def _find_question_change(
    written: WrittenAnswer,
    questions: Mapping[str, SectionQuestions],
    sections: Mapping[str, SectionPassages],
) -> str | None:
    """Find why an answer's question is not one of the site now, as the end of a sentence."""
    section, line = sections.get(written.section), questions.get(written.section)
    if section is None:
        return "is of a section that the site does not have"
    if line is None or written.question not in list_allowed_questions(line, section):
        return "is to no question of the file of questions"
    if line.hash != section.hash:
        return "is of a section whose text has changed since its questions were written"
    return None


def _find_source_change(
    written: WrittenAnswer, sources: Mapping[str, tuple[Passage, str]]
) -> str | None:
    """Find which source of an answer is not what it was, as the end of a sentence.

    sources: passages with the hashes of their sections, by id.
    """
    for citation in (citation for claim in written.claims for citation in claim.citations):
        if citation.id not in sources:
            return f"cites {citation.id}, which the site does not have"
        passage, section_hash = sources[citation.id]
        if citation.hash not in ("", section_hash):
            return f"cites {citation.id}, whose text has changed since"
        if not find_quotes(citation.quote, passage.text):
            return f"quotes words that {citation.id} does not say"
    return None


def _settle(
    written: WrittenAnswer, sources: Mapping[str, tuple[Passage, str]], names: Sequence[str]
) -> Answer | str:
    """Judge an answer by the contract, or say what it breaks, as the end of a sentence.

    sources: see ``_find_source_change``.
    """
    ids = dict.fromkeys(c.id for claim in written.claims for c in claim.citations)
    rows = {name: row for row, name in enumerate(ids)}
    passages = {row: sources[name][0] for name, row in rows.items()}
    evidence = Evidence(tuple(passages.values()))
    claims = tuple(
        StoredClaim(claim.text, "", tuple((rows[c.id], c.quote) for c in claim.citations))
        for claim in written.claims
    )
    answer = Answer()
    # The second time as an engine reads it, so that both settle on the same.
    for _ in range(2):
        try:
            draft = make_draft(claims, passages)
            answer = enforce_contract(draft, evidence, names, written.question)
        except ContractViolation as error:
            return f"breaks the contract ({error})"
        if answer.rules:
            return f"claims what its quotes do not say ({', '.join(dict.fromkeys(answer.rules))})"
        if not answer.claims:
            return "claims nothing"
        claims = locate_claims(answer, rows)
    return answer
