"""Language tags (BCP 47): validate, match; by language, the sentence of a route."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

MAX_TAG_LENGTH = 35

# The shape of BCP 47, with the underscore that gettext's locales have.
LANGUAGE_TAG = re.compile(r"[A-Za-z]{2,8}([-_][A-Za-z0-9]{1,8})*")


def is_language_tag(text: str) -> bool:
    """Test whether a text may name a language, such as ``fr`` or ``fr-CA``."""
    return len(text) <= MAX_TAG_LENGTH and LANGUAGE_TAG.fullmatch(text) is not None


def match_languages(tag: str | None, languages: Iterable[str]) -> frozenset[str]:
    """Find the languages that a reader of a language can read; none if the site has none of them.

    The most specific match wins, as in RFC 4647's lookup: ``fr-CA`` takes ``fr-CA``, else ``fr``,
    else every variety of French.
    """
    if tag is None:
        return frozenset()
    parts_of = {language: _split_tag(language) for language in languages}
    asked_parts = _split_tag(tag)
    for length in range(len(asked_parts), 0, -1):
        matches = {name for name, parts in parts_of.items() if parts == asked_parts[:length]}
        if matches:
            return frozenset(matches)
    return frozenset(name for name, parts in parts_of.items() if parts[0] == asked_parts[0])


def _split_tag(tag: str) -> list[str]:
    return re.split("[-_]", tag.lower())


@dataclass(frozen=True, slots=True)
class Translation:
    """Hold our words in one language; those of the widget are in ``widget/strings``.

    ``route``: the sentence of a route, where ``{where}`` is the locator in parentheses, or nothing;
    ``ask``: the same where somebody can be asked. ``page``: a page as a locator names it.
    """

    route: str
    ask: str
    page: str


TRANSLATIONS = {
    "ar": Translation(
        route="مواد ذات صلة: {label}{where}.",
        ask="اسأل {contact} عن مواد ذات صلة: {label}{where}.",
        page="صفحة {page}",
    ),
    "de": Translation(
        route="Verwandtes Material: {label}{where}.",
        ask="Fragen Sie {contact} nach verwandtem Material: {label}{where}.",
        page="Seite {page}",
    ),
    "en": Translation(
        route="Related material: {label}{where}.",
        ask="Ask {contact} about related material: {label}{where}.",
        page="page {page}",
    ),
    "es": Translation(
        route="Material relacionado: {label}{where}.",
        ask="Pregunte a {contact} por material relacionado: {label}{where}.",
        page="página {page}",
    ),
    "fr": Translation(
        route="À consulter : {label}{where}.",
        ask="Demandez à {contact} à propos de : {label}{where}.",
        page="page {page}",
    ),
    "ja": Translation(
        route="関連資料：{label}{where}。",
        ask="関連資料は{contact}にお尋ねください：{label}{where}。",
        page="{page}ページ",
    ),
}


def get_translation(language: str) -> Translation:
    """Look up the words of a language tag such as ``pt-BR``; English without any."""
    return TRANSLATIONS.get(base_language(language), TRANSLATIONS["en"])


def base_language(language: str) -> str:
    """Return the language of a tag, without its region."""
    return _split_tag(language)[0]
