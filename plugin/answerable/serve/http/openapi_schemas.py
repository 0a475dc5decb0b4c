"""The parts that JSON Schemas are made of.

The JSON Schemas of a claim and of the blocks that draw it.

The JSON Schemas of what the function takes and sends, made from the types that it uses.
"""

from typing import Any, get_args

from ..bundle_format.manifest import WIRE_VERSION
from ..limits import proof_of_work
from ..request_context import RequestStage
from ..retrieval import question_text
from ..retrieval.retrieve import TOP_K
from ..structure import LABEL_DETAILS, MAX_LEVEL
from ..text import languages
from ..types import Confidence, Mode, Reason
from .messages import PROBLEM_STATUSES, ProblemCode

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "integer", "minimum": 1}
# Root-relative or absolute, and nothing in it that could make a browser read another url.
URL: Schema = {"type": "string", "pattern": r"^(https?://|/(?!/))[^\s\\]*$"}


def ref(name: str) -> Schema:
    """A reference to a schema by its name."""
    return {"$ref": f"#/components/schemas/{name}"}


def object_of(**properties: Schema) -> Schema:
    """An object that has these properties, all of them and no others."""
    return {
        "type": "object",
        "required": list(properties),
        "properties": properties,
        "additionalProperties": False,
    }


def list_of(items: Schema, least: int = 0) -> Schema:
    return {"type": "array", "items": items, **({"minItems": least} if least else {})}


def nonempty(schema: Schema) -> Schema:
    return {**schema, "minLength": 1}


def make_claim_schemas() -> dict[str, Schema]:
    """Every schema by its name."""
    return {
        "Claim": _claim(),
        "TextBlock": object_of(kind={"const": "text"}, spans=list_of(ref("Piece"), least=1)),
        "LabelBlock": object_of(
            kind={"const": "label"},
            label={"enum": list(LABEL_DETAILS)},
            spans=list_of(ref("Piece"), least=1),
        ),
        "CodeBlock": object_of(
            kind={"const": "code"},
            language={**TEXT, "description": "As its highlighter names it; empty if unknown."},
            text=nonempty(TEXT),
        ),
        "ListBlock": object_of(
            kind={"const": "list"},
            items=list_of(
                object_of(
                    level={"type": "integer", "minimum": 0, "maximum": MAX_LEVEL},
                    number={**TEXT, "description": "Empty in a list without numbers."},
                    spans=list_of(ref("Piece"), least=1),
                ),
                least=1,
            ),
        ),
        "TableBlock": object_of(
            kind={"const": "table"},
            columns={**list_of(ref("Cell")), "description": "Empty where no names are quoted."},
            rows=list_of(list_of(ref("Cell"), least=1)),
        ),
        "GapBlock": {
            "description": "Words of the page that are left out between two quotes.",
            **object_of(kind={"const": "gap"}),
        },
        "Cell": list_of(ref("Piece")),
        "Piece": _piece(),
    }


def _claim() -> Schema:
    """A sentence or an excerpt; ``blocks`` is there only where the claim is a page's own words."""
    made = object_of(text=nonempty(TEXT), citations=list_of(NUMBER, least=1))
    kinds = ("Text", "Label", "Code", "List", "Table", "Gap")
    names = {kind.lower(): f"{kind}Block" for kind in kinds}
    made["properties"]["blocks"] = {
        **list_of(
            {
                "oneOf": [ref(name) for name in names.values()],
                "discriminator": {
                    "propertyName": "kind",
                    "mapping": {kind: ref(name)["$ref"] for kind, name in names.items()},
                },
            },
            least=1,
        ),
        "description": "The same words with the structure of the page, for a client that draws it. "
        "A claim that a model has worded has no blocks.",
    }
    return made


def _piece() -> Schema:
    """A piece of a text."""
    made = object_of(text=nonempty(TEXT))
    made["properties"] |= {
        "code": {"const": True, "description": "It is inline code."},
        "href": {**URL, "description": "It is a link."},
    }
    return made


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


def make_schemas() -> dict[str, Schema]:
    """Every schema by its name, as an OpenAPI document's ``components`` hold them."""
    return {
        "Question": _question(),
        "Answer": _answer(),
        "Sentence": object_of(text=nonempty(TEXT), citations=list_of(NUMBER, least=1)),
        **make_claim_schemas(),
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
            **object_of(stage={"enum": list(get_args(RequestStage))}),
        },
        "Health": object_of(
            status={"const": "ok"},
            wire={"const": WIRE_VERSION},
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
                        "algorithm": {"const": proof_of_work.ALGORITHM},
                        "cost": {"const": proof_of_work.COST},
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
                title={
                    "enum": list(dict.fromkeys(title for _, title in PROBLEM_STATUSES.values()))
                },
                status={
                    "enum": list(dict.fromkeys(status for status, _ in PROBLEM_STATUSES.values()))
                },
                detail=nonempty(TEXT),
                code={"enum": list(get_args(ProblemCode))},
            ),
        },
    }


def make_problem_schema(codes: list[ProblemCode]) -> Schema:
    """A problem of one status, which has one of some codes."""
    own = {
        "title": {"enum": [PROBLEM_STATUSES[code][1] for code in codes]},
        "status": {"const": PROBLEM_STATUSES[codes[0]][0]},
        "code": {"enum": list(codes)},
    }
    return {"allOf": [ref("Problem"), {"properties": own}]}


def make_question_text_schema() -> Schema:
    """A question's text, which is cleaned before it is measured."""
    return {"type": "string", "minLength": 1, "maxLength": question_text.MAX_QUESTION_CHARACTERS}


def make_language_schema() -> Schema:
    """What the asker reads, as a tag such as ``pt-BR``."""
    return {
        "type": ["string", "null"],
        "pattern": f"^{languages.LANGUAGE_TAG.pattern}$",
        "maxLength": languages.MAX_TAG_LENGTH,
    }


def _question() -> Schema:
    """What is asked; other keys are ignored."""
    return {
        "type": "object",
        "required": ["question"],
        "properties": {
            "question": {
                **make_question_text_schema(),
                "description": "Counted after NFKC and without control codes.",
            },
            "language": {
                **make_language_schema(),
                "description": "The language that the asker reads.",
            },
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
