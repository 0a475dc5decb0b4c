"""Propose as YAML, for each gap, a gold query that requires a refusal until a page answers it."""

from collections.abc import Collection, Iterable, Sequence
from itertools import count
from typing import Any

import yaml

from ...indexing.plurals import format_times
from ...serve.http.refusal_log import normalize_question_words
from ...serve.text.tokenization import STOPWORDS, split_lowercase_words
from ..gold import GoldQuery
from .clusters import Gap

_MAX_ID_WORDS = 5
# A gold file resolves placeholders, so that a question with one cannot be pasted as it stands.
_PLACEHOLDER_START = "{{"


def propose_gold_queries(gaps: Iterable[Gap], gold: Sequence[GoldQuery]) -> list[dict[str, Any]]:
    """Propose a gold query for each gap with a text, unless the gold set asks the same already.

    A refusal for a broken contract is the model's fault, which no gold query should require.
    """
    ids = {query.id for query in gold}
    gold_questions = {normalize_question_words(query.query) for query in gold}
    proposals = []
    for gap in gaps:
        if gap.action == "off-topic" or gap.reason == "contract" or not gap.wordings:
            continue
        question = gap.wordings[0].text
        if normalize_question_words(question) in gold_questions or _PLACEHOLDER_START in question:
            continue
        name = _find_unused_id(question, ids)
        ids.add(name)
        proposals.append(
            {
                "id": name,
                "query": question,
                "expectAnswerMode": "not-found",
                "tags": ["gap"],
                "note": _describe_gap(gap),
            }
        )
    return proposals


def format_proposals(proposals: Sequence[dict[str, Any]]) -> str:
    """Format gold queries as lines to paste under ``queries:``."""
    if not proposals:
        return ""
    text = yaml.safe_dump(
        list(proposals), sort_keys=False, allow_unicode=True, width=1000, default_flow_style=None
    )
    return "".join(f"  {line}\n" for line in text.splitlines())


def _describe_gap(gap: Gap) -> str:
    times = format_times(gap.asked)
    page, sources = "a page", "that page"
    if gap.action == "extend":
        page, sources = f"{gap.near}", f"[{gap.near}]"
    return (
        f"refused {times} up to {gap.last}; once {page} answers it, set expectAnswerMode to "
        f"partial and expectSources to {sources}"
    )


def _find_unused_id(question: str, used: Collection[str]) -> str:
    """Build an id that no query has, of a question's first content words."""
    words = split_lowercase_words(question)
    content = [word for word in words if word not in STOPWORDS] or words or ["question"]
    name = "-".join(["gap", *content[:_MAX_ID_WORDS]])
    candidates = (name if number == 1 else f"{name}-{number}" for number in count(1))
    return next(candidate for candidate in candidates if candidate not in used)
