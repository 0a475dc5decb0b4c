"""Make a documentation site answerable: cited answers, or a plain "not found".

``open_bundle("function").answer("How …?")`` is a reply with ``text``, ``mode`` and ``citations``.
Each name is imported when it is first used.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .serve.answers.answerer import Answerer
    from .serve.embedders.embedder import Embedder, EmbedderIdentity
    from .serve.engine import Engine
    from .serve.errors import AnswerableError
    from .serve.index.manifest import Profile
    from .serve.providers import Provider
    from .serve.providers import open_function as open_bundle
    from .serve.retrieval.store import Store
    from .serve.settings import FunctionSettings
    from .serve.types import Answer, Evidence, Passage, Reply

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

# The module of each name below serve/, and what it is called there.
_SOURCES = {
    "Answer": ("types", "Answer"),
    "AnswerableError": ("errors", "AnswerableError"),
    "Answerer": ("answers.answerer", "Answerer"),
    "Embedder": ("embedders.embedder", "Embedder"),
    "EmbedderIdentity": ("embedders.embedder", "EmbedderIdentity"),
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
    value = getattr(import_module(f"{__name__}.serve.{module}"), attribute)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
