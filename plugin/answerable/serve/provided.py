"""The providers of embeddings and of answers, and all that depends on which one is chosen."""

from .frozen import frozen
from .profile import LOCAL, OPENAI, Profile


@frozen
class Provider:
    """Who embeds or answers; ``serve.providers`` opens it.

    ``requirements``: the distributions that a function needs for it, beside those of every one.
    ``host``: whom it asks unless ``base_url`` names another; None for one that works in the
    process, costs nothing and sends nobody a text. ``key``: the environment's variable of its key.
    ``profile``: of an embedder, how its cosines become scores until a site is calibrated.
    """

    requirements: tuple[str, ...] = ()
    host: str | None = None
    key: str | None = None
    profile: Profile = LOCAL


_OPENAI = "https://api.openai.com/v1"
_OPENAI_KEY = "OPENAI_API_KEY"

EMBEDDERS = {
    "local": Provider(("tokenizers",)),
    "openai": Provider(("openai",), _OPENAI, _OPENAI_KEY, OPENAI),
}
ANSWERERS = {
    "extractive": Provider(),
    "openai": Provider(("openai", "jinja2"), _OPENAI, _OPENAI_KEY),
}


def embeds_here(name: str) -> bool:
    """Whether a provider embeds in the process, so that more texts cost nothing."""
    return name in EMBEDDERS and EMBEDDERS[name].host is None


def answers_here(name: str) -> bool:
    """Whether a provider answers in the process, so that more questions cost nothing."""
    return name in ANSWERERS and ANSWERERS[name].host is None


def keys(embedder: str, answerer: str) -> tuple[str, ...]:
    """The environment's variables that hold the keys of two providers."""
    chosen = (EMBEDDERS[embedder].key, ANSWERERS[answerer].key)
    return tuple(sorted({key for key in chosen if key}))
