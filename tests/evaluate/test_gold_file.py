"""The gold file: every mistake is named by file, query and field, on one line with the remedy."""

from pathlib import Path

import pytest

from answerable.evaluate.gold import (
    GoldQuery,
    find_pattern_problem,
    load_gold_queries,
    select_gold_queries,
)
from answerable.evaluate.judge import JudgedAnswer, judge_answer
from answerable.evaluate.sources import (
    NoteSources,
    check_gold_sources,
    list_cited_sources,
    make_note_sources,
)
from answerable.serve.errors import GoldError
from answerable.serve.retrieval import question
from answerable.serve.types import HintCitation

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


def test_expected_mode_may_be_a_list_of_acceptable_modes(tmp_path: Path) -> None:
    (several,) = load(tmp_path, one("expectAnswerMode: [supported, partial, partial]"))
    assert several.expected_modes == ("supported", "partial")
    (single,) = load(tmp_path, one("expectAnswerMode: [not-found]"))
    assert single.expected_modes == ("not-found",)
    (none,) = load(tmp_path, one("expectAnswerMode: [], topSource: a"))
    assert none.expected_modes == ()


@pytest.mark.parametrize(
    "fields",
    [
        "note: n",
        "requires: model, knownFailure: f, tags: [t], example: false",
        "expectSources: [], forbidAnswerPatterns: [], forbidRecordCitations: false",
    ],
)
def test_query_without_expectation_is_refused(tmp_path: Path, fields: str) -> None:
    assert mistake(tmp_path, one(fields)) == (
        ": query 1 ('a') requires nothing, so every answer passes it; write what it has to do, "
        "such as expectAnswerMode or expectSources"
    )


def test_required_pattern_that_matches_nothing_at_all_is_refused(tmp_path: Path) -> None:
    assert mistake(tmp_path, one("requireAnswerPatterns: ['chain', '(rope)?']")) == (
        ": query 1 ('a'): requireAnswerPatterns: number 2 matches an empty answer and so requires "
        "nothing; write what has to stand there"
    )
    assert load(tmp_path, one("forbidAnswerPatterns: ['^$']"))


def test_gold_file_may_be_a_bare_list(tmp_path: Path) -> None:
    assert [query.id for query in load(tmp_path, "- {id: a, query: q, topSource: b}")] == ["a"]


def test_gold_queries_may_share_fields_by_merge_key(tmp_path: Path) -> None:
    text = "- &base {id: a, query: q, topSource: b, tags: [t]}\n- {<<: *base, id: b}"
    assert [(query.id, query.tags) for query in load(tmp_path, text)] == [
        ("a", ("t",)),
        ("b", ("t",)),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("queries: []", ": it has to hold a list `queries:` of at least one query; write one"),
        ("", ": it has to hold a list `queries:` of at least one query; write one"),
        ("query: []", ": query is not a field of a gold file, did you mean queries?; drop it"),
        ("queries: [a]", ": query 1 is not a list of `key: value` lines; write `id:` and `query:`"),
        ("queries: [{query: q}]", ": query 1: id is missing; write it"),
        ("queries: [{id: a}]", ": query 1 ('a'): query is missing; write it"),
        ("queries: [{id: , query: q}]",
         ": query 1: id has to be a text and is empty; fill it in or drop it"),
        ("queries: [{id: 5, query: q}]", ": query 1: id has to be a text; put it in quotes"),
        ("queries: [{id: 'a,b', query: q}]",
         ": query 1: id: 'a,b' has a comma, which divides ids; drop it"),
        ("queries: [{id: a, query: ' '}]",
         ": query 1 ('a'): query has to be a text and is blank; fill it in or drop it"),
        ("queries: [{id: a, query: q, topSource: b}, {id: a, query: r, topSource: b}]",
         ": query 2 ('a'): duplicate id, query 1 has it too; rename one"),
        ("queries:\n- id: a\n  query: q\n  query: r",
         ": query 1 ('a'): duplicate key query in lines 3 and 4; keep one"),
        ("- {id: a, id: b, query: q}",
         ": query 1 ('a'): duplicate key id in lines 1 and 1; keep one"),
        ("queries: [{id: a, query: q}]\nqueries: [{id: b, query: q}]",
         ": duplicate key queries in lines 1 and 2; keep one"),
    ],
)  # fmt: skip
def test_mistake_in_gold_file_is_named_with_remedy(tmp_path: Path, text: str, message: str) -> None:
    assert mistake(tmp_path, text) == message


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ("expectMode: partial",
         "expectMode is not a field of a gold query, did you mean expectAnswerMode?"),
        ("expect_sources: [a]",
         "expect_sources is not a field of a gold query, did you mean expectSources?"),
        ("1: x", "1 is not a field of a gold query; the fields are id, query, language, "),
        ("expectAnswerMode: suported",
         "expectAnswerMode: 'suported' is not known here, did you mean supported?"),
        ("expectAnswerMode: yes please",
         "expectAnswerMode: 'yes please' is not known here; write supported, partial, "
         "related-material or not-found"),
        ("expectAnswerMode: no", "expectAnswerMode has to be a text; put it in quotes"),
        ("expectReason: none",
         "expectReason: 'none' is not known here; write no-evidence or declined"),
        ("expectReason: contract", "expectReason: 'contract' is not known here; write no-"),
        ("requires: models", "requires: 'models' is not known here, did you mean model?"),
        ("language: not a tag",
         "language: 'not a tag' is not a language tag; write one such as en or pt-BR"),
        ("language: no", "language has to be a text; put it in quotes"),
        ("expectSources: mooring",
         "expectSources has to be a list of texts, such as [one, other]"),
        ("forbidSources: [5]", "forbidSources has to be a text; put it in quotes"),
        ("tags: ['']", "tags has to be a text and is blank; fill it in or drop it"),
        ("topSource: ", "topSource has to be a text and is empty; fill it in or drop it"),
        ("note: 2024-01-01", "note has to be a text; put it in quotes"),
        ("forbidRecordCitations: 1", "forbidRecordCitations has to be true or false"),
    ],
)  # fmt: skip
def test_unknown_or_invalid_gold_field_is_named(tmp_path: Path, fields: str, message: str) -> None:
    assert mistake(tmp_path, one(fields)).startswith(f": query 1 ('a'): {message}")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ("expectSources: [a, b], forbidSources: [b]",
         "expectSources: number 2 is forbidden too, by forbidSources"),
        ("topSource: 'a#part', forbidSources: [a]",
         "topSource: number 1 is forbidden too, by forbidSources"),
        ("expectCited: [b, 'a#part'], forbidSources: [a]",
         "expectCited: number 2 is forbidden too, by forbidSources"),
        ("expectAnySource: [b, a], forbidSources: [a]",
         "expectAnySource: number 2 is forbidden too, by forbidSources"),
    ],
)  # fmt: skip
def test_contradictory_expectations_are_refused(tmp_path: Path, fields: str, message: str) -> None:
    whole = f": query 1 ('a'): {message}; drop one of the two"
    assert mistake(tmp_path, one(fields)) == whole


@pytest.mark.parametrize(
    "fields",
    [
        "expectSources: [a], expectAnswerMode: not-found",
        "topSource: a, expectReason: declined",
        "expectSources: [a], forbidSources: ['a#part']",
        "expectAnswerMode: partial, forbidRecordCitations: false",
        "expectAnswerMode: related-material, forbidRecordCitations: true",
        "expectReason: no-evidence, expectSources: [], forbidSources: [a]",
        "expectAnswerMode: [partial, not-found], expectSources: [a], forbidAnswerPatterns: [a]",
        "expectCited: [a], expectAnySource: [a, b], forbidSources: ['a#part']",
    ],
)
def test_compatible_expectations_load(tmp_path: Path, fields: str) -> None:
    assert len(load(tmp_path, one(fields))) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("queries:\n  - id: a\n    query: why: so\n", ": line 3, column 15 is not YAML "
         "(mapping values are not allowed here)"),
        ("queries: [", ": line 1, column 11 is not YAML (while parsing a flow node, "),
        ("queries:\n\t- id: a", ": line 2, column 1 is not YAML ("),
        ('queries: [{id: a, query: "\\d"}]', ": line 1, column 28 is not YAML ("),
        ("queries: [{id: a, query: {{author}}}]", ": line 1, column 27 is not YAML ("),
        ("a: 1\n---\nb: 2", ": line 2, column 1 is not YAML (expected a single document in the"),
        ("queries: [{id: a, query: *b}]", ": line 1, column 26 is not YAML (found undefined alias"),
    ],
)  # fmt: skip
def test_broken_yaml_is_placed_by_line_and_column(tmp_path: Path, text: str, message: str) -> None:
    error_text = mistake(tmp_path, text)
    assert error_text.startswith(message)
    assert error_text.endswith("into single quotes")


@pytest.mark.parametrize(
    "text", ["queries: \x07", "queries: [{id: a, query: 2024-13-77}]", f"queries: {'[' * 5000}"]
)
def test_yaml_value_error_is_gold_error(tmp_path: Path, text: str) -> None:
    assert mistake(tmp_path, text).startswith(" is not YAML (")


def test_unreadable_gold_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(GoldError, match=r"nowhere\.yaml does not exist: write one"):
        load_gold_queries(tmp_path / "nowhere.yaml", None)
    with pytest.raises(GoldError, match="cannot be read"):
        load_gold_queries(tmp_path, None)
    (tmp_path / "latin.yaml").write_bytes(b"- {id: a, query: caf\xe9}")
    with pytest.raises(GoldError, match=r"latin\.yaml is not UTF-8 \(byte 20\): save it as UTF-8"):
        load_gold_queries(tmp_path / "latin.yaml", None)


def test_byte_order_mark_is_ignored(tmp_path: Path) -> None:
    assert load(tmp_path, "\ufeffqueries: [{id: a, query: q, topSource: b}]")[0].id == "a"


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("who is {{author}}", "{{author}} needs `site_author` in mkdocs.yml; set it"),
        ("who is {{ autor }}", "{{autor}} stands for nothing; only {{author}} is filled in"),
        ("\\u0000\\u200b", "no reader can ask it (the question is empty); write it anew"),
        ("q" * (question.MAX_QUESTION_CHARACTERS + 1),
         "no reader can ask it (a question has at most 500 characters); write it anew"),
    ],
)  # fmt: skip
def test_question_that_no_reader_can_ask_is_refused(
    tmp_path: Path, query: str, message: str
) -> None:
    error_text = mistake(tmp_path, f'queries: [{{id: a, query: "{query}"}}]')
    assert error_text == f": query 1 ('a'): query: {message}"


def test_question_too_long_with_author_is_refused(tmp_path: Path) -> None:
    query = f"queries: [{{id: a, query: '{'q' * 480} {{{{author}}}}', topSource: b}}]"
    assert len(load(tmp_path, query, author="Ada")[0].query) == 484
    with pytest.raises(GoldError, match="at most 500 characters"):
        load(tmp_path, query, author="A" * 50)


@pytest.mark.parametrize(
    "query",
    ["?!…", "🎉", "q" * question.MAX_QUESTION_CHARACTERS, "What does {{ page.title }} print?"],
)
def test_odd_but_valid_question_loads(tmp_path: Path, query: str) -> None:
    assert load(tmp_path, f"queries: [{{id: a, query: '{query}', topSource: b}}]")[0].query == query


def test_author_is_filled_in_verbatim(tmp_path: Path) -> None:
    text = "queries: [{id: a, query: 'who is {{ author }}, {{author}}?', topSource: b}]"
    (query,) = load(tmp_path, text, author=r"\1 {{x}}")
    assert query.query == r"who is \1 {{x}}, \1 {{x}}?"


def test_an_unknown_id_is_refused(tmp_path: Path) -> None:
    queries = load(tmp_path, WHOLE, author="Ada")
    path = tmp_path / "gold.yaml"
    assert [query.id for query in select_gold_queries(queries, ["bread"], path)] == ["bread"]
    assert select_gold_queries(queries, [], path) == queries
    with pytest.raises(GoldError, match=r"no query 'bred', did you mean bread\?; see --list"):
        select_gold_queries(queries, ["moor", "bred"], path)


def test_an_unknown_source_is_refused(tmp_path: Path) -> None:
    queries = load(tmp_path, "queries: [{id: a, query: q, topSource: morings}]")
    path = tmp_path / "gold.yaml"
    notes = NoteSources({"morings.md": "note:1"})
    with pytest.raises(GoldError) as error:
        check_gold_sources(queries, path, {"mooring"}, notes)
    assert str(error.value) == (
        f"{path}: query 'a': topSource: number 1: there is no record, passage or note of that "
        "name, did you mean mooring?; build the site again or correct it"
    )
    check_gold_sources(queries, path, {"morings"}, NoteSources())


def test_a_note_is_named_by_its_path_or_its_public_id(tmp_path: Path) -> None:
    queries = load(tmp_path, "queries: [{id: a, query: q, expectSources: [winch.md, 'note:1']}]")
    notes = make_note_sources({"winch.md": "note:1", "buoy.md": "note:2"}, ())
    check_gold_sources(queries, tmp_path, (), notes)
    hint = HintCitation("note:1~2", "/", "Winch", "")
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
  - {id: b, query: r, expectAnySource: ['mooring#chain', mooring], forbidSources: [gales]}
""",
    )
    path = tmp_path / "gold.yaml"
    with pytest.raises(GoldError) as error:
        check_gold_sources(queries, path, {"mooring"}, NoteSources())
    none, remedy = (
        "there is no record, passage or note of that name",
        "build the site again or correct it",
    )
    # By number, since what could be the path of a note is not named in a public log.
    assert str(error.value).splitlines() == [
        f"{path}: query 'a': topSource: number 1: {none}, did you mean mooring?; {remedy}",
        f"{path}: query 'a': expectCited: number 2: {none}; {remedy}",
        f"{path}: query 'b': expectAnySource: number 1: {none}, did you mean mooring?; {remedy}",
        f"{path}: query 'b': forbidSources: number 1: {none}; {remedy}",
    ]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ("forbidRecordCitations: true",
         "number 1 is a page, which contradicts forbidRecordCitations"),
        ("expectAnswerMode: related-material",
         "number 1 is a page, which an answer of the mode related-material does not cite"),
        ("expectAnswerMode: [supported, partial]",
         "number 2 is a note, which an answer of the mode partial does not cite"),
    ],
)  # fmt: skip
def test_source_that_no_accepted_answer_can_cite_is_refused(
    tmp_path: Path, fields: str, message: str
) -> None:
    queries = load(tmp_path, one(f"expectCited: [mooring, winch.md], {fields}"))
    path = tmp_path / "gold.yaml"
    notes = NoteSources({"winch.md": "note:1"})
    with pytest.raises(GoldError) as error:
        check_gold_sources(queries, path, {"mooring"}, notes)
    lines = str(error.value).splitlines()
    assert lines == [f"{path}: query 'a': expectCited: {message}; drop one of the two"]
    fitting = load(tmp_path, one("expectCited: [mooring, winch.md], expectAnswerMode: supported"))
    check_gold_sources(fitting, path, {"mooring"}, notes)


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("(", "is not a regular expression of Python (missing ), unterminated subpattern at "
         "position 0); correct it"),
        (r"\p{L}", "is not a regular expression of Python (bad escape"),
        ("(?R)", "is not a regular expression of Python (unknown extension ?R at position 1)"),
        ("a{1,99999999999}", "is not a regular expression of Python (the repetition number is too"),
        ("(" * 900, "is not a regular expression of Python ("),
    ],
)  # fmt: skip
def test_unusable_pattern_is_refused_by_number(tmp_path: Path, pattern: str, message: str) -> None:
    error_text = mistake(tmp_path, one(f"forbidAnswerPatterns: ['x', '{pattern}']"))
    assert error_text.startswith(f": query 1 ('a'): forbidAnswerPatterns: number 2 {message}")


def test_backspace_in_pattern_is_refused(tmp_path: Path) -> None:
    error_text = mistake(tmp_path, one(r'forbidAnswerPatterns: ["\bfoo"]'))
    assert r"holds a backspace, which is \b between double quotes; use single quotes" in error_text
    assert load(tmp_path, one(r"forbidAnswerPatterns: ['\bfoo']"))


@pytest.mark.parametrize(
    ("pattern", "text", "is_matched"),
    [
        (r"\bfame\b", "A Fame-less thing.", True),
        (r"\bfame\b", "A famed thing.", False),
        (r"(?<!not )safe", "It is not safe.", False),
        (r"safe(?! only)", "It is safe.", True),
        (r"(\w+) \1", "the the", True),
        ("straße", "STRASSE", False),
        ("ÜBER", "über", True),
        ("^$", "", True),
        (r"\{e}\{1000\}\\{1,}x{,2}", r"{e}{1000}\\\X", True),
        (r"\d{4}-\d{2}-\d{2}", "on 2024-05-06.", True),
    ],
)
def test_a_pattern_is_searched_for_in_any_case(pattern: str, text: str, is_matched: bool) -> None:
    assert find_pattern_problem(pattern) is None
    query = GoldQuery("a", "q", forbid_answer_patterns=(pattern,))
    answer = JudgedAnswer("partial", text, cites_records=True, cites_hints=False)
    assert bool(judge_answer(query, answer)) is is_matched
