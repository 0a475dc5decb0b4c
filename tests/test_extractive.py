"""The keyless answerer: verbatim sentences, and the rule that decides between both streams."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import pytest

import sites
from answerable.serve import contract
from answerable.serve.extractive import (
    MAX_CLAIMS,
    MAX_CODE,
    ROUTES_LAG,
    ROUTES_ONLY_LEAD,
    ExtractiveAnswerer,
)
from answerable.serve.types import Evidence, Passage, RoutingHint


@pytest.fixture(scope="module")
def answerer(tmp_path_factory: pytest.TempPathFactory) -> ExtractiveAnswerer:
    folder = sites.write_site(tmp_path_factory.mktemp("site"))
    sites.build_here(folder)
    return ExtractiveAnswerer(sites.opened(folder), sites.local())


def passage(number: int, text: str, title: str = "Mooring") -> Passage:
    ends = [match.end() for match in re.finditer(r"[.:?](?=\s|$)", text)]
    starts = [0, *(end + 1 for end in ends[:-1])]
    spans = tuple(zip(starts, ends, strict=True))
    return Passage(f"p{number}", f"p{number}", f"/{number}/", title, text, spans)


def draft(answerer: ExtractiveAnswerer, question: str, evidence: Evidence) -> dict[str, Any]:
    return cast("dict[str, Any]", answerer.draft(question, evidence))


CHAIN = passage(1, "The chain of a mooring is twelve millimetres thick. Cats dislike wet decks.")
HINT = RoutingHint("note:1", "Winch", "shelf", "/mooring/")


def test_a_claim_is_a_sentence_and_its_quote(answerer: ExtractiveAnswerer) -> None:
    found = draft(answerer, "How thick is the chain of a mooring?", Evidence((CHAIN,)))
    (claim,) = found["claims"]
    assert claim["text"] == "The chain of a mooring is twelve millimetres thick."
    assert claim["evidence"] == [{"source": "s1", "quote": claim["text"]}]


def test_it_keeps_the_contract(answerer: ExtractiveAnswerer) -> None:
    evidence = Evidence((CHAIN,), (HINT,))
    answer = contract.settle_claims(
        draft(answerer, "How thick is a mooring chain?", evidence), evidence
    )
    assert (answer.mode, answer.dropped) == ("supported", 0)


def test_no_supporting_sentence_declines(answerer: ExtractiveAnswerer) -> None:
    found = draft(answerer, "Who wrote the lantern opera?", Evidence((CHAIN,)))
    assert found == {"claims": [], "routes": []}


def test_there_are_few_claims_and_no_duplicates(answerer: ExtractiveAnswerer) -> None:
    same = tuple(passage(n, CHAIN.text) for n in range(1, 4))
    more = tuple(
        passage(n, f"The chain of mooring number {n} is {n} millimetres thick.")
        for n in range(4, 9)
    )
    claims = draft(answerer, "How thick is the chain of a mooring?", Evidence(same + more))[
        "claims"
    ]
    texts = [claim["text"] for claim in claims]
    assert len(texts) == len(set(texts)) <= MAX_CLAIMS


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


def coded(*parts: str, sentences: Sequence[str] = (LEAD_IN,)) -> Passage:
    """A passage of blocks, of which all but the sentences are code."""
    text = "\n\n".join(parts)
    spans = tuple((text.index(s), text.index(s) + len(s)) for s in sentences)
    return Passage("p1", "p1", "/1/", "Mooring", text, spans)


def claimed(answerer: ExtractiveAnswerer, *passages: Passage) -> list[str]:
    found = draft(answerer, "How thick is the chain of a mooring?", Evidence(passages))
    for claim in found["claims"]:
        assert [e["quote"] for e in claim["evidence"]] == [claim["text"]]
    return [claim["text"] for claim in found["claims"]]


@pytest.mark.parametrize("end", [":", "...", "…"])
def test_a_sentence_that_leads_into_code_is_quoted_with_it(
    answerer: ExtractiveAnswerer, end: str
) -> None:
    lead_in = LEAD_IN.removesuffix(":") + end
    after = "It rusts in the winter months."
    found = coded(lead_in, CODE, after, sentences=(lead_in, after))
    evidence = Evidence((found,))
    assert claimed(answerer, found) == [found.text[: found.text.index("\n\n" + after)]]
    answer = contract.settle_claims(
        draft(answerer, "How thick is a mooring chain?", evidence), evidence
    )
    (citation,) = answer.claims[0].citations
    assert citation.quote == f"{lead_in}\n\n{CODE}"
    assert answer.dropped == 0


def test_a_lead_in_without_its_code_states_nothing(answerer: ExtractiveAnswerer) -> None:
    assert claimed(answerer, coded(LEAD_IN)) == []
    item = "Twelve is the usual choice for boats."
    text = f"{LEAD_IN}\n{item}"
    spans = ((0, len(LEAD_IN)), (len(LEAD_IN) + 1, len(text)))
    assert LEAD_IN not in claimed(answerer, Passage("p1", "p1", "/1/", "Mooring", text, spans))


def test_a_sentence_that_leads_into_much_code_is_quoted_alone_and_counts_for_less(
    answerer: ExtractiveAnswerer,
) -> None:
    much = "x = 1\n" * (MAX_CODE // 6 + 1)
    assert claimed(answerer, coded(LEAD_IN, much)) == [LEAD_IN]
    plain = LEAD_IN.replace(":", ".")
    both = [coded(LEAD_IN, much), coded(plain, sentences=(plain,))]
    # The first of two that say the same has the lead, but for what its code takes away.
    first, second = (s.support for s in answerer._supports("How thick is a mooring chain?", both))
    assert first < second


def test_code_alone_declines(answerer: ExtractiveAnswerer) -> None:
    assert claimed(answerer, coded(CODE, sentences=())) == []
    assert claimed(answerer, coded("chain of a mooring thick", CODE, sentences=())) == []


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
    asked = f"How thick is the chain of a mooring{mark}"
    assert claimed(answerer, coded(asked, sentences=(asked,))) == []
