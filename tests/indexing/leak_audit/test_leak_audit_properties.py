"""A run of a note's words is found however a site publishes it, unless docs/limits.md says so."""

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from answerable.indexing.leak_audit.audit import Artifact, audit_artifacts
from answerable.indexing.notes.notebook import Note
from answerable.serve.errors import LeakError
from support import disguised_text
from support.fuzz_settings import fuzzed


@fuzzed(few=150, many=20_000)
@given(st.integers(0, 2**64))
def test_a_run_is_found_in_whatever_is_published(seed: int) -> None:
    random_choices = Random(seed)
    words = disguised_text.words(random_choices, random_choices.randrange(8, 30))
    start = random_choices.randrange(len(words) - 7)
    name, data = disguised_text.published(random_choices, words[start : start + 8])
    note = Note("winch.md", "note:1", "Plans", "shelf", "a.md", "", " ".join(words))
    leaks: list[str] = []
    try:
        audit_artifacts([note], [Artifact(f"site/{name}", lambda: data)])
    except LeakError as error:
        leaks.append(str(error))
    assert leaks, f"{words[start : start + 8]} not found in {name}: {data[:2000]!r}"
