"""The JSON Schemas of what the function takes and sends, made from the types that it uses."""

from typing import Any, get_args

from .. import languages, questions
from ..call import Stage
from ..manifest import WIRE
from ..protection import challenge
from ..retrieval import TOP_K
from ..types import Confidence, Mode, Reason
from .http import STATUS, Code

Schema = dict[str, Any]

# What a mode's answer holds: claims, routes. The rule itself is ``types.Answer.mode``.
_MIX: dict[Mode, tuple[bool, bool]] = {
    "supported": (True, True),
    "partial": (True, False),
    "related-material": (False, True),
    "not-found": (False, False),
}
_TEXT: Schema = {"type": "string"}
_MAYBE: Schema = {"type": ["string", "null"]}
_COUNT: Schema = {"type": "integer", "minimum": 0}
_NUMBER: Schema = {"type": "integer", "minimum": 1}
# Root-relative or absolute, and nothing in it that could make a browser read another url.
_URL: Schema = {"type": "string", "pattern": r"^(https?://|/(?!/))[^\s\\]*$"}
_BUNDLE: Schema = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
_MOMENT: Schema = {"type": "string", "format": "date-time"}


def all_of_them() -> dict[str, Schema]:
    """Every schema by its name, as an OpenAPI document's ``components`` hold them."""
    return {
        "Question": _question(),
        "Answer": _answer(),
        "Sentence": _object(text=_some(_TEXT), citations=_list(_NUMBER, least=1)),
        "RecordCitation": _object(
            n=_NUMBER,
            kind={"const": "record"},
            id=_some(_TEXT),
            url=_URL,
            title=_TEXT,
            date=_MAYBE,
            language=_MAYBE,
            quote=_TEXT,
            start=_COUNT,
            href=_URL,
        ),
        "HintCitation": _object(
            n=_NUMBER,
            kind={"const": "hint"},
            id=_some(_TEXT),
            url=_URL,
            label=_TEXT,
            locator=_TEXT,
        ),
        "Passages": {
            "description": "Public passages by their ids, best first.",
            "type": "object",
            "maxProperties": TOP_K,
            "additionalProperties": _object(url=_URL, title=_TEXT, text=_TEXT),
        },
        "Stage": {
            "description": "What a question is at while its answer is made.",
            **_object(stage={"enum": list(get_args(Stage))}),
        },
        "Health": _object(
            status={"const": "ok"},
            wire={"const": WIRE},
            bundle=_BUNDLE,
            built_at=_MOMENT,
            generator=_TEXT,
        ),
        "Ready": _object(status={"const": "ready"}),
        "Challenge": {
            "description": "A challenge of ALTCHA's version 2.",
            "type": "object",
            "required": ["parameters", "signature"],
            "properties": {
                "parameters": {
                    "type": "object",
                    "required": ["algorithm", "cost", "keyPrefix", "nonce", "salt", "expiresAt"],
                    "properties": {
                        "algorithm": {"const": challenge.ALGORITHM},
                        "cost": {"const": challenge.COST},
                        "keyPrefix": _TEXT,
                        "nonce": _TEXT,
                        "salt": _TEXT,
                        "expiresAt": _COUNT,
                    },
                },
                "signature": _some(_TEXT),
            },
        },
        "Problem": {
            "description": "A problem of RFC 9457. It repeats nothing of the request.",
            **_object(
                type={"const": "about:blank"},
                title={"enum": list(dict.fromkeys(title for _, title in STATUS.values()))},
                status={"enum": list(dict.fromkeys(status for status, _ in STATUS.values()))},
                detail=_some(_TEXT),
                code={"enum": list(get_args(Code))},
            ),
        },
    }


def problem(codes: list[Code]) -> Schema:
    """A problem of one status, which has one of some codes."""
    own = {
        "title": {"enum": [STATUS[code][1] for code in codes]},
        "status": {"const": STATUS[codes[0]][0]},
        "code": {"enum": list(codes)},
    }
    return {"allOf": [ref("Problem"), {"properties": own}]}


def ref(name: str) -> Schema:
    """A reference to a schema by its name."""
    return {"$ref": f"#/components/schemas/{name}"}


def asked() -> Schema:
    """A question's text, which is cleaned before it is measured."""
    return {"type": "string", "minLength": 1, "maxLength": questions.MAX}


def language() -> Schema:
    """What the asker reads, as a tag such as ``pt-BR``."""
    return {
        "type": ["string", "null"],
        "pattern": f"^{languages.TAG.pattern}$",
        "maxLength": languages.MAX,
    }


def _question() -> Schema:
    """What is asked; other keys are ignored."""
    return {
        "type": "object",
        "required": ["question"],
        "properties": {
            "question": {**asked(), "description": "Counted after NFKC and without control codes."},
            "language": {**language(), "description": "The language that the asker reads."},
            "altcha": {
                "type": ["string", "null"],
                "description": "The solution of a challenge, where the function wants one.",
            },
        },
    }


def _answer() -> Schema:
    """An answer or a refusal; what else holds follows from its mode."""
    made = _object(
        mode={"enum": list(get_args(Mode))},
        answer=_TEXT,
        claims=_list(ref("Sentence")),
        routes=_list(ref("Sentence")),
        citations=_list(
            {
                "oneOf": [ref("RecordCitation"), ref("HintCitation")],
                "discriminator": {
                    "propertyName": "kind",
                    "mapping": {
                        "record": ref("RecordCitation")["$ref"],
                        "hint": ref("HintCitation")["$ref"],
                    },
                },
            }
        ),
        confidence={"enum": list(get_args(Confidence))},
        reason={"enum": [*get_args(Reason), None]},
        dropped=_COUNT,
        site_url=_MAYBE,
        bundle=_BUNDLE,
        built_at=_MOMENT,
        request_id=_some(_TEXT),
    )
    return {**made, "allOf": [_of_mode(mode) for mode in _MIX]}


def _of_mode(mode: Mode) -> Schema:
    claims, routes = _MIX[mode]
    is_answer = claims or routes
    own: Schema = {
        "answer": _some({}) if is_answer else {"const": ""},
        "claims": _filled(claims),
        "routes": _filled(routes),
        "citations": _filled(is_answer),
        "reason": {"type": "null"} if is_answer else {"enum": list(get_args(Reason))},
    }
    if not is_answer:
        own["confidence"] = {"const": "low"}
    return {"if": {"properties": {"mode": {"const": mode}}}, "then": {"properties": own}}


def _filled(wanted: bool) -> Schema:
    return {"minItems": 1} if wanted else {"maxItems": 0}


def _object(**properties: Schema) -> Schema:
    """An object that has these properties, all of them and no others."""
    return {
        "type": "object",
        "required": list(properties),
        "properties": properties,
        "additionalProperties": False,
    }


def _list(items: Schema, least: int = 0) -> Schema:
    return {"type": "array", "items": items, **({"minItems": least} if least else {})}


def _some(schema: Schema) -> Schema:
    return {**schema, "minLength": 1}
