"""A small site in four languages, with names, dates, code and versions, for twins of retrieval."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from answerable.indexing.browser_index.index_files import serialize_browser_index
from answerable.serve.bundle_format.manifest import Profile
from answerable.serve.stores.bundle import Bundle
from support.browser_index import read_public_index, write_index
from support.doubles import bundle_of, index_of, record
from support.engine_process import engine
from support.engine_questions import MODULE
from support.static_server import serving

# Of the pages that are not in English, by id.
LANGUAGES = {"котва": "bg", "въже": "bg", "係留": "ja", "seile": "de", "de/index": "de"}
NO_STATEMENTS = np.zeros((0, 1), dtype=np.int8)


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
    """Open the store of a bundle in the engine's process, without vectors of statements.

    folder: where the files of the index go. Yields the reference to the store.
    """
    published = read_public_index(bundle)
    index = serialize_browser_index(published, lambda _: NO_STATEMENTS, bundle.manifest.id)
    entry = write_index(index, folder, bundle.manifest.built_at)
    with serving(folder) as origin:
        engine().call(MODULE, "openStore", f"{origin}/", entry, save=name)
        yield {"$": name}
