"""A run of a note's words is found however a site publishes it, unless docs/limits.md says so."""

from random import Random

from hypothesis import given
from hypothesis import strategies as st

import disguises
from answerable.build import audit
from answerable.build.artifacts import Artifact
from answerable.build.notebook import Note
from answerable.serve.errors import LeakError
from fuzzing import fuzzed


@fuzzed(few=150, many=20_000)
@given(st.integers(0, 2**64))
def test_a_run_is_found_in_whatever_is_published(seed: int) -> None:
    made = Random(seed)
    words = disguises.words(made, made.randrange(8, 30))
    start = made.randrange(len(words) - 7)
    name, data = disguises.published(made, words[start : start + 8])
    note = Note("winch.md", "note:1", "Plans", "shelf", "a.md", "", " ".join(words))
    leaks: list[str] = []
    try:
        audit.check([note], [Artifact(f"site/{name}", lambda: data)])
    except LeakError as error:
        leaks.append(str(error))
    assert leaks, f"{words[start : start + 8]} not found in {name}: {data[:2000]!r}"
