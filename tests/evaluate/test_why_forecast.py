"""A forecast of a sentence to write is what a build then makes of it, and it is quoted."""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from answerable.cli import main
from answerable.evaluate.bundle_scores import score_all_passages
from answerable.evaluate.explain.advice import advise_author
from answerable.evaluate.explain.explanation import Explanation, explain_question
from answerable.evaluate.explain.page_edit import FACT, PageEdit, apply_page_edit
from answerable.evaluate.explain.question_words import (
    find_nearest_words,
    list_near_spellings,
)
from answerable.serve.engine import Engine
from answerable.serve.providers import make_engine
from answerable.serve.stores.bundle import Bundle
from answerable.testing import LetterEmbedder
from support import sites
from support.doubles import CountingEmbedder, bundle_of, index_of, note, record

WINDOW = "<p>The window of the wheel house is of oak.</p>"
HTML = {
    "hull": "<p>The hull is scraped in winter and painted with tar.</p>"
    "<h2 id='planks'>Planks</h2><p>A plank of larch is bent over steam.</p>"
    "<pre><code>bend --hours 2</code></pre><p>It cools for a day.</p>"
    "<h2 id='keel'>Keel</h2><p>The keel is of iron and is looked at each spring.</p>",
    "sails": "<p>A sail of hemp is mended on the quay, and a spare one lies in the loft.</p>"
    "<h2 id='loft'>Loft</h2><p>The loft is above the shed.</p>",
    "crew": "<p>The crew eats bread at noon.</p>",
}
# The gap between a sentence put before a section's vector and the vector of a rebuilt section: its
# codes have 8 bits.
COSINE_ERROR = 0.02


def make_bundle(
    folder: Path, html: Mapping[str, str] = HTML, languages: Mapping[str, str] | None = None
) -> Bundle:
    local = sites.local()
    pages = [record(name, text) for name, text in html.items()]
    index = index_of(folder, pages, [note("oak", "Where the oak is cut.")], local,
                     languages=languages)  # fmt: skip
    return bundle_of(folder, index, identity=local.identity)


def make_local_engine(folder: Path, html: Mapping[str, str] = HTML) -> Engine[Bundle]:
    return make_engine(make_bundle(folder, html), sites.local())


def write_edit(html: str, edit: PageEdit, fact: str) -> str:
    """Write the sentence of an edit into the HTML of its page, as an author would."""
    sentence = f"<p>{edit.sentence.replace(FACT, fact)}</p>"
    anchor = edit.section.partition("#")[2]
    if edit.heading:
        name = "-".join(edit.heading.lower().split())
        added = f"<h3 id='{name}'>{edit.heading}</h3>{sentence}"
        start = html.index(f"id='{anchor}'") if anchor else 0
        end = html.find("<h2", start)
        end = len(html) if end < 0 else end
        return html[:end] + added + html[end:]
    if not anchor:
        return sentence + html
    return re.sub(rf"(<h2 id='{anchor}'>.*?</h2>)", rf"\1{sentence}", html)


@pytest.mark.parametrize("heading", ["", "Bending wood in a storm"])
@pytest.mark.parametrize("section", ["hull", "hull#planks", "hull#keel", "sails#loft"])
def test_edited_bundle_scores_like_a_rebuilt_one(
    tmp_path: Path, heading: str, section: str
) -> None:
    question = "How is wood bent for the hull in a storm at the loft?"
    languages = {"sails": "fr"}
    bundle = make_bundle(tmp_path / "before", languages=languages)
    page, _, anchor = section.partition("#")
    under = (page.capitalize(), anchor.capitalize()) if anchor else (page.capitalize(),)
    edit = PageEdit(page, section, under, heading, f"Bending wood in a storm: {FACT}")
    edited, row = apply_page_edit(bundle, sites.local(), edit)
    html = {**HTML, page: write_edit(HTML[page], edit, f"{under[-1]}.")}
    rebuilt = make_bundle(tmp_path / "after", html, languages)

    assert list(edited.passage_ids) == list(rebuilt.passage_ids)
    assert list(edited.passage_titles) == list(rebuilt.passage_titles)
    assert list(edited.passage_urls) == list(rebuilt.passage_urls)
    assert edited.site.languages == rebuilt.site.languages
    assert edited.passage_records.tolist() == rebuilt.passage_records.tolist()
    for place in range(len(rebuilt.passage_ids)):
        own, other = edited.passage(place), rebuilt.passage(place)
        assert own.text.split() == other.text.split()
        assert [own.text[a:b] for a, b in own.sentences] == [
            other.text[a:b] for a, b in other.sentences
        ]
        assert [block.kind for block in own.blocks] == [block.kind for block in other.blocks]
    assert edited.passage(row).text.startswith("Bending wood in a storm: ")
    vector = sites.local().embed([question])[0]
    engine = make_engine(rebuilt, sites.local())
    reading = engine.parse_question(question)
    scores, exact = (score_all_passages(each, reading, vector) for each in (edited, rebuilt))
    assert scores.lexical == pytest.approx(exact.lexical, abs=1e-6)
    assert scores.page == pytest.approx(exact.page, abs=COSINE_ERROR)
    assert scores.dense == pytest.approx(exact.dense, abs=COSINE_ERROR)
    assert bundle.passage(0).text == make_bundle(tmp_path / "again").passage(0).text


@pytest.mark.parametrize(
    ("question", "expect"),
    [
        ("How are the masts varnished against salt?", "hull"),
        ("Where do I store torn sails over the winter months?", "sails#loft"),
        ("Is the crew allowed to smoke on deck?", "crew"),
        ("I am new here. Which plank do I choose, e.g. pine? Thanks!", "hull#planks"),
    ],
)
def test_written_sentence_mends_what_was_forecast(
    tmp_path: Path, question: str, expect: str
) -> None:
    before = make_local_engine(tmp_path / "before")
    explanation = explain_question(before, question, expect=expect)
    advice = advise_author(explanation)
    assert explanation.expected is not None
    assert explanation.outcome is not None
    assert not any(each.startswith(expect) for each in explanation.outcome.cited)
    forecast = explanation.expected.forecast
    assert forecast is not None
    assert forecast.cited_first
    assert forecast.quoted
    edit = advice[0].edit
    assert edit == forecast.edit
    assert edit is not None
    assert edit.sentence in advice[0].text
    assert f"{forecast.base:.3f}" in advice[0].text
    html = {**HTML, edit.page: write_edit(HTML[edit.page], edit, f"{edit.under[-1]}.")}
    after = make_local_engine(tmp_path / "after", html)
    answer = after.answer(question).answer
    assert edit.sentence.partition(FACT)[0] in answer.claims[0].text
    ledger = explain_question(after, question, expect=edit.page)
    assert ledger.expected is not None
    assert ledger.expected.rank == forecast.rank
    assert ledger.expected.candidate.base == pytest.approx(forecast.base, abs=COSINE_ERROR)
    assert ledger.expected.forecast is None


def test_sentence_that_would_not_be_cited_is_the_last_advice(tmp_path: Path) -> None:
    own = make_local_engine(tmp_path)
    ledger = explain_question(own, "How are the masts varnished against salt?", expect="hull")
    assert [each.rule for each in advise_author(ledger)] == ["far", "unknown-words"]
    expected = ledger.expected
    assert expected is not None
    assert expected.forecast is not None
    useless = replace(expected.forecast, cited=False, cited_first=False, quoted=False)
    ledger = replace(ledger, expected=replace(expected, forecast=useless))
    advice = advise_author(ledger)
    assert [each.rule for each in advice] == ["unknown-words", "far"]
    assert "still does not cite it" in advice[1].text


def test_lead_has_no_frame_and_one_sentence_of_the_question(tmp_path: Path) -> None:
    own = make_local_engine(tmp_path)
    sentences = {
        question: explain_edit(own, question, "hull").sentence
        for question in (
            "How can I varnish the hull?",
            "I have no idea, please help. Varnish the hull, e.g. with tar? Anything else?",
            "Is there a way to varnish a mast?",
        )
    }
    assert list(sentences.values()) == [
        f"Varnish the hull: {FACT}",
        f"Varnish the hull, e.g. with tar: {FACT}",
        f"Varnish a mast: {FACT}",
    ]


def explain_edit(engine: Engine[Bundle], question: str, expect: str) -> PageEdit:
    expected = explain_question(engine, question, expect=expect).expected
    assert expected is not None
    assert expected.forecast is not None
    return expected.forecast.edit


def test_expected_page_names_what_it_would_be_quoted_for(tmp_path: Path) -> None:
    own = make_local_engine(tmp_path)
    ledger = explain_question(own, "Who mends a hemp sail on the quay?", expect="sails")
    assert ledger.expected is not None
    assert ledger.expected.quote.startswith("A sail of hemp is mended on the quay")
    other = explain_question(own, "Who mends a hemp sail on the quay?", expect="crew").expected
    assert other is not None
    assert other.quote == ""


def test_outcome_lists_the_pages_that_it_is_quoted_from(tmp_path: Path) -> None:
    own = make_local_engine(tmp_path)
    ledger = explain_question(own, "spring keel loft shed")
    assert ledger.outcome is not None
    pages = ledger.outcome.pages
    assert {each.page for each in pages} == {"hull", "sails"}
    assert sum(each.share for each in pages) == pytest.approx(1)
    assert [each.share for each in pages] == sorted((each.share for each in pages), reverse=True)
    assert min(each.rank for each in pages) == 1
    assert {name for each in pages for name in each.passages} == set(ledger.outcome.cited)
    assert explain_question(own, "Who sang at the opera?").outcome.pages == ()  # type: ignore[union-attr]


def test_remote_embedder_is_asked_for_the_question_alone(tmp_path: Path) -> None:
    # A provider that is not registered as local may take money for each text.
    embedder = CountingEmbedder(LetterEmbedder())
    pages = [record(name, text) for name, text in HTML.items()]
    index = index_of(tmp_path, pages, embedder=LetterEmbedder())
    bundle = bundle_of(tmp_path, index)
    question = "How are the masts varnished against salt?"
    ledger = explain_question(make_engine(bundle, embedder), question, expect="hull")
    assert embedder.texts == [question]
    assert ledger.expected is not None
    forecast = ledger.expected.forecast
    assert forecast is not None
    assert forecast.base > ledger.expected.candidate.base


def test_unknown_words_are_offered_near_words_of_the_site(tmp_path: Path) -> None:
    own = make_local_engine(
        tmp_path, {**HTML, "window": WINDOW, "bound": "<p>Bound and round.</p>"}
    )
    assert list_near_spellings(own.store, "sound") == ("bound", "round")
    assert list_near_spellings(own.store, "windlow") == ("window",)
    assert list_near_spellings(own.store, "windows") == ("window",)
    assert list_near_spellings(own.store, "wintered") == ("winter",)
    assert list_near_spellings(own.store, "kee") == ()
    ledger = explain_question(own, "Which sound has a harpsichord?")
    assert ledger.nearest == {"sound": ("bound", "round")}
    text = next(each.text for each in advise_author(ledger) if each.rule == "unknown-words")
    assert '"sound" is near "bound", "round"' in text
    assert "description" not in text


def test_unknown_word_is_offered_a_related_word_of_the_site(tmp_path: Path) -> None:
    own = make_local_engine(tmp_path, {**HTML, "shop": "<p>The crew may buy rope.</p>"})
    related = find_nearest_words(own.store, own.embedder, ["purchase", "zzyzx", "opera"])
    assert related == {"purchase": ("buy",)}
    counting = CountingEmbedder(LetterEmbedder())
    assert find_nearest_words(own.store, counting, ["purchase"]) == {}
    assert counting.texts == []


def test_corrected_words_are_listed(tmp_path: Path) -> None:
    own = make_local_engine(tmp_path)
    assert explain_question(own, "Is the hulll painted?").corrected == {"hulll": "hull"}


def test_output_puts_advice_before_the_tables(tmp_path: Path) -> None:
    folder = sites.write_site(tmp_path)
    sites.build_here(folder)
    arguments = ["-f", str(folder / "mkdocs.yml"), "why", "How do I splice a torn rope?",
                 "--expect", "storms"]  # fmt: skip
    shown = CliRunner(env={"COLUMNS": "200"}).invoke(main, arguments, catch_exceptions=False).output
    headings = ("What an author could do", "Write on storms, ", "Forecast: base", "Expected",
                "a keyless answer would quote", "Words", "Passages under the floor")  # fmt: skip
    places = [shown.index(heading) for heading in headings]
    assert places == sorted(places)


def test_edit_leaves_the_bundle_as_it_was(tmp_path: Path) -> None:
    own = make_local_engine(tmp_path)
    question = "How are the masts varnished against salt?"
    first = explain_question(own, question, expect="hull")
    codes = own.store.passage_codes.decode_rows(np.arange(len(own.store.passage_codes)))
    assert without_time(explain_question(own, question, expect="hull")) == without_time(first)
    again = own.store.passage_codes.decode_rows(np.arange(len(own.store.passage_codes)))
    assert (codes == again).all()


def without_time(explanation: Explanation) -> object:
    return (explanation.passages, explanation.outcome, explanation.expected)
