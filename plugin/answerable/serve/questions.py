"""What a reader has asked, as it is answered."""

import unicodedata

MAX = 500


def clean(question: str) -> str:
    """A question in NFKC, without control characters, its words divided by single spaces."""
    text = unicodedata.normalize("NFKC", question)
    kept = (" " if unicodedata.category(c).startswith("C") else c for c in text)
    return " ".join("".join(kept).split())


def problem(cleaned: str) -> str | None:
    """Why a cleaned question cannot be answered, in one sentence; None if it can."""
    if not cleaned:
        return "The question is empty."
    if len(cleaned) > MAX:
        return f"A question has at most {MAX} characters."
    return None
