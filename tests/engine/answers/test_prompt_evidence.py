"""What a model reads: whole passages by section, near misses included, nothing twice."""

from dataclasses import replace

import pytest

from answerable.engine.answers.prompt import MAX_SOURCES, fill_prompt
from answerable.engine.bundle import Bundle
from answerable.engine.engine import Engine
from answerable.engine.providers import make_engine
from answerable.engine.retrieval.retrieve import POOL_SIZE
from answerable.engine.types import Evidence
from support import sites
from support.scripted import ScriptedAnswerer

LONG = "\n\n".join(
    f"Paragraph {n} says how the anchor number {n} is kept in the locker of the boat, where its "
    f"chain of {n} metres is stowed, and who has to grease the shackle before each trip."
    for n in range(1, 41)
)
COPY = "The mast is stepped by two people, who hold it upright while a third one pins the foot."
PAGES = {
    "anchors.md": f"# Anchors\n\n## Keeping anchors\n\n{LONG}\n",
    "mast.md": f"# Mast\n\n{COPY}\n",
    "rig.md": f"# Rig\n\n{COPY}\n",
    "paint.md": "# Paint\n\nBlue paint dries within a day.\n",
    **{f"bay{n}.md": f"# Bay {n}\n\nThe bay {n} has a buoy for guests.\n" for n in range(1, 41)},
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine[Bundle]:
    folder = sites.write_site(tmp_path_factory.mktemp("site"), PAGES)
    sites.build_here(folder)
    writer = ScriptedAnswerer([], max_evidence_characters=24_000)
    return replace(make_engine(sites.opened(folder), sites.local()), answerer=writer)


def read_prompt(engine: Engine[Bundle], question: str, characters: int = 24_000) -> Evidence:
    return fill_prompt(engine.store, engine.retrieve_for_answer(question), characters)


def test_windows_of_a_section_follow_each_other_and_repeat_nothing(engine: Engine[Bundle]) -> None:
    evidence = read_prompt(engine, "How is an anchor kept in the locker?")
    shown = [passage.text for passage in evidence.passages if passage.record == "anchors"]
    paragraphs = [line for text in shown for line in text.split("\n") if line.strip()]
    assert len(shown) > 3
    assert paragraphs == [line for line in LONG.split("\n") if line]


def test_a_copy_of_a_passage_is_left_out(engine: Engine[Bundle]) -> None:
    texts = [p.text for p in read_prompt(engine, "Who holds the mast upright?").passages]
    assert sum(COPY in text for text in texts) == 1


def test_near_misses_are_read_after_what_is_above_the_floor(engine: Engine[Bundle]) -> None:
    question = "Does blue paint dry within a day?"
    [above] = engine.retrieve(question, POOL_SIZE).passages
    evidence = read_prompt(engine, question)
    assert evidence.passages[0] == above.item
    assert len(evidence.passages) > 8


def test_a_prompt_has_no_more_sources_than_its_schema(engine: Engine[Bundle]) -> None:
    evidence = read_prompt(engine, "Is there a buoy for guests in the bay?")
    assert len(evidence.passages) == MAX_SOURCES


@pytest.mark.parametrize("characters", [30, 1_000, 3_000])
def test_whole_passages_fit_the_characters(engine: Engine[Bundle], characters: int) -> None:
    evidence = read_prompt(engine, "How is an anchor kept in the locker?", characters)
    assert bool(evidence.passages) == (characters > 30)
    assert sum(len(passage.text) for passage in evidence.passages) <= characters


def test_the_passage_that_a_model_is_called_for_is_read(engine: Engine[Bundle]) -> None:
    question = "Paragraph 40: how is anchor number 40 with its chain of 40 metres kept?"
    best = max(engine.retrieve(question, POOL_SIZE).passages, key=lambda scored: scored.floored)
    read = read_prompt(engine, question, 2_500).passages
    own = [passage for passage in read if passage.record == "anchors"]
    assert [own[0].id, own[-1]] == ["anchors#keeping-anchors", best.item]


def test_the_call_floor_decides_if_a_model_is_called(engine: Engine[Bundle]) -> None:
    question = "paint nobody zeppelin quasar"
    profile = engine.store.manifest.profile
    best = max(scored.base for scored in engine.retrieve(question, near=POOL_SIZE).near_passages)
    assert best < profile.floor
    for call_floor, is_called in ((best - 0.01, True), (best + 0.01, False)):
        manifest = replace(
            engine.store.manifest, profile=replace(profile, call_floor=float(call_floor))
        )
        store = replace(engine.store, manifest=manifest)
        retrieved = engine.retrieve_for_answer(question)
        assert bool(fill_prompt(store, retrieved, 24_000)) is is_called
