"""The answer contract: a draft goes in; only grounded claims and routes come out."""

from collections.abc import Mapping, Sequence
from functools import partial

from . import fragments, prose, quotes, references, sentence_spans
from .errors import ContractViolation, Rule
from .frozen import frozen
from .grounding_rules import Quotation, check_quote, choose_quotations
from .types import (
    Answer,
    Claim,
    Evidence,
    HintCitation,
    Passage,
    RecordCitation,
    Route,
    RoutingHint,
)

# More sentences are no answer that a person reads.
MAX_CLAIMS = 12
_wrong_shape = partial(ContractViolation, "validate", "shape")


@frozen
class _Support:
    """One source that a draft's claim names, with the words it quotes from it."""

    source: str
    quote: str


@frozen
class _Sentence:
    """A draft's claim of the right shape."""

    text: str
    supports: tuple[_Support, ...]


def settle_claims(draft: object, evidence: Evidence, names: Sequence[str] = ()) -> Answer:
    """Validate, repair and ground a draft of claims against the evidence it was written from.

    draft: ``{"claims": [{"text", "evidence": [{"source", "quote"}]}], "routes": [id]}``; a
    missing list reads as empty. names: texts that a claim may take names from. ContractViolation
    (stage="validate") for a wrong shape, (stage="ground") for a source that was never retrieved.
    A source without a good quote is dropped from its claim; a claim over ``MAX_CLAIMS``, without a
    source or against a grounding rule, or a route to no hint, is dropped and counted. A claim loses
    control characters, bidirectional overrides and lone surrogates before it is looked at.
    """
    sentences, targets = _validate(draft)
    settled = [_settle(sentence, evidence, names) for sentence in sentences[:MAX_CLAIMS]]
    rules: list[Rule] = [each for each in settled if not isinstance(each, Claim)]
    rules += ["too-many"] * max(0, len(sentences) - MAX_CLAIMS)
    hints = [references.repair(target, evidence, to_hint=True) for target in targets]
    routed = dict.fromkeys(hint for hint in hints if isinstance(hint, RoutingHint))
    rules += ["route" for hint in hints if not isinstance(hint, RoutingHint)]
    routes = (Route(HintCitation(hint.id, hint.url, hint.label, hint.locator)) for hint in routed)
    claims = tuple(each for each in settled if isinstance(each, Claim))
    return Answer(claims, tuple(routes), len(rules), tuple(rules))


def _validate(draft: object) -> tuple[list[_Sentence], list[str]]:
    if isinstance(draft, str):
        raise ContractViolation("validate", "not-json", "the draft is not JSON")
    if not isinstance(draft, Mapping):
        raise _wrong_shape("the draft is not an object")
    claims = _list(draft.get("claims", ()), "claims")
    routes = _list(draft.get("routes", ()), "routes")
    sentences = [_sentence(claim, f"claims[{index}]") for index, claim in enumerate(claims)]
    return sentences, [_text(route, f"routes[{index}]") for index, route in enumerate(routes)]


def _sentence(claim: object, where: str) -> _Sentence:
    if not isinstance(claim, Mapping):
        raise _wrong_shape(f"{where} is not an object")
    supports = _list(claim.get("evidence", ()), f"{where}.evidence")
    if not supports:
        raise _wrong_shape(f"{where} has no evidence")
    # Without the characters that could change how a reader sees it, there may be nothing left.
    text = prose.clean(_text(claim.get("text"), f"{where}.text"))
    cited = [_support(item, f"{where}.evidence[{n}]") for n, item in enumerate(supports)]
    return _Sentence(_text(text, f"{where}.text"), tuple(cited))


def _support(item: object, where: str) -> _Support:
    if not isinstance(item, Mapping):
        raise _wrong_shape(f"{where} is not an object")
    return _Support(
        _text(item.get("source"), f"{where}.source"), _text(item.get("quote"), f"{where}.quote")
    )


def _list(value: object, where: str) -> Sequence[object]:
    if isinstance(value, str | bytes) or not isinstance(value, Sequence):
        raise _wrong_shape(f"{where} is not a list")
    return value


def _text(value: object, where: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise _wrong_shape(f"{where} is not a text")
    return value


def _settle(sentence: _Sentence, evidence: Evidence, names: Sequence[str]) -> Claim | Rule:
    """Ground one claim, or name the rule that drops it."""
    located = [_locate(support, evidence) for support in dict.fromkeys(sentence.supports)]
    chosen = choose_quotations(sentence.text, located, evidence, names)
    if isinstance(chosen, str):
        return chosen
    return Claim(sentence.text, tuple(dict.fromkeys(map(_citation, chosen))))


def _locate(support: _Support, evidence: Evidence) -> list[Quotation] | Rule:
    """Find a quote in the passage that its source names, or name the rule that drops it."""
    passage = references.repair(support.source, evidence, to_hint=False)
    spans = quotes.find_all(support.quote, passage.text) if isinstance(passage, Passage) else []
    if not isinstance(passage, Passage) or not spans:
        return "quote"
    quotations = [Quotation(passage, *span) for span in spans]
    return check_quote(quotations[0]) or quotations


def _citation(quotation: Quotation) -> RecordCitation:
    """Cite the whole sentences of a quote where they are short, so that no "not" is cut off."""
    passage = quotation.passage
    start, end = sentence_spans.widen_span(passage, quotation.start, quotation.end)
    quote = passage.text[start:end]
    return RecordCitation(
        passage.id,
        passage.url,
        passage.title,
        quote=quote,
        start=start,
        date=passage.date,
        href=fragments.href(passage.url, quote, passage.text, start),
        language=passage.language,
    )
