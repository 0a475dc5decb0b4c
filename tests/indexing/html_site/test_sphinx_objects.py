"""Objects that Sphinx describes: sections of their own, which answers cite."""

import subprocess
import sys
from pathlib import Path

import pytest

from answerable.engine.providers import open_function
from answerable.indexing.html_site.built_site import read_built_site
from answerable.indexing.pages.markdown import parse_article
from support.sites import index, put

API = """
API
===

All that a crew may call.

.. py:module:: harbour

.. py:class:: Boat(name)

   A boat keeps its papers in a tin under the bench.

   .. py:method:: moor(rope, knots=2)

      Tie the boat to a buoy with a rope of hemp.

      :param knots: how many knots the rope gets

      .. py:attribute:: inner
         :no-index:

         An attribute without an anchor.

   A boat is launched from the eastern slip in May.

.. py:function:: tow(boat)
                 tow(boat, speed)

   Pull a boat through the harbour at walking speed.

   .. rubric:: Examples

Ferries sail on Sundays.

Signals
-------

A signal is three flags.
"""
pytestmark = pytest.mark.deep
BOAT, MOOR = "harbour.Boat", "harbour.Boat.moor"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("sphinx")
    folder = tmp_path_factory.mktemp("sphinx")
    put(folder / "source" / "conf.py", 'project = "Harbour"\n')
    put(folder / "source" / "index.rst", "Harbour\n=======\n\n.. toctree::\n\n   api\n")
    put(folder / "source" / "api.rst", API)
    line = [sys.executable, "-m", "sphinx", "-q", "-W", "-b", "html", "source", "site"]
    done = subprocess.run(line, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder / "site"


def test_every_object_is_a_section_below_what_describes_it(site: Path) -> None:
    (source,) = (each for each in read_built_site(site).sources if each.id == "api")
    sections = parse_article(source.html or "", source.title, source.url).sections
    outline = [(section.path, section.anchor) for section in sections]
    assert outline == [
        ((), "api"),
        ((BOAT,), BOAT),
        ((BOAT, MOOR), MOOR),
        ((BOAT,), BOAT),
        (("harbour.tow",), "harbour.tow"),
        ((), "api"),
        (("Signals",), "signals"),
    ]
    texts = [[block.text for block in section.blocks] for section in sections]
    assert texts[1][0] == "class harbour.Boat(name)"
    assert texts[3] == ["A boat is launched from the eastern slip in May."]
    assert texts[4][:2] == ["harbour.tow(boat)", "harbour.tow(boat, speed)"]
    assert texts[5] == ["Ferries sail on Sundays."]


def test_an_answer_cites_the_object(site: Path) -> None:
    done = index(site.parent, answers_in="function")
    assert done.returncode == 0, done.stdout + done.stderr
    engine = open_function(site.parent / "function")
    for question, anchor in (
        ("How fast is a boat pulled through the harbour?", "harbour.tow"),
        ("What rope ties a boat to a buoy?", MOOR),
        ("When do ferries sail?", "api"),
    ):
        answer = engine.answer(question).answer
        assert answer.citations[0].url == f"/api.html#{anchor}"
