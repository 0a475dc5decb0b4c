"""Answer a question or refuse: retrieve, select evidence, draft and check, rate.

The very words of a question with a stored answer get that answer, judged by the same contract.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Generic

import numpy as np

from .answers.contract import Answerer, draft_reply, enforce_contract
from .answers.keyless import ExtractiveAnswerer, find_line, rate_passages
from .answers.prompt import fill_prompt
from .answers.wire import format_answer
from .errors import ContractViolation, EmbedderError, ProviderError
from .index.columns import StoredClaims, list_rows, make_draft
from .request_context import current_context
from .retrieval.question import QuestionReading, drop_unknown_words, read_question
from .retrieval.rank import Scored, hash_words
from .retrieval.retrieve import (
    POOL_SIZE,
    SIBLING_SLACK,
    TOP_K,
    RetrievalResult,
    choose_hints,
    choose_passages,
    list_sections,
    retrieve,
)
from .retrieval.store import Store
from .text.sentences import link_to_range
from .text.tokenization import split_lowercase_words
from .types import Claim, Confidence, Evidence, Passage, Place, Reply
from .vectors import Embedder, check_vectors

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    # ``Engine`` alone is an engine over any store; a tool that looks at every row takes
    # ``Engine[Bundle]``.
    StoreT = TypeVar("StoreT", bound=Store, covariant=True, default=Store)
else:
    from typing import TypeVar

    StoreT = TypeVar("StoreT", bound=Store, covariant=True)


def find_stored_answer(store: Store, question: str) -> tuple[str, StoredClaims] | None:
    """Find the question of the very same words, not of like ones, that has a stored answer."""
    index, words = store.index, split_lowercase_words(question)
    for row in np.flatnonzero(index.question_keys == hash_words(question)).tolist():
        # Many questions share a hash.
        if index.has_answer[row] and split_lowercase_words(index.questions[row]) == words:
            place = int(np.count_nonzero(index.has_answer[:row]))
            return index.questions[row], index.answers[place]
    return None


@dataclass(frozen=True, slots=True)
class Engine(Generic[StoreT]):
    """Answer questions from a store, with the embedder of its identity and an answerer."""

    store: StoreT
    embedder: Embedder
    answerer: Answerer

    def __post_init__(self) -> None:
        own, built = self.embedder.identity, self.store.manifest.identity
        if own != built:
            raise EmbedderError(
                f"the bundle was built with {built.model} ({built.dimensions} dimensions), the "
                f"embedder is {own.model} ({own.dimensions}): build again with this embedder"
            )

    def is_paid(self, question: str) -> bool:
        """True if answering a question costs tokens, as a stored answer does not."""
        if not self.embedder.max_question_tokens + self.answerer.max_question_tokens:
            return False
        answers = self.store.index.answers
        return not (answers and self._has_stored_answer(self.parse_question(question)))

    def parse_question(self, question: str) -> QuestionReading:
        """Read the content terms of a question, in the site's spelling."""
        return read_question(self.store, question, self.embedder.word_rank)

    def read_notes(self, question: str) -> list[Mapping[str, str]]:
        """Read what a reader is told of a question's words, as the wire's ``notes`` have it."""
        return [remark.to_json() for remark in self.parse_question(question).remarks]

    def retrieve(
        self, question: str, top_k: int = TOP_K, language: str | None = None, near: int = 0
    ) -> RetrievalResult:
        """Retrieve the best passages and hints; nothing is embedded without content terms.

        language: a tag whose passages go before all others. near: how many candidates under each
        floor are returned too.
        """
        return self._retrieve(self.parse_question(question), top_k, language, near)

    def _retrieve(
        self,
        reading: QuestionReading,
        top_k: int,
        language: str | None,
        near: int,
        near_floor: float = -math.inf,
    ) -> RetrievalResult:
        if not reading.terms:
            return RetrievalResult(reading)
        context = current_context()
        with context.stage("embedding"), context.counting(self.embedder.max_question_tokens):
            vectors = self.embedder.embed([reading.question])
            vector = check_vectors(vectors, 1, self.embedder.identity)[0]
        with context.stage("searching"):
            return retrieve(self.store, reading, vector, top_k, language, near, near_floor)

    def search(self, question: str, language: str | None = None) -> tuple[Place, ...]:
        """Search for the sections nearest to a question, near misses among them: never evidence.

        Words that the site does not have lower no section, as they lower an answer.
        """
        reading = drop_unknown_words(self.store, self.parse_question(question))
        near_floor = self.store.manifest.profile.floor - SIBLING_SLACK
        return self.list_places(self._retrieve(reading, POOL_SIZE, language, POOL_SIZE, near_floor))

    def list_places(self, retrieved: RetrievalResult) -> tuple[Place, ...]:
        """List the sections that were retrieved, each with its line."""
        sections = self.store.index.passage_sections
        return tuple(
            Place(
                scored.item,
                *find_line(retrieved.reading, scored.item),
                is_cut=sections[scored.row] in sections[scored.row + 1 : scored.row + 2],
            )
            for scored in list_sections(self.store, retrieved)
        )

    def answer(self, question: str, language: str | None = None) -> Reply:
        """Answer from evidence or refuse; the answerer is not called without evidence."""
        return self.answer_from(self.retrieve_for_answer(question, language))

    def retrieve_for_answer(
        self, question: str, language: str | None = None, near: int = 0
    ) -> RetrievalResult:
        """Retrieve the pool that ``answer_from`` needs, and none that costs for a stored answer."""
        reading = self.parse_question(question)
        if self.embedder.max_question_tokens and self._has_stored_answer(reading):
            return RetrievalResult(reading)
        if self.answerer.max_evidence_characters is not None:
            near = POOL_SIZE
        return self._retrieve(reading, POOL_SIZE, language, near)

    def _has_stored_answer(self, reading: QuestionReading) -> bool:
        """True if an answer is stored for the question as it is read."""
        return find_stored_answer(self.store, reading.question) is not None

    def answer_from(self, retrieved: RetrievalResult) -> Reply:
        """Answer a question from a pool that it has retrieved already.

        A stored answer is followed by the excerpts that are found without a model. One that breaks
        the contract, as an index of somebody else may hold, is as if there were none.
        """
        stored = find_stored_answer(self.store, retrieved.reading.question)
        if stored is None:
            return self.draft_from(retrieved)
        known_question, claims = stored
        rows = list_rows(claims)
        by_row = self.store.passages_at(rows)
        passages = {row: by_row[row] for row in rows}
        evidence, names = Evidence(tuple(passages.values())), self.store.index.site.claim_names
        try:
            with current_context().stage("checking"):
                draft = make_draft(claims, passages)
                answer = enforce_contract(draft, evidence, names, retrieved.reading.asked)
        except ContractViolation as error:
            current_context().refusals[f"{error.stage}/{error.rule}"] += 1
            return self.draft_from(retrieved)
        if answer.dropped or not answer.claims:
            current_context().refusals.update(f"ground/{rule}" for rule in answer.rules)
            return self.draft_from(retrieved)
        excerpts = self._quote_from(retrieved)
        return replace(
            self._format(Reply(answer, passages=evidence.passages)),
            # Its words were reviewed, and its question is the one that was asked.
            confidence="high",
            written=True,
            stored=known_question,
            excerpts=excerpts if excerpts.reason is None else None,
        )

    def draft_from(self, retrieved: RetrievalResult) -> Reply:
        """Draft an answer from a pool, also to a question whose answer is stored.

        Where a model fails, the reply is the keyless one and names the failure.
        """
        if self.answerer.max_evidence_characters is None:
            return self._quote_from(retrieved)
        try:
            reply = self.write_from(retrieved)
        except ProviderError as error:
            return replace(self._quote_from(retrieved), failure=error)
        if reply.reason != "contract" or not reply.passages:
            return reply
        # Small models choose well and copy badly.
        quoted = self._quote_from(retrieved, Evidence(reply.passages))
        failure = ContractViolation("ground", "quote", "no claim of the model's drafts held")
        return reply if quoted.reason else replace(quoted, failure=failure)

    def write_from(self, retrieved: RetrievalResult) -> Reply:
        """Let the model write an answer from a pool; ProviderError for a call that fails."""
        asked, names = retrieved.reading.asked, self.store.index.site.claim_names
        evidence = self.select_evidence(retrieved)
        search = partial(self.search_again, evidence, retrieved.language)
        reply = draft_reply(self.answerer, asked, evidence, names, search)
        answer = reply.answer
        if not answer.claims:
            return replace(self._format(reply), confidence="medium" if answer.routes else "low")
        is_whole = answer.complete and not answer.dropped
        confidence: Confidence = "high" if is_whole else "medium"
        return replace(self._format(reply), confidence=confidence, written=True)

    def select_evidence(self, retrieved: RetrievalResult) -> Evidence:
        """Select what of a pool the answerer may see."""
        characters = self.answerer.max_evidence_characters
        if characters is not None:
            return fill_prompt(self.store, retrieved, characters)
        return _gather(retrieved, choose_passages(self.store, retrieved))

    def search_again(self, evidence: Evidence, language: str | None, words: str) -> Evidence:
        """Select other passages by the words of a model that declined, unless none of them is new.

        The hints stay those of the question: a model's words find no notes. language: of the asker.
        """
        reading = self.parse_question(words)
        pool = self._retrieve(reading, POOL_SIZE, language, POOL_SIZE)
        passages = self.select_evidence(pool).passages
        is_new = not set(passages) <= set(evidence.passages)
        return replace(evidence, passages=passages) if is_new else Evidence()

    def _quote_from(self, retrieved: RetrievalResult, named: Evidence | None = None) -> Reply:
        """Answer without a model. named: the passages that a model has named, instead of the best.

        On the wire the quote of a passage is its line.
        """
        reading, answerer = retrieved.reading, self.answerer
        if answerer.max_evidence_characters is not None:
            answerer = ExtractiveAnswerer()
        passages = [] if named else choose_passages(self.store, retrieved)
        evidence = named or _gather(retrieved, passages)
        names = self.store.index.site.claim_names
        reply = draft_reply(answerer, reading.asked, evidence, names)
        claims = tuple(_point_to_line(claim, evidence, reading) for claim in reply.answer.claims)
        reply = replace(reply, answer=replace(reply.answer, claims=claims))
        if reply.reason is None and named is None:
            # A note above its floor is what it says.
            confidence: Confidence = "medium"
            if claims:
                confidence = rate_passages(self.store.manifest.profile, reading, passages)
            reply = replace(reply, confidence=confidence)
        return self._format(reply)

    def _format(self, reply: Reply) -> Reply:
        return replace(reply, text=format_answer(reply.answer, self.store.index.site.route))


def _gather(retrieved: RetrievalResult, passages: list[Scored[Passage]]) -> Evidence:
    """Gather the evidence of a keyless answer."""
    return Evidence(
        tuple(scored.item for scored in passages),
        tuple(choose_hints(retrieved.hints)),
        retrieved.lead,
    )


def _point_to_line(claim: Claim, evidence: Evidence, reading: QuestionReading) -> Claim:
    """Let the citations of a whole passage quote its line, and lead to it."""
    passages = {passage.id: passage for passage in evidence.passages}
    citations = []
    for citation in claim.citations:
        passage = passages[citation.id]
        start, end = find_line(reading, passage)
        href = link_to_range(passage, start, end)
        quote = passage.text[start:end]
        citations.append(replace(citation, quote=quote, href=href))
    return replace(claim, citations=tuple(citations))
