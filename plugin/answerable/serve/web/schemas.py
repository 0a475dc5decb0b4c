"""The JSON Schemas of what the function takes and sends, made from the types that it uses."""

from typing import get_args

from .. import languages, questions
from ..call import Stage
from ..manifest import WIRE
from ..protection import challenge
from ..retrieval import TOP_K
from ..types import Confidence, Mode, Reason
from . import claim_schemas
from .http import STATUS, Code
from .json_schema import NUMBER, TEXT, URL, Schema, list_of, nonempty, object_of, ref

# What a mode's answer holds: claims, routes. The rule itself is ``types.Answer.mode``.
_MIX: dict[Mode, tuple[bool, bool]] = {
    "supported": (True, True),
    "partial": (True, False),
    "related-material": (False, True),
    "not-found": (False, False),
}
_MAYBE: Schema = {"type": ["string", "null"]}
_COUNT: Schema = {"type": "integer", "minimum": 0}
_BUNDLE: Schema = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
_MOMENT: Schema = {"type": "string", "format": "date-time"}


def all_of_them() -> dict[str, Schema]:
    """Every schema by its name, as an OpenAPI document's ``components`` hold them."""
    return {
        "Question": _question(),
        "Answer": _answer(),
        "Sentence": object_of(text=nonempty(TEXT), citations=list_of(NUMBER, least=1)),
        **claim_schemas.all_of_them(),
        "RecordCitation": object_of(
            n=NUMBER,
            kind={"const": "record"},
            id=nonempty(TEXT),
            url=URL,
            title=TEXT,
            date=_MAYBE,
            language=_MAYBE,
            quote=TEXT,
            start=_COUNT,
            href=URL,
        ),
        "HintCitation": object_of(
            n=NUMBER,
            kind={"const": "hint"},
            id=nonempty(TEXT),
            url=URL,
            label=TEXT,
            locator=TEXT,
        ),
        "Note": {
            "description": "How a word of the question was read.",
            "oneOf": [
                object_of(
                    kind={"const": "corrected"}, **{"from": nonempty(TEXT)}, to=nonempty(TEXT)
                ),
                object_of(kind={"const": "unknown"}, word=nonempty(TEXT)),
                object_of(kind={"const": "follow-up"}),
            ],
        },
        "Passages": {
            "description": "Public passages by their ids, best first.",
            "type": "object",
            "maxProperties": TOP_K,
            "additionalProperties": object_of(url=URL, title=TEXT, text=TEXT),
        },
        "Stage": {
            "description": "What a question is at while its answer is made.",
            **object_of(stage={"enum": list(get_args(Stage))}),
        },
        "Health": object_of(
            status={"const": "ok"},
            wire={"const": WIRE},
            bundle=_BUNDLE,
            built_at=_MOMENT,
            generator=TEXT,
        ),
        "Ready": object_of(status={"const": "ready"}),
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
                        "keyPrefix": TEXT,
                        "nonce": TEXT,
                        "salt": TEXT,
                        "expiresAt": _COUNT,
                    },
                },
                "signature": nonempty(TEXT),
            },
        },
        "Problem": {
            "description": "A problem of RFC 9457. It repeats nothing of the request.",
            **object_of(
                type={"const": "about:blank"},
                title={"enum": list(dict.fromkeys(title for _, title in STATUS.values()))},
                status={"enum": list(dict.fromkeys(status for status, _ in STATUS.values()))},
                detail=nonempty(TEXT),
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
    made = object_of(
        mode={"enum": list(get_args(Mode))},
        answer=TEXT,
        claims=list_of(ref("Claim")),
        routes=list_of(ref("Sentence")),
        citations=list_of(
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
        notes=list_of(ref("Note")),
        site_url=_MAYBE,
        bundle=_BUNDLE,
        built_at=_MOMENT,
        request_id=nonempty(TEXT),
    )
    return {**made, "allOf": [_of_mode(mode) for mode in _MIX]}


def _of_mode(mode: Mode) -> Schema:
    claims, routes = _MIX[mode]
    is_answer = claims or routes
    own: Schema = {
        "answer": nonempty({}) if is_answer else {"const": ""},
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
