"""Where sentences begin and end."""

from itertools import pairwise

import sentencex

from .records import PageBlock

# What ends a sentence without a space after it.
_STOPS = "。！？．｡"


def split(block: PageBlock, language: str = "en") -> list[tuple[int, int]]:
    """The (start, end) offsets of a block's sentences, white space left out; none in code.

    A label has none either: it says nothing alone. A table row is one sentence. No sentence ends
    inside inline code or inside a word.
    """
    text = block.text
    if block.kind in ("code", "label"):
        return []
    if block.kind == "row":
        # Its first or last cell may be empty.
        return [(len(text) - len(text.lstrip()), len(text.rstrip()))]
    # A full stop within code must not look like an end; a letter of the same width cannot.
    masked = list(text)
    for start, end in block.code:
        masked[start:end] = "x" * (end - start)
    edges = [0]
    at = 0
    for piece in sentencex.segment(language, "".join(masked)):
        at += len(piece)
        if (
            at >= len(text)
            or text[at - 1].isspace()
            or text[at].isspace()
            or text[at - 1] in _STOPS
        ):
            edges.append(min(at, len(text)))
    if edges[-1] != len(text):
        edges.append(len(text))
    spans = []
    for start, end in pairwise(edges):
        sentence = text[start:end]
        if sentence.strip():
            begin = start + len(sentence) - len(sentence.lstrip())
            spans.append((begin, begin + len(sentence.strip())))
    return spans
