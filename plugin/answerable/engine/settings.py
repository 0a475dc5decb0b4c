"""Settings of a function folder (settings.json): answerer, model, base urls, logging; no key."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal, get_args

import msgspec

from .errors import BUILD_AGAIN, BundleError

SETTINGS_FILE = "settings.json"
# The two folders of data in a function folder.
BUNDLE_FOLDER = "bundle"
MODEL_FOLDER = "model"

# Log of a refused question: none, hashes, or its text too.
LogRefusals = Literal["none", "hashed", "text"]
LOG_REFUSALS_CHOICES: tuple[LogRefusals, ...] = get_args(LogRefusals)

# How a model is asked: by chat completions or by OpenAI's Responses, which is where "auto" asks
# OpenAI, and nobody else: some servers have the path and ignore the schema there.
AnswerAPI = Literal["auto", "responses", "chat"]
ANSWER_APIS: tuple[AnswerAPI, ...] = get_args(AnswerAPI)
MAX_EVIDENCE_CHARACTERS = 24_000
# Six claims with a long quote each.
MAX_OUTPUT_TOKENS = 1_500


@dataclass(frozen=True, slots=True)
class FunctionSettings:
    """The providers of a function and its logs; keys come from the environment only.

    ``timeout``: seconds for one answer of a model. ``max_evidence_characters``: the most that it
    reads of passages. ``max_output_tokens``: the most that it writes, its reasoning apart.
    ``store``: what the site is called in the database that it is published to, None if it is served
    from its bundle.
    """

    answers: str = "extractive"
    model: str = "gpt-4o-mini"
    base_url: str | None = None
    reasoning_effort: str | None = None
    timeout: float = 30.0
    api: AnswerAPI = "auto"
    max_evidence_characters: int = MAX_EVIDENCE_CHARACTERS
    max_output_tokens: int = MAX_OUTPUT_TOKENS
    embedding_base_url: str | None = None
    log_refusals: LogRefusals = "none"
    store: str | None = None

    def as_json(self) -> bytes:
        """Serialize the settings as they are written beside the bundle."""
        return (json.dumps(asdict(self), indent=1, sort_keys=True) + "\n").encode()


def read_settings(folder: Path) -> FunctionSettings:
    """Read a folder's settings, or the defaults without a file; BundleError for a bad one."""
    path = folder / SETTINGS_FILE
    try:
        return msgspec.json.decode(path.read_bytes(), type=FunctionSettings)
    except FileNotFoundError:
        return FunctionSettings()
    except (OSError, msgspec.MsgspecError) as error:
        raise BundleError(f"{path} cannot be read ({error}): {BUILD_AGAIN}") from None
