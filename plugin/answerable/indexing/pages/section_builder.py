"""Collect blocks into sections while a parser walks HTML; track headings, lists, boxes and tabs."""

from dataclasses import dataclass, field

from ...serve.structure import MAX_LEVEL, BlockKind, Span
from .inline_text import InlineText, collapse_space, shift_spans, trim_spans
from .records import PageBlock, Section

# Below that of any heading.
_OBJECT_LEVEL = 7


@dataclass(slots=True)
class BlockContext:
    """Hold the kind, group, level and detail of the next block.

    ``list_group`` is the group of the list whose item this is, for the lists in it; ``next_number``
    is the number of the next item of an ordered list, None anywhere else.
    """

    kind: BlockKind = "text"
    group: int = 0
    level: int = 0
    detail: str = ""
    list_group: int = 0
    next_number: int | None = None
    has_rows: bool = False

    def leave_first_block(self) -> None:
        """Make what follows the first block of an item text inside the item."""
        if self.kind == "item":
            self.kind, self.detail, self.level = "text", "", self.level + 1


@dataclass(slots=True)
class _Heading:
    level: int
    text: str
    anchor: str


@dataclass(slots=True)
class SectionBuilder:
    """Collect the sections of an article, or of a table cell, in which a heading is mere text.

    ``title`` is the page's own, which is left out of heading paths. ``line`` is the inline text of
    the block that is being read.
    """

    title: str
    is_cell: bool = False
    line: InlineText = field(default_factory=InlineText)
    contexts: list[BlockContext] = field(default_factory=lambda: [BlockContext()])
    group_count: int = 0
    headings: list[_Heading] = field(default_factory=list)
    blocks: list[PageBlock] = field(default_factory=list)
    sections: list[Section] = field(default_factory=list)
    is_excluded: bool = False

    def enter(self) -> BlockContext:
        """Return the context in which a nested block begins."""
        context = self.contexts[-1]
        context.leave_first_block()
        return context

    def _new_group(self) -> int:
        self.group_count += 1
        return self.group_count

    def list_context(self, *, can_nest: bool, first_number: int | None) -> BlockContext:
        """Return the context of a list or table. can_nest: it joins the list that it stands in."""
        outer = self.enter()
        group = (outer.list_group if can_nest else 0) or self._new_group()
        return BlockContext("text", group, outer.level, next_number=first_number)

    def item_context(self, number: int | None) -> BlockContext:
        """Return the context of a list item. number: its own in an ordered list, if it has one."""
        outer = self.enter()
        detail = ""
        if outer.next_number is not None:
            number = outer.next_number if number is None else number
            outer.next_number = number + 1
            detail = str(number)
        return BlockContext("item", outer.group, outer.level, detail, list_group=outer.group)

    def box_context(self, *, is_definition: bool) -> BlockContext:
        """Return the context of an admonition, or of a definition, which belongs to its list."""
        outer = self.enter()
        group = outer.group if is_definition else self._new_group()
        return BlockContext("text", group, outer.level + 1)

    def label_context(self, detail: str) -> BlockContext:
        """Return the context of a label; a box's title stands in it and is as deep as the box."""
        outer = self.enter()
        depth = 1 if detail == "title" and outer.group else 0
        return BlockContext("label", outer.group, max(0, outer.level - depth), detail)

    def tab_contexts(self) -> tuple[BlockContext, BlockContext]:
        """Return the contexts of the labels and of the contents of a new set of tabs."""
        outer, group = self.enter(), self._new_group()
        return (
            BlockContext("label", group, outer.level, "tab"),
            BlockContext("text", group, outer.level + 1),
        )

    def flush(self) -> None:
        """Add the inline text read so far as a block."""
        text, spans, self.line = self.line.split()
        if text:
            context = self.contexts[-1]
            self.add_block(context.kind, text, spans, context.detail)
            context.leave_first_block()

    def add_block(
        self, kind: BlockKind, text: str, spans: tuple[Span, ...] = (), detail: str = ""
    ) -> None:
        """Add a block in the current context."""
        context = self.contexts[-1]
        level = min(context.level, MAX_LEVEL)
        self.blocks.append(PageBlock(kind, text, spans, context.group, level, detail))

    def start_section(self, level: int, heading: str, anchor: str, *, is_excluded: bool) -> None:
        """Begin a section under a heading; an excluded one takes its text out, as in Material."""
        self.end_section()
        self.is_excluded = is_excluded
        text = "" if is_excluded else collapse_space(heading).strip()
        while self.headings and self.headings[-1].level >= level:
            self.headings.pop()
        if not self.is_cell:
            self.headings.append(_Heading(level, text, anchor))
        elif text:
            self.blocks.append(PageBlock("text", text))

    def begin_object(self, name: str, anchor: str) -> list[_Heading]:
        """Begin the section of an object; return the headings that what follows it stands under."""
        self.end_section()
        self.contexts.append(BlockContext())
        outer = self.headings
        level = max(_OBJECT_LEVEL, outer[-1].level + 1 if outer else 0)
        self.headings = [*outer, _Heading(level, name, anchor)]
        return outer

    def end_object(self, outer: list[_Heading]) -> None:
        """End the section of an object, and those of headings in it, under the outer headings."""
        self.end_section()
        self.contexts.pop()
        self.headings = outer

    def end_section(self) -> None:
        """Keep the blocks read since the last heading as a section, if there are any."""
        self.flush()
        if self.blocks and not self.is_excluded:
            path = tuple(h.text for h in self.headings if h.text and h.text != self.title)
            anchor = next((h.anchor for h in reversed(self.headings) if h.anchor), "")
            self.sections.append(Section(path, anchor, tuple(self.blocks)))
        self.blocks = []

    def join_blocks(self) -> tuple[str, tuple[Span, ...]]:
        """End a table cell: return its text on one line, and its spans."""
        self.end_section()
        text = ""
        spans: list[Span] = []
        for block in (block for section in self.sections for block in section.blocks):
            text += " " if text else ""
            inner = block.spans
            if block.kind == "code":
                inner = trim_spans([Span("code", 0, len(block.text))], block.text)
            spans += shift_spans(inner, len(text))
            text += block.text.replace("\n", " ")
        return text, tuple(spans)
