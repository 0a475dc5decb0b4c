"""Test doubles: LetterEmbedder makes vectors of letter counts, ScriptedAnswerer replays drafts."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from answerable.engine.types import Evidence
from answerable.engine.vectors import EmbedderIdentity, Floats

LETTER_IDENTITY = EmbedderIdentity(provider="test", model="letters", dimensions=8)


@dataclass
class LetterEmbedder:
    """Hash texts by their letters: equal texts have equal vectors, an empty one is all zeros."""

    identity: EmbedderIdentity = LETTER_IDENTITY
    max_question_tokens: int = 0

    def word_rank(self, word: str) -> int | None:
        """Return None: there is no word list."""
        del word
        return None

    def embed(self, texts: Sequence[str]) -> Floats:
        """Count the letters and digits of each text by their code, modulo the dimensions."""
        dimensions = self.identity.dimensions
        rows = np.zeros((len(texts), dimensions), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for character in text:
                row[ord(character) % dimensions] += character.isalnum()
        norms = np.linalg.norm(rows, axis=1, keepdims=True)
        np.divide(rows, norms, out=rows, where=norms > 0)
        return rows


@dataclass
class ScriptedAnswerer:
    """Return the drafts of a script in turn; record the evidence and violation of each attempt."""

    drafts: list[object]
    violations: list[str | None] = field(default_factory=list)
    evidence: list[Evidence] = field(default_factory=list)
    label: str = "scripted"
    max_question_tokens: int = 0
    max_evidence_characters: int | None = None

    def draft(self, question: str, evidence: Evidence, violation: str | None = None) -> object:
        """Return the next draft; IndexError if the script has ended."""
        del question
        self.evidence.append(evidence)
        self.violations.append(violation)
        return self.drafts[len(self.violations) - 1]
