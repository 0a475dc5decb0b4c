"""Almost-right references snapped onto what was retrieved; nothing is ever invented."""

from .errors import ContractViolation
from .types import Evidence, Passage, RoutingHint

Source = Passage | RoutingHint


def repair(reference: str, evidence: Evidence, *, to_hint: bool) -> Source:
    """What a draft's reference means: a position such as ``s1``, else an id, else a url.

    One of the wrong kind converts when its url belongs to the other kind; otherwise what was
    found is returned as it is. ContractViolation if nothing retrieved fits.
    """
    found = _resolve(reference.strip(), evidence)
    if found is None:
        raise never_retrieved(reference)
    if isinstance(found, Passage) and to_hint:
        return hint_at(found.url, evidence) or found
    if isinstance(found, RoutingHint) and not to_hint:
        return passage_at(found.url, evidence) or found
    return found


def never_retrieved(reference: str) -> ContractViolation:
    """The violation of a source that is not in the evidence."""
    return ContractViolation("ground", "source", f"source {reference[:80]!r} was never retrieved")


def passage_at(url: str, evidence: Evidence) -> Passage | None:
    """The first passage of a url."""
    return next((passage for passage in evidence.passages if passage.url == url), None)


def hint_at(url: str, evidence: Evidence) -> RoutingHint | None:
    """The hint of a url, if exactly one has it: which of two was meant cannot be known."""
    found = [hint for hint in evidence.hints if hint.url == url]
    return found[0] if len(found) == 1 else None


def passage_of(identifier: str, evidence: Evidence) -> Passage | None:
    """The passage of an id."""
    return next((passage for passage in evidence.passages if passage.id == identifier), None)


def hint_of(identifier: str, evidence: Evidence) -> RoutingHint | None:
    """The hint of an id."""
    return next((hint for hint in evidence.hints if hint.id == identifier), None)


def _resolve(reference: str, evidence: Evidence) -> Source | None:
    numbered: dict[str, Source] = {
        **{f"s{n}": passage for n, passage in enumerate(evidence.passages, 1)},
        **{f"h{n}": hint for n, hint in enumerate(evidence.hints, 1)},
    }
    return (
        numbered.get(reference)
        or passage_of(reference, evidence)
        or hint_of(reference, evidence)
        or passage_at(reference, evidence)
        or hint_at(reference, evidence)
    )
