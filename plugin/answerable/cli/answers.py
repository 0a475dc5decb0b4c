"""Answers that are stored for questions: drafted by a model, an agent or a person, and settled."""

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from ..indexing.answers import (
    WrittenAnswer,
    check_answers,
    describe_answer,
    read_answers,
    write_answers,
)
from ..indexing.caches import show_progress
from ..indexing.output.files import format_count
from ..indexing.questions import (
    QuestionFault,
    SectionPassages,
    SectionQuestions,
    list_allowed_questions,
)
from ..serve.answers.openai_answerer import build_draft_schema, frame_evidence, render_instructions
from ..serve.answers.prompt_evidence import fill_prompt
from ..serve.engine import Engine
from ..serve.errors import ProviderError
from ..serve.request_context import RequestContext, use_context
from ..serve.retrieval.retrieve import RetrievalResult
from ..serve.retrieval.selection import POOL_SIZE
from ..serve.settings import MAX_EVIDENCE_CHARACTERS
from ..serve.stores.bundle import Bundle
from ..serve.types import Evidence

# English has about a token for four characters.
CHARACTERS_PER_TOKEN = 4
_CALLS_AT_ONCE = 4
# A limit of a minute has passed after so many attempts.
_ATTEMPTS = 5
_PAUSE_SECONDS = 4.0
# Two claims with a quote each, as JSON.
_OUTPUT_TOKENS = 150
# The questions whose evidence is measured for an estimate.
_SAMPLE = 20

Item = TypeVar("Item")
Result = TypeVar("Result")


def call_at_once(
    function: Callable[[Item], Result], items: Sequence[Item]
) -> Iterator[tuple[Item, Result]]:
    """Call a function with items, a few at once, and yield each with its result as it ends."""
    with ThreadPoolExecutor(_CALLS_AT_ONCE) as executor:
        calls = {executor.submit(copy_context().run, function, item): item for item in items}
        try:
            for call in as_completed(calls):
                yield calls[call], call.result()
        finally:
            executor.shutdown(wait=True, cancel_futures=True)


def call_patiently(call: Callable[[], Result], pause: Callable[[float], None]) -> Result:
    """Call a provider again while its failure may pass, and raise ProviderError if it does not.

    pause: waits so many seconds.
    """
    for attempt in range(1, _ATTEMPTS):
        try:
            return call()
        except ProviderError as error:
            if not error.transient:
                raise
            pause(attempt * _PAUSE_SECONDS)
    return call()


@dataclass(frozen=True, slots=True)
class KnownQuestion:
    """A question of the file, and the id of the section that it was written for."""

    section: str
    text: str


@dataclass(frozen=True, slots=True)
class DraftedAnswer:
    """Outcome of one draft: an answer, or the reason of its refusal or failure.

    ``dropped``: claims that the contract did not let pass. ``tokens``: in and out.
    """

    answer: WrittenAnswer | None = None
    reason: str = ""
    failure: str = ""
    dropped: int = 0
    tokens: tuple[int, int] = (0, 0)


@dataclass(frozen=True, slots=True)
class ImportedDrafts:
    """An answerer whose drafts somebody else has written, by question."""

    drafts: Mapping[str, object]
    label: str = "imported"
    max_question_tokens: int = 0
    max_evidence_characters: int | None = MAX_EVIDENCE_CHARACTERS

    def draft(self, question: str, evidence: Evidence, violation: str | None = None) -> object:
        """Return the draft to a question, which is the same a second time."""
        del evidence, violation
        return self.drafts[question]


@dataclass(frozen=True, slots=True)
class AnswerFile:
    """The file of answers of a site, and the state of the site that they are of.

    ``elsewhere``: ids of sections that a bundle of another language has.
    """

    path: Path
    questions: Mapping[str, SectionQuestions]
    sections: Sequence[SectionPassages]
    engine: Engine[Bundle]
    elsewhere: Collection[str] = ()

    def check_answers(self) -> tuple[list[WrittenAnswer], list[QuestionFault]]:
        """Read the answers that still hold, and why others do not."""
        written = [row for row in read_answers(self.path) if row.section not in self.elsewhere]
        names = self.engine.store.site.claim_names
        checked, faults = check_answers(written, self.questions, self.sections, names)
        current = {(answer.section, answer.question) for answer in checked}
        return [row for row in written if (row.section, row.question) in current], faults

    def list_unanswered(self) -> list[KnownQuestion]:
        """List the questions of current sections that have no answer, or one that fails."""
        current = {(answer.section, answer.question) for answer in self.check_answers()[0]}
        return [
            KnownQuestion(section.id, text)
            for section in self.sections
            if (line := self.questions.get(section.id)) and line.hash == section.hash
            for text in list_allowed_questions(line, section)
            if (section.id, text) not in current
        ]

    def retrieve(self, question: str) -> RetrievalResult:
        """Retrieve what an answer may be drafted from: pages alone, and no hint to a note."""
        return replace(self.engine.retrieve(question, POOL_SIZE, near=POOL_SIZE), hints=())

    def estimate_tokens(self, questions: Sequence[KnownQuestion]) -> tuple[int, int]:
        """Estimate the tokens that drafts read and write, by a sample of the questions."""
        sample = questions[:: max(1, len(questions) // _SAMPLE)]
        site, characters = self.engine.store.site, 0
        for question in sample:
            evidence = self._fill_prompt(question)
            characters += len(render_instructions(site.name, evidence, site.author))
            characters += len(frame_evidence(question.text, evidence, None, site.author))
            characters += len(json.dumps(build_draft_schema(evidence)))
        read = characters * len(questions) // max(1, len(sample)) // CHARACTERS_PER_TOKEN
        return read, _OUTPUT_TOKENS * len(questions)

    def _fill_prompt(self, question: KnownQuestion) -> Evidence:
        """Fill the prompt of a question as for a model, which a keyless site may not have yet."""
        characters = self.engine.answerer.max_evidence_characters or MAX_EVIDENCE_CHARACTERS
        return fill_prompt(self.engine.store, self.retrieve(question.text), characters)

    def describe_evidence(self, question: KnownQuestion) -> dict[str, Any]:
        """Describe a question and its evidence for whoever answers it, a person or a program."""
        evidence = self._fill_prompt(question)
        sources = [{"id": p.id, "title": p.title, "text": p.text} for p in evidence.passages]
        return {"section": question.section, "question": question.text, "sources": sources}

    def draft(self, question: KnownQuestion, pause: Callable[[float], None]) -> DraftedAnswer:
        """Draft and settle one answer, as a function would."""
        with use_context(RequestContext()) as context:
            try:
                retrieved = self.retrieve(question.text)
                reply = call_patiently(lambda: self.engine.write_from(retrieved), pause)
            except ProviderError as error:
                return DraftedAnswer(failure=str(error))
        tokens = context.tokens_in, context.tokens_out
        dropped = reply.answer.dropped
        if reply.reason:
            return DraftedAnswer(reason=reply.reason, dropped=dropped, tokens=tokens)
        answer = describe_answer(question.section, question.text, reply.answer, self.sections)
        # What the next build would leave out is not worth a line.
        names = self.engine.store.site.claim_names
        if check_answers([answer], self.questions, self.sections, names)[1]:
            return DraftedAnswer(reason="contract", dropped=dropped, tokens=tokens)
        return DraftedAnswer(answer, dropped=dropped, tokens=tokens)

    def store(
        self, questions: Sequence[KnownQuestion], pause: Callable[[float], None]
    ) -> "StoredCounts":
        """Draft answers to questions, and save each as it ends."""
        answers = {(answer.section, answer.question): answer for answer in read_answers(self.path)}
        counts = StoredCounts()
        with show_progress("answers") as progress:
            drafts = call_at_once(lambda question: self.draft(question, pause), questions)
            for done, (question, drafted) in enumerate(drafts, 1):
                counts.add(drafted)
                if drafted.answer:
                    answers[question.section, question.text] = drafted.answer
                    # At once, so that a run that is killed has lost no more than its last calls.
                    write_answers(self.path, answers.values(), self.sections)
                if progress:
                    progress(done, len(questions))
        return counts


@dataclass(slots=True)
class StoredCounts:
    """Counts of a run: answers that were stored, others by reason, and what all have cost."""

    stored: int = 0
    dropped: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)

    def add(self, drafted: DraftedAnswer) -> None:
        """Count what has become of a draft."""
        self.stored += drafted.answer is not None
        self.dropped += drafted.dropped
        self.tokens_in += drafted.tokens[0]
        self.tokens_out += drafted.tokens[1]
        self.reasons.update([drafted.reason] if drafted.reason else [])
        self.failures.update([drafted.failure] if drafted.failure else [])

    def describe(self, path: Path) -> str:
        """Describe what was stored and what was refused, by its reason."""
        refused = sum(self.reasons.values())
        reasons = ", ".join(f"{count} {reason}" for reason, count in sorted(self.reasons.items()))
        return (
            f"{format_count(self.stored, 'answer')} stored in {path}; {refused} refused"
            + (f" ({reasons})" if reasons else "")
            + f"; {format_count(self.dropped, 'claim')} dropped"
        )
