"""The plugin's options."""

from mkdocs.config import base
from mkdocs.config import config_options as c


class Passages(base.Config):
    """How pages are cut: ``passages``."""

    words = c.Type(int, default=240)
    overlap = c.Type((int, float), default=0.25)


class Retrieval(base.Config):
    """How candidates are scored: ``retrieval``."""

    floor = c.Optional(c.Type((int, float)))
    note_floor = c.Optional(c.Type((int, float)))
    hybrid = c.Optional(c.Type((int, float)))
    theme_fade = c.Optional(c.Type(bool))


class Widget(base.Config):
    """How readers ask: ``widget``."""

    placement = c.Choice(("button", "none"), default="button")
    endpoint = c.Optional(c.Type(str))


class AnswerableConfig(base.Config):
    """All options of the plugin ``answerable``."""

    notebook = c.Optional(c.Dir(exists=True))
    function = c.Dir(default="function")
    cache = c.Dir(default=".cache/plugin/answerable")
    language = c.Optional(c.Type(str))
    passages = c.SubConfig(Passages)
    retrieval = c.SubConfig(Retrieval)
    widget = c.SubConfig(Widget)
