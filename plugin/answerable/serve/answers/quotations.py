"""Locate the quotes of a claim in their passages; refuse those that are too short."""

import re
from dataclasses import dataclass

from ..errors import Rule
from ..text.normalization import fold_typography, is_visibly_blank
from ..text.tokenization import count_words
from ..types import Passage
from .quotes import find_quotes
from .statements import is_line_of_code

# Fewer words occur in any text.
MIN_QUOTE_WORDS = 3

_CODE_LIKE = re.compile(
    r"(?=.*[^\W\d_])(?:.*[_(){}\[\]<>=/\\$@#].*|-.+|.*\w[.:]\w.*|.*[a-z][A-Z].*)"
)


@dataclass(frozen=True, slots=True)
class Quotation:
    """Locate the quote of a claim in its passage."""

    passage: Passage
    start: int
    end: int


def locate_quote(quote: str, passage: Passage) -> list[Quotation] | Rule:
    """Locate a quote wherever it occurs in a passage, or name the rule that it breaks."""
    quotations = [Quotation(passage, *span) for span in find_quotes(quote, passage.text)]
    if not quotations:
        return "quote"
    return check_quote(quotations[0]) or quotations


def check_quote(quotation: Quotation) -> Rule | None:
    """Refuse a quote of fewer than three words, unless it is whole.

    That is code, the column names of a table, or all of its passage.
    """
    passage = quotation.passage
    quote = fold_typography(passage.text[quotation.start : quotation.end]).text.strip()
    words = [word for word in quote.split() if not is_visibly_blank(word)]
    if count_words(" ".join(words)) >= MIN_QUOTE_WORDS:
        return None
    place = quotation.start, quotation.end
    is_whole = (
        any(span.kind == "code" and (span.start, span.end) == place for span in passage.spans)
        or any(
            block.detail == "header" and (block.start, block.end) == place
            for block in passage.blocks
        )
        or any(_CODE_LIKE.fullmatch(word) for word in words)
        or f"`{quote}`" in passage.text
        or is_line_of_code(passage, *place)
    )
    return (
        None if is_whole or quote == fold_typography(passage.text).text.strip() else "short-quote"
    )
