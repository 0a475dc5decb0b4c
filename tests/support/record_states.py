"""Record the answers of the ask box's gallery from this repository's own manual.

``PYTHONPATH=tests python -m support.record_states``
builds the docs, and writes gallery/widget-states.json. States without an answer, such as an
error, are written by hand there and stay as they are.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import answerable
from answerable.engine.answers.wire import serialize_answer
from answerable.engine.bundle import Bundle
from answerable.engine.engine import Engine
from answerable.engine.errors import ProviderError
from answerable.engine.text.sentences import find_sentences
from answerable.engine.types import Evidence
from support import screenshots

STATES_FILE = screenshots.GALLERY / "widget-states.json"
# The questions of the states that passages answer, with the mode that each shows.
EXCERPTS = {
    "supported": ("How long are the windows of a note?", "supported"),
    "partial": ("How do I install answerable?", "partial"),
    "sections": ("Can I use Ollama or llama.cpp?", "partial"),
    "closest": ("What is the floor, and why was 0.36 chosen?", "partial"),
    "corrected": ("How do I publsh on GitHub Pages?", "partial"),
    "code": ("How do I change the color of the button?", "partial"),
    "related-material": ("Why webvtt-py rather than pysubs2?", "related-material"),
    "not-found": ("What is the weather in Lisbon tomorrow?", "not-found"),
    "differs": ("which modes are there?", "partial"),
}
# An index that is not the site's.
OTHER_BUNDLE = "0" * 64


@dataclass(frozen=True)
class FirstSentences:
    """Answer with the first sentences of each passage, and with the first hint."""

    passages: int
    sentences: int
    complete: bool = True
    label: str = "first-sentences"
    max_question_tokens: int = 0
    max_evidence_characters: int | None = 24_000

    def draft(self, question: str, evidence: Evidence, violation: str | None = None) -> object:
        """Draft a claim for each sentence, as a model writes them."""
        del question, violation
        claims = [
            {"text": text, "evidence": [{"source": f"s{number}", "quote": text}]}
            for number, passage in enumerate(evidence.passages[: self.passages], 1)
            for start, end in find_sentences(passage.markdown)[: self.sentences]
            if (text := passage.text[start:end])
        ]
        routes = ["h1"] if self.passages > 1 else []
        return {"complete": self.complete, "claims": claims, "routes": routes}


class Unreachable(FirstSentences):
    """A model whose server cannot be reached."""

    def draft(self, question: str, evidence: Evidence, violation: str | None = None) -> object:
        """Raise a ProviderError."""
        del question, evidence, violation
        raise ProviderError("the provider cannot be reached: check the network")


# What a model is asked, with its answer.
MODEL_ANSWERS = {
    "model": ("How is answerable installed?", FirstSentences(1, 3)),
    "part": ("Can I use Ollama or llama.cpp?", FirstSentences(1, 2, complete=False)),
    "long": ("How long are the windows of a note?", FirstSentences(8, 2)),
    "fallback": ("How do I install answerable?", Unreachable(1, 1)),
}


def record_answer(engine: Engine[Bundle], question: str, old: Mapping[str, Any]) -> dict[str, Any]:
    """Ask a question; without what changes with each build, so that a state changes by its words.

    old: what was recorded before.
    """
    remarks = engine.parse_question(question).remarks
    body = serialize_answer(engine.answer(question), engine.store, remarks)
    return body | {name: old[name] for name in ("built_at", "request_id")} | {"bundle": None}


def record_states(function: Path, states: Mapping[str, Any]) -> dict[str, Any]:
    """Record each state that an answer draws; AssertionError where it has become another state."""
    recorded = dict(states)
    engine = answerable.open_bundle(function)
    for name, (question, mode) in EXCERPTS.items():
        body = record_answer(engine, question, states[name]["body"])
        assert body["mode"] == mode, (name, question)
        recorded[name] = {**states[name], "question": question, "body": body}
        sections = engine.search(question)
        recorded[name]["places"] = {
            place.passage.id: {
                "url": place.passage.url,
                "title": place.passage.title,
                "line": place.line,
            }
            for place in sections
        }
    recorded["differs"]["body"]["bundle"] = OTHER_BUNDLE
    for name, (question, answerer) in MODEL_ANSWERS.items():
        written = answerable.open_bundle(function, answerer=answerer)
        body = record_answer(written, question, states[name]["body"])
        assert body["fallback"] == (name == "fallback"), name
        recorded[name] = {**states[name], "question": question, "body": body}
    return recorded


def main() -> None:
    """Write the states anew."""
    states = json.loads(STATES_FILE.read_text("utf-8"))
    with screenshots.built_manual() as folder:
        recorded = record_states(folder / "function", states)
    STATES_FILE.write_text(json.dumps(recorded, indent=2, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    main()
