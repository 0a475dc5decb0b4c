"""The gold file: every mistake is named by file, query and field, on one line with the remedy."""

import json
from pathlib import Path

import msgspec
import pytest
import yaml
from jsonschema import Draft202012Validator

from answerable.check.gold import GoldQuery, load_gold_queries, select_gold_queries
from answerable.check.sources import (
    NoteSources,
    check_gold_sources,
    list_cited_sources,
    make_note_sources,
)
from answerable.engine.errors import GoldError
from answerable.engine.retrieval import question
from answerable.engine.types import RoutingHint
from support.sites import ROOT

WHOLE = """
queries:
  - id: moor
    query: What did {{author}} say of chains?
    language: en-GB
    expectAnswerMode: supported
    expectSources: [mooring, winch.md]
    forbidSources: [storms]
    topSource: mooring#chains
    forbidAnswerPatterns: ["rope"]
    tags: [chains, people]
    requires: model
    expectAnySource: [anchors, mooring]
    expectCited: [mooring]
    requireAnswerPatterns: ["chain"]
    knownFailure: the page is not written yet
    note: why
  - id: bread
    query: How do I bake bread?
    expectAnswerMode: not-found
    expectReason: no-evidence
    expectSources: []
    forbidRecordCitations: true
"""


def load(folder: Path, text: str, author: str | None = None) -> tuple[GoldQuery, ...]:
    path = folder / "gold.yaml"
    path.write_text(text, encoding="utf-8")
    return load_gold_queries(path, author)


def mistake(folder: Path, text: str) -> str:
    """Load a file that is refused, and return the error, on one line that names the file."""
    with pytest.raises(GoldError) as error:
        load(folder, text)
    message = str(error.value)
    assert "\n" not in message
    assert message.startswith(f"{folder / 'gold.yaml'}")
    return message.removeprefix(f"{folder / 'gold.yaml'}")


def one(fields: str) -> str:
    """Format a file of one query that has some fields more."""
    return f"queries: [{{id: a, query: q, {fields}}}]"


def test_every_gold_field_is_loaded(tmp_path: Path) -> None:
    moor, bread = load(tmp_path, WHOLE, author="Ada")
    assert moor == GoldQuery(
        id="moor",
        query="What did Ada say of chains?",
        expect_answer_mode="supported",
        expect_sources=("mooring", "winch.md"),
        forbid_sources=("storms",),
        top_source="mooring#chains",
        forbid_answer_patterns=("rope",),
        note="why",
        tags=("chains", "people"),
        language="en-GB",
        requires="model",
        expect_any_source=("anchors", "mooring"),
        expect_cited=("mooring",),
        require_answer_patterns=("chain",),
        known_failure="the page is not written yet",
    )
    assert bread == GoldQuery(
        id="bread",
        query="How do I bake bread?",
        expect_answer_mode="not-found",
        expect_reason="no-evidence",
        forbid_record_citations=True,
    )


def test_several_modes_may_be_expected(tmp_path: Path) -> None:
    (query,) = load(tmp_path, one("expectAnswerMode: [supported, partial, partial]"))
    assert query.expected_modes == ("supported", "partial")


GOOD = [
    "- &base {id: a, query: '?!…', topSource: b, tags: [t]}\n- {<<: *base, id: b}",
    "- {id: a, query: q, expectSources: [], forbidSources: [b], topSource: 'c#d', tags: [t]}",
    "- {id: a, query: q, expectAnswerMode: related-material, forbidRecordCitations: true}",
    "- {id: a, query: q, expectReason: declined, requires: model, language: pt_BR, note: n}",
    "- {id: a, query: q, forbidAnswerPatterns: ['^$', '(?<!not )safe']}",
    "- {id: a, query: q, requireAnswerPatterns: ['chain'], expectCited: [b, 'c#d', e.md]}",
    "- {id: a, query: q, expectAnySource: [b, c], knownFailure: f}",
    "- {id: a, query: q, expectAnswerMode: [supported, partial], example: true}",
]
MISTAKES = {
    "queries: []": ": it has to hold a list `queries:` of at least one query; write one",
    "": ": it has to hold a list `queries:` of at least one query; write one",
    "querys: []": ": querys is not a field of a gold file; write `queries:`",
    "queries: [a]":
        ": query 1 is not a list of `key: value` lines; write `id:` and `query:`",
    "queries: [{query: q}]": ": query 1: id is missing; write it",
    "queries: [{id: a}]": ": query 1 ('a'): query is missing; write it",
    "queries: [{id: , query: q}]":
        ": query 1: id has to be a text and is empty; fill it in or drop it",
    "queries: [{id: 5, query: q}]": ": query 1: id has to be a text; put it in quotes",
    "queries: [{id: 'a,b', query: q}]":
        ": query 1: id: 'a,b' has a comma, which divides ids; drop it",
    "queries: [{id: a, query: ' '}]":
        ": query 1 ('a'): query has to be a text and is blank; fill it in or drop it",
    one("expectMode: a"):
        ": query 1 ('a'): expectMode is not a field of a gold query, did you mean "
        "expectAnswerMode?",
    one("expectAnswerMode: suported"):
        ": query 1 ('a'): expectAnswerMode: 'suported' is not a valid value, did you mean "
        "supported?",
    one("expectAnswerMode: no"):
        ": query 1 ('a'): expectAnswerMode has to be a text; put it in quotes",
    one("expectReason: contract"):
        ": query 1 ('a'): expectReason: 'contract' is not a valid value; write no-evidence or "
        "declined",
    one("language: e"):
        ": query 1 ('a'): language: 'e' is not a language tag; write one such as en or pt-BR",
    one("expectSources: mooring"):
        ": query 1 ('a'): expectSources has to be a list of texts, such as [one, other]",
    one("forbidSources: [5]"): ": query 1 ('a'): forbidSources has to be a text; put it in quotes",
    one("tags: ['']"):
        ": query 1 ('a'): tags has to be a text and is blank; fill it in or drop it",
    one("forbidRecordCitations: 1"):
        ": query 1 ('a'): forbidRecordCitations has to be true or false",
}  # fmt: skip


_NOTHING = (
    ": query 1 ('a') requires nothing, so every answer passes it; write what it has to do, such as "
    "expectAnswerMode or expectSources"
)
_PATTERN = ": query 1 ('a'): forbidAnswerPatterns: number 2 "
_NO_REGEX = f"{_PATTERN}is not a regular expression of Python ("
# What the schema does not say: other fields, the whole file, the site and Python are needed for it.
# A pattern goes by its number.
ONLY_LOADED = {
    one("requires: model, knownFailure: f, example: false, tags: [t], note: n"): _NOTHING,
    one("expectSources: [], forbidAnswerPatterns: [], forbidRecordCitations: false"): _NOTHING,
    one("expectAnswerMode: []"): _NOTHING,
    "[{id: a, query: q, topSource: b}, {id: a, query: r, topSource: b}]":
        ": query 2 ('a'): duplicate id; rename one",
    one("topSource: b, language: en us"):
        ": query 1 ('a'): language: 'en us' is not a language tag; write one such as en or pt-BR",
    one("forbidAnswerPatterns: ['x', '(']"):
        f"{_NO_REGEX}missing ), unterminated subpattern at position 0); correct it",
    one("forbidAnswerPatterns: ['x', 'a{1,99999999999}']"): f"{_NO_REGEX}the repetition number is",
    one(f"forbidAnswerPatterns: ['x', '{'(' * 900}']"): _NO_REGEX,
    one(r'forbidAnswerPatterns: ["x", "\bfoo"]'):
        f"{_PATTERN}holds a backspace, which is \\b between double quotes; use single quotes",
    'queries: [{id: a, query: "who is {{author}}", topSource: b}]':
        ": query 1 ('a'): query: {{author}} needs `site_author` in mkdocs.yml; set it",
    'queries: [{id: a, query: "\\u0000\\u200b", topSource: b}]':
        ": query 1 ('a'): query: no reader can ask it (the question is empty); reword it",
    f"queries: [{{id: a, query: {'q' * (question.MAX_QUESTION_CHARACTERS + 1)}, topSource: b}}]":
        ": query 1 ('a'): query: no reader can ask it (a question has at most 500 characters); "
        "reword it",
}  # fmt: skip
NO_YAML = {
    "queries:\n  - id: a\n    query: why: so\n":
        ": line 3, column 15 is not YAML (mapping values are not allowed here)",
    "queries: [{id: a, query: {{author}}}]": ": line 1, column 27 is not YAML (",
    "queries: [{id: a, query: 2024-13-77}]": " is not YAML (",
    "queries:\n- id: a\n  query: q\n  query: r": ": duplicate key query in lines 3 and 4",
    "queries: []\nqueries: [{id: b, query: q}]": ": duplicate key queries in lines 1 and 2",
}  # fmt: skip


@pytest.mark.parametrize("text", MISTAKES)
def test_mistake_in_gold_file_is_named_with_remedy(tmp_path: Path, text: str) -> None:
    assert mistake(tmp_path, text) == MISTAKES[text]


@pytest.mark.parametrize("text", [*ONLY_LOADED, *NO_YAML])
def test_mistake_that_the_schema_does_not_see_is_named(tmp_path: Path, text: str) -> None:
    assert mistake(tmp_path, text).startswith((ONLY_LOADED | NO_YAML)[text])


def test_the_published_schema_is_of_one_mind_with_the_loader(tmp_path: Path) -> None:
    schema = json.loads((ROOT / "docs" / "gold.schema.json").read_text("utf-8"))
    Draft202012Validator.check_schema(schema)
    assert set(schema["$defs"]["query"]["properties"]) == {
        field.encode_name for field in msgspec.structs.fields(GoldQuery)
    }
    validator = Draft202012Validator(schema)
    for text in GOOD:
        assert (validator.is_valid(yaml.safe_load(text)), bool(load(tmp_path, text))) == (
            True,
            True,
        )
    for text in MISTAKES:
        assert not validator.is_valid(yaml.safe_load(text)), text
    for text in ONLY_LOADED:
        assert validator.is_valid(yaml.safe_load(text))


def test_unreadable_gold_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(GoldError, match=r"nowhere\.yaml does not exist: write one"):
        load_gold_queries(tmp_path / "nowhere.yaml", None)
    with pytest.raises(GoldError, match="cannot be read"):
        load_gold_queries(tmp_path, None)
    (tmp_path / "latin.yaml").write_bytes(b"- {id: a, query: caf\xe9}")
    with pytest.raises(GoldError, match=r"latin\.yaml is not UTF-8 \(byte 20\): save it as UTF-8"):
        load_gold_queries(tmp_path / "latin.yaml", None)


def test_author_is_filled_in_verbatim(tmp_path: Path) -> None:
    text = "queries: [{id: a, query: 'who is {{ author }}, {{page.title}}?', topSource: b}]"
    (query,) = load(tmp_path, text, author=r"\1 {{x}}")
    assert query.query == r"who is \1 {{x}}, {{page.title}}?"


def test_an_unknown_id_is_refused(tmp_path: Path) -> None:
    queries = load(tmp_path, WHOLE, author="Ada")
    path = tmp_path / "gold.yaml"
    assert [query.id for query in select_gold_queries(queries, ["bread"], path)] == ["bread"]
    with pytest.raises(GoldError, match=r"no query 'bred', did you mean bread\?; see --list"):
        select_gold_queries(queries, ["moor", "bred"], path)


def test_a_note_is_named_by_its_path_or_its_public_id(tmp_path: Path) -> None:
    queries = load(tmp_path, "queries: [{id: a, query: q, expectSources: [winch.md, 'note:1']}]")
    notes = make_note_sources({"winch.md": "note:1", "buoy.md": "note:2"}, ())
    check_gold_sources(queries, tmp_path, (), notes)
    hint = RoutingHint("note:1~2", "Winch", "", "/")
    assert list_cited_sources([hint], notes.ids) == {"winch.md", "note:1"}
    # An author may choose an id that is written like the path of another note.
    alike = make_note_sources({"winch.md": "note:1", "buoy.md": "winch.md"}, ())
    assert alike.ids["winch.md"] == "note:1"


def test_all_unknown_sources_are_named_at_once(tmp_path: Path) -> None:
    queries = load(
        tmp_path,
        """
queries:
  - {id: a, query: q, topSource: morings, expectCited: [mooring, winch.md]}
  - {id: b, query: r, expectAnySource: ['mooring#chain', mooring], forbidSources: [off.md]}
""",
    )
    path = tmp_path / "gold.yaml"
    with pytest.raises(GoldError) as error:
        check_gold_sources(queries, path, {"mooring"}, NoteSources({}, ("off.md",)))
    none, remedy = (
        "there is no record, passage or note of that name",
        "build the site again or correct it",
    )
    # By number, since what could be the path of a note is not named in a public log.
    assert str(error.value).splitlines() == [
        f"{path}: query 'a': topSource: number 1: {none}, did you mean mooring?; {remedy}",
        f"{path}: query 'a': expectCited: number 2: {none}; {remedy}",
        f"{path}: query 'b': expectAnySource: number 1: {none}, did you mean mooring?; {remedy}",
    ]
