"""What a route says: rendered from a hint's public surface, in the site's language."""

import re

from . import wording
from .types import HintCitation

FIELDS = frozenset({"label", "locator", "where", "url"})

_FIELD = re.compile(r"\{(\w+)\}")


def template(language: str) -> str:
    """The template of a language code such as ``pt-BR``; English where there is none."""
    return wording.of(language).route


def fields(text: str) -> frozenset[str]:
    """The names that a template uses."""
    return frozenset(_FIELD.findall(text))


def sentence(text: str, hint: HintCitation) -> str:
    """A template filled in once: braces in a label stay what they are."""
    values = {
        "label": hint.label,
        "locator": hint.locator,
        "where": f" ({hint.locator})" if hint.locator else "",
        "url": hint.url,
    }
    return _FIELD.sub(lambda match: values.get(match[1], match[0]), text)
