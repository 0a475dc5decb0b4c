"""The note floor follows the size of the notebook, and a first notebook routes without tuning."""

import pytest

from answerable.engine.engine import Engine
from answerable.engine.index.manifest import scale_note_floor
from answerable.engine.providers import make_engine
from support import sites

NOTES = {
    "outage.md": "label: Postmortem of the March outage\nlocator: drawer 2",
    "hiring.md": "label: Interviews for the second keeper\nlocator: drawer 3",
    "paint.md": "label: Samples of red lead paint\nlocator: tin box",
    "survey.md": "label: Survey of the sea wall\nlocator: roll 7",
    "budget.md": "label: Budget of the pilot boat\nlocator: ledger",
}
BODIES = {
    "outage.md": "The lamp went dark for six hours because a relay had been wired the wrong way.",
    "hiring.md": "Three candidates came over on the ferry and one of them was seasick.",
    "paint.md": "The tin from the chandler dried slower than the one from the mainland.",
    "survey.md": "Two cracks run from the steps towards the crane and widen in frost.",
    "budget.md": "Diesel takes two thirds of it and the rest goes for ropes.",
}


def test_the_note_floor_rises_with_the_windows_of_a_notebook() -> None:
    floors = [scale_note_floor(windows) for windows in (0, 1, 3, 5, 25, 84, 300, 400, 10_000)]
    assert floors == sorted(floors)
    assert (floors[0], floors[1], floors[-2], floors[-1]) == (0.2, 0.2, 0.45, 0.45)
    assert scale_note_floor(25) == pytest.approx(0.311, abs=1e-3)


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    notes = {
        name: f"---\n{public}\nabout: index.md\n---\n\n{BODIES[name]}\n"
        for name, public in NOTES.items()
    }
    folder = sites.write_site(tmp_path_factory.mktemp("site"), notes=notes)
    sites.build_here(folder)
    return make_engine(sites.opened(folder), sites.local())


@pytest.mark.parametrize(
    ("question", "label"),
    [
        ("what happened in the March outage", "Postmortem of the March outage"),
        ("Who was interviewed as second keeper?", "Interviews for the second keeper"),
        ("Where is the budget of the pilot boat?", "Budget of the pilot boat"),
        ("Is there a survey of the sea wall?", "Survey of the sea wall"),
        ("red lead paint samples", "Samples of red lead paint"),
    ],
)
def test_a_first_notebook_routes_by_its_labels(engine: Engine, question: str, label: str) -> None:
    routes = engine.answer(question).answer.routes
    assert routes[0].label == label


@pytest.mark.parametrize(
    "question", ["How do I bake sourdough bread?", "Who sang at the opera in Vienna?"]
)
def test_unrelated_questions_route_to_no_note(engine: Engine, question: str) -> None:
    assert not engine.answer(question).answer.routes
