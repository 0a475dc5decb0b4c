"""Build a draft's prompt: instructions, evidence as JSON lines, schema; compute a token ceiling."""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from ..retrieval.question_text import MAX_QUESTION_CHARACTERS
from ..retrieval.selection import MAX_EVIDENCE_CHARACTERS
from ..structure import TITLE_SEPARATOR
from ..types import Evidence, Passage

# In every cache key and report: changes with the instructions, the framing or the schema.
PROMPT_VERSION = "3"
MAX_PROMPT_CLAIMS = 6
MAX_PROMPT_ROUTES = 2

# The most characters of eight hints, a label and a locator each; and of all that frames the data:
# the names of fields, the schema, a violation that escapes all it repeats.
_MAX_HINT_CHARACTERS = 8 * (300 + 300)
_MAX_FRAMING_CHARACTERS = 4_000

_TEMPLATE_PATH = Path(__file__).parent / "prompts" / "answer.jinja"


def render_instructions(site: str, evidence: Evidence, author: str | None = None) -> str:
    """Render the system part of the prompt. site: the site's name; author: see the user part."""
    text: str = _load_template().render(
        site=" ".join(site.split()),
        sources=bool(evidence.passages),
        hints=bool(evidence.hints),
        pages=any(map(_has_context, evidence.passages)),
        author=bool(author and evidence.passages),
        max_claims=MAX_PROMPT_CLAIMS,
        max_routes=MAX_PROMPT_ROUTES,
    )
    return text


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
    lines += _frame_pages(evidence)
    lines += [
        {"kind": "source", "id": f"s{n}", "title": passage.title, "text": passage.text}
        for n, passage in enumerate(evidence.passages, 1)
    ]
    lines += [
        {"kind": "hint", "id": f"h{n}", "label": hint.label, "locator": hint.locator}
        for n, hint in enumerate(evidence.hints, 1)
    ]
    if violation:
        lines.append({"kind": "violation", "text": violation})
    lines.append({"kind": "question", "text": question})
    return "\n".join(_encode_json_line(line) for line in lines)


def _frame_pages(evidence: Evidence) -> list[Mapping[str, Any]]:
    """Describe each page that says more of itself than its passages do, once."""
    sources: dict[str, list[str]] = {}
    for n, passage in enumerate(evidence.passages, 1):
        sources.setdefault(passage.record, []).append(f"s{n}")
    first = {passage.record: passage for passage in reversed(evidence.passages)}
    return [
        {
            "kind": "page",
            "sources": ids,
            "title": first[record].title.partition(TITLE_SEPARATOR)[0],
            "date": first[record].date,
            "summary": first[record].summary,
            "themes": first[record].themes,
        }
        for record, ids in sources.items()
        if _has_context(first[record])
    ]


def _has_context(passage: Passage) -> bool:
    return bool(passage.date or passage.summary or passage.themes)


def build_draft_schema(evidence: Evidence) -> dict[str, Any]:
    """Build the strict JSON schema of a draft, without the property of an empty stream.

    Position ids are enumerated, so that equal counts give an equal schema, which the API has to
    compile only once.
    """
    properties: dict[str, Any] = {}
    if evidence.passages:
        source = {"type": "string", "enum": [f"s{n}" for n in range(1, len(evidence.passages) + 1)]}
        support = _build_object_schema({"source": source, "quote": {"type": "string"}})
        supports = {"type": "array", "items": support, "minItems": 1}
        claim = _build_object_schema({"text": {"type": "string"}, "evidence": supports})
        properties["claims"] = {"type": "array", "items": claim}
    if evidence.hints:
        hint = {"type": "string", "enum": [f"h{n}" for n in range(1, len(evidence.hints) + 1)]}
        properties["routes"] = {"type": "array", "items": hint}
    return _build_object_schema(properties)


def bound_prompt_tokens(site: str, author: str | None = None) -> int:
    """Bound the tokens that one draft reads. site, author: the names of both.

    Evidence counts a token a character: English has a third of one, Chinese and Japanese about one.
    A question counts one for each byte of UTF-8, the most that any text can have. Our own English
    counts half a token a character.
    """
    ours = len(_TEMPLATE_PATH.read_bytes()) + _MAX_FRAMING_CHARACTERS
    return (
        ours // 2
        + len(f"{site}{author}".encode(errors="replace"))
        + _MAX_HINT_CHARACTERS
        + MAX_EVIDENCE_CHARACTERS
        + 4 * MAX_QUESTION_CHARACTERS
    )


def _build_object_schema(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Build the schema of an object that requires all its properties and has no others."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def _encode_json_line(value: Mapping[str, Any]) -> str:
    """Encode JSON on one line; a lone surrogate, which UTF-8 cannot encode, becomes an escape."""
    text = json.dumps(value, ensure_ascii=False)
    # U+2028, U+2029 and U+0085 end a line for some readers, though not for JSON.
    for separator in ("\u2028", "\u2029", "\x85"):
        text = text.replace(separator, f"\\u{ord(separator):04x}")
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


@cache
def _load_template() -> Any:
    """Load the Jinja template of the instructions."""
    # Imported here, since a function that answers without a model has no Jinja.
    import jinja2

    environment = jinja2.Environment(
        trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined, autoescape=False
    )
    return environment.from_string(_TEMPLATE_PATH.read_text(encoding="utf-8"))
