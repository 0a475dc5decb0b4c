"""Exceptions of the package, as one tree, and the codes of the rules that refuse a draft.

AnswerableError
├── BundleError          a bundle that is missing, damaged or of another wire version
├── EmbedderError        an embedder whose files or vectors are not what they should be
├── ProviderError        a call to a model's server that failed
├── ContractViolation    a draft that breaks the answer contract (``stage``, ``rule``)
├── SiteError            a page, an option or a folder that the author has to change
├── NotebookError        a note that the author has to change
│   └── LeakError        words of a note in something that was to be published
├── CancelledError       a question that nobody waits for any more
├── StorageError         a store that instances share and that cannot be reached
├── PolicyError          a setting of the function's environment that has to change
└── GoldError            a gold file that the author has to change
"""

from dataclasses import dataclass, field
from typing import Literal

ContractStage = Literal["validate", "ground"]
# The rule by which a draft, a claim or a route was refused: all that a log holds of it.
Rule = Literal[
    "not-json", "shape", "source", "quote", "short-quote", "blank", "length", "lines",
    "number", "code", "url", "email", "host", "path", "option", "name", "too-many", "route",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Drop:
    """A claim or route of a draft that the contract dropped.

    ``claim`` is the claim's position in the draft, from 1, and None for a route. ``part`` is the
    text that broke the rule, in the draft's own words: it goes back to the model that wrote it and
    to nobody else.
    """

    rule: Rule
    claim: int | None = None
    part: str = field(default="", repr=False)


# Why a call of a provider has failed, which is all that a log or a report tells: no good key, a
# limit of the account, a request that is refused, no answer in time, no connection or a server that
# fails, a reply that is none; "other" where a registered provider does not say.
FailureCause = Literal["key", "limit", "request", "timeout", "unreachable", "reply", "other"]


class AnswerableError(Exception):
    """Base of every error here; its text names the file or field and the remedy.

    ``cause``: why a call of a provider has failed; None where no call has.
    """

    def __init__(self, message: str, *, cause: FailureCause | None = None) -> None:
        super().__init__(message)
        self.cause = cause


# The remedy for a bundle that is not as a build wrote it.
BUILD_AGAIN = "run `answerable build` again"


class BundleError(AnswerableError):
    """Report a bundle that cannot be served."""


class EmbedderError(AnswerableError):
    """Report an embedder that cannot give vectors of its identity."""


class ProviderError(AnswerableError):
    """Report a failed call to a model's server, repeating nothing of what the server said."""

    def __init__(self, message: str, *, cause: FailureCause = "other") -> None:
        super().__init__(message, cause=cause)

    @property
    def transient(self) -> bool:
        """True if another attempt may succeed."""
        return self.cause in ("limit", "unreachable")


class CancelledError(AnswerableError):
    """Report a question that nobody waits for any more."""


class StorageError(AnswerableError):
    """Report a store that instances share and that cannot be reached."""


class PolicyError(AnswerableError):
    """Report a setting of the function's environment by the name of its variable."""


class SiteError(AnswerableError):
    """Report a page, an option or a folder of the site that has to change."""


class NotebookError(AnswerableError):
    """Report a note, or the notebook's place, that has to change."""


class LeakError(NotebookError):
    """Report private words in what was written: where, and none of the words."""


class GoldError(AnswerableError):
    """Report a gold query that has to change."""


class ContractViolation(AnswerableError):  # noqa: N818 - the design's own word
    """Report a draft that breaks the answer contract, repeating nothing of it."""

    def __init__(self, stage: ContractStage, rule: Rule, message: str) -> None:
        super().__init__(message)
        self.stage = stage
        self.rule = rule
