"""Enforce the answer contract: refuse a bad shape, repair references, drop ungrounded claims.

``draft_reply`` calls an answerer until its draft meets the contract, twice at most, or refuses.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, Protocol

import msgspec

from ..errors import ContractViolation, Drop, ProviderError, Rule
from ..request_context import current_context
from ..retrieval.question import MAX_QUESTION_CHARACTERS, clean_question
from ..text.markdown import Block, plain_text, read_markdown, slice_blocks
from ..text.markdown_writer import escape_markdown, write_blocks
from ..text.sentences import link_to_range, widen_to_sentences
from ..text.tokenization import sanitize_text
from ..types import (
    Answer,
    Claim,
    Evidence,
    Passage,
    RecordCitation,
    Reply,
    RoutingHint,
)
from .grounding import Grounds, Quotation, choose_quotations, find_excerpt, locate_quote_parts


class Answerer(Protocol):
    """A source of drafts, which the contract judges one by one."""

    @property
    def label(self) -> str:
        """Name all that an answer depends on beside evidence and prompt, for the answer cache."""

    @property
    def max_question_tokens(self) -> int:
        """The tokens that a question counts for where its calls count none, or 0 if it is free."""

    @property
    def max_evidence_characters(self) -> int | None:
        """The most characters of passages that a model reads, near misses among them.

        None for an answerer that quotes what is above the floor and words nothing itself.
        """

    def draft(self, question: str, evidence: Evidence, violation: str | None = None) -> object:
        """Draft an answer in the shape that ``enforce_contract`` describes.

        A draft that declines may have the words to ``search`` the pages for instead. The answerer
        is then called once more, with what they find. violation: what was wrong with the previous
        draft for the same question.
        """


EvidenceItem = Passage | RoutingHint

# Nobody reads an answer of more sentences.
MAX_ANSWER_CLAIMS = 12

# A text that shows something.
_Text = Annotated[str, msgspec.Meta(pattern=r"\S")]


class _DraftSupport(msgspec.Struct, frozen=True):
    """The source that a draft's claim names, and the words quoted from it."""

    source: _Text
    quote: _Text


class _DraftClaim(msgspec.Struct, frozen=True):
    """A claim of a draft."""

    text: _Text
    evidence: Annotated[tuple[_DraftSupport, ...], msgspec.Meta(min_length=1)]


class _Draft(msgspec.Struct, frozen=True):
    """A draft of the right shape, whatever else it holds."""

    claims: tuple[_DraftClaim, ...] = ()
    routes: tuple[_Text, ...] = ()
    complete: Any = False


def enforce_contract(
    draft: object, evidence: Evidence, names: Sequence[str] = (), question: str = ""
) -> Answer:
    """Validate, repair and ground a draft of claims against the evidence it was written from.

    draft: ``{"complete": bool, "claims": [{"text", "evidence": [{"source", "quote"}]}], "routes":
    [id], "search": str}``; a missing list reads as empty, a missing ``complete`` as false, and
    ``search`` is for ``draft_reply``. names: texts that a claim may take names from. question: in
    the reader's own words. ContractViolation (stage="validate") for a wrong shape, (stage="ground")
    for a source that was never retrieved.
    A source without a good quote is dropped from its claim; a claim over ``MAX_ANSWER_CLAIMS``,
    without a source or against a grounding rule, or a route to no hint, is dropped and counted.
    """
    read = _validate_draft(draft)
    grounds = Grounds(evidence, names, question)
    grounded = [_ground_claim(claim, grounds) for claim in read.claims[:MAX_ANSWER_CLAIMS]]
    drops = [replace(drop, claim=n) for n, drop in enumerate(grounded, 1) if isinstance(drop, Drop)]
    drops += [Drop("too-many", n) for n in range(len(grounded) + 1, len(read.claims) + 1)]
    items = [repair_reference(target, evidence, to_hint=True) for target in read.routes]
    hints = dict.fromkeys(item for item in items if isinstance(item, RoutingHint))
    drops += [
        Drop("route", part=target)
        for target, item in zip(read.routes, items, strict=True)
        if not isinstance(item, RoutingHint)
    ]
    claims = tuple(claim for claim in grounded if isinstance(claim, Claim))
    return Answer(claims, tuple(hints), len(drops), tuple(drops), read.complete is True)


def repair_reference(reference: str, evidence: Evidence, *, to_hint: bool) -> EvidenceItem:
    """Resolve a draft's reference: a position such as ``s1``, else an id, else a url.

    An item of the wrong kind converts when its url belongs to the other kind, and is returned as
    it is otherwise. ContractViolation if nothing retrieved fits: nothing is ever invented.
    """
    name = reference.strip()
    # A later entry replaces an earlier one: positions over ids, passages over hints.
    item_by_name: dict[str, EvidenceItem] = {
        **{hint.id: hint for hint in reversed(evidence.hints)},
        **{passage.id: passage for passage in reversed(evidence.passages)},
        **{f"s{n}": passage for n, passage in enumerate(evidence.passages, 1)},
        **{f"h{n}": hint for n, hint in enumerate(evidence.hints, 1)},
    }
    item = item_by_name.get(name) or find_passage_by_url(name, evidence)
    item = item or find_hint_by_url(name, evidence)
    if item is None:
        raise make_source_violation(reference)
    if isinstance(item, Passage) and to_hint:
        return find_hint_by_url(item.url, evidence) or item
    if isinstance(item, RoutingHint) and not to_hint:
        return find_passage_by_url(item.url, evidence) or item
    return item


def make_source_violation(reference: str) -> ContractViolation:
    """Make the violation of a source that is not in the evidence."""
    return ContractViolation("ground", "source", f"source {reference[:80]!r} was never retrieved")


def find_passage_by_url(url: str, evidence: Evidence) -> Passage | None:
    """Find the first passage of a url."""
    return next((passage for passage in evidence.passages if passage.url == url), None)


def find_hint_by_url(url: str, evidence: Evidence) -> RoutingHint | None:
    """Find the hint of a url, if exactly one has it: of two, either may be meant."""
    hints = [hint for hint in evidence.hints if hint.url == url]
    return hints[0] if len(hints) == 1 else None


def _validate_draft(draft: object) -> _Draft:
    if isinstance(draft, str):
        raise ContractViolation("validate", "not-json", "the draft is not JSON")
    try:
        read = msgspec.convert(draft, _Draft)
    except msgspec.ValidationError as error:
        # It names the place and the types, and repeats no value.
        raise ContractViolation("validate", "shape", f"the draft: {error}") from None
    except UnicodeError:
        # A key with half a character, which no value of the error may repeat.
        raise ContractViolation("validate", "shape", "the draft has an unreadable key") from None
    if not all(sanitize_text(claim.text).strip() for claim in read.claims):
        raise ContractViolation("validate", "shape", "the draft has a claim without a text")
    return read


def _ground_claim(claim: _DraftClaim, grounds: Grounds) -> Claim | Drop:
    """Ground one claim, or say what breaks which rule."""
    located = {support: _locate_support(support, grounds.evidence) for support in claim.evidence}
    places = [place for support in claim.evidence for place in located[support]]
    # Without the characters that could change how a reader sees it.
    text = sanitize_text(claim.text)
    quotations = choose_quotations(text, places, grounds)
    if isinstance(quotations, Drop):
        # A model copies the Markdown that it reads.
        plain = plain_text(text)
        copied = quotations if plain == text else choose_quotations(plain, places, grounds)
        if isinstance(copied, Drop) or not find_excerpt(plain, copied):
            return quotations
        text, quotations = plain, copied
    excerpt = find_excerpt(text, quotations)
    markdown = _write_excerpt(excerpt) if excerpt else escape_markdown(text)
    return Claim(text, tuple(dict.fromkeys(map(_cite_quotation, quotations))), markdown)


def _write_excerpt(excerpt: Sequence[Quotation]) -> str:
    """Write what a claim quotes as the Markdown of its passages, with "…" where words are left out.

    Rows of one table stay one, even if rows between them are left out.
    """
    blocks: list[Block] = []
    before: Quotation | None = None
    for quotation in excerpt:
        passage = quotation.passage
        placed = read_markdown(passage.markdown).blocks
        sliced = slice_blocks(placed, quotation.start, quotation.end)
        is_same = before is not None and before.passage is passage
        is_table = is_same and blocks[-1].kind == sliced[0].kind == "row"
        left_out = passage.text[before.end : quotation.start] if before and is_same else passage.id
        if before and not is_table and left_out.strip():
            blocks.append(Block("text", "…"))
        blocks += sliced
        before = quotation
    return write_blocks(blocks)


def _locate_support(support: _DraftSupport, evidence: Evidence) -> list[list[Quotation] | Drop]:
    """Locate a quote in the passage that its source names, or name the rule that drops it."""
    passage = repair_reference(support.source, evidence, to_hint=False)
    if isinstance(passage, Passage):
        return locate_quote_parts(support.quote, passage)
    return [Drop("quote", part=support.quote)]


def _cite_quotation(quotation: Quotation) -> RecordCitation:
    """Cite the whole sentences of a quote where they are short, so that no "not" is cut off."""
    passage = quotation.passage
    start, end = widen_to_sentences(passage, quotation.start, quotation.end)
    quote, href = passage.text[start:end], link_to_range(passage, start, end)
    return RecordCitation(
        passage.id, passage.url, passage.title, quote, passage.date, href, passage.language
    )


# What a model is told of a claim that falls; the other rules want each exact part to be quoted.
_REMEDIES: Mapping[Rule, str] = {
    "quote": "does not stand in its source: copy a sentence of that source character by character",
    "short-quote": "is too short to quote: quote the whole sentence",
    "length": "is too long: write one sentence",
    "code": "is not whole code of a cited source: copy the whole command or line",
    "too-many": "is one claim too many",
}


def describe_drops(drops: Sequence[Drop]) -> str:
    """Describe claims that fell to the model that wrote them: each with its part and the remedy."""
    default = "does not stand in the sentences that the claim quotes: quote it, or leave it out"
    return "; ".join(
        f"claim {drop.claim}: {drop.part!r:.200} ({drop.rule}) {_REMEDIES.get(drop.rule, default)}"
        for drop in drops
    )


def list_named_passages(draft: object, evidence: Evidence) -> Iterator[Passage]:
    """List the passages that the claims of a draft name, whatever else is wrong with it."""
    claims = draft.get("claims") if isinstance(draft, Mapping) else None
    for claim in claims if isinstance(claims, list | tuple) else ():
        supports = claim.get("evidence") if isinstance(claim, Mapping) else None
        for support in supports if isinstance(supports, list | tuple) else ():
            source = support.get("source") if isinstance(support, Mapping) else None
            if isinstance(source, str):
                try:
                    item = repair_reference(source, evidence, to_hint=False)
                except ContractViolation:
                    continue
                if isinstance(item, Passage):
                    yield item


def read_search_words(draft: object) -> str:
    """Read the words that a draft which declines would search for, or "" if it has none."""
    if not isinstance(draft, Mapping) or draft.get("claims") or draft.get("routes"):
        return ""
    words = draft.get("search")
    if not isinstance(words, str):
        return ""
    # Cleaning may make a text longer, and takes long for one without end.
    return clean_question(words[:MAX_QUESTION_CHARACTERS])[:MAX_QUESTION_CHARACTERS]


# A draft that breaks the contract, that loses its first claim, or that declines and says what to
# search for, gets one more attempt.
MAX_DRAFTS = 2


def draft_reply(
    answerer: Answerer,
    question: str,
    evidence: Evidence,
    names: Sequence[str] = (),
    search: Callable[[str], Evidence] | None = None,
) -> Reply:
    """Draft an answer until it meets the contract, or refuse. Without evidence nothing is drafted.

    names: of the site, which a claim may use. question: in the reader's own words; a claim may use
    those that a cited passage has too. search: looks for other evidence by the words of a first
    draft that declines; if it finds any, the second draft is written from that and replaces the
    first. Otherwise the second draft gets the violation of the first, and the one with more claims
    that hold is taken. ProviderError if a call fails and no claim holds yet.
    """
    if not evidence:
        return Reply(reason="no-evidence")
    best: Answer | None = None
    violation: str | None = None
    named: dict[Passage, None] = {}
    context = current_context()
    # A question counts once, however many drafts it takes.
    tokens = answerer.max_question_tokens
    for _ in range(MAX_DRAFTS):
        try:
            with context.stage("writing"), context.counting(tokens):
                draft = answerer.draft(question, evidence, violation)
            tokens = 0
        except ProviderError:
            # What the first attempt left is worth more than a reply without a model.
            if best is None or not best.claims:
                raise
            break
        named |= dict.fromkeys(list_named_passages(draft, evidence))
        try:
            with context.stage("checking"):
                answer = enforce_contract(draft, evidence, names, question)
        except ContractViolation as error:
            violation = str(error)
            context.refusals[f"{error.stage}/{error.rule}"] += 1
            continue
        context.refusals.update(f"ground/{rule}" for rule in answer.rules)
        if best is None or len(answer.claims) >= len(best.claims):
            best = answer
        if search and violation is None and (words := read_search_words(draft)):
            other_evidence, search = search(words), None
            if not other_evidence:
                break
            evidence, best = other_evidence, None
            continue
        fallen = [drop for drop in answer.drops if drop.claim is not None]
        is_lost = bool(fallen) and (not answer.claims or fallen[0].claim == 1)
        if not is_lost or answerer.max_evidence_characters is None:
            break
        violation = describe_drops(fallen)
    if best is None or (best.mode == "not-found" and best.drops):
        return Reply(best or Answer(), reason="contract", passages=tuple(named))
    if best.mode == "not-found":
        return Reply(best, reason="declined")
    return Reply(best, passages=evidence.passages)
