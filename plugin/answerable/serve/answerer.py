"""The protocol every answerer follows."""

from typing import Protocol

from .types import Evidence


class Answerer(Protocol):
    """Drafts an answer from evidence; whatever it returns is settled by the contract."""

    def draft(self, question: str, evidence: Evidence, violation: str | None = None) -> object:
        """A draft as the contract describes it.

        ``violation`` names what was wrong with the previous draft for the same question.
        """
