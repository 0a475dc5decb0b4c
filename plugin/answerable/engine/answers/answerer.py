"""Protocol of answerers: draft an answer from evidence, for the contract to judge."""

from typing import Protocol

from ..types import Evidence


class Answerer(Protocol):
    """Draft an answer from evidence; the contract judges whatever it returns."""

    @property
    def label(self) -> str:
        """Name all that an answer depends on beside evidence and prompt, for the answer cache."""

    @property
    def max_question_tokens(self) -> int:
        """The tokens that a question counts for where its calls count none; 0 if it is free."""

    @property
    def max_evidence_characters(self) -> int | None:
        """The most characters of passages that a model reads, near misses among them.

        None for an answerer that quotes what is above the floor and words nothing itself.
        """

    def draft(self, question: str, evidence: Evidence, violation: str | None = None) -> object:
        """Draft an answer in the shape that ``enforce_contract`` describes.

        violation: what was wrong with the previous draft for the same question.
        """
