"""Retrieval in the browser's engine: each function equals its twin in Python."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answerable.engine.index.manifest import Profile
from answerable.engine.retrieval.question import (
    edit_distance,
    find_near_spelling,
    may_be_misspelled,
)
from answerable.engine.stores.bundle import Bundle
from support.browser_index import serialize_bundle, write_index
from support.doubles import bundle_of, index_of, record
from support.engine_process import engine
from support.engine_questions import MODULE, compare_rankings
from support.scripted import LetterEmbedder
from support.static_server import serving

# Of the pages that are not in English, by id.
LANGUAGES = {"котва": "bg", "въже": "bg", "係留": "ja", "seile": "de", "de/index": "de"}


def open_small_site(folder: Path, profile: Profile | None = None) -> Bundle:
    """Write and open the bundle of a site of sixteen pages; equal texts are on two of them."""
    same = "<p>The harbour keeps small boats in good order when the wind turns to the north.</p>"
    pages = [
        record(
            "mooring",
            "<p>A mooring needs a buoy of forty litres and a chain.</p>"
            "<h2 id='chains'>Chains of iron</h2><p>The chain of a mooring is twelve millimetres "
            "thick, and <code>boat.moor_at(--chain)</code> checks it.</p>"
            "<pre><code>boat.moor_at(rope)\nlights.setColor('red')</code></pre>"
            f"<h2 id='order'>Order</h2>{same}<h2 id='winch'>Winch</h2><p>Oil the winch.</p>"
            "<h2 id='tide'>Tide</h2><p>At low tide the chain of a mooring lies on the ground.</p>",
            "Mooring ropes",
            aliases=["tying up", "Webhook"],
            themes=["boats", "iron"],
            date="2024-03-01",
        ),
        record(
            "storms",
            "<p>Before a storm the crew doubles every rope and every chain.</p>"
            "<h2 id='lanterns'>Lanterns</h2><p>A red lantern warns of wind above thirty knots. "
            f"The lantern burns oil.</p><h2 id='order'>Order</h2>{same}"
            "<h2 id='ground'>Ground</h2><p>At low tide the chain of a mooring lies on the ground. "
            "Before the storm it is shortened by so many links as the lantern is high.</p>",
            "Storms and lanterns",
            themes=["wind", "boats"],
            date="2021-11-30",
        ),
        record("changelog", "<h2 id='v2'>2.0</h2><p>Ropes and lanterns were renamed in v2.0.</p>"
               "<h2 id='v1'>1.0</h2><p>The first release of the mooring rope.</p>", "Changelog"),
        record("resume-naive", "<p>A naïve crew writes its résumé in the café, 𝔘nicode 𝒜 🚀.</p>",
               "Naïve résumés", date="2023-01-02"),
        record("synchronization", "<p>Synchronization of the compass takes forty seconds; the "
               "compass is in the wheelhouse.</p>", "Synchronizing the compass"),
        record("котва", "<p>Котвата държи лодката в пристанището, когато вятърът се обръща.</p>"
               "<h2 id='вериги'>Вериги</h2><p>Веригата е дебела дванайсет милиметра.</p>",
               "Котва в пристанището", date="2024-02-28"),
        record("въже", "<p>Всяка вечер въжето от коноп се проверява, а веригата не.</p>", "Въже"),
        record("seile", "<p>Seile aus Hanf werden jeden Abend geprüft, die Kette des Bootes nicht."
               "</p>", "Seile prüfen"),
        record("係留", "<p>係留にはブイと鎖が必要です。鎖の太さは十二ミリです。</p>"
               "<h2 id='灯'>灯</h2><p>赤い灯は強い風を知らせます。</p>", "係留の方法"),
        record("de/index", "<p>Harbour Docs sagt, wie Boote festgemacht werden.</p><h2 id='los'>Los"
               "</h2><p>Mit Harbour Docs fährt jedes Boot los.</p>", "Start"),
        record("index", "<p>Harbour Docs tells how boats are moored.</p><h2 id='get'>Get it</h2>"
               "<p>Get Harbour Docs:</p><pre><code>harbour docs</code></pre>", "Home"),
        *(
            record(f"pier-{n}", f"<p>The beacon of the {side} pier is lit at dusk.</p>"
                   f"<h2 id='keeper'>Keeper</h2><p>Its keeper writes down {n} times a night which "
                   "ships have passed, and whether one of them saw another beacon far away.</p>",
                   f"The {side} side")
            for n, side in enumerate(("northern", "eastern", "southern", "western", "inner"))
        ),
    ]  # fmt: skip
    index = index_of(
        folder,
        pages,
        languages=LANGUAGES,
        names=["Harbour Docs"],
        weights={"storms": 0.9},
    )
    return bundle_of(folder, index, profile or Profile(floor=0.2))


@contextmanager
def open_store(bundle: Bundle, name: str, folder: Path) -> Iterator[dict[str, str]]:
    """Open the store of a bundle in the engine's process.

    folder: where the files of the index go. Yields the reference to the store.
    """
    entry = write_index(serialize_bundle(bundle), folder)
    with serving(folder) as origin:
        engine().call(MODULE, "openStore", f"{origin}/", entry, save=name)
        yield {"$": name}


@dataclass(frozen=True)
class Twins:
    """A bundle, and the reference to the store of it in the engine's process."""

    bundle: Bundle
    store: dict[str, str]


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Twins]:
    folder = tmp_path_factory.mktemp("small")
    bundle = open_small_site(folder)
    with open_store(bundle, "small", folder / "static") as store:
        yield Twins(bundle, store)


QUESTIONS = (
    "how thick is the chain of a mooring",
    "mooring ropes",
    "What does the Harbour Docs author say about tying up boats in iron?",
    "which lantern warns of wind now?",
    "latest rope",
    "what changed in v2.0",
    "the changelog of ropes",
    "does boat.moor_at accept --chain or setColor",
    "lights.setColor",
    "winch",
    "oil winch",
    "и на Windows?",
    "and on Windows?",
    "what about these?",
    "the of and",
    "zeppelin engine",
    "moorning of the lantren",
    "synchronisation of the compas",
    "syncronizaton",
    "stormslanterns",
    "web hook for tying up",
    "wheel house",
    "wheel-house and web_hook",
    "naïve résumés in the café",
    "naïve 𝒜 🚀 résumé ﬁne",
    "дебела верига",
    "въже в пристанището сега",
    "въжето и mooring chain",
    "係留の鎖",
    "wird das Seil geprüft und die Ketten der Boote heute",
    "最新の灯",
    "鎖",
    "ΣΊΣΥΦΟΣ lantern",
    "İstanbul rope",
    "order small boats harbour north",
    "harbour docs",
    "What is Harbour?",
    "What is Harbour Docs?",
    "what's harbour docs",
    "what's a mooring",
    "What are small boats",
    "what is the harbour",
    "which beacon of a pier is lit at dusk",
    "compass synchronizing the compass",
)


def test_site_is_ranked_the_same_for_every_question(small: Twins) -> None:
    for language in (None, "en-GB", "bg", "de-AT", "ja", "fr"):
        count = compare_rankings(*_parts(small), QUESTIONS, language)
        assert count > len(QUESTIONS)


def _parts(twins: Twins) -> tuple[Bundle, dict[str, str], LetterEmbedder]:
    return twins.bundle, twins.store, LetterEmbedder()


@pytest.mark.parametrize(
    "profile",
    [
        Profile(floor=-1.0),
        Profile(floor=0.45),
        Profile(floor=0.6),
        Profile(floor=0.3, dense=0.3, theme_fade=0.0, history=0.1),
    ],
)
def test_other_profiles_rank_the_same(tmp_path: Path, profile: Profile) -> None:
    bundle = open_small_site(tmp_path, profile)
    with open_store(bundle, "other", tmp_path / "static") as store:
        assert compare_rankings(bundle, store, LetterEmbedder(), QUESTIONS)


WORDS = st.text(st.sampled_from("abcdeé𝒜鎖"), max_size=9)


@given(first=WORDS, second=WORDS, max_edits=st.integers(1, 2), replacing=st.integers(1, 2))
def test_edit_distance_is_the_same(first: str, second: str, max_edits: int, replacing: int) -> None:
    arguments = (first, second, max_edits, replacing)
    own = engine().call("question", "editDistance", *arguments)
    assert own == edit_distance(*arguments)


def misspell(word: str, dice: random.Random) -> str:
    """Delete, double, swap or replace a letter or two of a word, or divide it."""
    letters = list(word)
    for _ in range(dice.choice((1, 1, 1, 2))):
        place = dice.randrange(len(letters))
        edit = dice.choice(("delete", "double", "swap", "replace"))
        if edit == "delete" and len(letters) > 1:
            del letters[place]
        elif edit == "double":
            letters.insert(place, letters[place])
        elif edit == "swap" and place + 1 < len(letters):
            letters[place : place + 2] = letters[place + 1], letters[place]
        else:
            letters[place] = dice.choice("aeinrstу鎖é")
    return "".join(letters)


def test_spellings_are_corrected_the_same(small: Twins) -> None:
    dice = random.Random(3)
    words = [word for word in small.bundle.index.words if len(word) > 2]
    typos = [misspell(dice.choice(words), dice) for _ in range(120)]
    typos += ["ynchronizaton", "synchroniztin", "zynchronization"]
    typos += [dice.choice(words) + dice.choice(words) for _ in range(20)]
    near = [find_near_spelling(small.bundle, typo) for typo in typos]
    own = [engine().call("question", "findNearSpelling", small.store, typo) for typo in typos]
    assert own == near
    assert 40 < len(list(filter(None, near))) < len(typos)
    for word in (*typos, "abc", "abcd", "ab1d", "鎖鎖鎖鎖", "𝒜𝒜𝒜"):
        long = engine().call("question", "mayBeMisspelled", word)
        assert long == may_be_misspelled(word), word
