"""The answer contract: a draft goes in; only grounded claims and routes come out."""

from collections.abc import Mapping, Sequence

from . import fragments, prose, quotes, references
from .errors import ContractViolation
from .frozen import frozen
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


def settle_claims(draft: object, evidence: Evidence) -> Answer:
    """Validate, repair and ground a draft of claims against the evidence it was written from.

    draft: ``{"claims": [{"text", "evidence": [{"source", "quote"}]}], "routes": [id]}``; a
    missing list reads as empty. ContractViolation(stage="validate") for a wrong shape,
    (stage="ground") for a source that was never retrieved. A source whose quote is not in its
    passage is dropped from its claim; a claim over ``MAX_CLAIMS``, a claim without a source, or a
    route to no hint, is dropped and counted. A claim's text loses its control characters,
    bidirectional overrides and lone surrogates before anything else is looked at.
    """
    sentences, targets = _validate(draft)
    claims: list[Claim] = []
    dropped = max(0, len(sentences) - MAX_CLAIMS)
    for sentence in sentences[:MAX_CLAIMS]:
        citations = _ground(sentence, evidence)
        if citations and _exact(sentence.text, citations, evidence):
            claims.append(Claim(sentence.text, tuple(dict.fromkeys(citations))))
        else:
            dropped += 1
    hints = [references.repair(target, evidence, to_hint=True) for target in targets]
    found = list(dict.fromkeys(hint for hint in hints if isinstance(hint, RoutingHint)))
    dropped += sum(not isinstance(hint, RoutingHint) for hint in hints)
    routes = (Route(HintCitation(hint.id, hint.url, hint.label, hint.locator)) for hint in found)
    return Answer(tuple(claims), tuple(routes), dropped)


def _validate(draft: object) -> tuple[list[_Sentence], list[str]]:
    if not isinstance(draft, Mapping):
        raise ContractViolation("validate", "the draft is not an object")
    claims = _list(draft.get("claims", ()), "claims")
    routes = _list(draft.get("routes", ()), "routes")
    sentences = [_sentence(claim, f"claims[{index}]") for index, claim in enumerate(claims)]
    return sentences, [_text(route, f"routes[{index}]") for index, route in enumerate(routes)]


def _sentence(claim: object, where: str) -> _Sentence:
    if not isinstance(claim, Mapping):
        raise ContractViolation("validate", f"{where} is not an object")
    supports = _list(claim.get("evidence", ()), f"{where}.evidence")
    if not supports:
        raise ContractViolation("validate", f"{where} has no evidence")
    return _Sentence(
        _clean(claim.get("text"), f"{where}.text"),
        tuple(_support(item, f"{where}.evidence[{n}]") for n, item in enumerate(supports)),
    )


def _support(item: object, where: str) -> _Support:
    if not isinstance(item, Mapping):
        raise ContractViolation("validate", f"{where} is not an object")
    return _Support(
        _text(item.get("source"), f"{where}.source"), _text(item.get("quote"), f"{where}.quote")
    )


def _list(value: object, where: str) -> Sequence[object]:
    if isinstance(value, str | bytes) or not isinstance(value, Sequence):
        raise ContractViolation("validate", f"{where} is not a list")
    return value


def _text(value: object, where: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ContractViolation("validate", f"{where} is not a text")
    return value


def _clean(value: object, where: str) -> str:
    """The text of a claim without the characters that could change how a reader sees it."""
    return _text(prose.clean(_text(value, where)), where)


def _ground(sentence: _Sentence, evidence: Evidence) -> list[RecordCitation]:
    citations = []
    for support in dict.fromkeys(sentence.supports):
        passage = references.repair(support.source, evidence, to_hint=False)
        span = quotes.find(support.quote, passage.text) if isinstance(passage, Passage) else None
        if isinstance(passage, Passage) and span is not None:
            citations.append(_citation(passage, *span))
    return citations


def _citation(passage: Passage, start: int, end: int) -> RecordCitation:
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


def _exact(text: str, citations: Sequence[RecordCitation], evidence: Evidence) -> bool:
    cited = {(citation.id, citation.url) for citation in citations}
    texts = [passage.text for passage in evidence.passages if (passage.id, passage.url) in cited]
    return all(quotes.holds(texts, part) for part in quotes.exact_parts(text))
