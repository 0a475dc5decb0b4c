"""What a route says: rendered from a hint's public surface, in the site's language."""

import re

from ..text.languages import get_translation
from ..types import HintCitation

ROUTE_FIELDS = frozenset({"label", "locator", "where", "url"})

_TEMPLATE_FIELD = re.compile(r"\{(\w+)\}")


def find_route_template(language: str) -> str:
    """The template of a language code such as ``pt-BR``; English where there is none."""
    return get_translation(language).route


def list_template_fields(text: str) -> frozenset[str]:
    """The names that a template uses."""
    return frozenset(_TEMPLATE_FIELD.findall(text))


def render_route(text: str, hint: HintCitation) -> str:
    """A template filled in once: braces in a label stay what they are."""
    values = {
        "label": hint.label,
        "locator": hint.locator,
        "where": f" ({hint.locator})" if hint.locator else "",
        "url": hint.url,
    }
    return _TEMPLATE_FIELD.sub(lambda match: values.get(match[1], match[0]), text)
