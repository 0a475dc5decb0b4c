"""Stored answers as an index has them: claims with quotes of its passages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..rules import RULES
from ..types import Answer, Passage

# In each shard of the files that a browser reads, which loads one for a chosen question.
ANSWERS_PER_SHARD: int = RULES["stored_answers"]["ANSWERS_PER_SHARD"]

# The row of a passage, and words of it.
PassageQuote = tuple[int, str]


@dataclass(frozen=True, slots=True)
class StoredClaim:
    """A claim as text and as Markdown, and the words that it cites."""

    text: str
    markdown: str
    quotes: tuple[PassageQuote, ...]


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """An answer that was drafted before the build, and the words of its question.

    It has no field for a url or a title: those are the passages' own. On disk its question is that
    of its row.
    """

    question: str
    claims: tuple[StoredClaim, ...]

    @property
    def rows(self) -> list[int]:
        """List the rows of the passages that it cites, in order of first use."""
        return list(dict.fromkeys(row for claim in self.claims for row, _ in claim.quotes))

    def as_json(self) -> list[Any]:
        """Return its claims as ``parse_stored_answers`` reads them."""
        return [[claim.text, claim.markdown, claim.quotes] for claim in self.claims]

    def make_draft(self, passages: Mapping[int, Passage]) -> dict[str, Any]:
        """Make the draft that the contract judges. passages: by row, the evidence in this order."""
        places = {row: place for place, row in enumerate(passages, 1)}
        return {
            "complete": True,
            "claims": [
                {
                    "text": claim.text,
                    "evidence": [
                        {"source": f"s{places[row]}", "quote": quote} for row, quote in claim.quotes
                    ],
                }
                for claim in self.claims
            ],
        }


def locate_answer(question: str, answer: Answer, rows: Mapping[str, int]) -> StoredAnswer:
    """Name the passages of a grounded answer by their rows.

    rows: of passages, by id. KeyError for a passage without one.
    """
    return StoredAnswer(
        question,
        tuple(
            StoredClaim(
                claim.text,
                claim.markdown,
                tuple((rows[c.id], c.quote) for c in claim.citations),
            )
            for claim in answer.claims
        ),
    )


def parse_stored_answers(
    marks: NDArray[np.bool_], questions: Sequence[str], values: Sequence[Any], passages: int
) -> dict[int, StoredAnswer]:
    """Parse the answers of an index by the rows of their questions.

    marks: (questions,) those that have one. passages: how many there are. LookupError, TypeError or
    ValueError for malformed ones.
    """
    rows = np.flatnonzero(marks).tolist()
    return {
        row: StoredAnswer(
            questions[row], tuple(_parse_claim(*claim, passages=passages) for claim in claims)
        )
        for row, claims in zip(rows, values, strict=True)
    }


def _parse_claim(text: object, markdown: object, quotes: Any, *, passages: int) -> StoredClaim:
    for row, quote in quotes:
        # A bool is an int to isinstance.
        if type(row) is not int or {type(text), type(markdown), type(quote)} != {str}:
            raise TypeError("a stored claim is malformed")
        if not 0 <= row < passages:
            raise ValueError(f"{row} is not the row of a passage")
    if not quotes:
        raise ValueError("a stored claim quotes nothing")
    return StoredClaim(str(text), str(markdown), tuple((row, quote) for row, quote in quotes))
