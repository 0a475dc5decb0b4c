"""Whole replies of both engines are equal on a site of four languages with a profile of its own."""

from pathlib import Path

from answerable.engine.bundle import Bundle
from answerable.engine.embedders.local_embedder import LOCAL_IDENTITY
from answerable.engine.index.manifest import Profile
from answerable.engine.providers import make_engine
from support import engine_parity
from support.browser_index import serialize_bundle, write_index
from support.doubles import bundle_of, index_of, record
from support.engine_parity import BrowserSite, Question
from support.sites import local
from support.static_server import serving

PROFILE = Profile(floor=0.3, dense=0.3, theme_fade=0.0, history=0.1)
# Of the pages that are not in English, by id.
LANGUAGES = {"котва": "bg", "въже": "bg", "係留": "ja", "seile": "de", "de/index": "de"}


def open_small_site(folder: Path) -> Bundle:
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
        embedder=local(),
        languages=LANGUAGES,
        names=["Harbour Docs"],
        weights={"storms": 0.9},
    )
    return bundle_of(folder, index, PROFILE, LOCAL_IDENTITY)


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


def test_replies_in_node_equal_those_of_python(tmp_path: Path) -> None:
    bundle = open_small_site(tmp_path)
    entry = write_index(serialize_bundle(bundle), tmp_path / "site" / "assets" / "answerable")
    languages = (None, "en-GB", "bg", "de-AT", "ja", "fr")
    questions = [Question("small", text, tag) for tag in languages for text in QUESTIONS]
    with serving(tmp_path / "site") as origin:
        site = BrowserSite(origin, {"index": entry}, make_engine(bundle, local()))
        expected = [engine_parity.expect_result(site.engine, each) for each in questions]
        with engine_parity.asking_in_node(site) as ask:
            differences = engine_parity.describe_differences(questions, expected, ask)
    assert not differences, differences
    replies = [result["reply"] for result in expected if "reply" in result]
    assert {"partial", "not-found"} == {reply["mode"] for reply in replies}
    cited = [citation["language"] for reply in replies for citation in reply["citations"]]
    assert {"en", "bg", "de", "ja"} == set(cited)
