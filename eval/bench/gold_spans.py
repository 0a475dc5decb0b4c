"""Gold spans: how often what a reader is shown holds the words that answer the question.

``gold/NAME.jsonl`` names, for each question, the sections that answer it best (``gold_sections``,
page url and anchor) and verbatim spans of them (``answer_spans``: ``need`` says whether ``all`` or
``any`` of them; one of ``alt_spans`` serves alone). A row with ``bad`` is skipped. Texts are
compared with all white space removed, because a page's code and lists are laid out in many ways.
"""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tables import Row, read_lines

from answerable.serve.answers.confidence import bucket_confidence
from answerable.serve.text.tokenization import split_lowercase_words
from answerable.serve.types import Confidence, Reply


@dataclass(frozen=True, slots=True)
class Gold:
    """The spans that an answer holds, and the sections that it comes from."""

    sections: frozenset[str]
    spans: tuple[str, ...]
    alternatives: tuple[str, ...]
    needs_all: bool

    def is_held(self, text: str) -> bool:
        """Look for the spans in a text."""
        dense = _dense(text)
        if any(_dense(span) in dense for span in self.alternatives):
            return True
        hits = [_dense(span) in dense for span in self.spans]
        return all(hits) if self.needs_all else any(hits)


@dataclass(frozen=True, slots=True)
class Shown:
    """Hold the excerpts of a reply in order, and the urls that each one cites.

    Both are empty for a refusal and for an answer that only routes to notes.
    """

    excerpts: tuple[str, ...]
    urls: tuple[frozenset[str], ...]
    confidence: Confidence


def read_gold(path: Path) -> dict[str, Gold]:
    """Read the gold rows of a site by the id of their question, without the bad ones."""
    return {
        row["id"]: Gold(
            frozenset(row["gold_sections"]),
            tuple(row["answer_spans"]),
            tuple(row.get("alt_spans", ())),
            row.get("need", "all") == "all",
        )
        for row in read_lines(path, _required)
        if not row.get("bad")
    }


def _required(row: Row) -> Sequence[str]:
    return () if row.get("bad") else ("id", "gold_sections", "answer_spans")


def read_reply(reply: Reply, root: str) -> Shown:
    """Reduce a reply to what it shows. root: the path that the site is served under."""
    claims = reply.answer.claims
    return Shown(
        tuple(claim.text for claim in claims),
        tuple(frozenset(c.url.removeprefix(root) for c in claim.citations) for claim in claims),
        bucket_confidence(reply.confidence),
    )


def measure(gold: Mapping[str, Gold], replies: Mapping[str, Shown]) -> Row:
    """Measure shares of the gold questions and of the shown answers; both by the question's id.

    ``contains_first`` and ``contains``: the share of gold questions whose first excerpt, or all of
    them together, hold the spans; ``first_section`` and ``any_section``: whose first excerpt, or
    any, is of a gold section. A refusal is a miss. ``precision``: of all that is shown, answers to
    unanswerable questions included, the share that holds its spans; ``high_precision``: of what is
    marked high. ``first_words`` and ``shown_words`` are medians of what is shown.
    """
    of_gold = [(row, replies[name]) for name, row in gold.items()]
    shown = {name: reply for name, reply in replies.items() if reply.excerpts}
    holding = {name for name, row in gold.items() if row.is_held(_joined(replies[name]))}
    high = {name for name, reply in shown.items() if reply.confidence == "high"}
    return {
        "gold": len(gold),
        "contains_first": _share([row.is_held("".join(r.excerpts[:1])) for row, r in of_gold]),
        "contains": _share([name in holding for name in gold]),
        "first_section": _share([_is_cited(row, r.urls[:1]) for row, r in of_gold]),
        "any_section": _share([_is_cited(row, r.urls) for row, r in of_gold]),
        "precision": _share([name in holding for name in shown]),
        "high": len(high),
        "high_precision": _share([name in holding for name in high]),
        "first_words": _median([_words(reply.excerpts[:1]) for reply in shown.values()]),
        "shown_words": _median([_words(reply.excerpts) for reply in shown.values()]),
    }


def _is_cited(gold: Gold, urls: Sequence[frozenset[str]]) -> bool:
    return any(url in gold.sections for each in urls for url in each)


def _joined(reply: Shown) -> str:
    return "\n".join(reply.excerpts)


def _words(excerpts: Sequence[str]) -> int:
    return sum(len(split_lowercase_words(text)) for text in excerpts)


def _dense(text: str) -> str:
    return "".join(text.split())


def _share(hits: Sequence[bool]) -> float | None:
    return sum(hits) / len(hits) if hits else None


def _median(counts: Sequence[int]) -> float | None:
    return float(statistics.median(counts)) if counts else None
