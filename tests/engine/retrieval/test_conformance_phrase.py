"""Whole-phrase matching agrees with the reference pipeline."""

from typing import Any

import pytest

from answerable.engine.text.tokenization import normalize_phrase, split_ngrams
from support import conformance_cases


@pytest.mark.parametrize("row", conformance_cases.rows("phrase"))
def test_a_phrase_is_found_where_the_reference_finds_it(row: dict[str, Any]) -> None:
    phrase = normalize_phrase(row["phrase"])
    occurs = phrase in split_ngrams(row["query"], [len(phrase.split())])
    assert (bool(phrase) and occurs) is row["contains"]
