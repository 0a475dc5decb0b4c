"""Whole-phrase matching agrees with the reference pipeline."""

from typing import Any

import pytest

import conformance
from answerable.serve import phrases


@pytest.mark.parametrize("row", conformance.rows("phrase"))
def test_a_phrase_is_found_where_the_reference_finds_it(row: dict[str, Any]) -> None:
    phrase = phrases.normalise(row["phrase"])
    found = phrase in phrases.runs(row["query"], [len(phrase.split())])
    assert (bool(phrase) and found) is row["contains"]
