"""Drafts that mislead are dropped by the rule of their family, and their honest twins are not."""

from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from answerable.engine.answers.contract import enforce_contract
from answerable.engine.answers.grounding import Grounds, Quotation, check_claim
from answerable.engine.answers.parts import split_code
from answerable.engine.errors import Rule
from answerable.engine.text.markdown import parse_blocks
from answerable.engine.text.markdown_writer import escape_markdown
from answerable.engine.text.sentences import find_sentences, list_code_spans, list_units
from answerable.engine.text.tokenization import sanitize_text
from answerable.engine.types import Answer, Evidence, Passage, RecordCitation
from answerable.indexing.pages.passages import PassageWindow, cut_passages
from support.doubles import record
from support.frozen_site import FrozenSite

GLOSSARY = " ".join(f"The term harbor is used for part {n:02} of the product." for n in range(40))


class Family(msgspec.Struct, frozen=True):
    """Pairs of an honest and a misleading claim with one quote, as the file describes them."""

    name: str
    rows: tuple[tuple[str, str, str, str], ...]
    rule: Rule | None = None
    question: str = "How does Harbor work?"
    by_quote: bool = False


class Page(msgspec.Struct, frozen=True):
    language: str
    title: str
    html: str


class Drafts(msgspec.Struct, frozen=True):
    site: str
    pages: dict[str, Page]
    families: tuple[Family, ...]


@dataclass(frozen=True)
class Pair:
    """A misleading claim with its quote, and the honest twin with its own."""

    drafts: Drafts
    family: Family
    page: str
    honest: tuple[str, str]
    misleading: tuple[str, str]


SITES = [
    msgspec.yaml.decode(path.read_bytes(), type=Drafts)
    for path in sorted(Path(__file__).parent.glob("misleading_drafts*.yaml"))
]
PAIRS = [
    Pair(
        drafts,
        family,
        page,
        (honest, quote),
        (honest, misleading) if family.by_quote else (misleading, quote),
    )
    for drafts in SITES
    for family in drafts.families
    for page, quote, honest, misleading in family.rows
]


@cache
def read_passages(site: str) -> dict[str, Passage]:
    """Cut the passages of a site from HTML as a build cuts them, so that their parts are real."""
    (drafts,) = (each for each in SITES if each.site == site)
    passages = {}
    for name, page in drafts.pages.items():
        source = record(name, page.html.format(glossary=GLOSSARY), page.title)
        (cut,) = cut_passages(replace(source, language=page.language), PassageWindow(words=1_000))
        passages[name] = cut.passage
    return passages


def passage_of(pair: Pair) -> Passage:
    return read_passages(pair.drafts.site)[pair.page]


def whole_evidence(site: str = "Harbor Docs") -> Evidence:
    return Evidence(tuple(read_passages(site).values()))


def settled(pair: Pair, claim: tuple[str, str]) -> Answer:
    """The answer that is left of a claim, with the name of the site only."""
    text, quote = claim
    evidence = [{"source": pair.page, "quote": line} for line in quote.split("\n")]
    draft = {"claims": [{"text": text, "evidence": evidence}]}
    site = pair.drafts.site
    return enforce_contract(draft, whole_evidence(site), (site,), pair.family.question)


def label(pair: Pair) -> str:
    return f"{pair.family.name}-{pair.page}"


@pytest.mark.parametrize("pair", PAIRS, ids=label)
def test_a_misleading_claim_is_dropped_and_its_honest_twin_is_not(pair: Pair) -> None:
    text, _ = pair.honest
    honest = settled(pair, pair.honest)
    assert [claim.text for claim in honest.claims] == [sanitize_text(text)]

    misleading = settled(pair, pair.misleading)
    if pair.family.rule is None:
        # A reader can see it: the shown quote is the whole sentence.
        passage = passage_of(pair)
        ranges = list_units(passage)
        for citation in misleading.citations:
            assert isinstance(citation, RecordCitation)
            assert citation.quote in [passage.text[start:end] for start, end in ranges]
    else:
        assert misleading == Answer(dropped=1)
        assert misleading.rules == (pair.family.rule,)


def test_an_excerpt_of_several_quotes_is_longer_than_a_claim_may_be() -> None:
    text = GLOSSARY
    quotes = [text[:571], text[1_144:1_715]]
    evidence = [{"source": "long", "quote": quote} for quote in quotes]
    for joined, rules in ((" … ".join(quotes), ()), (" and ".join(quotes), ("length",))):
        draft = {"claims": [{"text": joined, "evidence": evidence}]}
        answer = enforce_contract(draft, whole_evidence())
        assert answer.rules == rules
        assert len(answer.claims) == 1 - len(rules)


def test_every_sentence_and_code_of_a_site_may_be_claimed(frozen_site: FrozenSite) -> None:
    """A claim is read by the same patterns as its quotes, so honest words never fall."""
    counts = {"sentences": 0, "code": 0}
    for passage in frozen_site.bundle.passages():
        claims = [("sentences", span, "In short: {}") for span in find_sentences(passage.markdown)]
        claims += [("code", span, "There is `{}` in it.") for span in list_code_spans(passage)]
        for kind, (start, end), claim in claims:
            words = passage.text[start:end]
            if "`" in words or len(words) > 500:
                continue
            counts[kind] += 1
            text = claim.format(words)
            place = Quotation(passage, start, end)
            assert check_claim(text, [place], Grounds(Evidence((passage,)))) is None, text
    assert min(counts.values()) > 100, counts


@given(st.text(st.sampled_from("a.`[*| "), max_size=20))
def test_what_is_drawn_as_code_of_a_claim_is_what_is_checked_as_code(text: str) -> None:
    claim = " ".join(text.split())
    drawn = parse_blocks(escape_markdown(claim))
    code = [block.text[span.start : span.end] for block in drawn for span in block.spans]
    checked, _ = split_code(claim)
    assert "".join(code) == "".join(checked)
