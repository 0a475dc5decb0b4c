"""Stored answers as an index has them: claims with quotes of its passages."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from ..types import Answer, Passage

# The row of a passage, and words of it.
PassageQuote = tuple[Annotated[int, Meta(ge=0)], str]


class StoredClaim(msgspec.Struct, frozen=True, array_like=True):
    """A claim as text and as Markdown, and the words that it cites."""

    text: str
    markdown: str
    quotes: Annotated[tuple[PassageQuote, ...], Meta(min_length=1)]


StoredClaims = tuple[StoredClaim, ...]


def list_rows(claims: StoredClaims) -> list[int]:
    """List the rows of the passages that claims cite, in order of first use."""
    return list(dict.fromkeys(row for claim in claims for row, _ in claim.quotes))


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """An answer that was drafted before the build, and the words of its question.

    It has no field for a url or a title: those are the passages' own. On disk its question is that
    of its row.
    """

    question: str
    claims: StoredClaims

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
