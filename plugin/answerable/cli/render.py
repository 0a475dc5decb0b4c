"""Print replies and reports on the terminal: Markdown, citations, sections.

Text of pages, notes and readers is printed without control characters.
"""

import re
import textwrap
import unicodedata
from collections.abc import Iterable, Sequence
from shutil import get_terminal_size

import click

from ..engine.answers.wire import (
    IN_PART,
    MAX_PLACES,
    insert_markers,
    mark_claim,
    name_grade,
    render_route,
    select_remarks,
)
from ..engine.retrieval.question import Remark
from ..engine.text.tokenization import match_languages
from ..engine.types import Citation, Place, RecordCitation, Reply, RoutingHint

_FENCE = re.compile("`{3,}")
_REFUSAL_SENTENCES = {
    "no-evidence": "Nothing here says this directly.",
    "declined": "Not found: the pages that come close do not answer that question.",
    "contract": "Not found: the answer could not be tied to its sources.",
}


def to_plain_text(text: str) -> str:
    """Make a text that is printed verbatim: no control characters, plain spaces."""
    spaced = "".join(" " if c.isspace() and c != "\n" else c for c in text)
    return "".join(c for c in spaced if c == "\n" or unicodedata.category(c)[0] != "C")


def print_markdown(markdown: str) -> None:
    """Print Markdown as it is, its paragraphs wrapped below their beginnings."""
    fence = ""
    for line in markdown.split("\n"):
        content = line.lstrip(" ")
        is_code = bool(fence) or content.startswith("|")
        if fence:
            fence = "" if content == fence else fence
        elif opened := _FENCE.match(content.removeprefix(":   ")):
            fence, is_code = opened[0], True
        if is_code:
            # A line of code that the terminal breaks is another line when it is copied.
            click.echo(to_plain_text(line))
        else:
            print_hanging(" " * (len(line) - len(content)), content)


def print_reply(
    reply: Reply,
    route: str,
    language: str | None = None,
    remarks: Sequence[Remark] = (),
    places: Sequence[Place] = (),
) -> None:
    """Print how sure an answer is, the answer and its numbered citations, or the refusal.

    route: the template of a route's sentence. language: of the question, if that is known.
    remarks: on the words of the question. places: of its search, of which five are printed.
    """
    shown = select_remarks(reply, remarks)
    for remark in shown:
        if remark.kind == "corrected":
            print_hanging(
                "", f"Showing results for “{remark.replacement}” instead of “{remark.word}”."
            )
    if reply.reason:
        click.echo(_REFUSAL_SENTENCES[reply.reason])
    else:
        if reply.answer.claims:
            grade = name_grade(reply.confidence, written=reply.written, stored=reply.stored)
            click.secho(grade, bold=True)
            if reply.written and not reply.answer.complete:
                click.echo(IN_PART)
            click.echo()
        _print_answer(reply, route)
        _print_sources(reply, language)
    if reply.excerpts:
        click.echo()
        print_reply(reply.excerpts, route, language)
    if words := [f"“{remark.word}”" for remark in shown if remark.kind == "unknown"]:
        print_hanging("", f"This site does not mention {', '.join(words)}.")
    parts = (reply, reply.excerpts) if reply.excerpts else (reply,)
    cited = {citation.url for part in parts for citation in part.answer.citations}
    others = [place for place in places if place.passage.url not in cited][:MAX_PLACES]
    if others:
        click.secho("\nMore on this site", bold=True)
    for place in others:
        print_hanging("", f"{place.passage.title}  {place.passage.url}")
        print_hanging("  ", " ".join(place.line.split()))


def _print_sources(reply: Reply, language: str | None) -> None:
    """Print the numbered sources of an answer."""
    click.echo()
    cited = {c.language: None for c in reply.answer.citations if isinstance(c, RecordCitation)}
    if cited and language is not None and not match_languages(language, cited):
        print_hanging("", f"No source is in {language}; language: {', '.join(cited)}")
    for number, (citation, *_) in enumerate(_group_citations(reply), 1):
        name = citation.title if isinstance(citation, RecordCitation) else citation.label
        if isinstance(citation, RoutingHint) and citation.locator:
            name += f" ({citation.locator})"
        print_hanging(f"[{number}] ", f"{name}  {citation.url}")


def _group_citations(reply: Reply) -> list[list[Citation]]:
    """Group the citations of one address, whose quotes differ, in the order of their first use."""
    groups: dict[str, list[Citation]] = {}
    for citation in reply.answer.citations:
        key = citation.url if isinstance(citation, RecordCitation) else citation.id
        groups.setdefault(key, []).append(citation)
    return list(groups.values())


def _print_answer(reply: Reply, route: str) -> None:
    """Print the Markdown of an answer: one paragraph, unless a claim is more than a line."""
    groups = enumerate(_group_citations(reply), 1)
    numbers = {citation: n for n, group in groups for citation in group}
    claims = reply.answer.claims
    parts = [
        mark_claim(claim.markdown, list(dict.fromkeys(numbers[c] for c in claim.citations)))
        for claim in claims
    ]
    parts += [
        insert_markers(render_route(route, hint), [numbers[hint]]) for hint in reply.answer.routes
    ]
    is_flowing = not any("\n" in claim.markdown for claim in claims)
    print_markdown((" " if is_flowing else "\n\n").join(parts))


def print_lines(lines: Iterable[str]) -> None:
    """Print the lines of a report, which a log may not break.

    A runner reads `::name::` at the start of a line, and `##[name]` anywhere in it, as commands:
    what a page or a reader has written may be none.
    """
    for line in "\n".join(lines).split("\n"):
        marked = f"| {line}" if line.lstrip().startswith("::") else line
        click.echo(to_plain_text(marked.replace("##[", "# #[")))


def print_hanging(start: str, text: str) -> None:
    """Print a text after the start of its first line, and its other lines below the text."""
    # An address that is broken cannot be opened.
    wrapper = textwrap.TextWrapper(
        max(get_terminal_size().columns - len(start), 20),
        break_long_words=False,
        break_on_hyphens=False,
    )
    for line in wrapper.wrap(to_plain_text(text)) or [""]:
        click.echo((start + line).rstrip())
        start = " " * len(start)
