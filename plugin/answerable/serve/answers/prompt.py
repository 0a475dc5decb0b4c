"""Build a draft's prompt: instructions, evidence as JSON lines, schema; compute a token ceiling."""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from ..retrieval.question_text import MAX_QUESTION_CHARACTERS
from ..retrieval.selection import MAX_EVIDENCE_CHARACTERS
from ..types import Evidence

# In every cache key and report: changes with the instructions, the framing or the schema.
PROMPT_VERSION = "2"
MAX_PROMPT_CLAIMS = 6
MAX_PROMPT_ROUTES = 2

# The most characters of eight hints, a label and a locator each; and of all that frames the data:
# the names of fields, the schema, a violation that escapes all it repeats.
_MAX_HINT_CHARACTERS = 8 * (300 + 300)
_MAX_FRAMING_CHARACTERS = 3_000

_TEMPLATE_PATH = Path(__file__).parent / "prompts" / "answer.jinja"


def render_instructions(site: str, evidence: Evidence) -> str:
    """Render the system part of the prompt. site: the site's name."""
    text: str = _load_template().render(
        site=" ".join(site.split()),
        sources=bool(evidence.passages),
        hints=bool(evidence.hints),
        max_claims=MAX_PROMPT_CLAIMS,
        max_routes=MAX_PROMPT_ROUTES,
    )
    return text


def frame_evidence(question: str, evidence: Evidence, violation: str | None = None) -> str:
    """Frame the user part: one JSON object a line, so that no text reads as an instruction."""
    lines: list[Mapping[str, Any]] = [
        {
            "kind": "source",
            "id": f"s{n}",
            "title": passage.title,
            "date": passage.date,
            "text": passage.text,
        }
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


def bound_prompt_tokens(site: str) -> int:
    """Bound the tokens that one draft reads. site: the site's name.

    Evidence counts a token a character: English has a third of one, Chinese and Japanese about one.
    A question counts one for each byte of UTF-8, the most that any text can have. Our own English
    counts half a token a character.
    """
    ours = len(_TEMPLATE_PATH.read_bytes()) + _MAX_FRAMING_CHARACTERS
    return (
        ours // 2
        + len(site.encode())
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
