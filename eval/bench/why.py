"""Wrong verdicts that the first advice of `answerable why` mends, by writing it and rebuilding.

A verdict is wrong where the keyless answer to an answerable question cites no right page. The
first ``COUNT`` wrong ones in the order of the file are taken. For each, `answerable why --json
--expect` is asked for the first right page, the sentence of its first advice is written into the
page's Markdown, the site is built again, and the question is asked again. The fact in the sentence
is the first prose span of ``gold/NAME.jsonl`` (``span``: what the author knows), or the heading
above it (``heading``: nothing is known).

``mended``: the answer then cites a right page; ``first``: in its first excerpt; ``newly_wrong``:
other questions that were right without the edit and are wrong with it, unanswerable ones that are
answered included. ``together`` and ``beside`` are ``mended`` and ``newly_wrong`` with all edits on
the site at once. ``worded_before`` and ``worded``: the share of other wordings, the question
without one of its content words each, that are right before and after the edit: a sentence that
mends one question alone leaves it as it is.
"""

import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import gold_spans
import questions
from tables import DataError, Results, Row, main, measure_each, read_lines

from answerable.indexing.local_model import open_local_embedder
from answerable.indexing.stems import extract_stems
from answerable.serve.engine import Engine
from answerable.serve.providers import make_engine
from answerable.serve.stores.bundle import Bundle, open_bundle
from answerable.serve.text.tokenization import count_words

COUNT = 15
FACTS = ("span", "heading")
# A shorter span is code or a name.
MIN_FACT_WORDS = 4

_HEADING = re.compile(r"(#{1,6})\s+(.+?)\s*#*\s*$")
_ATTRIBUTES = re.compile(r"\{[^{}]*\}\s*$")
_FENCE = re.compile(r"\s*(```|~~~)")
_FRONT_MATTER = re.compile(r"---\n.*?\n---\n", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Verdict:
    """Hold whether a question is answered from a right page, or refused if it has none.

    ``worded``: the share of its other wordings that are right.
    """

    is_right: bool
    is_first: bool
    mode: str
    worded: float = 0.0


def measure(data: Path) -> Results:
    """Measure every ``questions/NAME.jsonl`` on its ``sites/NAME``, once for each kind of fact."""
    files = sorted((data / "questions").glob("*.jsonl"))
    missing = f"no questions in {data}"
    results = [measure_each(files, partial(_row, data=data, fact=fact), missing) for fact in FACTS]
    skipped = dict.fromkeys(sentence for each in results for sentence in each.skipped)
    return Results([row for each in results for row in each.rows], tuple(skipped))


def _row(path: Path, data: Path, fact: str) -> Row:
    rows = read_lines(path, questions.required)
    gold = gold_spans.read_gold(data / "gold" / path.name)
    site = data / "sites" / path.stem
    if not (site / "mkdocs.yml").is_file():
        raise DataError(f"its site's {site / 'mkdocs.yml'} is missing")
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copytree(site, Path(folder, "site"))
        root = questions.build_site(copy)
        before = _judge(copy, rows, root, [row["id"] for row in rows])
        wrong = [row for row in rows if row["answerable"] and not before[row["id"]].is_right]
        edits: list[Row] = []
        advices: list[tuple[Mapping[str, Any], str]] = []
        for row in wrong[:COUNT]:
            advice = _ask_why(copy, row, root)
            text = _choose_fact(gold.get(row["id"]), fact)
            advices.append((advice, text))
            after = _judge_edited(copy, [(advice, text)], rows, root, [row["id"]])
            edits.append(_compare(row, advice, before, after))
        together = _judge_edited(copy, advices, rows, root, ())
    edited_ids = {row["id"] for row in wrong[:COUNT]}
    return {
        "name": path.stem,
        "fact": fact,
        "questions": len(rows),
        "wrong": len(wrong),
        "taken": len(edits),
        "mended": sum(each["mended"] for each in edits),
        "first": sum(each["first"] for each in edits),
        "newly_wrong": sum(each["newly_wrong"] for each in edits),
        "worded_before": _mean([each["worded_before"] for each in edits]),
        "worded": _mean([each["worded"] for each in edits]),
        "together": sum(together[name].is_right for name in edited_ids),
        "beside": len(_list_newly_wrong(before, together)),
        "edits": edits,
    }


def _compare(
    row: Row,
    advice: Mapping[str, Any],
    before: Mapping[str, Verdict],
    after: Mapping[str, Verdict],
) -> Row:
    return {
        "id": row["id"],
        "rule": advice.get("rule", "none"),
        "before": before[row["id"]].mode,
        "after": after[row["id"]].mode,
        "mended": after[row["id"]].is_right,
        "first": after[row["id"]].is_first,
        "newly_wrong": len(_list_newly_wrong(before, after)),
        "worded_before": before[row["id"]].worded,
        "worded": after[row["id"]].worded,
    }


def _mean(numbers: Sequence[float]) -> float | None:
    return sum(numbers) / len(numbers) if numbers else None


def _list_newly_wrong(before: Mapping[str, Verdict], after: Mapping[str, Verdict]) -> list[str]:
    return [name for name, each in before.items() if each.is_right and not after[name].is_right]


def _judge_edited(
    site: Path,
    advices: Sequence[tuple[Mapping[str, Any], str]],
    rows: Sequence[Row],
    root: str,
    worded: Collection[str],
) -> Mapping[str, Verdict]:
    """Judge all questions with some edits written into the pages, which are put back then."""
    originals: dict[Path, str] = {}
    for advice, fact in advices:
        if edit := advice.get("edit"):
            page = find_page(site, edit["page"])
            text = page.read_text(encoding="utf-8")
            originals.setdefault(page, text)
            page.write_text(write_edit(text, edit, fact), encoding="utf-8")
    questions.build_site(site)
    verdicts = _judge(site, rows, root, worded)
    for page, text in originals.items():
        page.write_text(text, encoding="utf-8")
    return verdicts


def _judge(
    site: Path, rows: Sequence[Row], root: str, worded: Collection[str]
) -> Mapping[str, Verdict]:
    """Judge all questions. worded: the ids of those whose other wordings are judged too."""
    bundle = open_bundle(site / "function" / "bundle")
    engine = make_engine(bundle, open_local_embedder())
    verdicts = {row["id"]: _judge_wording(engine, row, row["question"], root) for row in rows}
    for row in rows:
        if row["answerable"] and row["id"] in worded:
            wordings = list(iterate_wordings(row["question"]))
            right = [_judge_wording(engine, row, each, root).is_right for each in wordings]
            share = sum(right) / max(1, len(right))
            verdicts[row["id"]] = replace(verdicts[row["id"]], worded=share)
    return verdicts


def _judge_wording(engine: Engine[Bundle], row: Row, question: str, root: str) -> Verdict:
    answer = engine.answer(question).answer
    if not row["answerable"]:
        return Verdict(not answer.claims, is_first=False, mode=answer.mode)
    gold = row["gold_urls"]
    cited = [
        [citation.url.partition("#")[0].removeprefix(root) in gold for citation in claim.citations]
        for claim in answer.claims
    ]
    return Verdict(any(map(any, cited)), any(map(any, cited[:1])), answer.mode)


def iterate_wordings(question: str) -> Iterator[str]:
    """Yield an English question without one of its content words each."""
    words = question.split()
    for place, word in enumerate(words):
        if extract_stems(word) and len(words) > 1:
            yield " ".join([*words[:place], *words[place + 1 :]])


def _ask_why(site: Path, row: Row, root: str) -> Mapping[str, Any]:
    """Ask the command for its first advice, {} for none."""
    bundle = open_bundle(site / "function" / "bundle")
    pages = (url.partition("#")[0].removeprefix(root) for url in bundle.passage_urls)
    records = (bundle.record_ids[int(record)] for record in bundle.passage_records)
    page = dict(zip(pages, records, strict=True)).get(row["gold_urls"][0])
    if page is None:
        raise DataError(f"{row['id']}: its first right page, {row['gold_urls'][0]}, is not there")
    arguments = ["--bundle", str(site / "function" / "bundle"), "why", "--json", "--expect", page]
    command = [sys.executable, "-c", "from answerable.cli import main; main()", *arguments]
    process = subprocess.run(
        [*command, "--", row["question"]], capture_output=True, text=True, check=True
    )
    advice: Mapping[str, Any] = next(iter(json.loads(process.stdout)["advice"]), {})
    return advice


def _choose_fact(gold: gold_spans.Gold | None, fact: str) -> str:
    """Choose what stands for the fact: "" for the heading."""
    spans = (*gold.spans, *gold.alternatives) if gold and fact == "span" else ()
    prose = (" ".join(span.split()) for span in spans if count_words(span) >= MIN_FACT_WORDS)
    return next(prose, "").rstrip(":")


def find_page(site: Path, page: str) -> Path:
    """Find the Markdown source of a page by its id; DataError without one."""
    for name in (f"{page}.md", f"{page}/index.md"):
        if (path := site / "docs" / name).is_file():
            return path
    raise DataError(f"the source of {page} is not in {site / 'docs'}")


def write_edit(markdown: str, edit: Mapping[str, Any], fact: str) -> str:
    """Write the sentence of an edit under its heading, or under a new one at the section's end."""
    above = edit["under"][-1]
    sentence = edit["sentence"].replace("…", fact or above)
    sentence = sentence if sentence.endswith((".", "!", "?")) else f"{sentence}."
    lines = markdown.split("\n")
    headings = list(_iterate_headings(lines))
    matches = (each for each in headings if _fold(each[2]) == _fold(above))
    line, level, _ = next(matches, (_find_start(markdown) - 1, 1, ""))
    place, added = line + 1, ["", sentence, ""]
    if edit["heading"]:
        place = next((other for other, *_ in headings if other > line), len(lines))
        added = ["", f"{'#' * min(level + 1, 6)} {edit['heading']}", *added]
    return "\n".join([*lines[:place], *added, *lines[place:]])


def _iterate_headings(lines: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    """Yield (line, level, text) of each heading that is not in a fence."""
    is_code = False
    for number, line in enumerate(lines):
        if _FENCE.match(line):
            is_code = not is_code
        elif not is_code and (match := _HEADING.match(line)):
            yield number, len(match[1]), _ATTRIBUTES.sub("", match[2])


def _find_start(markdown: str) -> int:
    """Find the first line after the front matter."""
    match = _FRONT_MATTER.match(markdown)
    return match[0].count("\n") if match else 0


def _fold(heading: str) -> str:
    """Fold a heading to its letters and digits, whatever markup they are in."""
    text = re.sub(r"\]\([^)]*\)|<[^>]*>", "", heading)
    return "".join(letter for letter in text.lower() if letter.isalnum())


if __name__ == "__main__":
    main("Wrong verdicts that the first advice of `answerable why` mends", measure)
