"""Stored answers as an index has them: claims whose quotes are ranges of its passages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..rules import RULES
from ..types import Answer, Passage

# In each shard of the files that a browser reads, which loads one for a chosen question.
ANSWERS_PER_SHARD: int = RULES["stored_answers"]["ANSWERS_PER_SHARD"]

# The row of a passage, and the (start, end) of words in its text.
PassageRange = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class StoredClaim:
    """A claim and the ranges that it cites.

    ``excerpt``: the ranges that it consists of, none if it has words of its own.
    """

    text: str
    quotes: tuple[PassageRange, ...]
    excerpt: tuple[PassageRange, ...] = ()


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """An answer that was drafted before the build, and the words of its question.

    It has no field for a quote, a url or a title: those are the passages' own. On disk its question
    is that of its row.
    """

    question: str
    claims: tuple[StoredClaim, ...]

    @property
    def rows(self) -> list[int]:
        """List the rows of the passages that it cites, in order of first use."""
        return list(dict.fromkeys(row for claim in self.claims for row, _, _ in claim.quotes))

    def as_json(self) -> list[Any]:
        """Return its claims as ``parse_stored_answers`` reads them."""
        return [[claim.text, claim.quotes, claim.excerpt] for claim in self.claims]

    def make_draft(self, passages: Mapping[int, Passage]) -> dict[str, Any]:
        """Make the draft that the contract judges. passages: by row, the evidence in this order."""
        places = {row: place for place, row in enumerate(passages, 1)}
        return {
            "complete": True,
            "claims": [
                {
                    "text": claim.text,
                    "evidence": [
                        {
                            "source": f"s{places[row]}",
                            "quote": passages[row].text[start:end],
                            "start": start,
                        }
                        for row, start, end in claim.quotes
                    ],
                }
                for claim in self.claims
            ],
        }


def locate_answer(question: str, answer: Answer, rows: Mapping[str, int]) -> StoredAnswer:
    """Turn the quotes of a grounded answer into ranges.

    rows: of passages, by id. KeyError for a passage without one.
    """
    return StoredAnswer(
        question,
        tuple(
            StoredClaim(
                claim.text,
                tuple((rows[c.id], c.start, c.start + len(c.quote)) for c in claim.citations),
                tuple((rows[name], start, end) for name, start, end in claim.excerpt),
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


def _parse_claim(text: object, quotes: Any, excerpt: Any, *, passages: int) -> StoredClaim:
    for row, start, end in [*quotes, *excerpt]:
        # A bool is an int to isinstance.
        if {type(row), type(start), type(end)} != {int} or not isinstance(text, str):
            raise TypeError("a stored claim is malformed")
        if not (0 <= row < passages and 0 <= start < end):
            raise ValueError(f"{row}, {start}, {end} is not a range of a passage")
    if not quotes:
        raise ValueError("a stored claim quotes nothing")
    return StoredClaim(str(text), *(tuple(map(tuple, ranges)) for ranges in (quotes, excerpt)))
