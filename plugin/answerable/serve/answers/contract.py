"""Almost-right references snapped onto what was retrieved; nothing is ever invented.

The answer contract: a draft goes in; only grounded claims and routes come out.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from ..errors import ContractViolation, Rule
from ..text.sanitization import sanitize_text
from ..types import (
    Answer,
    Claim,
    Evidence,
    HintCitation,
    Passage,
    RecordCitation,
    Route,
    RoutingHint,
)
from . import quotes
from .grounding import Quotation, check_quote, choose_quotations
from .quotes import widen_to_sentences
from .text_fragments import link_to_quote

EvidenceItem = Passage | RoutingHint


def repair_reference(reference: str, evidence: Evidence, *, to_hint: bool) -> EvidenceItem:
    """What a draft's reference means: a position such as ``s1``, else an id, else a url.

    One of the wrong kind converts when its url belongs to the other kind; otherwise what was
    found is returned as it is. ContractViolation if nothing retrieved fits.
    """
    found = _resolve_reference(reference.strip(), evidence)
    if found is None:
        raise make_source_violation(reference)
    if isinstance(found, Passage) and to_hint:
        return find_hint_by_url(found.url, evidence) or found
    if isinstance(found, RoutingHint) and not to_hint:
        return find_passage_by_url(found.url, evidence) or found
    return found


def make_source_violation(reference: str) -> ContractViolation:
    """The violation of a source that is not in the evidence."""
    return ContractViolation("ground", "source", f"source {reference[:80]!r} was never retrieved")


def find_passage_by_url(url: str, evidence: Evidence) -> Passage | None:
    """The first passage of a url."""
    return next((passage for passage in evidence.passages if passage.url == url), None)


def find_hint_by_url(url: str, evidence: Evidence) -> RoutingHint | None:
    """The hint of a url, if exactly one has it: which of two was meant cannot be known."""
    found = [hint for hint in evidence.hints if hint.url == url]
    return found[0] if len(found) == 1 else None


def find_passage_by_id(identifier: str, evidence: Evidence) -> Passage | None:
    """The passage of an id."""
    return next((passage for passage in evidence.passages if passage.id == identifier), None)


def find_hint_by_id(identifier: str, evidence: Evidence) -> RoutingHint | None:
    """The hint of an id."""
    return next((hint for hint in evidence.hints if hint.id == identifier), None)


def _resolve_reference(reference: str, evidence: Evidence) -> EvidenceItem | None:
    numbered: dict[str, EvidenceItem] = {
        **{f"s{n}": passage for n, passage in enumerate(evidence.passages, 1)},
        **{f"h{n}": hint for n, hint in enumerate(evidence.hints, 1)},
    }
    return (
        numbered.get(reference)
        or find_passage_by_id(reference, evidence)
        or find_hint_by_id(reference, evidence)
        or find_passage_by_url(reference, evidence)
        or find_hint_by_url(reference, evidence)
    )


# More sentences are no answer that a person reads.
MAX_ANSWER_CLAIMS = 12
_shape_violation = partial(ContractViolation, "validate", "shape")


@dataclass(frozen=True, slots=True)
class _DraftSupport:
    """One source that a draft's claim names, with the words it quotes from it."""

    source: str
    quote: str


@dataclass(frozen=True, slots=True)
class _DraftClaim:
    """A draft's claim of the right shape."""

    text: str
    supports: tuple[_DraftSupport, ...]


def enforce_contract(draft: object, evidence: Evidence, names: Sequence[str] = ()) -> Answer:
    """Validate, repair and ground a draft of claims against the evidence it was written from.

    draft: ``{"claims": [{"text", "evidence": [{"source", "quote"}]}], "routes": [id]}``; a
    missing list reads as empty. names: texts that a claim may take names from. ContractViolation
    (stage="validate") for a wrong shape, (stage="ground") for a source that was never retrieved.
    A source without a good quote is dropped from its claim; a claim over ``MAX_CLAIMS``, without a
    source or against a grounding rule, or a route to no hint, is dropped and counted. A claim loses
    control characters, bidirectional overrides and lone surrogates before it is looked at.
    """
    sentences, targets = _validate_draft(draft)
    settled = [
        _ground_claim(sentence, evidence, names) for sentence in sentences[:MAX_ANSWER_CLAIMS]
    ]
    rules: list[Rule] = [each for each in settled if not isinstance(each, Claim)]
    rules += ["too-many"] * max(0, len(sentences) - MAX_ANSWER_CLAIMS)
    hints = [repair_reference(target, evidence, to_hint=True) for target in targets]
    routed = dict.fromkeys(hint for hint in hints if isinstance(hint, RoutingHint))
    rules += ["route" for hint in hints if not isinstance(hint, RoutingHint)]
    routes = (Route(HintCitation(hint.id, hint.url, hint.label, hint.locator)) for hint in routed)
    claims = tuple(each for each in settled if isinstance(each, Claim))
    return Answer(claims, tuple(routes), len(rules), tuple(rules))


def _validate_draft(draft: object) -> tuple[list[_DraftClaim], list[str]]:
    if isinstance(draft, str):
        raise ContractViolation("validate", "not-json", "the draft is not JSON")
    if not isinstance(draft, Mapping):
        raise _shape_violation("the draft is not an object")
    claims = _require_list(draft.get("claims", ()), "claims")
    routes = _require_list(draft.get("routes", ()), "routes")
    sentences = [_validate_claim(claim, f"claims[{index}]") for index, claim in enumerate(claims)]
    return sentences, [
        _require_text(route, f"routes[{index}]") for index, route in enumerate(routes)
    ]


def _validate_claim(claim: object, where: str) -> _DraftClaim:
    if not isinstance(claim, Mapping):
        raise _shape_violation(f"{where} is not an object")
    supports = _require_list(claim.get("evidence", ()), f"{where}.evidence")
    if not supports:
        raise _shape_violation(f"{where} has no evidence")
    # Without the characters that could change how a reader sees it, there may be nothing left.
    text = sanitize_text(_require_text(claim.get("text"), f"{where}.text"))
    cited = [_validate_support(item, f"{where}.evidence[{n}]") for n, item in enumerate(supports)]
    return _DraftClaim(_require_text(text, f"{where}.text"), tuple(cited))


def _validate_support(item: object, where: str) -> _DraftSupport:
    if not isinstance(item, Mapping):
        raise _shape_violation(f"{where} is not an object")
    return _DraftSupport(
        _require_text(item.get("source"), f"{where}.source"),
        _require_text(item.get("quote"), f"{where}.quote"),
    )


def _require_list(value: object, where: str) -> Sequence[object]:
    if isinstance(value, str | bytes) or not isinstance(value, Sequence):
        raise _shape_violation(f"{where} is not a list")
    return value


def _require_text(value: object, where: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise _shape_violation(f"{where} is not a text")
    return value


def _ground_claim(sentence: _DraftClaim, evidence: Evidence, names: Sequence[str]) -> Claim | Rule:
    """Ground one claim, or name the rule that drops it."""
    located = [_locate_quote(support, evidence) for support in dict.fromkeys(sentence.supports)]
    chosen = choose_quotations(sentence.text, located, evidence, names)
    if isinstance(chosen, str):
        return chosen
    return Claim(sentence.text, tuple(dict.fromkeys(map(_cite_quotation, chosen))))


def _locate_quote(support: _DraftSupport, evidence: Evidence) -> list[Quotation] | Rule:
    """Find a quote in the passage that its source names, or name the rule that drops it."""
    passage = repair_reference(support.source, evidence, to_hint=False)
    spans = quotes.find_quotes(support.quote, passage.text) if isinstance(passage, Passage) else []
    if not isinstance(passage, Passage) or not spans:
        return "quote"
    quotations = [Quotation(passage, *span) for span in spans]
    return check_quote(quotations[0]) or quotations


def _cite_quotation(quotation: Quotation) -> RecordCitation:
    """Cite the whole sentences of a quote where they are short, so that no "not" is cut off."""
    passage = quotation.passage
    start, end = widen_to_sentences(passage, quotation.start, quotation.end)
    quote = passage.text[start:end]
    return RecordCitation(
        passage.id,
        passage.url,
        passage.title,
        quote=quote,
        start=start,
        date=passage.date,
        href=link_to_quote(passage.url, quote, passage.text, start),
        language=passage.language,
    )
