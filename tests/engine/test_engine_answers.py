"""The engine in the browser cuts, checks and writes answers as Python does."""

from dataclasses import asdict, replace
from types import SimpleNamespace
from typing import cast

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from answerable.indexing.pages.statements import describe_statements
from answerable.serve.answers import confidence, excerpts, grounding
from answerable.serve.answers.contract import enforce_contract
from answerable.serve.answers.excerpts import complete_code, cut_code
from answerable.serve.answers.statements import link_to_statements, widen_to_sentences
from answerable.serve.answers.wire import serialize_answer
from answerable.serve.retrieval.store import Store
from answerable.serve.structure import Block, Span
from answerable.serve.text import sanitization
from answerable.serve.types import Evidence, Passage, Reply
from support.engine_passages import engine_passage, units_of
from support.engine_process import RECIPE, SITE, engine
from support.fuzz_settings import fuzzed
from support.odd_text import odd_texts

# What statements, code windows, quotes and fragments look for.
PROSE = """mooring mooring chain rope. rope: This It But see See the guide. For more details, see ?
    ? ... … … · · `rope` a.b() --chain not never without show hide 。 （ 鎖。 word word word word"""
CODE = """import from def ( { ) } ] \n \n \n \n\n \n\n x = rope chain mooring """


WEIGHTS = st.dictionaries(
    st.sampled_from(["x", "rope", "chain", "moor", "def"]), st.floats(0, 3), max_size=4
)
STORE = SimpleNamespace(
    site=replace(SITE, url="https://example.org/docs/"),
    manifest=SimpleNamespace(id="3f9c", built_at="2024-01-01T00:00:00Z"),
)
ENGINE_STORE = {
    "recipe": RECIPE,
    "site": {"url": STORE.site.url, "languages": [{"tag": "en", "first": 0, "end": 1}]},
    "manifest": vars(STORE.manifest),
}


def safe_texts(words: str, max_size: int = 12) -> st.SearchStrategy[str]:
    """Make texts as a page may hold them: without half a pair of surrogates."""
    return odd_texts(words, max_size).map(lambda text: text.replace("\ud800", ""))


@st.composite
def passages(draw: st.DrawFn) -> Passage:
    """Make a passage of blocks, sentences and spans."""
    text = ""
    blocks: list[Block] = []
    sentences: list[tuple[int, int]] = []
    spans: list[Span] = []
    for _ in range(draw(st.integers(1, 6))):
        kind = draw(st.sampled_from(["text", "text", "item", "item", "row", "code", "label"]))
        words = draw(safe_texts(CODE if kind == "code" else PROSE, 8)).strip()
        if not words:
            continue
        text += draw(st.sampled_from(["\n\n", "\n", " "])) if text else ""
        start = len(text)
        text += words
        details = {"label": ("tab", "term", "title", "file"), "row": ("", "header")}
        details |= {"item": ("", "1"), "code": ("python", "mermaid", "recording", "")}
        detail = draw(st.sampled_from(details.get(kind, ("",))))
        group, level = draw(st.integers(0, 2)), draw(st.integers(0, 2))
        blocks.append(Block(kind, start, len(text), group, level, detail))  # type: ignore[arg-type]
        half = start + len(words) // 2
        if kind != "code":
            cuts = (
                [(start, half), (half, len(text))] if draw(st.booleans()) else [(start, len(text))]
            )
            sentences += [cut for cut in cuts if cut[0] < cut[1]]
        span = draw(st.sampled_from(["code", "link", "cell", ""]))
        if span and half > start:
            spans.append(Span(span, start, half, "/a/" if span == "link" else ""))  # type: ignore[arg-type]
    if draw(st.booleans()) and draw(st.booleans()):
        blocks = []
    passage = Passage(
        id=draw(st.sampled_from(["guide#rope", "guide#rope~2", "guide#chain"])),
        record="guide",
        url="/guide/#rope",
        title=draw(st.sampled_from(["Guide", "Guide › Mooring rope", "係留 › 鎖"])),
        text=text,
        sentences=tuple(sentences),
        date=None,
        blocks=tuple(blocks),
        spans=tuple(spans),
    )
    return describe_statements(passage)


@fuzzed(few=20)
@given(passage=passages(), data=st.data())
def test_quote_is_widened_and_linked_as_in_python(passage: Passage, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(passage.text)))
    end = data.draw(st.integers(start, len(passage.text)))
    units, twin = units_of(passage.text), engine_passage(passage)
    span = (units[start], units[end])
    first, last = widen_to_sentences(passage, start, end)
    widened = engine().call("statements", "widenToSentences", RECIPE, twin, *span)
    assert widened == [units[first], units[last]]
    link = engine().call("statements", "linkToStatements", RECIPE, twin, *span)
    assert link == link_to_statements(passage, start, end)


@fuzzed(few=20)
@given(passage=passages(), seed=st.integers(0, 10**6), roomy=st.booleans())
def test_excerpt_is_cut_as_in_python(passage: Passage, seed: int, roomy: bool) -> None:
    statements = passage.statements
    supports = [(seed >> n & 7) / 10 for n in range(len(statements))]
    weights = {"moor": 1.5, "rope": 1.0, "鎖": 0.7}
    budget = excerpts.ExcerptBudget(125, 14) if roomy else excerpts.ExcerptBudget(6, 4)
    excluded = sorted({passage.text[each.start : each.end] for each in statements[:1]})
    expected = excerpts.cut_excerpt(passage, supports, weights, budget, excluded)
    twin = engine().call(
        "excerpts",
        "cutExcerpt",
        RECIPE,
        engine_passage(passage),
        supports,
        {"$map": [*weights.items()]},
        asdict(budget),
        {"$set": excluded},
    )
    if expected is None:
        assert twin is None
    else:
        assert twin["text"] == expected.text
        wide = passage.text.encode("utf-16-le")
        parts = [wide[2 * a : 2 * b].decode("utf-16-le") for a, b in twin["ranges"]]
        assert parts == list(expected.parts)
        assert sorted(twin["statements"]) == sorted(expected.statements)
        assert twin["visible"] == expected.visible


@fuzzed(few=40)
@given(
    code=safe_texts(CODE, 40),
    weights=st.dictionaries(
        st.sampled_from(["x", "rope", "chain", "moor", "def"]), st.floats(0, 3)
    ),
    limits=st.tuples(st.integers(1, 6), st.integers(8, 90)),
)
def test_code_is_cut_and_completed_as_in_python(
    code: str, weights: dict[str, float], limits: tuple[int, int]
) -> None:
    units = units_of(code)
    first, last = cut_code(code, weights, *limits)
    twin_weights = {"$map": [*weights.items()]}
    assert engine().call("excerpts", "cutCode", RECIPE, code, twin_weights, *limits) == [
        units[first],
        units[last],
    ]
    end = complete_code(code, last, weights, *limits)
    twin = engine().call(
        "excerpts", "completeCode", RECIPE, code, units[last], twin_weights, *limits
    )
    assert twin == units[end]


@fuzzed(few=25)
@given(passage=passages())
def test_statement_is_quotable_where_python_locates_it(passage: Passage) -> None:
    units, twin = units_of(passage.text), engine_passage(passage)
    for statement in passage.statements:
        words = passage.text[statement.start : statement.end]
        located = grounding.locate_quote(words, passage, statement.start)
        span = [units[statement.start], units[statement.end]]
        is_quotable = engine().call("excerpts", "isQuotable", RECIPE, twin, span)
        assert is_quotable is not isinstance(located, str), words


@fuzzed(few=20)
@given(passage=passages())
def test_answer_is_cited_and_written_as_in_python(passage: Passage) -> None:
    supports = [0.5] * len(passage.statements)
    budget = excerpts.ExcerptBudget(40, 6)
    excerpt = excerpts.cut_excerpt(passage, supports, {"rope": 1.0}, budget)
    assume(excerpt is not None and sanitization.sanitize_text(excerpt.text).strip())
    assert excerpt is not None
    pairs = list(zip(excerpt.parts, excerpt.starts, strict=True))
    evidence = [{"source": "s1", "quote": part, "start": start} for part, start in pairs]
    draft = {"claims": [{"text": excerpt.text, "evidence": evidence}]}
    answer = enforce_contract(draft, Evidence((passage,)))
    # No build ends a sentence within a name, which no claim may be cut in.
    assume(answer.claims and answer.claims[0].excerpt)
    reply = Reply(answer, 0.5, None, (passage,))
    expected = serialize_answer(reply, cast("Store", STORE), "request")
    units, process = units_of(passage.text), engine()
    process.save("page", engine_passage(passage))
    quotations = [
        {"passage": {"$": "page"}, "start": units[start], "end": units[start + len(part.strip())]}
        for part, start in pairs
    ]
    process.call("contract", "makeClaim", RECIPE, excerpt.text, quotations, save="claim")
    twin = {"answer": {"claims": [{"$": "claim"}]}, "confidence": 0.5, "reason": None}
    assert process.call("wire", "serializeAnswer", twin, ENGINE_STORE, "request", []) == expected


@fuzzed(few=20)
@given(
    question=safe_texts(PROSE, 6),
    text=safe_texts(PROSE, 8),
    passage=passages(),
    weights=WEIGHTS,
)
def test_confidence_is_that_of_python(
    question: str, text: str, passage: Passage, weights: dict[str, float]
) -> None:
    call = engine().call
    expected = confidence.has_same_polarity(question, text)
    assert call("confidence", "hasSamePolarity", RECIPE, question, text) == expected
    forms = {word: term for term in weights for word in (f"{term}s", f"{term}ing")}
    maps = ({"$map": [*weights.items()]}, {"$map": [*forms.items()]})
    twin = (*maps, engine_passage(passage), text)
    direct = confidence.is_direct_answer(question, weights, forms, passage, text)
    assert call("confidence", "isDirectAnswer", RECIPE, question, *twin) == direct


@pytest.mark.parametrize("distance", [-1.0, 0.0, 0.04, 0.06, 0.1, 0.15, 0.9])
def test_confidence_has_the_bucket_of_python(distance: float) -> None:
    value = engine().call("confidence", "computeConfidence", RECIPE, distance)
    assert value == pytest.approx(confidence.compute_confidence(distance))
    bucket = engine().call("confidence", "bucketConfidence", RECIPE, value)
    assert bucket == confidence.bucket_confidence(value)
