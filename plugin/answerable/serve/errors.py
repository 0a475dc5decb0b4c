"""Every error the package raises, as one tree.

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
├── CrowdedError         too many who wait for an answer already
├── BudgetError          tokens that today's cap has no room for
├── PolicyError          a setting of the function's environment that has to change
└── GoldError            a gold file that the author has to change
"""

from typing import Literal

ContractStage = Literal["validate", "ground"]
# What a draft, a claim or a route was refused for: all that a log tells of it.
Rule = Literal[
    "not-json", "shape", "source", "quote", "short-quote", "blank", "length", "number",
    "code", "url", "email", "host", "path", "option", "name", "too-many", "route",
]  # fmt: skip


class AnswerableError(Exception):
    """Base of every error here; its text names the file or field and the remedy."""


# What helps where a bundle is not what a build has written.
BUILD_AGAIN = "run `mkdocs build` again"


class BundleError(AnswerableError):
    """A bundle that cannot be served."""


class EmbedderError(AnswerableError):
    """An embedder that cannot give vectors of its identity."""


class ProviderError(AnswerableError):
    """A call to a model's server that failed; its text repeats nothing of what the server said.

    ``passing``: another attempt may succeed. ``timeout``: the deadline passed.
    """

    def __init__(self, what: str, *, passing: bool = False, timeout: bool = False) -> None:
        super().__init__(what)
        self.passing = passing
        self.timeout = timeout


class CancelledError(AnswerableError):
    """A question that nobody waits for any more."""


class StorageError(AnswerableError):
    """A store that instances share and that cannot be reached."""


class CrowdedError(AnswerableError):
    """Too many who wait for an answer already."""


class BudgetError(AnswerableError):
    """Tokens that today's cap has no room for.

    ``passing``: there may be room again as soon as questions under way have settled.
    """

    def __init__(self, what: str, *, passing: bool = False) -> None:
        super().__init__(what)
        self.passing = passing


class PolicyError(AnswerableError):
    """A setting of the function's environment that has to change; its text names the variable."""


class SiteError(AnswerableError):
    """A page, an option or a folder of the site that has to change."""


class NotebookError(AnswerableError):
    """A note, or the notebook's place, that has to change."""


class LeakError(NotebookError):
    """Private words in what was written; its text says where and repeats none of them."""


class GoldError(AnswerableError):
    """A gold query that has to change."""


class ContractViolation(AnswerableError):  # noqa: N818 - the design's own word
    """A draft that breaks the answer contract; ``stage`` and ``rule`` repeat nothing of it."""

    def __init__(self, stage: ContractStage, rule: Rule, what: str) -> None:
        super().__init__(what)
        self.stage = stage
        self.rule = rule
