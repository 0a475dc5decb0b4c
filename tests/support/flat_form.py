"""The older, flat form of a draft: prose, a declared mode and one list of citations."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from answerable.engine.answers.contract import (
    EvidenceItem,
    enforce_contract,
    find_hint_by_url,
    find_passage_by_url,
    make_source_violation,
)
from answerable.engine.errors import ContractViolation
from answerable.engine.types import (
    MODES,
    Answer,
    Claim,
    Evidence,
    Passage,
    RecordCitation,
    RoutingHint,
)

Item = TypeVar("Item", Passage, RoutingHint)

_IDS = {"record": "recordId", "hint": "hintId"}


@dataclass(frozen=True, slots=True)
class _FlatReference:
    """One citation as it was declared."""

    is_hint: bool
    id: str
    url: str


def settle_any_form(draft: object, evidence: Evidence) -> Answer:
    """Settle a draft in the form of claims or in the flat one; the engine takes the former only."""
    if isinstance(draft, Mapping) and ("claims" in draft or "routes" in draft):
        return enforce_contract(draft, evidence)
    return _settle_flat(draft, evidence)


def _settle_flat(draft: object, evidence: Evidence) -> Answer:
    """Settle a flat draft by the rules of the reference pipeline.

    It has no quotes, so none is checked: this form serves conformance, and the engine refuses it.
    The prose becomes one claim with the record citations; hint citations become routes, whose
    sentence is rendered. ContractViolation as for a draft of claims.
    """
    if not isinstance(draft, Mapping):
        raise ContractViolation("validate", "shape", "the draft is not an object")
    prose, cited = _validate_flat(draft)
    if draft["mode"] == "not-found":
        return Answer()
    citations = [_repair_reference(c.id, c.url, evidence, to_hint=c.is_hint) for c in cited]
    distinct = list(dict.fromkeys(citations))
    records = tuple(
        RecordCitation(
            item.id, item.url, item.title, quote="", date=item.date, language=item.language
        )
        for item in distinct
        if isinstance(item, Passage)
    )
    routes = tuple(item for item in distinct if isinstance(item, RoutingHint))
    return Answer((Claim(prose, records),) if records else (), routes)


def _find_by_id(identifier: str, items: Sequence[Item]) -> Item | None:
    return next((item for item in items if item.id == identifier), None)


def _repair_reference(
    identifier: str, url: str, evidence: Evidence, *, to_hint: bool
) -> EvidenceItem:
    """Resolve an (id, url) pair of a declared kind: by its kind's id, else url, else the other's.

    ContractViolation if nothing retrieved fits.
    """
    passage = _find_by_id(identifier, evidence.passages) or find_passage_by_url(url, evidence)
    hint = _find_by_id(identifier, evidence.hints) or find_hint_by_url(url, evidence)
    other = find_passage_by_url(url, evidence) if to_hint else find_hint_by_url(url, evidence)
    target = (hint if to_hint else passage) or other
    if target is None:
        raise make_source_violation(identifier)
    return target


def _validate_flat(draft: Mapping[object, object]) -> tuple[str, list[_FlatReference]]:
    mode, prose, citations = (draft.get(key) for key in ("mode", "answer", "citations"))
    if mode not in MODES:
        raise ContractViolation("validate", "shape", "the mode is none of the four")
    if not isinstance(prose, str):
        raise ContractViolation("validate", "shape", "the answer is not a text")
    if isinstance(citations, str | bytes) or not isinstance(citations, Sequence):
        raise ContractViolation("validate", "shape", "citations is not a list")
    cited = [_parse_reference(item, f"citations[{index}]") for index, item in enumerate(citations)]
    if mode == "not-found" and prose:
        raise ContractViolation("validate", "shape", "a not-found answer has prose")
    if mode != "not-found" and _is_reference_blank(prose):
        raise ContractViolation("validate", "shape", f"a {mode} answer has no prose")
    return prose, cited


def _parse_reference(item: object, where: str) -> _FlatReference:
    if not isinstance(item, Mapping):
        raise ContractViolation("validate", "shape", f"{where} is not an object")
    kind, url = item.get("kind"), item.get("url")
    identifier = item.get(_IDS[kind]) if kind in ("record", "hint") else None
    if not isinstance(identifier, str) or not isinstance(url, str):
        raise ContractViolation(
            "validate", "shape", f"{where} is neither a record nor a hint citation"
        )
    return _FlatReference(kind == "hint", identifier, url)


def _is_reference_blank(text: str) -> bool:
    """As the reference trims: U+FEFF counts as white space, U+200B does not."""
    return all(character.isspace() or character == "\ufeff" for character in text)
