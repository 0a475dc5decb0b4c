"""A question in, a settled reply out."""

from . import budget, call, certainty, confidence, recipe, selection, settling
from .answerer import Answerer
from .bundle import Bundle
from .embedder import Embedder
from .errors import EmbedderError
from .frozen import frozen
from .question_reading import Reading, WordRank, content_terms, read_question, unranked
from .retrieval import TOP_K, Retrieved, retrieve
from .store import Store
from .types import Answer, Reply


@frozen
class Engine:
    """A store with the embedder of its identity and an answerer.

    ``word_rank``: how common a word is in ordinary language, where a list of words is at hand.
    """

    store: Store
    embedder: Embedder
    answerer: Answerer
    word_rank: WordRank = unranked

    def __post_init__(self) -> None:
        have, want = self.embedder.identity, self.store.manifest.identity
        if have != want:
            raise EmbedderError(
                f"the bundle was built with {want.model} ({want.dimensions} dimensions), the "
                f"embedder is {have.model} ({have.dimensions}): build again with this embedder"
            )

    @property
    def bundle(self) -> Bundle:
        """The store of an engine over a folder, whose every row can be looked at; TypeError else.

        For the author's tools: a question is answered from any store.
        """
        if not isinstance(self.store, Bundle):
            raise TypeError(f"a {type(self.store).__name__} is no bundle")
        return self.store

    def read(self, question: str) -> Reading:
        """The content terms of a question, in the site's spelling and without its frame."""
        return read_question(self.store, question, self.word_rank)

    def retrieve(
        self, question: str, top_k: int = TOP_K, language: str | None = None, near: int = 0
    ) -> Retrieved:
        """What the question retrieves; nothing is embedded for one without content terms.

        language: a tag of what is asked in, whose passages go before all others. near: how many
        candidates under each floor are wanted too.
        """
        reading = self.read(question)
        if not reading.terms:
            return Retrieved(remarks=reading.remarks)
        current = call.current()
        with current.stage("embedding"):
            vector = self.embedder.embed([reading.text])[0]
        with current.stage("searching"):
            return retrieve(self.store, reading, vector, top_k, language, near)

    def answer(self, question: str, language: str | None = None) -> Reply:
        """Answer from evidence or refuse; the answerer is not called without evidence."""
        return self.answer_from(question, self.retrieve(question, selection.POOL, language))

    def answer_from(self, question: str, retrieved: Retrieved) -> Reply:
        """Answer a question from a pool that it has retrieved already."""
        asked = question if retrieved.question is None else retrieved.question
        evidence = budget.fit(selection.select(selection.arrange(self.store, asked, retrieved)))
        site = self.store.site
        return settling.reply(
            self.answerer,
            asked,
            evidence,
            lambda answer: self._confidence(asked, answer, retrieved),
            (site.name, *site.names),
        )

    def _confidence(self, question: str, answer: Answer, retrieved: Retrieved) -> float:
        profile = self.store.manifest.profile
        if not answer.claims:
            return confidence.of_distance(retrieved.hints[0].score - profile.note_floor)
        # Neither its page nor its date says how near a passage comes to the question.
        best = max(recipe.floored(profile, each.base, each.boost) for each in retrieved.passages)
        share = 1.0 if self._is_sure(question, answer, retrieved) else confidence.NOT_SURE
        return share * confidence.of_distance(best - profile.floor)

    def _is_sure(self, question: str, answer: Answer, retrieved: Retrieved) -> bool:
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
        words = content_terms(self.store, question)
        weights = recipe.weigh_terms(self.store, words)[passage.language]
        shown = "\n".join(citation.quote for citation in first.citations)
        return certainty.is_sure(question, weights, passage, shown)
