"""Gold queries to paste for gaps: they hold today, and say what to change once a page answers."""

from collections.abc import Iterable, Sequence
from typing import Any

import yaml

from ...serve.http.refusal_log import normalize_question_words
from ...serve.text import tokenization
from ...serve.text.tokenization import split_lowercase_words
from ..gold import GoldQuery
from .clusters import Gap

_MAX_ID_WORDS = 5
# Where a gold file resolves something, a question cannot be pasted as it stands.
_PLACEHOLDER_START = "{{"


def propose_gold_queries(gaps: Iterable[Gap], gold: Sequence[GoldQuery]) -> list[dict[str, Any]]:
    """A gold query for each gap whose text was kept, unless the gold set asks the same already.

    A refusal for a broken contract is the model's fault, which no gold query should require.
    """
    ids = {query.id for query in gold}
    asked = {normalize_question_words(query.query) for query in gold}
    found = []
    for gap in gaps:
        if gap.action == "off-topic" or gap.reason == "contract" or not gap.samples:
            continue
        question = gap.samples[0]
        if normalize_question_words(question) in asked or _PLACEHOLDER_START in question:
            continue
        name = _find_unused_id(question, ids)
        ids.add(name)
        found.append(
            {
                "id": name,
                "query": question,
                "expectAnswerMode": "not-found",
                "tags": ["gap"],
                "note": _describe_gap(gap),
            }
        )
    return found


def format_proposals(entries: Sequence[dict[str, Any]]) -> str:
    """The entries as lines to paste under ``queries:``."""
    if not entries:
        return ""
    text = yaml.safe_dump(
        list(entries), sort_keys=False, allow_unicode=True, width=1000, default_flow_style=None
    )
    return "".join(f"  {line}\n" for line in text.splitlines())


def _describe_gap(gap: Gap) -> str:
    times = "once" if gap.asked == 1 else f"{gap.asked} times"
    page, sources = "a page", "that page"
    if gap.action == "extend":
        page, sources = f"{gap.near}", f"[{gap.near}]"
    return (
        f"refused {times} up to {gap.last}; once {page} answers it, set expectAnswerMode to "
        f"partial and expectSources to {sources}"
    )


def _find_unused_id(question: str, taken: set[str]) -> str:
    """An id that no query has, of a question's first words that say something."""
    words = split_lowercase_words(question)
    said = [word for word in words if word not in tokenization.STOPWORDS] or words or ["question"]
    name = "-".join(["gap", *said[:_MAX_ID_WORDS]])
    number = 1
    while (numbered := name if number == 1 else f"{name}-{number}") in taken:
        number += 1
    return numbered
