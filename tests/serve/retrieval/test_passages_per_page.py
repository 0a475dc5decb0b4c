"""The option `retrieval.passages_per_page`, from mkdocs.yml to the evidence of an answer."""

from collections import Counter
from pathlib import Path

import pytest

from answerable.serve.providers import make_engine
from support import sites

QUESTION = "Which knot holds the mooring rope?"
KNOTS = "\n\n".join(
    f"## {name}\n\nThe {name.lower()} is a knot that holds the mooring rope {where}."
    for name, where in (
        ("Bowline", "of a dinghy at the steps"),
        ("Clove hitch", "of a punt against the piles"),
        ("Sheet bend", "of a cutter when the tide runs"),
        ("Rolling hitch", "of a ketch at the long quay"),
        ("Cleat hitch", "of a launch on the pontoon"),
    )
)
PAGES = {
    "knots.md": f"# Knots\n\n{KNOTS}\n",
    "rope.md": "# Rope\n\nA mooring rope that holds needs a knot and a splice.\n",
}


@pytest.mark.parametrize(("options", "most"), [({}, 4), ({"passages_per_page": 2}, 2)])
def test_evidence_holds_so_many_passages_of_a_page(
    tmp_path: Path, options: dict[str, int], most: int
) -> None:
    folder = sites.write_site(tmp_path, PAGES, options={"retrieval": options})
    sites.build_here(folder)
    bundle = sites.opened(folder)
    assert bundle.manifest.profile.passages_per_page == most
    assert bundle.manifest.as_json()["profile"]["passages_per_page"] == most
    engine = make_engine(bundle, sites.local())
    counts = Counter(passage.record for passage in engine.answer(QUESTION).passages)
    assert counts["knots"] == most


@pytest.mark.parametrize("number", [0, 9, True])
def test_number_out_of_range_is_one_sentence(tmp_path: Path, number: int) -> None:
    options = {"retrieval": {"passages_per_page": number}}
    message = sites.failure(sites.write_site(tmp_path, PAGES, options=options))
    assert f"retrieval.passages_per_page: {number} is not between 1 and 8" in message
