"""Make a documentation site answerable: cited answers, or a plain "not found".

``open_bundle("function").answer("How …?")`` is a reply with ``text``, ``mode`` and ``citations``.
Each name is imported when it is first used.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .engine.answers.contract import Answerer
    from .engine.engine import Engine
    from .engine.errors import AnswerableError
    from .engine.index.manifest import Profile
    from .engine.providers import Provider
    from .engine.providers import open_function as open_bundle
    from .engine.retrieval.store import Store
    from .engine.settings import FunctionSettings
    from .engine.types import Answer, Evidence, Passage, Reply
    from .engine.vectors import Embedder, EmbedderIdentity

    __version__: str

__all__ = [
    "Answer",
    "AnswerableError",
    "Answerer",
    "Embedder",
    "EmbedderIdentity",
    "Engine",
    "Evidence",
    "FunctionSettings",
    "Passage",
    "Profile",
    "Provider",
    "Reply",
    "Store",
    "__version__",
    "open_bundle",
]

# The module of each name below engine/, and what it is called there.
_SOURCES = {
    "Answer": ("types", "Answer"),
    "AnswerableError": ("errors", "AnswerableError"),
    "Answerer": ("answers.contract", "Answerer"),
    "Embedder": ("vectors", "Embedder"),
    "EmbedderIdentity": ("vectors", "EmbedderIdentity"),
    "Engine": ("engine", "Engine"),
    "Evidence": ("types", "Evidence"),
    "FunctionSettings": ("settings", "FunctionSettings"),
    "Passage": ("types", "Passage"),
    "Profile": ("index.manifest", "Profile"),
    "Provider": ("providers", "Provider"),
    "Reply": ("types", "Reply"),
    "Store": ("retrieval.store", "Store"),
    "open_bundle": ("providers", "open_function"),
}


def __getattr__(name: str) -> Any:
    """Import a public name (PEP 562)."""
    if name == "__version__":
        from importlib.metadata import version

        return version("mkdocs-answerable")
    if name not in _SOURCES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    module, attribute = _SOURCES[name]
    value = getattr(import_module(f"{__name__}.engine.{module}"), attribute)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
