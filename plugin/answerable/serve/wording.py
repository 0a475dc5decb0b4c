"""The languages that we speak: what is said and what is understood in each."""

import re

from .frozen import frozen


@frozen
class Wording:
    """Our words in one language; those of the widget are in ``widget/strings``.

    ``name``: as the manual calls it. ``route``: what a route says, where ``{where}`` is the locator
    in parentheses, or nothing. ``page``: a page as a locator names it. ``now``: words of questions
    about now, with commas between them; ``is_spaced``: they are whole words, as the language
    divides them.
    """

    name: str
    route: str
    page: str
    now: str
    is_spaced: bool = True


WORDINGS = {
    "ar": Wording(
        name="Arabic",
        route="مواد ذات صلة: {label}{where}.",
        page="صفحة {page}",
        now="الآن, حاليا, حالياً, الحالي, الحالية, اليوم, أحدث, الأحدث, آخر, مؤخرا, مؤخراً, حديثا, "
        "هذا العام, هذه السنة",
    ),
    "de": Wording(
        name="German",
        route="Verwandtes Material: {label}{where}.",
        page="Seite {page}",
        now="jetzt, heute, aktuell, aktuelle, aktuellen, aktueller, aktuelles, derzeit, momentan, "
        "gegenwärtig, neueste, neuesten, neuester, neuestes, kürzlich, neulich, letztens, "
        "dieses Jahr, in diesem Jahr",
    ),
    "en": Wording(
        name="English",
        route="Related material: {label}{where}.",
        page="page {page}",
        now="now, nowadays, today, latest, newest, current, currently, recent, recently, this year",
    ),
    "es": Wording(
        name="Spanish",
        route="Material relacionado: {label}{where}.",
        page="página {page}",
        now="ahora, hoy, actual, actuales, actualmente, último, última, últimos, últimas, "
        "reciente, recientes, recientemente, este año",
    ),
    "fr": Wording(
        name="French",
        route="À consulter : {label}{where}.",
        page="page {page}",
        now="maintenant, aujourd'hui, actuel, actuelle, actuels, actuelles, actuellement, dernier, "
        "dernière, derniers, dernières, récent, récente, récents, récentes, récemment, cette année",
    ),
    "ja": Wording(
        name="Japanese",
        route="関連資料：{label}{where}。",
        page="{page}ページ",
        now="最新, 最近, 直近, 現在, 現時点, 今日, 今年, 本日, 今の, 今は",
        is_spaced=False,
    ),
}


def of(language: str) -> Wording:
    """The words of a language code such as ``pt-BR``; English where there are none."""
    return WORDINGS.get(base(language), WORDINGS["en"])


def base(language: str) -> str:
    """The language of a code, without its region."""
    return re.split("[-_]", language.lower())[0]
