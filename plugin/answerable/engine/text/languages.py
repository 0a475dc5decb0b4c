"""Our own words in pages' languages: the sentence of a route, and how a locator names a page."""

from dataclasses import dataclass

from .tokenization import base_language


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
