"""The three tools of the server for agents, whose results are Markdown."""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby
from typing import Any
from urllib.parse import unquote, urlsplit

import msgspec
import numpy as np

from ...engine.answers.wire import (
    IN_PART,
    MAX_PLACES,
    Json,
    add_absolute_url,
    insert_markers,
    mark_claim,
    name_grade,
)
from ...engine.retrieval.question import MAX_QUESTION_CHARACTERS
from ...engine.retrieval.retrieve import TOP_K
from ...engine.retrieval.store import Store
from ...engine.text.markdown_writer import escape_markdown
from ...engine.text.tokenization import normalize_phrase
from ...engine.types import TITLE_SEPARATOR, WINDOW_SUFFIX, Passage
from ..exchange import Exchange
from ..requests import Problem, Question

# The most that one result holds of a page: some 10,000 tokens.
MAX_PAGE_CHARACTERS = 40_000
# What a path ends in after the name of its page, as a source or as a file of the site.
_PAGE_ENDING = re.compile(r"((^|/)index)?\.(md|html?)$|/+$")


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool and the properties of its input, of which it requires the first.

    ``description``: with ``{site}`` for the site's name.
    """

    name: str
    description: str
    properties: Mapping[str, Json]
    run: Callable[[Exchange, Json], str]

    def describe(self, site_name: str) -> dict[str, Any]:
        """Describe the tool as a list of tools does."""
        return {
            "name": self.name,
            "description": self.description.format(site=site_name),
            "inputSchema": {
                "type": "object",
                "properties": self.properties,
                "required": list(self.properties)[:1],
            },
            "annotations": {"readOnlyHint": True, "openWorldHint": False},
        }


def _ask(exchange: Exchange, arguments: Json) -> str:
    question = msgspec.convert(arguments, Question)
    body = exchange.ask(question)
    rows: Mapping[str, Json] = {}
    # An answer is worth more than what stands under it.
    with suppress(Exception):
        rows = exchange.search(question, "places")
    cited = {citation["url"] for citation in body["citations"]}
    return format_answer(body, [row for row in rows.values() if row["url"] not in cited])


def _search(exchange: Exchange, arguments: Json) -> str:
    query = Question(arguments["query"])
    parts = [
        f"{row['title']}\n{find_url(row)}\n(section {name})\n\n{row['markdown']}"
        + ("\n\n…" if row["is_cut"] else "")
        for name, row in list(exchange.search(query, "search").items())[:TOP_K]
    ]
    parts = parts or ["Nothing on this site is near enough to this query."]
    return _join_parts(_format_remarks(exchange.engine.read_notes(query.text)), *parts)


def _read(exchange: Exchange, arguments: Json) -> str:
    with exchange.reading("search"):
        text = read_page(exchange.engine.store, arguments["page"], exchange.base)
    if text is None:
        raise Problem("not-found", "There is no such page: name one by an id or url of a search.")
    return text


TOOLS = (
    Tool(
        "ask",
        "Ask {site} one question. Returns sentences that were checked against the site's own "
        "words, each with the url to cite, or says that the site does not answer the question.",
        {
            "question": {
                "type": "string",
                "maxLength": MAX_QUESTION_CHARACTERS,
                "description": "One whole question, as a reader would ask it.",
            },
            "language": {
                "type": "string",
                "description": "The tag of the language to prefer, such as en or pt-BR.",
            },
        },
        _ask,
    ),
    Tool(
        "search",
        "Search {site} for the passages nearest to a query. Returns their text with the url of "
        "each; whether they answer anything is for you to judge.",
        {
            "query": {
                "type": "string",
                "maxLength": MAX_QUESTION_CHARACTERS,
                "description": "What to look for.",
            }
        },
        _search,
    ),
    Tool(
        "read",
        "Read a page of {site}, or one section of it, as Markdown.",
        {
            "page": {
                "type": "string",
                "description": "Its id, url, path or title, such as guide/deploy#aws.",
            }
        },
        _read,
    ),
)

_REMARKS = {
    "corrected": "Showing results for “{to}”.",
    "unknown": "This site does not mention “{word}”.",
}
_ADVICE = (
    "Try `search` with the words that the documentation would use, and `read` what it finds. If "
    "that does not answer it either, tell your user so, and do not fill the gap from other "
    "knowledge as if the site said it."
)


def format_answer(body: Json, places: Sequence[Json] = ()) -> str:
    """Format the body of an answer: how sure it is, how it was read, claims, sources, places.

    A refusal says what to do next.
    """
    remarks = _format_remarks(body["notes"])
    fallback = "Answered without the model." if body["fallback"] else ""
    listed = "\n".join(map(_format_place, places[:MAX_PLACES]))
    if body["mode"] == "not-found":
        refusal = "This site does not answer this question."
        nearest = listed and f"Nearest places, which may not answer it:\n{listed}"
        return _join_parts(refusal, fallback, remarks, nearest, _ADVICE)
    grade = name_grade(body["confidence"], written=body["written"], stored=body.get("question", ""))
    sources = "\n".join(
        f"[{citation['n']}] {citation.get('title') or citation['label']} - {find_url(citation)}"
        for citation in body["citations"]
    )
    return _join_parts(
        # Hints alone say where to look, and no claim is there to be sure of.
        grade if body["claims"] else "Where to look",
        IN_PART if body["written"] and not body["complete"] else "",
        fallback,
        remarks,
        *(mark_claim(claim["markdown"], claim["citations"]) for claim in body["claims"]),
        *(
            insert_markers(escape_markdown(route["text"]), route["citations"])
            for route in body["routes"]
        ),
        f"Sources:\n{sources}",
        listed and f"More on this site (search results, not sources):\n{listed}",
    )


def _format_place(place: Json) -> str:
    """Format a place as an item of a list, with its line below."""
    line = escape_markdown(" ".join(place["line"].split()))
    return f"- {place['title']} - {find_url(place)}\n  {line}"


def _format_remarks(remarks: Sequence[Mapping[str, str]]) -> str:
    """Format the wire's notes on the words of a question as sentences."""
    return " ".join(_REMARKS.get(remark["kind"], "").format_map(remark) for remark in remarks)


def _join_parts(*parts: str) -> str:
    """Join the paragraphs that are not empty."""
    # A first line of code may be indented.
    return "\n\n".join(part.strip("\n") for part in parts if part.strip())


def read_page(store: Store, name: str, base: str | None) -> str | None:
    """Read a page, or the one section that ``#`` names, as Markdown; None if there is none.

    name: see ``find_page``. base: the site's address or origin.
    """
    rows = find_page(store, name, base)
    passages = store.passages_at(rows)
    sections = [
        list(windows)
        for _, windows in groupby((passages[row] for row in rows), lambda passage: passage.section)
    ]
    # A link that marks words has them behind the anchor.
    anchor = WINDOW_SUFFIX.sub("", unquote(name.partition("#")[2].partition(":~:")[0].strip()))
    if anchor:
        sections = [windows for windows in sections if anchor in _list_anchors(windows[0])]
    return _format_page(sections, base) if sections else None


def find_page(store: Store, name: str, base: str | None) -> Sequence[int]:
    """Find the passages of a page by its id, its path, its address or a title that no other has."""
    name = name.partition("#")[0].strip()
    try:
        address, root = urlsplit(name), urlsplit(base or "")
    except ValueError:
        return ()
    is_elsewhere = root.netloc and address.netloc.lower() not in ("", root.netloc.lower())
    if is_elsewhere or not name:
        return ()
    home = root.path.strip("/")
    path = _PAGE_ENDING.sub("", unquote(address.path)).strip("/")
    inner = path.removeprefix(home).strip("/") if home else path
    for candidate in (name, address.path, path, inner, f"{inner}/index".strip("/"), f"/{path}/"):
        if rows := store.rows_of_page(candidate):
            return rows
    records = store.index.names.find_records(normalize_phrase(name))
    if len(records) != 1:
        return ()
    return np.flatnonzero(store.index.passage_records == records[0]).tolist()


def _list_anchors(passage: Passage) -> tuple[str, str]:
    """List the anchors that name the section of its first passage: the id's and the url's."""
    return passage.id.partition("#")[2], unquote(passage.url.partition("#")[2])


def _format_page(sections: Sequence[Sequence[Passage]], base: str | None) -> str:
    """Format as many whole sections as there is room for, or else the beginning of the first."""
    first = sections[0][0]
    url = find_url(add_absolute_url({"url": first.url.partition("#")[0]}, base))
    parts = [f"{first.title.partition(TITLE_SEPARATOR)[0]}\n{url}"]
    room = MAX_PAGE_CHARACTERS
    left_out: list[str] = []
    for windows in sections:
        part = "\n\n".join([f"## {windows[0].title}", *(window.markdown for window in windows)])
        if len(parts) == 1 and len(part) > room:
            beginning = part[:room].rpartition("\n")[0]
            part = f"{beginning}\n…\n\n(Cut here: search for what follows.)"
        elif left_out or len(part) > room:
            left_out.append(windows[0].id)
            continue
        parts.append(part)
        room -= len(part)
    if left_out:
        names = ", ".join(left_out[:50])
        parts.append(f"(Left out: {len(left_out)} more sections of this page, such as {names})")
    return "\n\n".join(parts)


def find_url(row: Mapping[str, Any]) -> str:
    """Find the url of a row to cite: absolute, if the site or the request tells where it lies."""
    return str(row.get("absolute_url") or row["url"])
