"""The models a stub has, by name."""

import json
import re
from collections.abc import Mapping

from . import honest, hostile, schemas
from .hostile import HOSTILE, Model
from .prompts import Prompt

# Which names belong to models that reason: they take an effort and no temperature.
_REASONING = re.compile(r"o\d|gpt-[5-9](?!.*-chat)")
_PLAIN = re.compile(r"gpt-|chatgpt-")

EMBEDDING_MODELS = {
    "text-embedding-3-large": 3072,
    "text-embedding-3-small": 1536,
    "text-embedding-ada-002": 1536,
}


def honest_draft(prompt: Prompt) -> str:
    """An honest draft in the form that the request's schema demands."""
    draft = honest.draft(prompt)
    return json.dumps(schemas.conform(draft, prompt.schema) if prompt.schema else draft)


def contrite(prompt: Prompt) -> str:
    """Invents a source at first, and is honest when told that it did."""
    return hostile.invented_id(prompt) if prompt.violation is None else honest_draft(prompt)


# Every model that a name chooses; any other name is the honest one's.
MODELS: Mapping[str, Model] = {"honest": honest_draft, "contrite": contrite, **HOSTILE}


def names() -> list[str]:
    """What the list of models says."""
    return [*MODELS, "gpt-4o-mini", "gpt-5-mini", *EMBEDDING_MODELS]


def text(name: str, prompt: Prompt) -> str:
    """What a model writes."""
    return MODELS.get(name, honest_draft)(prompt)


def reasons(name: str) -> bool:
    """Whether OpenAI's model of this name takes a reasoning effort and no temperature."""
    return _REASONING.match(name) is not None


def takes_no_effort(name: str) -> bool:
    """Whether OpenAI's model of this name refuses a reasoning effort."""
    return _PLAIN.match(name) is not None and not reasons(name)
