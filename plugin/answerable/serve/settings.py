"""What a function is told beside its bundle: its providers and what it logs, never a key."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal, get_args

from . import provided
from .errors import BundleError
from .frozen import frozen

FILE = "settings.json"
# The two folders of data in a function folder.
BUNDLE = "bundle"
MODEL = "model"

# What is kept of a refused question: nothing, hashes, or its text too.
LogRefusals = Literal["none", "hashed", "text"]
LOG_REFUSALS: tuple[LogRefusals, ...] = get_args(LogRefusals)


@frozen
class Settings:
    """The providers of a function and what it logs; keys come from the environment only.

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
        if self.answers not in provided.ANSWERERS:
            raise ValueError(f"answers is none of {', '.join(provided.ANSWERERS)}")
        # A slip of the pen must not keep what was not to be kept.
        if self.log_refusals not in LOG_REFUSALS:
            raise ValueError(f"log_refusals is none of {', '.join(LOG_REFUSALS)}")

    def as_json(self) -> bytes:
        """The settings as they are written beside the bundle."""
        return (json.dumps(asdict(self), indent=1, sort_keys=True) + "\n").encode()


def read(folder: Path) -> Settings:
    """The settings in a folder; the defaults where there is no file, BundleError for a bad one."""
    path = folder / FILE
    try:
        data: Any = json.loads(path.read_bytes())
        return Settings(**data)
    except FileNotFoundError:
        return Settings()
    except (OSError, TypeError, ValueError) as error:
        raise BundleError(f"{path} cannot be read ({error}): run `mkdocs build` again") from None
