"""The reference pipeline's cases: they live beside the project and may be absent."""

import json
from typing import Any

import pytest

from support.sites import DATA


def rows(name: str) -> list[Any]:
    """One parameter per row of a file of cases; where the file is absent, one that is skipped."""
    path = DATA / "conformance" / f"{name}.jsonl"
    if not path.is_file():
        return [pytest.param(None, marks=pytest.mark.skip(reason=f"there is no {path}"))]
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]
