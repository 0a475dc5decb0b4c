"""Settings of a function beside its bundle: its providers and its logs, never a key."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from .bundle_format.profile import LOCAL_PROFILE, OPENAI_PROFILE, Profile
from .errors import BundleError


@dataclass(frozen=True, slots=True)
class Provider:
    """Describe an embedder or answerer that ``serve.providers`` opens.

    ``requirements``: distributions that a function needs for it. ``host``: the server it calls
    unless ``base_url`` names another; None for one that works in the process, costs nothing and
    sends no text anywhere. ``key``: the environment variable of its key. ``profile``: of an
    embedder, how its cosines become scores until a site is calibrated.
    """

    requirements: tuple[str, ...] = ()
    host: str | None = None
    key: str | None = None
    profile: Profile = LOCAL_PROFILE


_OPENAI_URL = "https://api.openai.com/v1"
_OPENAI_KEY_VARIABLE = "OPENAI_API_KEY"

EMBEDDER_PROVIDERS = {
    "local": Provider(("tokenizers",)),
    "openai": Provider(("openai",), _OPENAI_URL, _OPENAI_KEY_VARIABLE, OPENAI_PROFILE),
}
ANSWERER_PROVIDERS = {
    "extractive": Provider(),
    "openai": Provider(("openai", "jinja2"), _OPENAI_URL, _OPENAI_KEY_VARIABLE),
}


def is_embedder_local(name: str) -> bool:
    """Test whether a provider embeds in the process, so that more texts cost nothing."""
    return name in EMBEDDER_PROVIDERS and EMBEDDER_PROVIDERS[name].host is None


def is_answerer_local(name: str) -> bool:
    """Test whether a provider answers in the process, so that more questions cost nothing."""
    return name in ANSWERER_PROVIDERS and ANSWERER_PROVIDERS[name].host is None


def list_key_variables(embedder: str, answerer: str) -> tuple[str, ...]:
    """List the environment variables that hold the keys of two providers."""
    keys = (EMBEDDER_PROVIDERS[embedder].key, ANSWERER_PROVIDERS[answerer].key)
    return tuple(sorted({key for key in keys if key}))


SETTINGS_FILE = "settings.json"
# The two folders of data in a function folder.
BUNDLE_FOLDER = "bundle"
MODEL_FOLDER = "model"

# Log of a refused question: none, hashes, or its text too.
LogRefusals = Literal["none", "hashed", "text"]
LOG_REFUSALS_CHOICES: tuple[LogRefusals, ...] = get_args(LogRefusals)


@dataclass(frozen=True, slots=True)
class FunctionSettings:
    """Choose the providers of a function and its logs; keys come from the environment only.

    ``timeout``: seconds for one answer of a model. ``store``: what the site is called in the
    database that it is published to, None if it is served from its bundle. ValueError for an
    unknown ``answers`` or ``log_refusals``.
    """

    answers: str = "extractive"
    model: str = "gpt-4o-mini"
    base_url: str | None = None
    reasoning_effort: str | None = None
    timeout: float = 30.0
    embedding_base_url: str | None = None
    log_refusals: LogRefusals = "none"
    log_questions: bool = False
    store: str | None = None

    def __post_init__(self) -> None:
        if self.answers not in ANSWERER_PROVIDERS:
            raise ValueError(f"answers is none of {', '.join(ANSWERER_PROVIDERS)}")
        # A typo must not log questions that were not to be logged.
        if self.log_refusals not in LOG_REFUSALS_CHOICES:
            raise ValueError(f"log_refusals is none of {', '.join(LOG_REFUSALS_CHOICES)}")

    def as_json(self) -> bytes:
        """Serialize the settings as they are written beside the bundle."""
        return (json.dumps(asdict(self), indent=1, sort_keys=True) + "\n").encode()


def read_settings(folder: Path) -> FunctionSettings:
    """Read a folder's settings, or the defaults without a file; BundleError for a bad one."""
    path = folder / SETTINGS_FILE
    try:
        data: Any = json.loads(path.read_bytes())
        return FunctionSettings(**data)
    except FileNotFoundError:
        return FunctionSettings()
    except (OSError, TypeError, ValueError) as error:
        raise BundleError(f"{path} cannot be read ({error}): run `mkdocs build` again") from None
