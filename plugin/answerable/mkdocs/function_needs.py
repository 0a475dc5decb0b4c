"""List what of a site's options and languages only a function can do, not the reader's browser."""

from ..indexing.answer_place import (
    ENDPOINT_REASON,
    NOTEBOOK_REASON,
    FunctionNeed,
    need_of_option,
)
from .config import AnswerableConfig
from .options import resolve_identity


def list_function_needs(config: AnswerableConfig) -> list[FunctionNeed]:
    """List the options for which a function has to answer; none for a site that sets none."""
    needs = {
        "notebook": config.notebook and NOTEBOOK_REASON,
        "embedding.provider": config.embedding.provider != "local"
        and "only the local model is published",
        "answers.provider": config.answers.provider != "extractive"
        and "only the extractive answerer runs in the browser",
        "retrieval.hybrid": config.retrieval.hybrid == 0
        and "the browser ranks by words and vectors",
        "bundle.encoding": config.bundle.encoding != "int8" and "the browser reads int8 alone",
        "bundle.dimensions": _drops_dimensions(config) and "the browser reads all dimensions",
        # Also where its environment variable is missing in this build.
        "store.url": config.store.url != "" and "a database needs a server",
        "widget.endpoint": config.widget.endpoint is not None and ENDPOINT_REASON,
        "log_refusals": config.log_refusals != "none" and "a question in the browser leaves no log",
        "log_questions": config.log_questions and "a question in the browser leaves no log",
    }
    return [need_of_option(option, reason) for option, reason in needs.items() if reason]


def _drops_dimensions(config: AnswerableConfig) -> bool:
    return (config.bundle.dimensions or 0) not in (0, resolve_identity(config).dimensions)
