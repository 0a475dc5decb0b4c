"""The fields of a gold query: what the loader and the JSON Schema are both made of."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from ..serve.types import MODES, REASONS

Kind = Literal["name", "text", "texts", "flag", "choice", "language"]

# An answer with this reason fails whatever is expected, so no query can expect it.
_NEVER = "contract"


@dataclass(frozen=True, slots=True)
class Field:
    """One field. ``choices``: every value that it may have, if its kind is ``choice``."""

    kind: Kind
    about: str
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rule:
    """What a field rules out: with one of ``values``, ``other`` is absent or one of ``allowed``.

    ``is_needed``: it may not be absent either.
    """

    field: str
    values: tuple[str | bool, ...]
    other: str
    allowed: tuple[str, ...]
    why: str
    is_needed: bool = False


REASONS_TO_EXPECT = tuple(reason for reason in REASONS if reason != _NEVER)

FIELDS: Mapping[str, Field] = {
    "id": Field("name", "The query's name, once in the file, without a comma."),
    "query": Field(
        "text", "The question, as a reader would ask it. {{author}} stands for site_author."
    ),
    "language": Field("language", "The tag of the language it is asked in, such as fr or pt-BR."),
    "expectSources": Field("texts", "Every one of these sources is retrieved above its floor."),
    "forbidSources": Field("texts", "None of these sources is retrieved."),
    "topSource": Field("text", "The best of all candidates is this source."),
    "expectAnswerMode": Field("choice", "The answer has this mode.", MODES),
    "expectReason": Field("choice", "The refusal has this reason.", REASONS_TO_EXPECT),
    "forbidRecordCitations": Field("flag", "The answer cites no page."),
    "forbidAnswerPatterns": Field(
        "texts", "The answer matches none of these Python regular expressions, in any case."
    ),
    "requires": Field(
        "choice", "Only an answer model can be held to it: extractive answers skip it.", ("model",)
    ),
    "example": Field("flag", "The ask box proposes it: the first three such queries are shown."),
    "tags": Field("texts", "Groups that the report counts apart."),
    "note": Field("text", "What the query guards, for whoever sees it fail."),
}
REQUIRED = ("id", "query")

_NOTHING = "then nothing is retrieved"
RULES = (
    Rule("expectReason", REASONS_TO_EXPECT, "expectAnswerMode", ("not-found",),
         "only a refusal has a reason"),
    Rule("expectReason", ("no-evidence",), "expectSources", (), _NOTHING),
    Rule("expectReason", ("no-evidence",), "topSource", (), _NOTHING),
    Rule("expectReason", ("no-evidence",), "requires", (), "then no model is asked"),
    Rule("forbidRecordCitations", (True,), "expectAnswerMode", ("related-material", "not-found"),
         "an answer of this mode cites records"),
    Rule("example", (True,), "expectAnswerMode", ("supported", "partial"),
         "what the ask box proposes has to be answered", is_needed=True),
)  # fmt: skip
