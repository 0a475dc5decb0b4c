"""What a model is told: the versioned instructions, and evidence framed as data."""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from ..retrieval import question_text, selection
from ..types import Evidence

# Part of every cache key and report: it changes with the instructions, the framing or the schema.
PROMPT_VERSION = "2"
MAX_PROMPT_CLAIMS = 6
MAX_PROMPT_ROUTES = 2

# The most characters of eight hints, a label and a locator each; and of all that frames the data:
# the names of fields, the schema, a violation that escapes all it repeats.
_MAX_HINT_CHARACTERS = 8 * (300 + 300)
_MAX_FRAMING_CHARACTERS = 3_000

_TEMPLATE_PATH = Path(__file__).parent / "prompts" / "answer.jinja"


def render_instructions(site: str, evidence: Evidence) -> str:
    """The system part of the prompt. site: the site's name."""
    # Imported here, since a function that answers without a model has no Jinja.
    text: str = _load_template().render(
        site=" ".join(site.split()),
        sources=bool(evidence.passages),
        hints=bool(evidence.hints),
        max_claims=MAX_PROMPT_CLAIMS,
        max_routes=MAX_PROMPT_ROUTES,
    )
    return text


def frame_evidence(question: str, evidence: Evidence, violation: str | None = None) -> str:
    """The user part: one JSON object a line, so that no text in it can pass for an instruction."""
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
    """The strict JSON schema of a draft; the property of an empty stream is left out.

    Position ids are enumerated, so that equal counts give an equal schema, which the API has to
    compile only once.
    """
    properties: dict[str, Any] = {}
    if evidence.passages:
        source = {"type": "string", "enum": [f"s{n}" for n in _number_positions(evidence.passages)]}
        support = _build_object_schema({"source": source, "quote": {"type": "string"}})
        supports = {"type": "array", "items": support, "minItems": 1}
        claim = _build_object_schema({"text": {"type": "string"}, "evidence": supports})
        properties["claims"] = {"type": "array", "items": claim}
    if evidence.hints:
        hint = {"type": "string", "enum": [f"h{n}" for n in _number_positions(evidence.hints)]}
        properties["routes"] = {"type": "array", "items": hint}
    return _build_object_schema(properties)


def bound_prompt_tokens(site: str) -> int:
    """More tokens than one draft reads. site: the site's name.

    Evidence has a token a character: English has a third of one, and what has most, Chinese and
    Japanese, about one. A question may be made to have as many as it has bytes in UTF-8, which is
    the most that any text has. The rest is ours and English: half a token a character.
    """
    ours = len(_TEMPLATE_PATH.read_bytes()) + _MAX_FRAMING_CHARACTERS
    return (
        ours // 2
        + len(site.encode())
        + _MAX_HINT_CHARACTERS
        + selection.MAX_EVIDENCE_CHARACTERS
        + 4 * question_text.MAX_QUESTION_CHARACTERS
    )


def _number_positions(items: tuple[Any, ...]) -> range:
    return range(1, len(items) + 1)


def _build_object_schema(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def _encode_json_line(value: Mapping[str, Any]) -> str:
    """JSON on one line; a lone surrogate, which UTF-8 cannot hold, becomes an escape."""
    text = json.dumps(value, ensure_ascii=False)
    # U+2028, U+2029 and U+0085 end a line for some readers, though not for JSON.
    for separator in ("\u2028", "\u2029", "\x85"):
        text = text.replace(separator, f"\\u{ord(separator):04x}")
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


@cache
def _load_template() -> Any:
    import jinja2

    environment = jinja2.Environment(
        trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined, autoescape=False
    )
    return environment.from_string(_TEMPLATE_PATH.read_text(encoding="utf-8"))
