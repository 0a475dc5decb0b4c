"""Our gold set against a model: a truthful one passes, a hostile or lying one is found out."""

import json
import math
import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from answerable.evaluate.gold import GoldQuery, load_gold_queries
from answerable.indexing.stems import extract_stems
from answerable.serve.answers.openai_answerer import MAX_PROMPT_ROUTES
from support import sites
from support.honest_model import ParsedPrompt, PromptHint, split_prompt_sentences
from support.hostile_models import HOSTILE_MODELS
from support.openai_stub import OpenAIStub
from support.stub_server import ScriptedModel

MAX_CLAIMS = 5
DENIAL = "It is not true that"
# False of this project, and free of numbers, code and names, which the contract compares.
RUMORS = (
    "Readers have to sign in and pay before they get an answer to that.",
    "That was removed some time ago and nothing has taken its place.",
    "Everybody who visits the site can change that in the browser.",
)

# Denied and all, a claim has to stay under the 600 characters that the contract allows.
_MAX_QUOTE_CHARACTERS = 500
# The best source counts as much more than the last one.
_RANK_WEIGHT = 0.4
_TITLE_WEIGHT = 0.5
# What stands at most two statements beside the best one belongs to its subject.
_NEIGHBOR_WEIGHT = 0.2
_NEIGHBORHOOD = 2
# The best statement answers if it holds this share of the question.
_SUPPORT_FLOOR = 0.4
# A hint is on the subject if its public words hold this share of the question.
_HINT_FLOOR = 0.4


@dataclass(frozen=True, slots=True)
class _Statement:
    """A sentence, or one with the code or list that it leads into; ``place`` is in its source."""

    source: int
    place: int
    text: str
    terms: frozenset[str]
    title_terms: frozenset[str]


def truthful_model(prompt: ParsedPrompt) -> str:
    """Quote what answers best and what stands beside it, and name the nearest hints."""
    statements = _select_statements(prompt)
    claims = [_write_claim(each.text, each) for each in statements]
    return _write_draft(prompt, claims, _select_routes(prompt, has_claims=bool(claims)))


def liar_model(prompt: ParsedPrompt) -> str:
    """Deny every statement that the truthful model makes, and quote it in full; never name a hint.

    The sentence of a route is not a model's to write: the one lie about a note is to be silent.
    """
    statements = _select_statements(prompt)
    claims = [_write_claim(f"{DENIAL} {each.text}", each) for each in statements]
    return _write_draft(prompt, claims, [])


def gossip_model(prompt: ParsedPrompt) -> str:
    """Spread one of a few false sentences and quote the best source for it; never name a hint."""
    rumor = RUMORS[len(prompt.question) % len(RUMORS)]
    claims = [_write_claim(rumor, each) for each in _select_statements(prompt)[:1]]
    return _write_draft(prompt, claims, [])


LYING_MODELS: Mapping[str, ScriptedModel] = {
    "truthful": truthful_model,
    "liar": liar_model,
    "gossip": gossip_model,
}


def _write_claim(text: str, quoted: _Statement) -> dict[str, Any]:
    return {"text": text, "evidence": [{"source": f"s{quoted.source + 1}", "quote": quoted.text}]}


def _write_draft(prompt: ParsedPrompt, claims: list[dict[str, Any]], routes: list[str]) -> str:
    draft = {"claims": claims, "routes": routes}
    names = (prompt.schema or {}).get("properties", draft)
    return json.dumps({name: value for name, value in draft.items() if name in names})


def _select_statements(prompt: ParsedPrompt) -> list[_Statement]:
    """Select the best statements, those of the best one's source first; [] if none answers."""
    statements = list(_read_statements(prompt))
    parts = [frozenset(extract_stems(part)) for part in prompt.question.split(", and ")]
    weights = {term: _compute_idf(term, statements) for term in frozenset().union(*parts)}
    if not statements or not any(parts):
        return []

    def compute_part_support(each: _Statement, terms: frozenset[str]) -> float:
        in_text = sum(weights[term] for term in terms & each.terms)
        in_title = sum(weights[term] for term in (terms & each.title_terms) - each.terms)
        return (in_text + _TITLE_WEIGHT * in_title) / sum(weights[term] for term in terms)

    def compute_support(each: _Statement) -> float:
        return max(compute_part_support(each, terms) for terms in parts if terms)

    def score(each: _Statement) -> float:
        return compute_support(each) - _RANK_WEIGHT * each.source / len(prompt.sources)

    best = max(statements, key=score)
    if compute_support(best) < _SUPPORT_FLOOR:
        return []

    def score_beside_best(each: _Statement) -> float:
        is_beside = each.source == best.source and abs(each.place - best.place) <= _NEIGHBORHOOD
        return score(each) + _NEIGHBOR_WEIGHT * is_beside

    selection = sorted(statements, key=score_beside_best, reverse=True)[:MAX_CLAIMS]
    first = [each for each in selection if each.source == best.source]
    others = [each for each in selection if each.source != best.source]
    return [*sorted(first, key=lambda each: each.place), *others]


def _read_statements(prompt: ParsedPrompt) -> Iterator[_Statement]:
    for index, source in enumerate(prompt.sources):
        title_terms = frozenset(extract_stems(source.title))
        for place, text in enumerate(_split_statements(source.text)):
            yield _Statement(index, place, text, frozenset(extract_stems(text)), title_terms)


def _split_statements(text: str) -> list[str]:
    """Split a text into sentences; one that ends with a colon takes along what it leads into.

    That is a list or a block of code: everything to the next block that ends as a sentence does.
    """
    statements: list[str] = []
    is_led_into = False
    for block in text.split("\n\n"):
        joined = f"{statements[-1]}\n\n{block}" if is_led_into else ""
        if joined and len(joined) <= _MAX_QUOTE_CHARACTERS and not block.endswith((".", ":")):
            statements[-1] = joined
            continue
        statements += split_prompt_sentences(block)
        is_led_into = bool(statements) and statements[-1].endswith(":")
    # The contract takes no quote of fewer words.
    return [s for s in statements if len(s.split()) >= 3 and len(s) <= _MAX_QUOTE_CHARACTERS]


def _select_routes(prompt: ParsedPrompt, *, has_claims: bool) -> list[str]:
    terms = frozenset(extract_stems(prompt.question))
    near = [hint.id for hint in prompt.hints if _compute_hint_share(terms, hint) >= _HINT_FLOOR]
    routes = near if near or has_claims else [hint.id for hint in prompt.hints]
    return routes[:MAX_PROMPT_ROUTES]


def _compute_hint_share(terms: frozenset[str], hint: PromptHint) -> float:
    surface = frozenset(extract_stems(f"{hint.label} {hint.locator}"))
    return len(terms & surface) / len(terms) if terms else 0.0


def _compute_idf(term: str, statements: Sequence[_Statement]) -> float:
    frequency = sum(term in each.terms for each in statements)
    return math.log(1 + (len(statements) - frequency + 0.5) / (frequency + 0.5))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy our own manual, built once; its function is told another model for each test."""
    return sites.own_manual(tmp_path_factory.mktemp("own"))


def evaluate(
    folder: Path, server: OpenAIStub, model: str, *options: str
) -> subprocess.CompletedProcess[str]:
    settings = {"answers": "openai", "model": model, "base_url": server.base_url, "timeout": 20.0}
    sites.put(folder / "function" / "settings.json", json.dumps(settings))
    return sites.command(folder, "eval", "--full", *options, OPENAI_API_KEY="test")


def list_must_answer_queries(folder: Path) -> dict[str, GoldQuery]:
    """List the queries that no refusal passes, by id."""
    author = yaml.safe_load((folder / "mkdocs.yml").read_text("utf-8"))["site_author"]
    queries = load_gold_queries(folder / "eval" / "gold.yaml", author)
    return {query.id: query for query in queries if "not-found" not in query.expected_modes}


def test_a_truthful_model_passes_what_does_not_require_a_real_one(folder: Path) -> None:
    """That a passage on the subject is no answer is beyond a script that compares words."""
    queries = yaml.safe_load((folder / "eval" / "gold.yaml").read_text("utf-8"))["queries"]
    with OpenAIStub(models=LYING_MODELS) as server:
        done = evaluate(folder, server, "truthful", "--json")
        assert 0 < server.answer_calls < len(queries)
    verdicts = json.loads(done.stdout)["verdicts"]
    assert len(verdicts) == len(queries)
    failing = {row["id"]: row["issues"] for row in verdicts if row["status"] != "pass"}
    # Above the floor of calls a model has to refuse what a keyless site finds nothing for.
    hard = {
        query["id"]
        for query in queries
        if query.get("requires") == "model" or query.get("expectReason") == "no-evidence"
    }
    assert set(failing) <= hard, failing


@pytest.mark.parametrize(
    "model",
    sorted(HOSTILE_MODELS)
    if os.environ.get("ANSWERABLE_DEEP")
    else ["hostile-foreign-quote", "hostile-silent"],
)
def test_a_hostile_model_fails_the_gate(folder: Path, model: str) -> None:
    with OpenAIStub(models=LYING_MODELS) as server:
        done = evaluate(folder, server, model)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "FAIL" in done.stdout


@pytest.mark.parametrize("model", ["liar", "gossip"])
def test_a_lying_model_fails_nine_tenths_of_what_has_to_be_answered(
    folder: Path, model: str
) -> None:
    """A lie about a note can only be silence, so queries for pages are counted apart too."""
    queries = list_must_answer_queries(folder)
    for_pages = {name for name, query in queries.items() if "partial" in query.expected_modes}
    with OpenAIStub(models=LYING_MODELS) as server:
        done = evaluate(folder, server, model, "--json")
    verdicts = {row["id"]: row for row in json.loads(done.stdout)["verdicts"]}
    passes = {name for name, row in verdicts.items() if row["status"] == "pass"}
    assert done.returncode == 1
    assert set(queries) <= set(verdicts)
    assert len(passes & set(queries)) <= 0.1 * len(queries), sorted(passes & set(queries))
    assert len(passes & for_pages) <= 0.1 * len(for_pages), sorted(passes & for_pages)
    # The contract lets the lies pass, so that a judge of answers has to find them out.
    answered = [
        name for name in for_pages if verdicts[name]["answer"]["mode"] in ("partial", "supported")
    ]
    assert len(answered) >= 0.95 * len(for_pages)
    # Refused without a call of the model: the lies are not what fails there.
    refused = {n for n, row in verdicts.items() if row["answer"]["reason"] == "no-evidence"}
    assert len(refused) > 20
    assert refused - set(queries) <= passes


def test_a_liar_tells_what_the_truthful_model_tells_and_denies_it(folder: Path) -> None:
    """Else it would fail for what it leaves out, and not for the lie."""
    answers = {}
    with OpenAIStub(models=LYING_MODELS) as server:
        for model in ("truthful", "liar"):
            done = evaluate(folder, server, model, "--json", "--ids", "shortcut,price,bm25")
            rows = json.loads(done.stdout)["verdicts"]
            answers[model] = {row["id"]: row["answer"]["text"] for row in rows}
    for name, text in answers["truthful"].items():
        lie = answers["liar"][name]
        assert lie.startswith(DENIAL), name
        assert lie.replace(f"{DENIAL} ", "") == text, name
