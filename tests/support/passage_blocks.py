"""Passages of blocks, written as a test reads best."""

import re
from collections.abc import Iterable

from answerable.serve.structure import Block, BlockKind
from answerable.serve.types import Passage

_SENTENCE = re.compile(r"\S.*?(?:[.:?!…](?=\s|$)|$)", re.DOTALL)


def block(
    kind: BlockKind, text: str, group: int = 0, level: int = 0, detail: str = ""
) -> tuple[BlockKind, str, int, int, str]:
    """Describe a block by its text."""
    return kind, text, group, level, detail


def passage(
    *blocks: tuple[BlockKind, str, int, int, str],
    name: str = "guide#part",
    title: str = "Guide › Part",
    language: str = "en",
) -> Passage:
    """Make a passage of blocks as a build does; every text, item and row is cut at sentences."""
    text = ""
    passage_blocks: list[Block] = []
    sentences: list[tuple[int, int]] = []
    for kind, words, group, level, detail in blocks:
        glue = "\n" if kind in ("item", "row") else "\n\n"
        text += glue if text else ""
        start = len(text)
        text += words
        passage_blocks.append(Block(kind, start, len(text), group, level, detail))
        sentences += [(start + a, start + b) for a, b in _sentences(kind, words)]
    return Passage(
        id=name,
        record=name.partition("#")[0],
        url=f"/{name.replace('#', '/#')}",
        title=title,
        text=text,
        sentences=tuple(sentences),
        language=language,
        blocks=tuple(passage_blocks),
    )


def _sentences(kind: BlockKind, words: str) -> Iterable[tuple[int, int]]:
    if kind == "code":
        return []
    if kind == "row":
        return [(0, len(words))]
    return [match.span() for match in _SENTENCE.finditer(words)]
