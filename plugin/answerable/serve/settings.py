"""What a function is told beside its bundle: which providers, never a key."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from .errors import BundleError
from .frozen import frozen

FILE = "settings.json"
# The two folders of data in a function folder.
BUNDLE = "bundle"
MODEL = "model"


@frozen
class Settings:
    """The providers of a function; keys come from the environment only.

    ``timeout``: seconds for one answer of a model.
    """

    answers: str = "extractive"
    model: str = "gpt-4o-mini"
    base_url: str | None = None
    reasoning_effort: str | None = None
    timeout: float = 30.0
    embedding_base_url: str | None = None

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
