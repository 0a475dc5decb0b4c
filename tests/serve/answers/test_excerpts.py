"""Excerpts: the statements of a section that are quoted, with what they need."""

from collections.abc import Sequence

import pytest

from answerable.indexing.stems import extract_stems
from answerable.serve.answers.excerpts import (
    EXTRA_WORDS,
    MAX_VISIBLE_CHARACTERS,
    Excerpt,
    ExcerptBudget,
    cut_excerpt,
)
from answerable.serve.text.tokenization import count_words
from answerable.serve.types import Passage
from support.passage_blocks import block, passage

ROOMY = ExcerptBudget(200, 20)


def excerpt(
    source: Passage, question: str, budget: ExcerptBudget = ROOMY, shown: Sequence[str] = ()
) -> Excerpt | None:
    """An excerpt whose supports are the shares of the question's terms that statements hold."""
    weights = dict.fromkeys(extract_stems(question), 1.0)
    supports = []
    for statement in source.statements:
        terms = set(extract_stems(source.text[statement.start : statement.end]))
        supports.append(len(terms & set(weights)) / len(weights))
    return cut_excerpt(source, supports, weights, budget, shown)


def text(source: Passage, question: str, budget: ExcerptBudget = ROOMY) -> str:
    cut = excerpt(source, question, budget)
    assert cut is not None
    for part in cut.parts:
        assert part in source.text
    return cut.text


FILLER = "The harbor has many other things in it, and none of them is about that at all."


def test_a_sentence_brings_its_code() -> None:
    source = passage(
        block("text", f"{FILLER} Drop the anchor like this:"),
        block("code", "anchor.drop()", detail="python"),
        block("text", FILLER.replace("harbor", "quay")),
    )
    assert text(source, "drop the anchor", ExcerptBudget(8, 10)) == (
        "Drop the anchor like this:\n\nanchor.drop()"
    )


def test_a_lead_in_is_never_quoted_without_what_it_leads_into() -> None:
    source = passage(
        block("text", "Drop the anchor like this:"),
        block("code", "anchor.drop()", detail="mermaid"),
        block("text", "The anchor drops by its own weight."),
    )
    assert text(source, "drop the anchor") == "The anchor drops by its own weight."
    assert excerpt(passage(block("text", "Drop the anchor like this:")), "anchor") is None


def test_a_second_lead_in_without_room_for_its_code_is_left_out() -> None:
    code = "\n".join(f"anchor.step({n})" for n in range(8))
    source = passage(
        block("text", "Drop the anchor with these steps of drop:"),
        block("code", code),
        block("text", "Or lift the anchor like this:"),
        block("code", code.replace("step", "lift")),
    )
    shown = text(source, "drop the anchor", ExcerptBudget(100, 9))
    assert shown == f"Drop the anchor with these steps of drop:\n\n{code}"


def test_code_that_nearly_fits_is_whole() -> None:
    code = "\n".join(f"anchor.step({n})" for n in range(8))
    source = passage(block("text", "Drop the anchor like this:"), block("code", code))
    assert text(source, "drop the anchor", ExcerptBudget(20, 5)).endswith(f"\n\n{code}")
    assert text(source, "drop the anchor", ExcerptBudget(20, 3)).count("anchor.step") == 3


def test_a_dangling_sentence_brings_its_antecedent() -> None:
    source = passage(
        block("text", f"{FILLER} A windlass lifts the chain. It needs oil every winter month."),
    )
    assert text(source, "oil in winter", ExcerptBudget(8, 0)) == (
        "A windlass lifts the chain. It needs oil every winter month."
    )


def test_a_list_is_whole_with_its_lead_in_where_there_is_room() -> None:
    items = [f"Pack the {name} well." for name in ("rope", "fender", "flare")]
    source = passage(
        block("text", "Before a trip you pack three things:"),
        *(block("item", item, group=1) for item in items),
    )
    assert text(source, "flare") == "\n".join(["Before a trip you pack three things:", *items])


def test_of_a_long_list_the_matching_items_are_quoted() -> None:
    items = [f"Pack the {name} into a dry box that is closed." for name in "abcdefgh"]
    items[5] = "Pack the flare where the crew can reach it."
    source = passage(
        block("text", "Before a trip you pack some things:"),
        *(block("item", item, group=1) for item in items),
    )
    shown = text(source, "flare for the crew", ExcerptBudget(20, 0))
    assert shown == f"Before a trip you pack some things:\n…\n{items[5]}"


def test_of_a_list_that_two_windows_share_each_item_is_shown_once() -> None:
    items = [f"Pack the {name} into a box." for name in ("rope", "fender", "flare", "anchor")]
    lead_in = block("text", "Before a trip you pack these things:")
    first, second = (
        passage(lead_in, *(block("item", item, group=1) for item in part))
        for part in (items[:3], items[1:])
    )
    shown = excerpt(first, "pack")
    assert shown is not None
    assert shown.parts == (first.text,)
    tail = excerpt(second, "pack", shown=shown.statements)
    assert tail is not None
    assert tail.parts == (items[3],)


def test_code_that_is_shown_already_is_not_repeated_for_another_sentence() -> None:
    code = block("code", "anchor.drop()\n" * 30)
    first = passage(block("text", "Drop the anchor like this:"), code)
    second = passage(
        code, block("text", "The anchor drops by its own weight."), block("text", FILLER)
    )
    shown = excerpt(first, "anchor")
    assert shown is not None
    assert "anchor.drop()" in shown.text
    tail = excerpt(second, "anchor", shown=shown.statements)
    assert tail is not None
    assert "anchor.drop()" not in tail.text
    again = excerpt(first, "anchor", shown=[code[1]])
    assert again is None


def test_column_names_are_repeated_for_further_rows() -> None:
    rows = [f"rope {n} | {n} m" for n in range(3)]
    first, second = (
        passage(
            block("row", "Rope | Length", group=1, detail="header"),
            *(block("row", row, group=1) for row in part),
        )
        for part in (rows[:2], rows[1:])
    )
    shown = excerpt(first, "rope")
    assert shown is not None
    tail = excerpt(second, "rope", shown=shown.statements)
    assert tail is not None
    assert tail.text == f"Rope | Length\n…\n{rows[2]}"


def test_steps_begin_with_the_first_one() -> None:
    items = [f"Do step {name} and then wait for the bell to ring." for name in "abcdefgh"]
    source = passage(
        block("text", "Cast off in these steps:"),
        *(block("item", item, group=1, detail=str(n)) for n, item in enumerate(items, 1)),
    )
    shown = text(source, "cast off", ExcerptBudget(25, 0))
    assert shown.startswith("Cast off in these steps:\n" + items[0] + "\n" + items[1])
    assert "…" not in shown


def test_no_code_is_shown_without_its_step() -> None:
    steps = [f"Renew it at https://harbour.example/{'x' * 230}/{n}." for n in range(1, 10)]
    blocks = [block("text", "To renew the certificate:")]
    for n, step in enumerate(steps, 1):
        blocks.append(block("item", step, group=1, detail=str(n)))
        if n > 5:
            blocks.append(block("code", f"renew --step {n}", group=1, level=1))
    shown = text(passage(*blocks), "renew the certificate")
    assert steps[0] in shown
    assert steps[8] not in shown
    for n, step in enumerate(steps, 1):
        assert (f"renew --step {n}" in shown) <= (step in shown)


@pytest.mark.parametrize("is_numbered", [False, True])
def test_a_list_shows_its_best_items_and_steps_the_first_one_too(is_numbered: bool) -> None:
    items = [f"The line of {name} is checked every week by the crew." for name in "abcdefgh"]
    items[6] = "The halyard is checked every day by the skipper."
    details = [str(n) if is_numbered else "" for n in range(1, 9)]
    source = passage(
        block("text", "What is checked:"),
        *(block("item", item, group=1, detail=n) for item, n in zip(items, details, strict=True)),
    )
    shown = text(source, "how often is the halyard checked", ExcerptBudget(12, 0))
    assert items[6] in shown
    assert (items[0] in shown) is is_numbered


def test_a_row_brings_its_column_names() -> None:
    rows = [f"line {n} · {n} meters of something that is long" for n in range(12)]
    rows[7] = "halyard · 30 meters"
    source = passage(
        block("row", "Line · Length", group=1, detail="header"),
        *(block("row", row, group=1) for row in rows),
    )
    shown = text(source, "halyard", ExcerptBudget(8, 0))
    assert shown == "Line · Length\n…\nhalyard · 30 meters"


def test_one_tab_is_shown_with_its_label() -> None:
    source = passage(
        block("text", "Install the chart plotter:"),
        block("label", "pip", group=1, detail="tab"),
        block("code", "pip install plotter", group=1, level=1),
        block("label", "uv", group=1, detail="tab"),
        block("code", "uv add plotter", group=1, level=1),
    )
    assert text(source, "install the plotter with uv") == (
        "Install the chart plotter:\n…\nuv\n\nuv add plotter"
    )


def test_a_definition_brings_its_term() -> None:
    source = passage(
        block("label", "Halyard", group=1, detail="term"),
        block("text", "The line that hoists a sail.", group=1, level=1),
        block("label", "Sheet", group=1, detail="term"),
        block("text", "The line that trims a sail of any kind.", group=1, level=1),
    )
    assert (
        text(source, "trims", ExcerptBudget(7, 0))
        == "Sheet\n\nThe line that trims a sail of any kind."
    )


def test_omitted_text_between_two_parts_is_marked() -> None:
    source = passage(
        block("text", f"The anchor holds in sand. {FILLER} The anchor slips on weed."),
    )
    assert text(source, "anchor", ExcerptBudget(11, 0)) == (
        "The anchor holds in sand. … The anchor slips on weed."
    )


def test_a_distant_statement_needs_nearly_the_best_support() -> None:
    near = "The anchor chain is galvanized. The anchor is heavy."
    source = passage(
        block("text", f"{near} {FILLER} The chain has forty fathoms of links."),
    )
    assert text(source, "anchor chain") == near


def test_a_statement_next_to_a_later_choice_is_chosen_after_it() -> None:
    sentences = [
        "The anchor chain of the boat holds.",
        "The anchor chain is galvanized by a smith.",
        "The anchor boat is heavy and old.",
    ]
    source = passage(block("text", " ".join(sentences)))
    assert text(source, "anchor chain boat") == " ".join(sentences)


def test_a_short_sentence_is_not_left_out_between_two() -> None:
    sentences = "The anchor holds in sand. Nobody knows quite why. The anchor slips on weed."
    assert text(passage(block("text", sentences)), "anchor") == sentences


def test_statements_that_are_shown_already_are_left_out() -> None:
    source = passage(block("text", "The anchor holds in sand. The anchor slips on weed."))
    cut = excerpt(source, "anchor", shown=["The anchor holds in sand."])
    assert cut is not None
    assert cut.text == "The anchor slips on weed."
    everything = [*cut.statements, "The anchor holds in sand."]
    assert excerpt(source, "anchor", shown=everything) is None


def test_pointers_are_never_quoted() -> None:
    source = passage(block("text", "See the guide to anchors. The anchor holds in sand."))
    assert text(source, "guide to anchors") == "The anchor holds in sand."


def test_code_alone_states_nothing() -> None:
    assert excerpt(passage(block("code", "anchor.drop()")), "anchor") is None


def test_an_excerpt_stays_within_its_budget() -> None:
    sentences = " ".join(f"The anchor number {n} holds in the sand." for n in range(40))
    shown = text(passage(block("text", sentences)), "anchor", ExcerptBudget(60, 0))
    assert count_words(shown) <= 60 + EXTRA_WORDS


def test_an_excerpt_has_no_more_characters_than_a_claim_may_have() -> None:
    long = "x" * 400
    sentences = " ".join(f"The anchor {long}{n} holds in the sand." for n in range(9))
    shown = text(passage(block("text", sentences)), "anchor")
    assert sum(not c.isspace() for c in shown) <= MAX_VISIBLE_CHARACTERS + 10


def test_what_no_claim_can_quote_is_left_out_of_an_excerpt() -> None:
    """A lead-in of one word apart from the items that are shown is not three words."""
    items = [
        block("item", f"{FILLER} {n} {n} {n} {n} {n}", group=1) for n in "abcdefgh"
    ]  # more words than there is room for
    source = passage(
        block("text", "Parameters:"), *items, block("item", "anchor - drops at night", group=1)
    )
    assert text(source, "anchor at night", ExcerptBudget(20, 4)) == "anchor - drops at night"
    emoji = passage(
        block("text", "🤓"),
        block("label", "Tip", detail="title"),
        block("text", "This anchor drops at night."),
    )
    assert text(emoji, "anchor at night") == "This anchor drops at night."


def test_column_names_of_two_words_stay_with_a_row_that_is_apart() -> None:
    rows = [block("row", f"{FILLER} · {n} {n} {n}", group=1) for n in "abcdefgh"]
    source = passage(
        block("row", "name · use", group=1, detail="header"),
        *rows,
        block("row", "anchor · drops at night", group=1),
    )
    shown = text(source, "anchor at night", ExcerptBudget(20, 4))
    assert shown == "name · use\n…\nanchor · drops at night"
