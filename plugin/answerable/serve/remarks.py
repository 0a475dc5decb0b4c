"""What a reader is told of how the words of a question were read."""

from collections.abc import Mapping
from typing import Literal

from .frozen import frozen

# A near spelling stands in for a word; no passage holds a word; the question needs an earlier one.
Kind = Literal["corrected", "unknown", "follow-up"]


@frozen
class Remark:
    """One remark. ``word``: as it was asked; ``replacement``: the site's spelling of it."""

    kind: Kind
    word: str = ""
    replacement: str = ""

    def as_json(self) -> Mapping[str, str]:
        """The remark as an answer's ``notes`` hold it."""
        if self.kind == "corrected":
            return {"kind": self.kind, "from": self.word, "to": self.replacement}
        if self.kind == "unknown":
            return {"kind": self.kind, "word": self.word}
        return {"kind": self.kind}
