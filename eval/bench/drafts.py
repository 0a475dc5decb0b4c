"""What a model sees of real questions, the requests that it gets, and what is kept of its drafts.

``evidence`` measures sites of the data folder, all with ``gold/NAME.jsonl`` by default:
``model_held`` is the share of the gold questions whose spans are in the prompt, ``model_reached``
the share of the other questions for which a model is called, ``reached_at_floor`` that share if the
call floor were the floor; ``keyless_held`` is of what a reply without a model is selected from.
``sources`` and ``characters`` are the medians of the prompts.

``prompts`` draws questions of a site and writes their requests, one JSON line each. Their ids are
made from the words of the question, because those of the data tell which the site answers. A
question without ``message`` reaches no model. With ``--after DRAFTS`` it writes the second requests
of drafts that decline and say what to search for.

``feed`` runs drafts through the engine: lines with ``id`` and ``draft``, or ``declined``. A second
attempt gets the same draft, or after a search that of the file SECOND. For each claim of the last
draft it prints whether it is kept, or the rule that it falls by and the part that broke it, for a
maintainer; with ``--json`` the replies that readers see, for a judge. It also reads
``drafts/NAME.jsonl`` of the data folder, whose claims name ``passage`` ids.
"""

import hashlib
import json
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from real_sites import RealSite, build_site, make_parser, read_lines, read_site, run_benchmark
from tables import Row, find_median, print_rows, share

from answerable.engine.answers.contract import enforce_contract, read_search_words
from answerable.engine.answers.prompt import (
    build_draft_schema,
    frame_evidence,
    render_instructions,
)
from answerable.engine.answers.wire import name_grade
from answerable.engine.bundle import Bundle, open_bundle
from answerable.engine.engine import Engine
from answerable.engine.errors import ContractViolation, Drop
from answerable.engine.openai import OpenAIAnswerer
from answerable.engine.providers import make_engine
from answerable.engine.settings import FunctionSettings
from answerable.engine.types import Evidence, RecordCitation, Reply
from answerable.indexing.local_model import open_local_embedder
from support.scripted import ScriptedAnswerer


@contextmanager
def open_engine(site: RealSite) -> Iterator[Engine[Bundle]]:
    """Build a site and open it for a model."""
    with site.copy() as folder:
        build_site(folder)
        bundle = open_bundle(folder / "function" / "bundle")
        settings = FunctionSettings(answers="openai", model="any")
        yield make_engine(bundle, open_local_embedder(), settings)


def make_key(question: str) -> str:
    """Make an id of a question that tells nothing about its answer."""
    return hashlib.sha256(question.encode()).hexdigest()[:8]


def measure_evidence(site: RealSite) -> list[Row]:
    """Measure what a model sees of the questions of a site."""
    with open_engine(site) as engine:
        return [_measure_evidence(site, engine)]


def _measure_evidence(site: RealSite, engine: Engine[Bundle]) -> Row:
    keyless = make_engine(engine.store, engine.embedder)
    held: dict[str, list[bool]] = {"model": [], "keyless": []}
    reached: dict[str, list[bool]] = {"model": [], "keyless": []}
    prompts: list[Evidence] = []
    for row in site.questions:
        retrieved = engine.retrieve_for_answer(row["question"])
        prompt = engine.select_evidence(retrieved)
        prompts += [prompt] if prompt else []
        for kind, evidence in ("model", prompt), ("keyless", keyless.select_evidence(retrieved)):
            if row["id"] in site.gold:
                held[kind].append(site.gold[row["id"]].is_held(join_texts(evidence)))
            elif not row["answerable"]:
                reached[kind].append(bool(evidence))
    return {
        "name": site.name,
        "gold": len(held["model"]),
        "keyless_held": share(held["keyless"]),
        "model_held": share(held["model"]),
        "others": len(reached["model"]),
        "reached_at_floor": share(reached["keyless"]),
        "model_reached": share(reached["model"]),
        "sources": find_median(len(prompt.passages) for prompt in prompts),
        "characters": find_median(len(join_texts(prompt)) for prompt in prompts),
    }


def join_texts(evidence: Evidence) -> str:
    """Join the texts of evidence as a model reads them."""
    return "\n".join(passage.text for passage in evidence.passages)


def write_prompts(
    engine: Engine[Bundle], questions: Sequence[Row], out: Path, after: Path | None
) -> None:
    """Write the requests of questions, in the order that they are drawn in.

    after: drafts of the first requests, for the second ones.
    """
    rows = read_lines(after) if after else []
    searches = {row["id"]: read_search_words(row.get("draft")) for row in rows}
    answerer = engine.answerer
    assert isinstance(answerer, OpenAIAnswerer)
    lines = []
    for row in questions:
        retrieved = engine.retrieve_for_answer(row["question"])
        line = {"id": make_key(row["question"]), "question": row["question"]}
        evidence = engine.select_evidence(retrieved)
        if after:
            words = searches.get(line["id"], "")
            evidence = engine.search_again(evidence, retrieved.language, words)
        if evidence:
            asked = retrieved.reading.asked
            line["instructions"] = render_instructions(answerer.site, evidence, answerer.author)
            line["message"] = frame_evidence(asked, evidence, author=answerer.author)
            line["schema"] = build_draft_schema(evidence)
        lines.append(json.dumps(line, ensure_ascii=False) + "\n")
    out.write_text("".join(lines), encoding="utf-8")


def feed_draft(engine: Engine[Bundle], row: Row, drafts: Sequence[Row]) -> Row:
    """Answer a question with drafts: what a reader sees, and what the contract says of claims."""
    retrieved = engine.retrieve_for_answer(row["question"])
    characters = engine.answerer.max_evidence_characters
    answerer = ScriptedAnswerer([*drafts], max_evidence_characters=characters)
    reply = replace(engine, answerer=answerer).draft_from(retrieved)
    claims: Sequence[Row] = ()
    drops: list[Drop] = []
    if answerer.evidence:
        draft = drafts[len(answerer.evidence) - 1]
        claims = draft.get("claims", ())
        names, asked = engine.store.index.site.claim_names, retrieved.reading.asked
        try:
            drops += enforce_contract(draft, answerer.evidence[-1], names, asked).drops
        except ContractViolation as error:
            drops += [Drop(error.rule, n, str(error)) for n, _ in enumerate(claims, 1)]
    rules = {drop.claim: (str(drop.rule), drop.part) for drop in drops}
    cited = [citation for citation in reply.citations if isinstance(citation, RecordCitation)]
    return {
        "id": make_key(row["question"]),
        "question": row["question"],
        "outcome": name_outcome(reply),
        "text": reply.text,
        "citations": [f"[{n}] {c.title} ({c.url}): {c.quote}" for n, c in enumerate(cited, 1)],
        "claims": [(*rules.get(n, ("kept", "")), claim) for n, claim in enumerate(claims, 1)],
    }


def name_outcome(reply: Reply) -> str:
    """Name what a reader sees: the grade, or why there is no answer."""
    if reply.reason:
        return f"refused: {reply.reason}"
    grade = name_grade(reply.confidence, written=reply.written)
    return f"fallback: {grade}" if reply.failure else grade


def feed_drafts(
    engine: Engine[Bundle], questions: Sequence[Row], drafts: Path, second: Path | None
) -> list[Row]:
    """Feed the drafts of a file, whose claims may name a passage by its id."""
    seconds = {row["id"]: read_draft(row) for row in read_lines(second)} if second else {}
    by_name = {row["id"]: row for row in questions}
    by_name |= {make_key(row["question"]): row for row in questions}
    fed = []
    for row in read_lines(drafts):
        draft = read_draft(row)
        second_draft = seconds.get(row["id"], draft) if read_search_words(draft) else draft
        fed.append(feed_draft(engine, by_name[row["id"]], [draft, second_draft]))
    return fed


def read_draft(row: Row) -> Row:
    """Read the draft of a line, which is empty where it says that the writer declined."""
    if row.get("draft"):
        draft: Row = row["draft"]
        return draft
    claims = [
        {**claim, "evidence": [{**each, "source": each["passage"]} for each in claim["evidence"]]}
        for claim in row.get("claims") or ()
    ]
    return {"claims": claims}


def print_fed(name: str, fed: Sequence[Row]) -> None:
    """Print what is kept and dropped of each draft, and the counts of both."""
    for row in fed:
        print("\n{id}  {outcome}  {question:.80}".format_map(row))
        for rule, part, claim in row["claims"]:
            print(f"  {rule:>11}  {claim['text']}", *([f"[part: {part!r}]"] if part else ()))
    outcomes = Counter(row["outcome"] for row in fed)
    rules = Counter(rule for row in fed for rule, _, _ in row["claims"])
    print_rows("Replies", [{"set": name, "drafts": len(fed), **outcomes}])
    print_rows("Claims", [{"set": name, "claims": rules.total(), **rules}])


def main() -> None:
    """Run one of the commands."""
    parser = make_parser(__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("evidence")
    prompts, feed = commands.add_parser("prompts"), commands.add_parser("feed")
    for command in (prompts, feed):
        command.add_argument("site", metavar="SITE")
    prompts.add_argument("--seed", type=int, default=0)
    prompts.add_argument("--count", type=int, default=20)
    prompts.add_argument("--out", type=Path, required=True, metavar="FILE")
    prompts.add_argument("--after", type=Path, metavar="DRAFTS")
    feed.add_argument("drafts", type=Path, metavar="DRAFTS")
    feed.add_argument("second", type=Path, nargs="?", metavar="SECOND")
    arguments = parser.parse_args()
    if arguments.command == "evidence":
        run_benchmark("Evidence of a model's prompt", arguments, measure_evidence)
        return
    site = read_site(arguments.site, arguments.data)
    with open_engine(site) as engine:
        if arguments.command == "prompts":
            count = min(arguments.count, len(site.questions))
            drawn = random.Random(arguments.seed).sample(site.questions, count)
            write_prompts(engine, drawn, arguments.out, arguments.after)
            return
        fed = feed_drafts(engine, site.questions, arguments.drafts, arguments.second)
    if not arguments.json:
        print_fed(site.name, fed)
        return
    for row in fed:
        seen = {field: value for field, value in row.items() if field != "claims"}
        print(json.dumps(seen, ensure_ascii=False))


if __name__ == "__main__":
    main()
