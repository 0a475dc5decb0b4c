"""What a route says: rendered from a hint's public surface, in the site's language."""

import re

from .types import HintCitation

# ``{where}`` is the locator in parentheses, or nothing.
TEMPLATES = {
    "ar": "مواد ذات صلة: {label}{where}.",
    "de": "Verwandtes Material: {label}{where}.",
    "en": "Related material: {label}{where}.",
    "es": "Material relacionado: {label}{where}.",
    "fr": "À consulter : {label}{where}.",
    "ja": "関連資料：{label}{where}。",
}
FIELDS = frozenset({"label", "locator", "where", "url"})

_FIELD = re.compile(r"\{(\w+)\}")


def template(language: str) -> str:
    """The template of a language code such as ``pt-BR``; English where there is none."""
    return TEMPLATES.get(re.split(r"[-_]", language.lower())[0], TEMPLATES["en"])


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
