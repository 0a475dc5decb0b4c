"""The answer contract: a draft goes in; only grounded claims and routes come out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from . import quotes
from .errors import ContractViolation
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


@dataclass(frozen=True, slots=True)
class _Support:
    """One source that a draft's claim names, with the words it quotes from it."""

    source: str
    quote: str


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A draft's claim of the right shape."""

    text: str
    supports: tuple[_Support, ...]


def settle(draft: object, evidence: Evidence) -> Answer:
    """Validate, repair and ground a draft against the evidence it was written from.

    draft: ``{"claims": [{"text", "evidence": [{"source", "quote"}]}], "routes": [id]}``; a
    missing list reads as empty. ContractViolation(stage="validate") for a wrong shape,
    (stage="ground") for a source that was never retrieved. A source whose quote is not in its
    passage is dropped from its claim; a claim without a source, or a route to no hint, is dropped
    and counted.
    """
    sentences, targets = _validate(draft)
    claims: list[Claim] = []
    dropped = 0
    for sentence in sentences:
        citations = _ground(sentence, evidence)
        if citations and _exact(sentence.text, citations, evidence):
            claims.append(Claim(sentence.text, tuple(dict.fromkeys(citations))))
        else:
            dropped += 1
    hints = [_repair(target, evidence, to_hint=True) for target in targets]
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
        _text(claim.get("text"), f"{where}.text"),
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


def _repair(reference: str, evidence: Evidence, *, to_hint: bool) -> Passage | RoutingHint:
    """Snap a reference onto something retrieved: position, then id, then url.

    One of the wrong kind converts when its url belongs to the other kind; otherwise what was
    found is returned as it is. ContractViolation if nothing retrieved fits.
    """
    found = _resolve(reference.strip(), evidence)
    if found is None:
        raise ContractViolation("ground", f"the source {reference!r} was never retrieved")
    if isinstance(found, Passage) and to_hint:
        return _hint_at(found.url, evidence) or found
    if isinstance(found, RoutingHint) and not to_hint:
        return _passage_at(found.url, evidence) or found
    return found


def _resolve(reference: str, evidence: Evidence) -> Passage | RoutingHint | None:
    numbered: dict[str, Passage | RoutingHint] = {
        **{f"s{n}": passage for n, passage in enumerate(evidence.passages, 1)},
        **{f"h{n}": hint for n, hint in enumerate(evidence.hints, 1)},
    }
    by_id: dict[str, Passage | RoutingHint] = {
        **{hint.id: hint for hint in evidence.hints},
        **{passage.id: passage for passage in evidence.passages},
    }
    return (
        numbered.get(reference)
        or by_id.get(reference)
        or _passage_at(reference, evidence)
        or _hint_at(reference, evidence)
    )


def _passage_at(url: str, evidence: Evidence) -> Passage | None:
    return next((passage for passage in evidence.passages if passage.url == url), None)


def _hint_at(url: str, evidence: Evidence) -> RoutingHint | None:
    """The hint of a url, if exactly one has it: which of two was meant cannot be known."""
    found = [hint for hint in evidence.hints if hint.url == url]
    return found[0] if len(found) == 1 else None


def _ground(sentence: _Sentence, evidence: Evidence) -> list[RecordCitation]:
    citations = []
    for support in sentence.supports:
        passage = _repair(support.source, evidence, to_hint=False)
        span = quotes.find(support.quote, passage.text) if isinstance(passage, Passage) else None
        if isinstance(passage, Passage) and span is not None:
            citations.append(
                RecordCitation(
                    passage.id,
                    passage.url,
                    passage.title,
                    quote=passage.text[span[0] : span[1]],
                    start=span[0],
                    date=passage.date,
                )
            )
    return citations


def _exact(text: str, citations: Sequence[RecordCitation], evidence: Evidence) -> bool:
    cited = {(citation.id, citation.url) for citation in citations}
    texts = [passage.text for passage in evidence.passages if (passage.id, passage.url) in cited]
    return all(quotes.holds(texts, part) for part in quotes.exact_parts(text))
