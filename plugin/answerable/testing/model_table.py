"""The models a stub has, by name."""

import json
import re
from collections.abc import Mapping

from .hostile_models import HOSTILE_MODELS, ScriptedModel, invented_id
from .scripted_models import ParsedPrompt, write_honest_draft
from .strict_schema import conform_to_schema

# Which names belong to models that reason: they take an effort and no temperature.
_REASONING_NAMES = re.compile(r"o\d|gpt-[5-9](?!.*-chat)")
_PLAIN_NAMES = re.compile(r"gpt-|chatgpt-")

EMBEDDING_MODELS = {
    "text-embedding-3-large": 3072,
    "text-embedding-3-small": 1536,
    "text-embedding-ada-002": 1536,
}


def honest_model(prompt: ParsedPrompt) -> str:
    """An honest draft in the form that the request's schema demands."""
    draft = write_honest_draft(prompt)
    return json.dumps(conform_to_schema(draft, prompt.schema) if prompt.schema else draft)


def contrite_model(prompt: ParsedPrompt) -> str:
    """Invents a source at first, and is honest when told that it did."""
    return invented_id(prompt) if prompt.violation is None else honest_model(prompt)


# Every model that a name chooses; any other name is the honest one's.
SCRIPTED_MODELS: Mapping[str, ScriptedModel] = {
    "honest": honest_model,
    "contrite": contrite_model,
    **HOSTILE_MODELS,
}


def list_model_names() -> list[str]:
    """What the list of models says."""
    return [*SCRIPTED_MODELS, "gpt-4o-mini", "gpt-5-mini", *EMBEDDING_MODELS]


def write_model_text(name: str, prompt: ParsedPrompt) -> str:
    """What a model writes."""
    return SCRIPTED_MODELS.get(name, honest_model)(prompt)


def takes_reasoning_effort(name: str) -> bool:
    """Whether OpenAI's model of this name takes a reasoning effort and no temperature."""
    return _REASONING_NAMES.match(name) is not None


def refuses_reasoning_effort(name: str) -> bool:
    """Whether OpenAI's model of this name refuses a reasoning effort."""
    return _PLAIN_NAMES.match(name) is not None and not takes_reasoning_effort(name)
