"""The JSON Schema of a gold file: as published, and of one mind with the loader."""

import json
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator

from answerable.evaluate import gold_schema
from answerable.evaluate.gold import load_gold_queries
from answerable.evaluate.gold_schema import build_gold_schema, format_gold_schema
from answerable.serve.errors import GoldError
from support.sites import ROOT

PUBLISHED = ROOT / "docs" / "gold.schema.json"

GOOD = [
    "queries: [{id: a, query: q}]",
    "- {id: a, query: '?!…'}",
    "- {id: a, query: q, expectSources: [], forbidSources: [b], topSource: 'c#d', tags: [t]}",
    "- {id: a, query: q, expectAnswerMode: supported, forbidRecordCitations: false}",
    "- {id: a, query: q, expectAnswerMode: related-material, forbidRecordCitations: true}",
    "- {id: a, query: q, expectAnswerMode: not-found, expectReason: declined, topSource: a}",
    "- {id: a, query: q, expectReason: no-evidence, expectSources: []}",
    "- {id: a, query: q, expectReason: declined, requires: model, language: pt_BR, note: n}",
    "- {id: a, query: q, forbidAnswerPatterns: ['^$', '(?<!not )safe']}",
]
BAD = [
    "queries: []",
    "[]",
    "",
    "queries: {}",
    "querys: [{id: a, query: q}]",
    "{queries: [{id: a, query: q}], more: 1}",
    "- a",
    "- {query: q}",
    "- {id: a}",
    "- {id: 1, query: q}",
    "- {id: ' ', query: q}",
    "- {id: 'a,b', query: q}",
    "- {id: a, query: ''}",
    "- {id: a, query: [q]}",
    "- {id: a, query: q, other: 1}",
    "- {id: a, query: q, topSource: }",
    "- {id: a, query: q, expectSources: b}",
    "- {id: a, query: q, expectSources: [1]}",
    "- {id: a, query: q, forbidAnswerPatterns: ['']}",
    "- {id: a, query: q, expectAnswerMode: answered}",
    "- {id: a, query: q, expectAnswerMode: null}",
    "- {id: a, query: q, expectReason: contract}",
    "- {id: a, query: q, requires: key}",
    "- {id: a, query: q, language: e}",
    "- {id: a, query: q, forbidRecordCitations: 'true'}",
    "- {id: a, query: q, expectReason: declined, expectAnswerMode: partial}",
    "- {id: a, query: q, expectReason: no-evidence, expectSources: [b]}",
    "- {id: a, query: q, expectReason: no-evidence, topSource: b}",
    "- {id: a, query: q, expectReason: no-evidence, requires: model}",
    "- {id: a, query: q, forbidRecordCitations: true, expectAnswerMode: partial}",
]
# What a schema cannot say: the whole file, the site and Python are needed for it.
ONLY_LOADED = [
    "[{id: a, query: q}, {id: a, query: r}]",
    "- {id: a, query: 'who is {{other}}'}",
    "- {id: a, query: q, expectSources: [b], forbidSources: [b]}",
    "- {id: a, query: q, forbidAnswerPatterns: ['(']}",
    "- {id: a, query: q, language: en us}",
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
def test_loader_refuses_what_schema_cannot_express(tmp_path: Path, text: str) -> None:
    assert (takes(text), loads(tmp_path, text)) == (True, False)


def test_own_gold_set_matches_schema() -> None:
    assert takes((ROOT / "eval" / "gold.yaml").read_text(encoding="utf-8"))


def test_every_rule_names_existing_fields() -> None:
    for rule in gold_schema.FIELD_RULES:
        assert {rule.field, rule.other} <= set(gold_schema.GOLD_FIELDS)
        assert set(rule.allowed) <= set(gold_schema.GOLD_FIELDS[rule.other].choices)
