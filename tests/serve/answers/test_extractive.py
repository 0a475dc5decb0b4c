"""The keyless answerer: verbatim sentences, and the rule that decides between both streams."""

from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answerable.serve.answers.contract import enforce_contract
from answerable.serve.answers.excerpts import MAX_VISIBLE_CHARACTERS
from answerable.serve.answers.extractive import (
    EXCERPT_BUDGETS,
    ROUTES_LAG,
    ROUTES_ONLY_LEAD,
    ExtractiveAnswerer,
)
from answerable.serve.structure import BlockKind
from answerable.serve.text.normalization import count_visible_characters
from answerable.serve.types import Evidence, Passage, RoutingHint
from support import passage_blocks, sites
from support.passage_blocks import block


@pytest.fixture(scope="module")
def answerer(tmp_path_factory: pytest.TempPathFactory) -> ExtractiveAnswerer:
    folder = sites.write_site(tmp_path_factory.mktemp("site"))
    sites.build_here(folder)
    return ExtractiveAnswerer(sites.opened(folder), sites.local())


def passage(number: int, text: str, title: str = "Mooring") -> Passage:
    return passage_blocks.passage(block("text", text), name=f"p{number}", title=title)


def draft(answerer: ExtractiveAnswerer, question: str, evidence: Evidence) -> dict[str, Any]:
    return cast("dict[str, Any]", answerer.draft(question, evidence))


CHAIN = passage(1, "The chain of a mooring is twelve millimetres thick. Cats dislike wet decks.")
HINT = RoutingHint("note:1", "Winch", "shelf", "/mooring/")


def test_a_claim_is_a_sentence_and_its_quote(answerer: ExtractiveAnswerer) -> None:
    drafted = draft(answerer, "How thick is the chain of a mooring?", Evidence((CHAIN,)))
    (claim,) = drafted["claims"]
    assert claim["text"] == "The chain of a mooring is twelve millimetres thick."
    assert claim["evidence"] == [{"source": "s1", "quote": claim["text"], "start": 0}]


def test_extractive_drafts_meet_the_contract(answerer: ExtractiveAnswerer) -> None:
    evidence = Evidence((CHAIN,), (HINT,))
    answer = enforce_contract(draft(answerer, "How thick is a mooring chain?", evidence), evidence)
    assert (answer.mode, answer.dropped) == ("supported", 0)


ODD_WORDS = (
    *"mooring chain: chain. thick The … 🤓 · __name__ *a* `x` \u202e \x07 - ( 12,".split(" "),
    *("…\n", "\n    ", "a\tb", "word" * 90),
)
ODD_BLOCKS = st.tuples(
    st.sampled_from(["text", "text", "item", "row", "code"]),
    st.lists(st.sampled_from(ODD_WORDS), min_size=1, max_size=12).map(" ".join),
    st.integers(0, 1),
)


@given(st.lists(st.lists(ODD_BLOCKS, min_size=1, max_size=14), min_size=1, max_size=2))
def test_no_claim_is_dropped_whatever_the_page_holds(
    answerer: ExtractiveAnswerer, pages: list[list[tuple[BlockKind, str, int]]]
) -> None:
    evidence = Evidence(
        tuple(
            passage_blocks.passage(
                *(block(kind, text, group) for kind, text, group in blocks),
                name=f"page#part~{number}",
            )
            for number, blocks in enumerate(pages, 1)
            if any(text.strip() for _, text, _ in blocks)
        )
    )
    drafted = draft(answerer, "How thick is the mooring chain?", evidence)
    answer = enforce_contract(drafted, evidence)
    assert (len(answer.claims), answer.dropped) == (len(drafted["claims"]), 0)


def test_an_excerpt_that_gaps_make_too_long_for_two_windows_is_one_claim(
    answerer: ExtractiveAnswerer,
) -> None:
    sentences = [f"The thick mooring chain {'a' * 361 + letter}." for letter in "abc"]
    text = " See the guide. ".join(sentences)
    evidence = Evidence((passage(1, text),))
    drafted = draft(answerer, "How thick is the mooring chain?", evidence)
    assert count_visible_characters(drafted["claims"][0]["text"]) > MAX_VISIBLE_CHARACTERS
    assert len(drafted["claims"]) == 1
    assert enforce_contract(drafted, evidence).mode == "partial"


def test_the_windows_of_a_section_are_one_claim_however_long(answerer: ExtractiveAnswerer) -> None:
    windows = tuple(
        replace(
            passage_blocks.passage(
                block("text", f"The thick mooring chain {letter * 450} {letter}."),
                block("text", f"A thick chain of a mooring {letter * 450} too."),
                name=f"page#part~{number}",
            ),
            url="/page/#part",
        )
        for number, letter in enumerate("ab", 1)
    )
    other = passage(3, "The mooring chain is twelve millimetres thick.")
    drafted = draft(answerer, "How thick is the mooring chain?", Evidence((*windows, other)))
    sources = [{each["source"] for each in claim["evidence"]} for claim in drafted["claims"]]
    assert {"s3"} in sources
    assert sum(not own.isdisjoint({"s1", "s2"}) for own in sources) == 1
    answer = enforce_contract(drafted, Evidence((*windows, other)))
    assert (len(answer.claims), answer.dropped) == (2, 0)


def test_no_supporting_sentence_declines(answerer: ExtractiveAnswerer) -> None:
    drafted = draft(answerer, "Who wrote the lantern opera?", Evidence((CHAIN,)))
    assert drafted == {"claims": [], "routes": []}


def test_there_are_few_claims_and_no_duplicates(answerer: ExtractiveAnswerer) -> None:
    same = tuple(passage(n, CHAIN.text) for n in range(1, 4))
    others = tuple(
        passage(n, f"The chain of mooring number {n} is {n} millimetres thick.")
        for n in range(4, 9)
    )
    claims = draft(answerer, "How thick is the chain of a mooring?", Evidence(same + others))[
        "claims"
    ]
    texts = [claim["text"] for claim in claims]
    assert len(texts) == len(set(texts)) <= len(EXCERPT_BUDGETS)


def test_a_question_and_a_fragment_are_no_statements(answerer: ExtractiveAnswerer) -> None:
    text = "How thick is the chain of a mooring? Thick mooring chain."
    assert draft(answerer, "How thick is the chain?", Evidence((passage(1, text),)))["claims"] == []


def test_the_notebook_alone_answers_where_it_leads(answerer: ExtractiveAnswerer) -> None:
    question = "How thick is the chain of a mooring?"
    led = Evidence((CHAIN,), (HINT,), lead=ROUTES_ONLY_LEAD)
    assert draft(answerer, question, led) == {"claims": [], "routes": ["h1"]}
    close = Evidence((CHAIN,), (HINT,), lead=ROUTES_ONLY_LEAD - 0.01)
    assert draft(answerer, question, close)["claims"]


def test_a_note_that_lags_far_behind_is_not_shown_beside_claims(
    answerer: ExtractiveAnswerer,
) -> None:
    question = "How thick is the chain of a mooring?"
    near = Evidence((CHAIN,), (HINT,), lead=-ROUTES_LAG)
    assert draft(answerer, question, near)["routes"] == ["h1"]
    far = Evidence((CHAIN,), (HINT,), lead=-ROUTES_LAG - 0.01)
    assert draft(answerer, question, far)["routes"] == []
    unanswered = draft(answerer, "Who wrote the lantern opera?", far)
    assert unanswered == {"claims": [], "routes": ["h1"]}


def test_at_most_two_routes(answerer: ExtractiveAnswerer) -> None:
    hints = tuple(RoutingHint(f"note:{n}", f"N{n}", "", "/mooring/") for n in range(5))
    assert draft(answerer, "winch", Evidence((), hints, 0.5))["routes"] == ["h1", "h2"]


LEAD_IN = "The chain of a mooring is set by its thickness in millimetres:"
CODE = 'mooring = Mooring(\n    chain="twelve",\n)'


def coded(*parts: tuple[BlockKind, str]) -> Passage:
    return passage_blocks.passage(*(block(*part) for part in parts), name="p1", title="Mooring")


def claimed(answerer: ExtractiveAnswerer, *passages: Passage) -> list[str]:
    drafted = draft(answerer, "How thick is the chain of a mooring?", Evidence(passages))
    return [claim["text"] for claim in drafted["claims"]]


@pytest.mark.parametrize("end", [":", "...", "…"])
def test_a_sentence_that_leads_into_code_is_quoted_with_it(
    answerer: ExtractiveAnswerer, end: str
) -> None:
    lead_in = LEAD_IN.removesuffix(":") + end
    source = coded(("text", lead_in), ("code", CODE), ("text", "Rust comes in the winter months."))
    evidence = Evidence((source,))
    (text,) = claimed(answerer, source)
    assert text.startswith(f"{lead_in}\n\n{CODE}")
    answer = enforce_contract(draft(answerer, "How thick is a mooring chain?", evidence), evidence)
    assert answer.claims[0].citations[0].quote.startswith(f"{lead_in}\n\n{CODE}")
    assert answer.dropped == 0


def test_a_lead_in_without_its_code_states_nothing(answerer: ExtractiveAnswerer) -> None:
    assert claimed(answerer, coded(("text", LEAD_IN))) == []
    after = "Twelve is the usual choice for boats."
    drafted = claimed(answerer, coded(("text", LEAD_IN), ("text", after)))
    assert not any(LEAD_IN in text for text in drafted)


def test_long_code_is_cut_to_the_lines_that_hold_the_question(
    answerer: ExtractiveAnswerer,
) -> None:
    lines = [f"step_{n}(rope)" for n in range(40)]
    lines[30] = "set_thickness(mooring.chain, millimetres=12)"
    (text,) = claimed(answerer, coded(("text", LEAD_IN), ("code", "\n".join(lines))))
    assert text.startswith(f"{LEAD_IN}\n…\nstep_")
    assert lines[30] in text
    assert text.count("\n") <= EXCERPT_BUDGETS[0].lines + 1


def test_code_alone_declines(answerer: ExtractiveAnswerer) -> None:
    assert claimed(answerer, coded(("code", CODE))) == []
    assert claimed(answerer, coded(("code", "chain of a mooring thick"), ("code", CODE))) == []


def test_a_sure_answer_is_one_excerpt(answerer: ExtractiveAnswerer) -> None:
    question = "How thick is the chain of a mooring?"
    source = passage_blocks.passage(
        block("text", "The chain of a mooring is this thick:"),
        block("code", "chain = 12"),
        name="p1",
        title="Mooring › How thick the chain is",
    )
    others = [passage(n, f"The chain of mooring {n} is {n} cm thick.") for n in range(2, 5)]
    assert len(draft(answerer, question, Evidence((source, *others)))["claims"]) == 1
    assert len(draft(answerer, question, Evidence(tuple(others)))["claims"]) == len(EXCERPT_BUDGETS)


def test_a_sentence_of_two_windows_is_shown_once(answerer: ExtractiveAnswerer) -> None:
    shared = "The chain of a mooring is twelve millimetres thick."
    windows = (
        passage(1, f"{shared} A mooring has one chain."),
        passage(2, f"{shared} The chain is thick at its end."),
    )
    evidence = Evidence(windows)
    drafted = draft(answerer, "How thick is the chain of a mooring?", evidence)["claims"]
    assert sum(shared in claim["text"] for claim in drafted) == 1


UNSPACED = {
    "zh": (
        "# 设置\n\n## 超时\n\n默认超时时间是五秒钟。\n\n"
        "## 代理\n\n代理服务器的地址写在环境变量里。\n",
        "默认超时时间是多少",
        "默认超时时间是五秒钟。",
    ),
    "ja": (
        "# 設定\n\n## タイムアウト\n\nタイムアウトの既定値は五秒です。\n\n"
        "## プロキシ\n\nプロキシのアドレスは環境変数に書きます。\n",
        "タイムアウトの既定値は何秒ですか",
        "タイムアウトの既定値は五秒です。",
    ),
    "th": (
        "# การตั้งค่า\n\n## หมดเวลา\n\nค่าเริ่มต้นของเวลาหมดคือห้าวินาที\n\n"
        "## พร็อกซี\n\nที่อยู่ของพร็อกซีอยู่ในตัวแปรสภาพแวดล้อม\n",
        "ค่าเริ่มต้นของเวลาหมดคือเท่าไร",
        "ค่าเริ่มต้นของเวลาหมดคือห้าวินาที",
    ),
}


@pytest.mark.parametrize("language", UNSPACED)
def test_a_sentence_without_spaces_is_a_statement(tmp_path: Path, language: str) -> None:
    page, question, sentence = UNSPACED[language]
    folder = sites.write_site(tmp_path, {"index.md": page}, options={"language": language})
    sites.build_here(folder)
    claims = sites.ask(sites.opened(folder), question).answer.claims
    assert [claim.text for claim in claims] == [sentence]


@pytest.mark.parametrize("mark", ["？", "؟"])
def test_a_question_ends_as_its_script_ends_it(answerer: ExtractiveAnswerer, mark: str) -> None:
    question = f"How thick is the chain of a mooring{mark}"
    assert claimed(answerer, coded(("text", question))) == []
