"""Passages of blocks, written as a test reads best."""

from answerable.engine.text.markdown import Block, BlockKind
from answerable.engine.text.markdown_writer import write_blocks
from answerable.engine.types import Passage


def block(kind: BlockKind, text: str, level: int = 0, detail: str = "") -> Block:
    """Describe a block by its text, without code and links."""
    return Block(kind, text, level, detail)


def passage(
    *blocks: Block, name: str = "guide#part", title: str = "Guide › Part", language: str = "en"
) -> Passage:
    """Make a passage of blocks as a build does."""
    return Passage(
        id=name,
        record=name.partition("#")[0],
        url=f"/{name.replace('#', '/#')}",
        title=title,
        markdown=write_blocks(blocks),
        language=language,
    )
