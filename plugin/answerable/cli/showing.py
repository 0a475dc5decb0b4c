"""Answers on a terminal."""

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from ..serve import confidence, languages, wire, wire_blocks
from ..serve.remarks import Remark
from ..serve.types import Citation, RecordCitation, Reply
from . import block_display
from .plain_text import plain as plain

_BAR = 20

_DECLINES = {
    "no-evidence": "Not found: nothing on this site is close enough to that question.",
    "declined": "Not found: the pages that come close do not answer that question.",
    "contract": "Not found: the answer could not be tied to its sources.",
}


def reply(
    console: Console,
    found: Reply,
    route: str,
    language: str | None = None,
    remarks: Sequence[Remark] = (),
) -> None:
    """Print an answer, its confidence and its numbered citations, or the decline.

    route: the template of a route's sentence. language: what was asked in, if that is known.
    remarks: on the words of the question.
    """
    for each in remarks:
        if each.kind == "corrected":
            line = f"Showing results for “{each.replacement}” instead of “{each.word}”."
            console.print(plain(line), style="dim")
    if found.reason:
        console.print(Text(_DECLINES[found.reason], style="yellow"))
        if any(each.kind == "follow-up" for each in remarks):
            console.print("Each question stands alone: ask it in full.")
    else:
        _show_answer(console, found, route)
        _show_sources(console, found, language)
    if words := [f"“{each.word}”" for each in remarks if each.kind == "unknown"]:
        console.print(plain(f"This site does not mention {', '.join(words)}."), style="dim")


def _show_sources(console: Console, found: Reply, language: str | None) -> None:
    """Print the confidence of an answer and its numbered citations."""
    full = round(found.confidence * _BAR)
    bar = "█" * full + "░" * (_BAR - full)
    console.print(Text(f"\nConfidence {bar} {confidence.bucket(found.confidence)}", style="dim"))
    if other := _other_languages(found, language):
        console.print(Text(f"No source is in {language}; language: {', '.join(other)}", "dim"))
    for number, citation in enumerate(found.answer.citations, 1):
        console.print(_line(number, citation))


def _show_answer(console: Console, found: Reply, route: str) -> None:
    """Print an answer as one text, or claim by claim where they have the structure of a page."""
    drawn = [wire_blocks.blocks_of(claim, found.passages) for claim in found.answer.claims]
    if not any(drawn):
        console.print(plain(wire.plain(found.answer, route)))
        return
    numbers = {citation: n for n, citation in enumerate(found.answer.citations, 1)}
    for claim, blocks in zip(found.answer.claims, drawn, strict=True):
        whole = blocks or [{"kind": "text", "spans": [{"text": claim.text}]}]
        cited = [numbers[citation] for citation in claim.citations]
        block_display.show(console, block_display.mark(whole, cited))
        console.print()
    if found.answer.routes:
        console.print(plain(wire.plain_routes(found.answer, route)))


def _other_languages(found: Reply, language: str | None) -> list[str]:
    """The languages of the cited pages where none of them is in the asker's."""
    cited = {c.language: None for c in found.answer.citations if isinstance(c, RecordCitation)}
    return [] if language is None or languages.matching(language, cited) else list(cited)


def _line(number: int, citation: Citation) -> Text:
    if isinstance(citation, RecordCitation):
        name = citation.title
    else:
        name = f"{citation.label} ({citation.locator})" if citation.locator else citation.label
    line = Text(f"[{number}] ", style="bold")
    line.append_text(plain(name))
    return line.append(f"  {citation.url}", style="blue")
