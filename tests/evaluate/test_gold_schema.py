"""The JSON Schema of a gold file: as published, and of one mind with the loader."""

import json
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator

from answerable.evaluate.gold import (
    build_gold_schema,
    format_gold_schema,
    load_gold_queries,
)
from answerable.serve.errors import GoldError
from support.sites import ROOT

PUBLISHED = ROOT / "docs" / "gold.schema.json"

GOOD = [
    "queries: [{id: a, query: q, topSource: b}]",
    "- {id: a, query: '?!…', topSource: b}",
    "- {id: a, query: q, expectSources: [], forbidSources: [b], topSource: 'c#d', tags: [t]}",
    "- {id: a, query: q, expectAnswerMode: supported, forbidRecordCitations: false}",
    "- {id: a, query: q, expectAnswerMode: related-material, forbidRecordCitations: true}",
    "- {id: a, query: q, expectAnswerMode: not-found, expectReason: declined, topSource: a}",
    "- {id: a, query: q, expectReason: no-evidence, expectSources: []}",
    "- {id: a, query: q, expectReason: declined, requires: model, language: pt_BR, note: n}",
    "- {id: a, query: q, forbidAnswerPatterns: ['^$', '(?<!not )safe']}",
    "- {id: a, query: q, requireAnswerPatterns: ['chain'], expectCited: [b, 'c#d', e.md]}",
    "- {id: a, query: q, expectAnySource: [b, c], knownFailure: f}",
    "- {id: a, query: q, expectAnswerMode: [supported, partial], example: true}",
    "- {id: a, query: q, expectAnswerMode: [not-found], expectReason: declined}",
    "- {id: a, query: q, expectAnswerMode: [], topSource: b}",
    "- {id: a, query: q, expectReason: declined, expectCited: [], requireAnswerPatterns: []}",
    "- {id: a, query: q, forbidRecordCitations: true}",
]
BAD = [
    "queries: []",
    "[]",
    "",
    "queries: {}",
    "querys: [{id: a, query: q, topSource: b}]",
    "{queries: [{id: a, query: q, topSource: b}], more: 1}",
    "- a",
    "- {query: q, topSource: b}",
    "- {id: a, topSource: b}",
    "- {id: 1, query: q, topSource: b}",
    "- {id: ' ', query: q, topSource: b}",
    "- {id: 'a,b', query: q, topSource: b}",
    "- {id: a, query: '', topSource: b}",
    "- {id: a, query: [q], topSource: b}",
    "- {id: a, query: q, topSource: b, other: 1}",
    "- {id: a, query: q, topSource: }",
    "- {id: a, query: q, topSource: b, expectSources: b}",
    "- {id: a, query: q, topSource: b, expectSources: [1]}",
    "- {id: a, query: q, topSource: b, forbidAnswerPatterns: ['']}",
    "- {id: a, query: q, topSource: b, expectAnswerMode: answered}",
    "- {id: a, query: q, topSource: b, expectAnswerMode: null}",
    "- {id: a, query: q, topSource: b, expectReason: contract}",
    "- {id: a, query: q, topSource: b, requires: key}",
    "- {id: a, query: q, topSource: b, language: e}",
    "- {id: a, query: q, topSource: b, forbidRecordCitations: 'true'}",
    "- {id: a, query: q, expectAnswerMode: [partial, answered]}",
    "- {id: a, query: q, topSource: b, knownFailure: ''}",
    "- {id: a, query: q, topSource: b, requireAnswerPatterns: x}",
    "- {id: a, query: q, topSource: b, expectCited: b}",
]
# What the schema does not say: other fields, the whole file, the site and Python are needed for it.
ONLY_LOADED = [
    "- {id: a, query: q}",
    "- {id: a, query: q, requires: model, knownFailure: f, example: false, tags: [t], note: n}",
    "- {id: a, query: q, expectSources: [], expectAnswerMode: [], forbidRecordCitations: false}",
    "[{id: a, query: q, topSource: b}, {id: a, query: r, topSource: b}]",
    "- {id: a, query: 'who is {{other}}', topSource: b}",
    "- {id: a, query: q, expectSources: [b], forbidSources: [b]}",
    "- {id: a, query: q, forbidAnswerPatterns: ['(']}",
    "- {id: a, query: q, requireAnswerPatterns: ['(']}",
    "- {id: a, query: q, requireAnswerPatterns: ['chain', 'x*']}",
    "- {id: a, query: q, expectCited: ['b#c'], forbidSources: [b]}",
    "- {id: a, query: q, topSource: b, language: en us}",
]


def takes(text: str) -> bool:
    """Validate a file by the published schema."""
    schema = json.loads(PUBLISHED.read_text(encoding="utf-8"))
    return Draft202012Validator(schema).is_valid(yaml.safe_load(text))


def loads(folder: Path, text: str) -> bool:
    path = folder / "gold.yaml"
    path.write_text(text, encoding="utf-8")
    try:
        return bool(load_gold_queries(path, None))
    except GoldError:
        return False


def test_published_schema_equals_built_schema() -> None:
    assert PUBLISHED.read_text(encoding="utf-8") == format_gold_schema()


def test_gold_schema_is_valid_json_schema() -> None:
    Draft202012Validator.check_schema(build_gold_schema())


@pytest.mark.parametrize("text", GOOD)
def test_schema_and_loader_accept_valid_gold(tmp_path: Path, text: str) -> None:
    assert (takes(text), loads(tmp_path, text)) == (True, True)


@pytest.mark.parametrize("text", BAD)
def test_schema_and_loader_refuse_invalid_gold(tmp_path: Path, text: str) -> None:
    assert (takes(text), loads(tmp_path, text)) == (False, False)


@pytest.mark.parametrize("text", ONLY_LOADED)
def test_loader_refuses_what_schema_does_not_express(tmp_path: Path, text: str) -> None:
    assert (takes(text), loads(tmp_path, text)) == (True, False)


def test_own_gold_set_matches_schema() -> None:
    assert takes((ROOT / "eval" / "gold.yaml").read_text(encoding="utf-8"))
