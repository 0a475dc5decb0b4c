"""Published functions: built with a provider, and served by the code that a build writes."""

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.openai_stub import OpenAIStub
from support.server_processes import Running, run
from support.sites import NOTES, build_here, write_site

KEY = "sk-harbour-000000000000"
# As a site has it that is asked all day; a test sets what it is about.
UNLIMITED = {"ANSWERABLE_RATE": "1000/second", "ANSWERABLE_RATE_ALL": "1000/second"}


def build_function(folder: Path, stub: OpenAIStub | None = None, **options: object) -> Path:
    """Build the harbour's site with its notebook; its function, which asks a stub for answers.

    options: of the plugin. Without a stub it is keyless.
    """
    answers = {"answers": {"provider": "openai", "base_url": stub.base_url}} if stub else {}
    write_site(folder, notes=NOTES, options={**answers, **options})
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", KEY)
        build_here(folder)
    return folder / "function"


@contextmanager
def serving(function: Path, **environment: str) -> Iterator[Running]:
    """A process that serves a function, its errors among what it prints."""
    values = {**UNLIMITED, "OPENAI_API_KEY": KEY, "PORT": "0", **environment}
    variables = [f"{name}={value}" for name, value in values.items()]
    command = ["env", *variables, sys.executable, "-I", str(function / "main.py")]
    with run(command, function, _has_address) as running:
        yield running


def _has_address(running: Running) -> bool:
    announcement = re.search(r"http://127\.0\.0\.1:(\d+)/answer", running.output)
    running.port = int(announcement[1]) if announcement else 0
    return bool(announcement)
