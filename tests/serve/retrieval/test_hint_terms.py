"""Labels and locators are searched as words; the text of a note never is."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from answerable.serve.bundle_format.manifest import OPENAI_PROFILE, Profile
from answerable.serve.stores.bundle import Bundle
from support import doubles
from support.doubles import bundle_of, index_of, note, record
from support.scripted import LetterEmbedder

OPEN = Profile(floor=-1.0, note_floor=-1.0)
LABELS = {
    "outage": ("Postmortem of the March outage", "drawer 2"),
    "budget": ("Budget of the harbour", "drawer 3"),
    "survey": ("Survey of the harbour wall", "drawer 4"),
}


def site(folder: Path, profile: Profile = OPEN) -> Bundle:
    pages = [record("rope", "<p>A rope of hemp in the harbour.</p>")]
    notes = [
        replace(note(name, "zygote quixotic rhythms"), label=label, locator=locator)
        for name, (label, locator) in LABELS.items()
    ]
    return bundle_of(folder, index_of(folder, pages, notes), profile)


def gains(bundle: Bundle, question: str) -> Mapping[str, float]:
    """Measure what the words of each label and locator add to its cosine."""
    (vector,) = LetterEmbedder().embed([question])
    hints = doubles.retrieve(bundle, question, vector).hints
    return {s.item.note.removeprefix("note-"): s.score - s.dense for s in hints}


def test_a_hint_gains_by_the_words_of_its_label_and_locator(tmp_path: Path) -> None:
    bundle = site(tmp_path)
    outage = gains(bundle, "what happened in the March outage")
    assert outage["outage"] > 0.05
    assert (outage["budget"], outage["survey"]) == pytest.approx((0.0, 0.0), abs=1e-6)
    # A word of every label counts less.
    drawers = gains(bundle, "drawer 3")
    assert drawers["budget"] > drawers["outage"] > 0
    assert gains(bundle, "drawer")["outage"] < gains(bundle, "postmortem")["outage"] < 0.2 + 1e-6


def test_words_of_a_note_find_nothing(tmp_path: Path) -> None:
    bundle = site(tmp_path)
    words = {"zygot", "quixot", "rhythm", "zygote", "quixotic", "rhythms"}
    assert words.isdisjoint({*bundle.label_terms.rows, *bundle.postings.terms, *bundle.words})
    for question in ("zygote quixotic rhythms", "the rope"):
        assert list(gains(bundle, question).values()) == pytest.approx([0.0] * 3, abs=1e-6)


def test_in_the_recipe_of_the_reference_a_hint_is_its_cosine(tmp_path: Path) -> None:
    bundle = site(tmp_path, replace(OPENAI_PROFILE, note_floor=-1.0))
    assert list(gains(bundle, "the March outage").values()) == pytest.approx([0.0] * 3, abs=1e-6)
