"""The plugin's options."""

from mkdocs.config import base
from mkdocs.config import config_options as c

from ..serve.database import NAME
from ..serve.encoding import NAMES
from ..serve.postgres.search import HOWS
from ..serve.provided import ANSWERERS, EMBEDDERS
from ..serve.settings import LOG_REFUSALS
from . import shortcuts


class Passages(base.Config):
    """How pages are cut: ``passages``."""

    words = c.Type(int, default=240)
    overlap = c.Type((int, float), default=0.25)


class Retrieval(base.Config):
    """How candidates are scored: ``retrieval``."""

    floor = c.Optional(c.Type((int, float)))
    note_floor = c.Optional(c.Type((int, float)))
    calibrated_for = c.Optional(c.Type(str))
    hybrid = c.Optional(c.Type((int, float)))
    theme_fade = c.Optional(c.Type(bool))
    name_boost = c.Optional(c.Type((int, float)))
    theme_boost = c.Optional(c.Type((int, float)))
    recency = c.Optional(c.Type((int, float)))
    weights = c.DictOfItems(c.Type((int, float)), default={})


class Embedding(base.Config):
    """What turns text into vectors: ``embedding``."""

    provider = c.Choice(tuple(EMBEDDERS), default="local")
    model = c.Type(str, default="text-embedding-3-large")
    dimensions = c.Type(int, default=3072)
    base_url = c.Optional(c.URL())


class Answers(base.Config):
    """What writes answers: ``answers``."""

    provider = c.Choice(tuple(ANSWERERS), default="extractive")
    model = c.Type(str, default="gpt-4o-mini")
    base_url = c.Optional(c.URL())
    reasoning_effort = c.Optional(c.Type(str))
    timeout = c.Type((int, float), default=30)
    route = c.Optional(c.Type(str))


class Bundle(base.Config):
    """How vectors are carried: ``bundle``."""

    encoding = c.Choice(NAMES, default="int8")
    dimensions = c.Optional(c.Type(int))
    uncertified = c.Choice(("refuse", "allow"), default="refuse")


class Address(base.BaseConfigOption[str | None]):
    """An address: "" where none is named, None where the environment lacks the one that is."""

    def __init__(self) -> None:
        super().__init__()
        self.default = ""

    def run_validation(self, value: object) -> str | None:
        if value is not None and not isinstance(value, str):
            raise base.ValidationError(f"Expected an address, not {type(value).__name__}")
        return value


class Store(base.Config):
    """The database that serves the site instead of the bundle's folder: ``store``."""

    url = Address()
    name = c.Type(str, default=NAME)
    search = c.Choice(HOWS, default="exact")
    m = c.Type(int, default=16)
    ef_construction = c.Type(int, default=64)
    ef_search = c.Type(int, default=400)
    grace = c.Type((int, float), default=24)


class Widget(base.Config):
    """How readers ask: ``widget``."""

    placement = c.Choice(("button", "header", "inline", "none"), default="button")
    endpoint = c.Optional(c.Type(str))
    shortcut = c.Type(str, default=shortcuts.DEFAULT)
    search = c.Optional(c.Type((str, bool)))
    authors = c.Optional(c.Type((str, bool)))
    feedback = c.Optional(c.Type((str, bool)))


class AnswerableConfig(base.Config):
    """All options of the plugin ``answerable``."""

    notebook = c.Optional(c.Dir(exists=True))
    function = c.Dir(default="function")
    cache = c.Dir(default=".cache/plugin/answerable")
    language = c.Optional(c.Type(str))
    languages = c.Choice(("together", "apart"), default="together")
    aliases = c.ListOfItems(c.Type(str), default=[])
    abbreviations = c.Optional(c.File(exists=True))
    enrichment = c.Optional(c.File(exists=True))
    embedding = c.SubConfig(Embedding)
    answers = c.SubConfig(Answers)
    passages = c.SubConfig(Passages)
    retrieval = c.SubConfig(Retrieval)
    bundle = c.SubConfig(Bundle)
    store = c.SubConfig(Store)
    gold = c.Type(str, default="eval/gold.yaml")
    gate = c.Choice(("none", "retrieval"), default="none")
    widget = c.SubConfig(Widget)
    log_refusals = c.Choice(LOG_REFUSALS, default="none")
    log_questions = c.Type(bool, default=False)
