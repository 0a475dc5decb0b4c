"""Compare the recorded answers of two runs: which texts, modes and citations have changed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from .verdict import RecordedCitation, Verdict

AnswerPart = Literal["text", "mode", "citations"]
ANSWER_PARTS: tuple[AnswerPart, ...] = ("text", "mode", "citations")


@dataclass(frozen=True, slots=True)
class AnswerChange:
    """Hold both verdicts of a question whose answer has changed, and the parts that differ."""

    before: Verdict
    after: Verdict
    parts: tuple[AnswerPart, ...]

    @property
    def holds_again(self) -> bool:
        """Tell whether the change made the verdict hold."""
        return self.after.holds and not self.before.holds

    @property
    def holds_no_longer(self) -> bool:
        """Tell whether the change made the verdict fail."""
        return self.before.holds and not self.after.holds


@dataclass(frozen=True, slots=True)
class AnswerDiff:
    """Hold how the answers of two runs differ, by the ids of the later one.

    ``unchanged``: have the same text, mode and citations. ``new`` and ``gone``: only one of the
    runs has asked the question. ``uncompared``: one of the runs has no answer to it.
    """

    changed: tuple[AnswerChange, ...] = ()
    unchanged: tuple[str, ...] = ()
    new: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    uncompared: tuple[str, ...] = ()


def diff_answers(before: Sequence[Verdict], after: Sequence[Verdict]) -> AnswerDiff:
    """Compare answers question by question.

    Questions are the same if their words are, so that a reworded query is a new one and a renamed
    query the same one. Confidence, scores and the id of a hint, which is a keyed hash of a note's
    path, make no difference.
    """
    by_id = {(verdict.id, verdict.query): verdict for verdict in before}
    by_query = {verdict.query: verdict for verdict in reversed(before)}
    changed: list[AnswerChange] = []
    unchanged, new, uncompared = [], [], []
    for verdict in after:
        earlier = by_id.get((verdict.id, verdict.query)) or by_query.get(verdict.query)
        if earlier is None:
            new.append(verdict.id)
        elif earlier.answer is None or verdict.answer is None:
            uncompared.append(verdict.id)
        elif parts := _list_changed_parts(earlier, verdict):
            changed.append(AnswerChange(earlier, verdict, parts))
        else:
            unchanged.append(verdict.id)
    queries = {verdict.query for verdict in after}
    gone = [verdict.id for verdict in before if verdict.query not in queries]
    return AnswerDiff(tuple(changed), *map(tuple, (unchanged, new, gone, uncompared)))


def _list_changed_parts(before: Verdict, after: Verdict) -> tuple[AnswerPart, ...]:
    pairs = {
        "text": (_normalize_text(before), _normalize_text(after)),
        "mode": (before.mode, after.mode),
        "citations": (_list_citations(before), _list_citations(after)),
    }
    return tuple(part for part in ANSWER_PARTS if pairs[part][0] != pairs[part][1])


def _normalize_text(verdict: Verdict) -> str:
    return " ".join(verdict.answer.text.split()) if verdict.answer else ""


def _list_citations(verdict: Verdict) -> list[tuple[str, ...]]:
    return [_describe_citation(each) for each in verdict.answer.citations] if verdict.answer else []


def _describe_citation(citation: RecordedCitation) -> tuple[str, ...]:
    name = citation.id if citation.kind == "record" else ""
    return citation.kind, name, citation.url, citation.title, " ".join(citation.quote.split())
