"""Answer a question or refuse: retrieve, select evidence, draft and check, compute confidence."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Generic

from .answers.answerer import Answerer
from .answers.confidence import rate_answer
from .answers.draft_loop import draft_reply
from .answers.wire import format_answer
from .embedders.embedder import Embedder
from .errors import EmbedderError
from .request_context import current_context
from .retrieval.question import QuestionReading, read_question
from .retrieval.retrieve import TOP_K, RetrievalResult, list_sections, retrieve
from .retrieval.scoring import Scored
from .retrieval.selection import POOL_SIZE, arrange_pool, fit_budget, select_evidence
from .retrieval.store import Store
from .types import Passage, Reply

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
        own, built = self.embedder.identity, self.store.manifest.identity
        if own != built:
            raise EmbedderError(
                f"the bundle was built with {built.model} ({built.dimensions} dimensions), the "
                f"embedder is {own.model} ({own.dimensions}): build again with this embedder"
            )

    @property
    def max_question_tokens(self) -> int:
        """Bound the tokens that one question costs, embedded and answered."""
        return self.embedder.max_question_tokens + self.answerer.max_question_tokens

    def parse_question(self, question: str) -> QuestionReading:
        """Read the content terms of a question, in the site's spelling and without its frame."""
        return read_question(self.store, question, self.embedder.word_rank)

    def retrieve(
        self, question: str, top_k: int = TOP_K, language: str | None = None, near: int = 0
    ) -> RetrievalResult:
        """Retrieve the best passages and hints; nothing is embedded without content terms.

        language: a tag whose passages go before all others. near: how many candidates under each
        floor are returned too.
        """
        reading = self.parse_question(question)
        if not reading.terms:
            return RetrievalResult(reading=reading)
        context = current_context()
        with context.stage("embedding"):
            vector = self.embedder.embed([reading.text])[0]
        with context.stage("searching"):
            return retrieve(self.store, reading, vector, top_k, language, near)

    def search(self, question: str, language: str | None = None) -> tuple[Scored[Passage], ...]:
        """Search for the sections nearest to a question, near misses among them: never evidence."""
        retrieved = self.retrieve(question, POOL_SIZE, language, POOL_SIZE)
        return list_sections(self.store.manifest.profile, retrieved)

    def answer(self, question: str, language: str | None = None) -> Reply:
        """Answer from evidence or refuse; the answerer is not called without evidence."""
        return self.answer_from(self.retrieve(question, POOL_SIZE, language))

    def answer_from(self, retrieved: RetrievalResult) -> Reply:
        """Answer a question from a pool that it has retrieved already."""
        site, profile = self.store.site, self.store.manifest.profile
        pool = arrange_pool(self.store, retrieved)
        evidence = fit_budget(select_evidence(pool, profile.passages_per_page))
        reply = draft_reply(
            self.answerer,
            retrieved.reading.question,
            evidence,
            lambda answer: rate_answer(self.store.manifest, answer, retrieved),
            (site.name, *site.names, *([site.author] if site.author else [])),
        )
        return replace(reply, text=format_answer(reply.answer, site.route))
