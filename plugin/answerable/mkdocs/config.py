"""Schema of the options under ``plugins: answerable`` in mkdocs.yml: types, choices, defaults."""

import re

from mkdocs.config import base
from mkdocs.config import config_options as c

from ..indexing.answer_place import ANSWER_PLACES
from ..postgres.options import DEFAULT_STORE_NAME, SEARCH_METHODS
from ..serve.errors import SiteError
from ..serve.provider_registry import ANSWERER_PROVIDERS, EMBEDDER_PROVIDERS, ProviderRegistry
from ..serve.settings import LOG_REFUSALS_CHOICES
from ..serve.vectors.encodings import ENCODING_NAMES, REMOVED_ENCODINGS

DEFAULT_SHORTCUT = "Ctrl+I"
NO_SHORTCUT = "none"

_MODIFIERS = ("Ctrl", "Alt", "Shift")
_SHORTCUT_KEY = re.compile(r"[!-~]|F(?:[1-9]|1[0-2])")


def parse_shortcut(text: str) -> str:
    """Normalize a keyboard shortcut to ``Ctrl+Alt+Shift+K`` in this order, or ``none``.

    SiteError for one without Ctrl or Alt, which would take a letter from readers who type, or from
    a theme.
    """
    if text.strip().lower() == NO_SHORTCUT:
        return NO_SHORTCUT
    *before, key = (part.strip() for part in text.split("+"))
    modifiers = [part.capitalize() for part in before]
    if (
        not {"Ctrl", "Alt"} & set(modifiers)
        or len(set(modifiers)) < len(modifiers)
        or not set(modifiers) <= set(_MODIFIERS)
        or not _SHORTCUT_KEY.fullmatch(key.upper())
    ):
        raise SiteError(
            f"widget.shortcut: {text!r} has to be Ctrl, Alt or both, Shift if you like, and one "
            f"key, such as {DEFAULT_SHORTCUT} or Alt+Shift+K; correct it, or write {NO_SHORTCUT}"
        )
    return "+".join([*(name for name in _MODIFIERS if name in modifiers), key.upper()])


class ProviderOption(c.Choice[str]):
    """Choose a provider that is built in, or that an installed package registers."""

    def __init__(self, registry: ProviderRegistry, default: str) -> None:
        super().__init__(tuple(registry.builtin), default=default)
        self.registry = registry

    def run_validation(self, value: object) -> str:
        # What is registered is looked up only for a name that is not built in.
        self.choices = tuple(self.registry.builtin)
        if value not in self.choices:
            self.choices = tuple(self.registry)
        return super().run_validation(value)


class PassageOptions(base.Config):
    """Configure how pages are cut into passages: ``passages``."""

    words = c.Type(int, default=240)
    overlap = c.Type((int, float), default=0.25)


class RetrievalOptions(base.Config):
    """Configure how candidates are scored: ``retrieval``."""

    floor = c.Optional(c.Type((int, float)))
    note_floor = c.Optional(c.Type((int, float)))
    calibrated_for = c.Optional(c.Type(str))
    hybrid = c.Optional(c.Type((int, float)))
    theme_fade = c.Optional(c.Type(bool))
    name_boost = c.Optional(c.Type((int, float)))
    theme_boost = c.Optional(c.Type((int, float)))
    recency = c.Optional(c.Type((int, float)))
    passages_per_page = c.Optional(c.Type(int))
    weights = c.DictOfItems(c.Type((int, float)), default={})


class EmbeddingOptions(base.Config):
    """Configure the embedder: ``embedding``."""

    provider = ProviderOption(EMBEDDER_PROVIDERS, default="local")
    model = c.Type(str, default="text-embedding-3-large")
    dimensions = c.Type(int, default=3072)
    send_dimensions = c.Optional(c.Type(bool))
    batch_size = c.Type(int, default=2048)
    base_url = c.Optional(c.URL())


class AnswerOptions(base.Config):
    """Configure the answerer: ``answers``."""

    provider = ProviderOption(ANSWERER_PROVIDERS, default="extractive")
    model = c.Type(str, default="gpt-4o-mini")
    base_url = c.Optional(c.URL())
    reasoning_effort = c.Optional(c.Type(str))
    timeout = c.Type((int, float), default=30)
    route = c.Optional(c.Type(str))


class PriceOptions(base.Config):
    """Configure what a million tokens of a model cost: ``evaluate.prices.MODEL``."""

    input = c.Type((int, float))
    output = c.Type((int, float))


class JudgeOptions(base.Config):
    """Configure a model that judges whether quotes support claims: ``evaluate.judge``."""

    model = c.Optional(c.Type(str))
    base_url = c.Optional(c.URL())
    required = c.Type(bool, default=False)


class EvaluateOptions(base.Config):
    """Configure runs of the gold set over a model: ``evaluate``."""

    check_negation = c.Type(bool, default=True)
    prices = c.DictOfItems(c.SubConfig(PriceOptions), default={})
    judge = c.SubConfig(JudgeOptions)


class EncodingOption(c.Choice[str]):
    """Choose an encoding; one that is gone is refused with what to use instead."""

    def run_validation(self, value: object) -> str:
        if instead := REMOVED_ENCODINGS.get(str(value)):
            raise base.ValidationError(f"{value} is gone: use {instead}")
        return super().run_validation(value)


class BundleOptions(base.Config):
    """Configure the encoding of vectors: ``bundle``."""

    encoding = EncodingOption(ENCODING_NAMES, default="int8")
    dimensions = c.Optional(c.Type(int))
    uncertified = c.Choice(("refuse", "allow"), default="refuse")


class AddressOption(base.BaseConfigOption[str | None]):
    """Read an address: "" where none is set, None where its environment variable is missing."""

    def __init__(self) -> None:
        super().__init__()
        self.default = ""

    def run_validation(self, value: object) -> str | None:
        if value is not None and not isinstance(value, str):
            raise base.ValidationError(f"Expected an address, not {type(value).__name__}")
        return value


class StoreOptions(base.Config):
    """Configure the database that serves the site instead of the bundle's folder: ``store``."""

    url = AddressOption()
    name = c.Type(str, default=DEFAULT_STORE_NAME)
    search = c.Choice(SEARCH_METHODS, default="exact")
    m = c.Type(int, default=16)
    ef_construction = c.Type(int, default=64)
    ef_search = c.Type(int, default=400)
    grace = c.Type((int, float), default=24)


class WidgetOptions(base.Config):
    """Configure the ask box: ``widget``."""

    placement = c.Choice(("button", "header", "inline", "none"), default="button")
    endpoint = c.Optional(c.Type(str))
    shortcut = c.Type(str, default=DEFAULT_SHORTCUT)
    search = c.Optional(c.Type((str, bool)))
    authors = c.Optional(c.Type((str, bool)))
    feedback = c.Optional(c.Type((str, bool)))
    webmcp = c.Type(bool, default=False)
    search_row = c.Type(bool, default=False)


class AnswerableConfig(base.Config):
    """Configure the plugin: all options of ``answerable``."""

    notebook = c.Optional(c.Dir(exists=True))
    function = c.Dir(default="function")
    cache = c.Dir(default=".cache/plugin/answerable")
    language = c.Optional(c.Type(str))
    languages = c.Choice(("together", "apart"), default="together")
    aliases = c.ListOfItems(c.Type(str), default=[])
    abbreviations = c.Optional(c.File(exists=True))
    enrichment = c.Optional(c.File(exists=True))
    embedding = c.SubConfig(EmbeddingOptions)
    answers = c.SubConfig(AnswerOptions)
    passages = c.SubConfig(PassageOptions)
    retrieval = c.SubConfig(RetrievalOptions)
    bundle = c.SubConfig(BundleOptions)
    store = c.SubConfig(StoreOptions)
    evaluate = c.SubConfig(EvaluateOptions)
    gold = c.Type(str, default="eval/gold.yaml")
    gate = c.Choice(("none", "retrieval"), default="none")
    answers_in = c.Optional(c.Choice(ANSWER_PLACES))
    widget = c.SubConfig(WidgetOptions)
    log_refusals = c.Choice(LOG_REFUSALS_CHOICES, default="none")
    log_questions = c.Type(bool, default=False)
