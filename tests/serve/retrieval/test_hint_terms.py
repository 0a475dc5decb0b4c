"""Labels and locators are searched as words; the text of a note never is."""

from dataclasses import replace
from pathlib import Path

import pytest

from answerable.indexing.notes.notebook import Note
from answerable.serve.bundle_format.manifest import Profile
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


def labelled(name: str) -> Note:
    label, locator = LABELS[name]
    return replace(note(name, "zygote quixotic rhythms"), label=label, locator=locator)


def site(folder: Path, profile: Profile = OPEN) -> Bundle:
    pages = [record("rope", "<p>A rope of hemp in the harbour.</p>")]
    return bundle_of(folder, index_of(folder, pages, [labelled(name) for name in LABELS]), profile)


def words_of(bundle: Bundle, question: str) -> dict[str, float]:
    (vector,) = LetterEmbedder().embed([question])
    result = doubles.retrieve(bundle, question, vector)
    return {scored.item.note: scored.score - scored.dense for scored in result.hints}


def test_a_hint_gains_by_the_words_of_its_label_and_locator(tmp_path: Path) -> None:
    bundle = site(tmp_path)
    gains = words_of(bundle, "what happened in the March outage")
    assert gains["note-outage"] > 0.05
    assert gains["note-budget"] == pytest.approx(0.0, abs=1e-6)
    assert gains["note-survey"] == pytest.approx(0.0, abs=1e-6)
    drawers = words_of(bundle, "drawer 3")
    assert drawers["note-budget"] > drawers["note-outage"] > 0


def test_a_word_of_every_label_counts_less(tmp_path: Path) -> None:
    bundle = site(tmp_path)
    common, rare = words_of(bundle, "drawer"), words_of(bundle, "postmortem")
    assert 0 < common["note-outage"] < rare["note-outage"] < 0.20 + 1e-6


def test_words_of_a_note_find_nothing(tmp_path: Path) -> None:
    bundle = site(tmp_path)
    assert not {"zygot", "quixot", "rhythm"} & set(bundle.label_terms.rows)
    gains = words_of(bundle, "zygote quixotic rhythms")
    assert list(gains.values()) == pytest.approx([0.0] * 3, abs=1e-6)


def test_without_hybrid_a_hint_is_its_cosine(tmp_path: Path) -> None:
    gains = words_of(site(tmp_path, replace(OPEN, hybrid=0.0)), "the March outage")
    assert list(gains.values()) == pytest.approx([0.0] * 3, abs=1e-6)
