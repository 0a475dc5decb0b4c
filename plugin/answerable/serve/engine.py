"""A question in, a settled reply out."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic

from .answers import confidence
from .answers.confidence import compute_confidence, is_direct_answer
from .answers.draft_loop import Answerer, draft_reply
from .embedders.embedder import Embedder
from .errors import EmbedderError
from .request_context import current_context
from .retrieval import selection
from .retrieval.question import QuestionReading, read_content_terms, read_question
from .retrieval.retrieve import TOP_K, RetrievalResult, retrieve
from .retrieval.scoring import choose_floored_score, weigh_terms
from .retrieval.selection import arrange_pool, fit_budget, select_evidence
from .retrieval.store import Store
from .types import Answer, Reply

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    # ``Engine`` alone is an engine over any store; a tool that looks at every row takes
    # ``Engine[Bundle]``.
    StoreT = TypeVar("StoreT", bound=Store, covariant=True, default=Store)
else:
    from typing import TypeVar

    StoreT = TypeVar("StoreT", bound=Store, covariant=True)


@dataclass(frozen=True, slots=True)
class Engine(Generic[StoreT]):
    """Answer questions from a store, with the embedder of its identity and an answerer."""

    store: StoreT
    embedder: Embedder
    answerer: Answerer

    def __post_init__(self) -> None:
        have, want = self.embedder.identity, self.store.manifest.identity
        if have != want:
            raise EmbedderError(
                f"the bundle was built with {want.model} ({want.dimensions} dimensions), the "
                f"embedder is {have.model} ({have.dimensions}): build again with this embedder"
            )

    @property
    def max_question_tokens(self) -> int:
        """Bound the tokens that one question costs, embedded and answered."""
        return self.embedder.max_question_tokens + self.answerer.max_question_tokens

    def read(self, question: str) -> QuestionReading:
        """The content terms of a question, in the site's spelling and without its frame."""
        return read_question(self.store, question, self.embedder.word_rank)

    def retrieve(
        self, question: str, top_k: int = TOP_K, language: str | None = None, near: int = 0
    ) -> RetrievalResult:
        """What the question retrieves; nothing is embedded for one without content terms.

        language: a tag of what is asked in, whose passages go before all others. near: how many
        candidates under each floor are wanted too.
        """
        reading = self.read(question)
        if not reading.terms:
            return RetrievalResult(remarks=reading.remarks)
        current = current_context()
        with current.stage("embedding"):
            vector = self.embedder.embed([reading.text])[0]
        with current.stage("searching"):
            return retrieve(self.store, reading, vector, top_k, language, near)

    def answer(self, question: str, language: str | None = None) -> Reply:
        """Answer from evidence or refuse; the answerer is not called without evidence."""
        return self.answer_from(question, self.retrieve(question, selection.POOL_SIZE, language))

    def answer_from(self, question: str, retrieved: RetrievalResult) -> Reply:
        """Answer a question from a pool that it has retrieved already."""
        asked = question if retrieved.question is None else retrieved.question
        evidence = fit_budget(select_evidence(arrange_pool(self.store, asked, retrieved)))
        site = self.store.site
        return draft_reply(
            self.answerer,
            asked,
            evidence,
            lambda answer: self._confidence(asked, answer, retrieved),
            (site.name, *site.names),
        )

    def _confidence(self, question: str, answer: Answer, retrieved: RetrievalResult) -> float:
        profile = self.store.manifest.profile
        if not answer.claims:
            return compute_confidence(retrieved.hints[0].score - profile.note_floor)
        # Neither its page nor its date says how near a passage comes to the question.
        best = max(
            choose_floored_score(profile, each.base, each.boost) for each in retrieved.passages
        )
        share = (
            1.0 if self._is_sure(question, answer, retrieved) else confidence.INDIRECT_ANSWER_FACTOR
        )
        return share * compute_confidence(best - profile.floor)

    def _is_sure(self, question: str, answer: Answer, retrieved: RetrievalResult) -> bool:
        """Whether one section surely answers; without words that count there is no telling."""
        if not self.store.manifest.profile.hybrid:
            return True
        if any(remark.kind == "unknown" for remark in retrieved.remarks):
            return False
        first = answer.claims[0]
        cited = {citation.id for citation in first.citations}
        if len({citation.id for claim in answer.claims for citation in claim.citations}) > 1:
            return False
        pool = (*retrieved.passages, *retrieved.siblings)
        passage = next(each.item for each in pool if each.item.id in cited)
        words = read_content_terms(self.store, question)
        weights = weigh_terms(self.store, words)[passage.language]
        shown = "\n".join(citation.quote for citation in first.citations)
        return is_direct_answer(question, weights, passage, shown)
