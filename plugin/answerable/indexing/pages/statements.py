"""Describe the statements of a passage, which answers quote, and how a link finds each of them."""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from ...serve import structure
from ...serve.structure import BREAK, LEAD_INS, Block, Statement, StatementKind, split_runs
from ...serve.text.tokenization import count_words
from ...serve.types import Passage

# A longer list item is read sentence by sentence.
MAX_ITEM_WORDS = 60
# A shorter sentence is a label or a fragment.
MIN_SENTENCE_WORDS = 4
# A longer sentence says more than where to read on.
MAX_POINTER_WORDS = 30

_QUESTIONS = ("?", "？", "؟")
_POINTER = re.compile(
    r"(?:for (?:more|further|all)\b.*\b(?:see|read|check|refer|visit|have a look)\b"
    r"|(?:you can |we(?:'ll| will) |you(?:'ll| will) |please )?"
    r"(?:see|read (?:more|about|on)|refer to|learn (?:more|about|how)|check (?:out )?the|"
    r"take a look|have a look|continue (?:with|to|reading))\b"
    r"|more (?:info|information|details) (?:about|on|in|at)\b)",
    re.IGNORECASE,
)
# Words at the start of a sentence that refer to the sentence before it.
_DANGLING = re.compile(
    r"(?:but|and|or|so|then|this|that|these|those|it|its|they|them|their|he|she|his|her|also|"
    r"however|therefore|thus|hence|otherwise|instead|here|there|such|both|either|neither|again|"
    r"similarly|likewise|yet|still|moreover|furthermore|additionally|the same|the latter|"
    r"the former|in (?:this|that|these|those|such|both) \w+|for (?:this|that|example|instance)|"
    r"to do (?:this|that|so)|because of (?:this|that)|as (?:described|explained|shown|mentioned)|"
    r"as you can see|if (?:this|that|it|they|so|not)|when (?:this|that|it|they)|"
    r"after (?:this|that))\b",
    re.IGNORECASE,
)


def describe_statements(passage: Passage) -> Passage:
    """Add the statements of a passage, leaving out titles, captions and diagrams."""
    statements = _link_statements(passage.text, _split_passage(passage))
    return replace(passage, statements=tuple(statements))


def _split_passage(passage: Passage) -> Iterator[Statement]:
    """Yield the statements of a passage, each with the tab's or term's label above it."""
    lists = {block.group for block in passage.blocks if block.kind in ("item", "row")}
    label: tuple[int, Block] | None = None
    for place, block in enumerate(passage.blocks):
        if block.kind == "label":
            if block.detail in ("tab", "term"):
                label = place, block
                yield _describe(passage.text, "label", (block.start, block.end), place, place)
            continue
        if label and (block.level <= label[1].level or block.group < label[1].group):
            label = None
        group = block.group if block.group in lists else 0
        for kind, span in _split_block(passage, block):
            statement = _describe(passage.text, kind, span, place, label[0] if label else -1)
            is_step = kind == "item" and bool(block.detail)
            flags = statement.flags | (structure.NUMBERED if is_step else 0)
            yield statement._replace(group=group, flags=flags)


def _split_block(passage: Passage, block: Block) -> Iterator[tuple[StatementKind, tuple[int, int]]]:
    """Yield the kind and the offsets of each statement of a block; a long item is sentences."""
    whole = block.start, block.end
    if block.kind == "code":
        if block.detail not in (structure.DIAGRAM_LANGUAGE, structure.RECORDING_LANGUAGE):
            yield "code", whole
    elif block.kind == "row":
        yield "header" if block.detail == "header" else "row", whole
    elif block.kind == "item" and count_words(passage.text[slice(*whole)]) <= MAX_ITEM_WORDS:
        yield "item", whole
    else:
        first = bisect_left(passage.sentences, (block.start, 0))
        for start, end in passage.sentences[first:]:
            if end > block.end:
                break
            yield "sentence", (start, end)


def _describe(
    text: str, kind: StatementKind, span: tuple[int, int], block: int, label: int
) -> Statement:
    """Describe one statement by its words: where it leads, and whether it stands alone."""
    words = text[slice(*span)]
    count = count_words(words)
    flags = 0
    if kind in ("sentence", "item"):
        is_pointer = count <= MAX_POINTER_WORDS and _POINTER.match(words) is not None
        flags |= structure.POINTER | structure.BARE if is_pointer else 0
        flags |= structure.DANGLING if _DANGLING.match(words) else 0
        flags |= structure.LEADS_IN if words.endswith(LEAD_INS) else 0
    is_fragment = kind == "sentence" and count < MIN_SENTENCE_WORDS
    if is_fragment or kind in ("code", "label", "header") or words.endswith(_QUESTIONS):
        flags |= structure.BARE
    return Statement(kind, *span, block, count, flags, label)


# The words by which a link names a statement: a longer one is named by its first and last words.
MAX_TERM_CHARACTERS = 300
_EDGE_WORDS = (5, 10, 20)
_CONTEXT_WORDS = (3, 6, 12)

_QUOTE_MARKS = str.maketrans({**dict.fromkeys("‘’‚‛", "'"), **dict.fromkeys("“”„‟«»", '"')})


def _link_statements(text: str, statements: Iterable[Statement]) -> Iterator[Statement]:
    """Count the words of each statement by which a browser finds it, and nothing before it.

    Only the passage is known: of equal words in an earlier section of the page, a browser finds
    those. The syntax and the matching are those of
    https://wicg.github.io/scroll-to-text-fragment/.
    """
    before, last = "", 0
    for statement in statements:
        words = text[statement.start : statement.end]
        before = _join_folded(before, _fold_like_browser(text[last : statement.start]))
        last = statement.start
        runs = split_runs(words)
        head = _choose_head(text, statement, runs[0], before) if runs else None
        flags = statement.flags | (structure.UNLINKED if head is None else 0)
        prefix, count = head or (0, 0)
        tail: int | None = 0
        if head is None:
            tail = _choose_tail(_join_folded(before, _fold_like_browser(words)), runs[-1:])
        elif count or len(runs) > 1:
            after = runs[0].split()[count or len(runs[0]) :]
            after += words[words.index(runs[0]) + len(runs[0]) :].split()
            tail = _choose_tail(_fold_like_browser(" ".join(after)), runs[-1:])
        flags |= structure.ENDLESS if tail is None else 0
        yield statement._replace(flags=flags, prefix=prefix, head=count, tail=tail or 0)


def _choose_head(text: str, statement: Statement, run: str, before: str) -> tuple[int, int] | None:
    """Choose how many words before a statement and of its first run name where it begins.

    before: the folded text before it. None if equal words come first, whatever is chosen.
    """
    line = text[text.rfind("\n", 0, statement.start) + 1 : statement.start]
    context = BREAK.split(line)[-1].split()
    words, counts = run.split(), _list_counts(run)
    prefixes = sorted({min(count, len(context)) for count in _CONTEXT_WORDS} - {0})
    choices = [(0, count) for count in counts] + [(prefix, counts[-1]) for prefix in prefixes]
    for prefix, count in choices:
        head = words[: count or None]
        needle = _fold_like_browser(" ".join([*context[len(context) - prefix :], *head]))
        haystack = _join_folded(before, _fold_like_browser(" ".join(head)))
        if len(needle) <= MAX_TERM_CHARACTERS and _comes_first(haystack, needle):
            return prefix, count
    return None


def _choose_tail(text: str, runs: Sequence[str]) -> int | None:
    """Choose how many words at the end of the last run are nowhere before it; None if none are.

    text: folded, in which a browser looks for them.
    """
    for run in runs:
        for count in _list_counts(run):
            needle = _fold_like_browser(" ".join(run.split()[-count:]))
            end = text.rfind(needle) + len(needle)
            if len(needle) <= MAX_TERM_CHARACTERS and _comes_first(text[:end], needle):
                return count
    return None


def _list_counts(run: str) -> Sequence[int]:
    """List how many words at an edge of a run may name it: all, which 0 stands for, or a few."""
    return (0,) if len(run.strip()) <= MAX_TERM_CHARACTERS else _EDGE_WORDS


def _comes_first(text: str, words: str) -> bool:
    """Test whether a browser finds words at the end of a text only: whole, where it is ASCII."""
    at = text.find(words)
    while at >= 0 and any(_cuts_ascii_word(text, edge) for edge in (at, at + len(words))):
        at = text.find(words, at + 1)
    return at >= 0 and at + len(words) == len(text)


def _cuts_ascii_word(text: str, at: int) -> bool:
    """Test whether an offset is inside an ASCII word; other scripts may have no spaces."""
    return 0 < at < len(text) and all(c.isascii() and c.isalnum() for c in text[at - 1 : at + 1])


def _join_folded(before: str, after: str) -> str:
    return f"{before} {after}" if before and after else before or after


def _fold_like_browser(text: str) -> str:
    """Fold case, accents and quote marks, which make no difference to a browser."""
    if text.isascii():
        return " ".join(text.upper().split())
    plain = unicodedata.normalize("NFKD", text).translate(_QUOTE_MARKS)
    letters = "".join(c for c in plain if unicodedata.category(c)[0] != "M")
    return " ".join(letters.upper().split())
