"""Immutable types: passage, routing hint (no field for text), evidence, claim, answer, reply."""

import re
from dataclasses import dataclass, field
from typing import Literal

from .errors import AnswerableError, Drop, Rule
from .rules import RULES
from .text.markdown import plain_text

Mode = Literal["supported", "partial", "related-material", "not-found"]
Reason = Literal["no-evidence", "declined", "contract"]
Confidence = Literal["high", "medium", "low"]
MODES: tuple[Mode, ...] = ("supported", "partial", "related-material", "not-found")

# Between the headings of a passage's title.
TITLE_SEPARATOR: str = RULES["structure"]["TITLE_SEPARATOR"]

# The number of a further window at the end of its id.
WINDOW_SUFFIX = re.compile(r"~[0-9]+$")


@dataclass(frozen=True, slots=True)
class Passage:
    """A window of a published page under one heading: the citable unit.

    ``summary`` and ``themes`` are its page's: context, which no quote can come from.
    """

    id: str
    record: str
    url: str
    title: str
    markdown: str
    date: str | None = None
    language: str = "en"
    summary: str = ""
    themes: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """Return its plain text, which words, vectors and quotes are of."""
        return plain_text(self.markdown)

    @property
    def section(self) -> str:
        """Return the id of its section: its own without the number of a window."""
        return WINDOW_SUFFIX.sub("", self.id)


@dataclass(frozen=True, slots=True)
class Place:
    """A section that a search finds, and its line for the question: a link, never a source.

    ``is_cut``: the section goes on where its passage ends.
    """

    passage: Passage
    start: int
    end: int
    is_cut: bool = False

    @property
    def line(self) -> str:
        """Return the words of the line."""
        return self.passage.text[self.start : self.end]


@dataclass(frozen=True, slots=True)
class RoutingHint:
    """Point to a private note by its public surface; there is no field for its text."""

    id: str
    label: str
    locator: str
    url: str

    @property
    def note(self) -> str:
        """Return the id of its note, which has a hint for each of its windows with a place."""
        return WINDOW_SUFFIX.sub("", self.id)


@dataclass(frozen=True, slots=True)
class Evidence:
    """All that an answerer may see, best first.

    ``lead``: the best hint's cosine minus the best passage's.
    """

    passages: tuple[Passage, ...] = ()
    hints: tuple[RoutingHint, ...] = ()
    lead: float = 0.0

    def __bool__(self) -> bool:
        return bool(self.passages or self.hints)


@dataclass(frozen=True, slots=True)
class RecordCitation:
    """The exact (id, url) of a retrieved passage and the words of it that back a claim.

    ``href``: the url with a text fragment, where to link.
    """

    id: str
    url: str
    title: str
    quote: str
    date: str | None = None
    href: str = field(default="", compare=False)
    language: str = "en"


Citation = RecordCitation | RoutingHint


@dataclass(frozen=True, slots=True)
class Claim:
    """Words and the citations that back them; without one it cannot be built.

    ``markdown``: as it is drawn, the passages' own Markdown where it consists of their words.
    """

    text: str
    citations: tuple[RecordCitation, ...]
    markdown: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        if not self.citations or not self.text.strip():
            raise ValueError("a claim needs text and at least one citation")


@dataclass(frozen=True, slots=True)
class Answer:
    """Grounded claims and routes, the count of those that were dropped, and why each was.

    A route is the hint of a private note; its sentence is rendered, never written. ``complete``:
    its answerer says that the evidence answers the whole question.
    """

    claims: tuple[Claim, ...] = ()
    routes: tuple[RoutingHint, ...] = ()
    dropped: int = 0
    drops: tuple[Drop, ...] = field(default=(), compare=False)
    complete: bool = field(default=False, compare=False)

    @property
    def rules(self) -> tuple[Rule, ...]:
        """Return the rule of each drop."""
        return tuple(drop.rule for drop in self.drops)

    @property
    def citations(self) -> tuple[Citation, ...]:
        """Return every distinct citation in order of first use."""
        records = (citation for claim in self.claims for citation in claim.citations)
        return tuple(dict.fromkeys([*records, *self.routes]))

    @property
    def mode(self) -> Mode:
        """Compute the mode that the mix of citations implies."""
        if self.claims:
            return "supported" if self.routes else "partial"
        return "related-material" if self.routes else "not-found"


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer, its passages, its confidence, and the reason of a refusal.

    ``text``: the answer with [n] markers. ``stored``: the words of the question that it is stored
    for, "" if it was drafted. ``excerpts``: the reply without the stored one, None for a refusal.
    ``written``: its claims are a model's, or stored. ``failure``: why no model's answer is shown
    and the reply is the keyless one. Of a refusal with the reason ``contract``, ``passages`` are
    those that the drafts named.
    """

    answer: Answer = field(default_factory=Answer)
    confidence: Confidence = "low"
    reason: Reason | None = None
    passages: tuple[Passage, ...] = field(default=(), compare=False)
    text: str = field(default="", compare=False)
    stored: str = ""
    excerpts: "Reply | None" = field(default=None, compare=False)
    written: bool = False
    failure: AnswerableError | None = field(default=None, compare=False)

    @property
    def mode(self) -> Mode:
        """Return the mode of the answer."""
        return self.answer.mode

    @property
    def citations(self) -> tuple[Citation, ...]:
        """Return the distinct citations of the answer, in the order of their numbers."""
        return self.answer.citations

    def __post_init__(self) -> None:
        if (self.answer.mode == "not-found") != (self.reason is not None):
            raise ValueError("a refusal, and only a refusal, has a reason")
