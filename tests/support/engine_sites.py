"""A small site in three languages, with names, dates, code and versions, for twins of retrieval."""

from pathlib import Path

from answerable.serve.bundle_format.profile import Profile
from answerable.serve.stores.bundle import Bundle
from support.doubles import bundle_of, index_of, record

LANGUAGES = {"ankern": "de", "seile": "de", "係留": "ja"}


def open_small_site(folder: Path, profile: Profile | None = None) -> Bundle:
    """Write and open the bundle of a site of eight pages; equal texts are on two of them."""
    same = "<p>The harbour keeps small boats in good order when the wind turns to the north.</p>"
    pages = [
        record(
            "mooring",
            "<p>A mooring needs a buoy of forty litres and a chain.</p>"
            "<h2 id='chains'>Chains of iron</h2><p>The chain of a mooring is twelve millimetres "
            "thick, and <code>boat.moor_at(--chain)</code> checks it.</p>"
            "<pre><code>boat.moor_at(rope)\nlights.setColor('red')</code></pre>"
            f"<h2 id='order'>Order</h2>{same}<h2 id='winch'>Winch</h2><p>Oil the winch.</p>",
            "Mooring ropes",
            aliases=["tying up", "Webhook"],
            themes=["boats", "iron"],
            date="2024-03-01",
        ),
        record(
            "storms",
            "<p>Before a storm the crew doubles every rope and every chain.</p>"
            "<h2 id='lanterns'>Lanterns</h2><p>A red lantern warns of wind above thirty knots. "
            f"The lantern burns oil.</p><h2 id='order'>Order</h2>{same}",
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
        record("ankern", "<p>Der Anker hält das Boot im Hafen, wenn der Wind dreht.</p>"
               "<h2 id='ketten'>Ketten</h2><p>Eine Kette ist zwölf Millimeter dick.</p>",
               "Ankern im Hafen", date="2024-02-28"),
        record("seile", "<p>Ein Seil aus Hanf wird jeden Abend geprüft, die Kette nicht.</p>",
               "Seile"),
        record("係留", "<p>係留にはブイと鎖が必要です。鎖の太さは十二ミリです。</p>"
               "<h2 id='灯'>灯</h2><p>赤い灯は強い風を知らせます。</p>", "係留の方法"),
    ]  # fmt: skip
    index = index_of(
        folder,
        pages,
        languages=LANGUAGES,
        names=["Harbour Docs"],
        weights={"storms": 0.9},
    )
    return bundle_of(folder, index, profile or Profile(floor=0.2))
