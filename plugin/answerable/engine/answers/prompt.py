"""The prompt of a model: its instructions, its evidence as lines of JSON, the schema of a draft."""

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from ..retrieval.rank import Scored
from ..retrieval.retrieve import RetrievalResult, choose_hints, order_candidates
from ..retrieval.store import Store
from ..text.markdown import read_markdown
from ..text.markdown_writer import write_blocks
from ..text.tokenization import split_lowercase_words
from ..types import TITLE_SEPARATOR, Evidence, Passage

TEMPLATES = Path(__file__).parent / "prompts"
MAX_PROMPT_CLAIMS = 6
MAX_PROMPT_ROUTES = 2
_MAX_CLAIM_SUPPORTS = 3


def render_instructions(site: str, evidence: Evidence, author: str | None = None) -> str:
    """Render the system part of the prompt. site: the site's name; author: see the user part."""
    text: str = _load_template().render(
        site=" ".join(site.split()),
        sources=bool(evidence.passages),
        hints=bool(evidence.hints),
        pages=any(map(_has_context, evidence.passages)),
        author=bool(author and evidence.passages),
        max_claims=MAX_PROMPT_CLAIMS,
        max_supports=_MAX_CLAIM_SUPPORTS,
        max_routes=MAX_PROMPT_ROUTES,
    )
    return text


@cache
def _load_template() -> Any:
    """Load the Jinja template of the instructions."""
    # Imported here, since a function that answers without a model has no Jinja.
    import jinja2

    environment = jinja2.Environment(
        trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined, autoescape=False
    )
    return environment.from_string((TEMPLATES / "answer.jinja").read_text(encoding="utf-8"))


def frame_evidence(
    question: str, evidence: Evidence, violation: str | None = None, author: str | None = None
) -> str:
    """Frame the user part: one JSON object a line, so that no text reads as an instruction.

    author: of the site. It and the pages of passages are context: their lines have no id, and so
    no draft can cite them.
    """
    lines: list[Mapping[str, Any]] = []
    if author and evidence.passages:
        lines.append({"kind": "site", "author": author})
    lines += _frame_pages(evidence.passages)
    for n, passage in enumerate(evidence.passages, 1):
        address = {"title": passage.title, "url": passage.url}
        lines.append({"kind": "source", "id": f"s{n}", **address, "text": _write_source(passage)})
    for n, hint in enumerate(evidence.hints, 1):
        surface = {"label": hint.label, "locator": hint.locator}
        lines.append({"kind": "hint", "id": f"h{n}", **surface})
    if violation:
        lines.append({"kind": "violation", "text": violation})
    lines.append({"kind": "question", "text": question})
    return "\n".join(map(_encode_json_line, lines))


def _write_source(passage: Passage) -> str:
    """Write the Markdown of a passage without the addresses behind its links.

    No claim may hold them, since a quote is of what a reader sees.
    """
    return write_blocks(
        [
            block._replace(spans=tuple(span for span in block.spans if span.kind != "link"))
            for block, _, _ in read_markdown(passage.markdown).blocks
        ]
    )


def _frame_pages(passages: tuple[Passage, ...]) -> list[Mapping[str, Any]]:
    """Describe each page that says more about itself than its passages do, once."""
    pages: dict[str, dict[str, Any]] = {}
    for n, passage in enumerate(passages, 1):
        if _has_context(passage):
            page: dict[str, Any] = {
                "kind": "page",
                "sources": [],
                "title": passage.title.partition(TITLE_SEPARATOR)[0],
                "date": passage.date,
                "summary": passage.summary,
                "themes": passage.themes,
            }
            pages.setdefault(passage.record, page)["sources"].append(f"s{n}")
    return list(pages.values())


def _has_context(passage: Passage) -> bool:
    return bool(passage.date or passage.summary or passage.themes)


def _encode_json_line(value: Mapping[str, Any]) -> str:
    """Encode JSON on one line; a lone surrogate, which UTF-8 cannot encode, becomes an escape."""
    text = json.dumps(value, ensure_ascii=False)
    # U+2028, U+2029 and U+0085 end a line for some readers, though not for JSON.
    for separator in ("\u2028", "\u2029", "\x85"):
        text = text.replace(separator, f"\\u{ord(separator):04x}")
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def build_draft_schema(evidence: Evidence) -> dict[str, Any]:
    """Build the strict JSON schema of a draft, without the properties of an empty stream.

    An API compiles each schema that it has not seen, which takes seconds. So position ids are
    enumerated in steps of eight; one that names nothing is a violation as any other.
    """
    properties: dict[str, Any] = {}
    if evidence.passages:
        source = _build_id_schema("s", len(evidence.passages))
        support = _build_object_schema({"source": source, "quote": {"type": "string"}})
        supports = {**_build_array_schema(support, _MAX_CLAIM_SUPPORTS), "minItems": 1}
        claim = _build_object_schema({"text": {"type": "string"}, "evidence": supports})
        properties["claims"] = _build_array_schema(claim, MAX_PROMPT_CLAIMS)
    if evidence.hints:
        hint = _build_id_schema("h", len(evidence.hints))
        properties["routes"] = _build_array_schema(hint, MAX_PROMPT_ROUTES)
    if evidence.passages:
        # The last ones: by then a model knows what it has written.
        properties["complete"] = {"type": "boolean"}
        properties["search"] = {"type": "string"}
    return _build_object_schema(properties)


def _build_id_schema(letter: str, count: int) -> dict[str, Any]:
    """Build the schema of a position id, of the next multiple of eight ids."""
    return {"type": "string", "enum": [f"{letter}{n}" for n in range(1, -(-count // 8) * 8 + 1)]}


def _build_array_schema(items: Mapping[str, Any], most: int) -> dict[str, Any]:
    """Build the schema of an array; without a limit, small models repeat themselves for ever."""
    return {"type": "array", "items": items, "maxItems": most}


def _build_object_schema(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Build the schema of an object that requires all its properties and has no others."""
    required = {"required": list(properties), "additionalProperties": False}
    return {"type": "object", "properties": properties, **required}


# Sources of one prompt: the schema names each.
MAX_SOURCES = 24
# Passages that share this much of their shingles are near-duplicates.
_DUPLICATE_SHARE = 0.8
_SHINGLE_WORDS = 3

_Shingles = frozenset[tuple[str, ...]]


def fill_prompt(store: Store, retrieved: RetrievalResult, characters: int) -> Evidence:
    """Fill a prompt with whole passages that have this many characters of text.

    Titles, addresses, and what pages say of themselves may take a quarter of that beside them. The
    passages come from the best 32 of the ranking, near misses among them. Where none is above its
    floor and the best misses the call floor, there are none, and only hints call the model.
    """
    pool = order_candidates(store, retrieved, retrieved.near_passages)
    best = max((scored.floored for scored in pool), default=-1.0)
    # A section that is known to answer the question is above the floor whatever its words score.
    if not retrieved.passages and best < store.manifest.profile.call_floor:
        pool = []
    grouped = list(_group_by_section(pool))
    chosen: set[int] = set()
    texts: list[_Shingles] = []
    pages: set[str] = set()
    context_characters = characters // 4
    # The best passage comes first, since its section may be the last one.
    for scored in sorted(grouped, key=lambda scored: scored.floored < best):
        passage = scored.item
        size, context = len(passage.text), len(passage.title) + len(passage.url)
        if passage.record not in pages:
            context += len(passage.title) + len(passage.summary) + sum(map(len, passage.themes))
        shingles = _make_shingles(passage.text)
        is_copy = any(_is_near_duplicate(shingles, text) for text in texts)
        is_full = size > characters or context > context_characters
        if is_copy or is_full or len(chosen) == MAX_SOURCES:
            continue
        characters -= size
        context_characters -= context
        chosen.add(scored.row)
        texts.append(shingles)
        pages.add(passage.record)
    passages = tuple(scored.item for scored in grouped if scored.row in chosen)
    return Evidence(passages, tuple(choose_hints(retrieved.hints)))


def _group_by_section(ordered: Iterable[Scored[Passage]]) -> Iterator[Scored[Passage]]:
    """Yield candidates section by section, and the windows of a section in their order."""
    sections: dict[str, list[Scored[Passage]]] = {}
    for scored in ordered:
        sections.setdefault(scored.item.url, []).append(scored)
    for windows in sections.values():
        yield from sorted(windows, key=lambda scored: scored.row)


def _make_shingles(text: str) -> _Shingles:
    """Make the runs of three words of a text. Near-duplicates share most of them."""
    words = split_lowercase_words(text)
    starts = range(max(1, len(words) - _SHINGLE_WORDS + 1))
    return frozenset(tuple(words[start : start + _SHINGLE_WORDS]) for start in starts)


def _is_near_duplicate(shingles: _Shingles, other: _Shingles) -> bool:
    """True if a text repeats the other one, or only a part of it."""
    common = len(shingles & other)
    return common == len(shingles) or common >= _DUPLICATE_SHARE * (
        len(shingles) + len(other) - common
    )
