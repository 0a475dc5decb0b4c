"""The JSON Schemas of a claim and of the blocks that draw it."""

from ..structure import LABELS, MAX_LEVEL
from .json_schema import NUMBER, TEXT, URL, Schema, list_of, nonempty, object_of, ref


def all_of_them() -> dict[str, Schema]:
    """Every schema by its name."""
    return {
        "Claim": _claim(),
        "TextBlock": object_of(kind={"const": "text"}, spans=list_of(ref("Piece"), least=1)),
        "LabelBlock": object_of(
            kind={"const": "label"},
            label={"enum": list(LABELS)},
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
