"""Questions with a typo: how many lead to the same first section as in the right spelling.

One letter of one content word is left out, doubled by another, replaced or swapped with the next,
in 40 questions of each site, drawn with a fixed seed. ``same`` is the share with the same first
section (or the same refusal), ``corrected`` the share of which a word was corrected, and
``worse_high`` counts answers marked high whose first section is another one.
"""

import random
import shutil
import string
import tempfile
from pathlib import Path

import questions
from tables import DataError, Results, Row, main, measure_each, read_lines

from answerable.indexing.local_model import open_local_embedder
from answerable.indexing.stems import extract_stems
from answerable.serve.answers.confidence import bucket_confidence
from answerable.serve.engine import Engine
from answerable.serve.providers import make_engine
from answerable.serve.retrieval import selection
from answerable.serve.stores.bundle import Bundle, open_bundle
from answerable.serve.text.tokenization import split_words
from answerable.serve.types import RecordCitation

COUNT = 40
SEED = 17
# A word that has a typo made of it.
LETTERS = 5
# Draws after which a site has no more questions that a typo can be made in.
MOST_DRAWS = 10_000


def measure(data: Path) -> Results:
    """Measure every ``questions/NAME.jsonl`` on its ``sites/NAME``."""
    files = sorted((data / "questions").glob("*.jsonl"))
    return measure_each(files, lambda path: _row(path, data), f"no questions in {data}")


def _row(path: Path, data: Path) -> Row:
    texts = [row["question"] for row in read_lines(path, questions.required) if row["answerable"]]
    site = data / "sites" / path.stem
    if not (site / "mkdocs.yml").is_file():
        raise DataError(f"its site's {site / 'mkdocs.yml'} is missing")
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copytree(site, Path(folder, "site"))
        questions.build_site(copy)
        bundle = open_bundle(copy / "function" / "bundle")
        engine = make_engine(bundle, open_local_embedder())
        return {"name": path.stem, **_compare(engine, draw_pairs(engine, texts))}


def draw_pairs(engine: Engine[Bundle], texts: list[str]) -> list[tuple[str, str]]:
    """Draw questions and put a typo into each; DataError if no word can have one."""
    chance = random.Random(SEED)
    pairs: list[tuple[str, str]] = []
    for _ in range(MOST_DRAWS):
        text = chance.choice(texts)
        if (misspelled := misspell(text, engine, chance)) is not None:
            pairs.append((text, misspelled))
        if len(pairs) == COUNT:
            return pairs
    raise DataError("too few of its questions have a word of the site")


def _compare(engine: Engine[Bundle], pairs: list[tuple[str, str]]) -> Row:
    outcomes = [(_first(engine, right), _first(engine, wrong)) for right, wrong in pairs]
    remarks = [engine.parse_question(wrong).remarks for _, wrong in pairs]
    same = [right[0] == wrong[0] for right, wrong in outcomes]
    corrected = sum(any(each.kind == "corrected" for each in listed) for listed in remarks)
    return {
        "questions": len(pairs),
        "same": sum(same) / len(pairs),
        "corrected": corrected / len(pairs),
        "worse_high": sum(
            wrong[1] == "high" and not is_same
            for is_same, (_, wrong) in zip(same, outcomes, strict=True)
        ),
    }


def misspell(text: str, engine: Engine[Bundle], chance: random.Random) -> str | None:
    """Put one typo into one content word that the site has; None where there is no such word."""
    terms, tags = engine.store.postings.terms, engine.store.site.tags
    words = [
        word
        for word in split_words(text)
        if len(word) >= LETTERS
        and word.isalpha()
        and any(term in terms for tag in tags for term in extract_stems(word, tag))
    ]
    if not words:
        return None
    word = chance.choice(words)
    place, letter = chance.randrange(len(word) - 1), chance.choice(string.ascii_lowercase)
    head, tail = word[:place], word[place:]
    misspelled = chance.choice(
        [head + tail[1:], head + letter + tail, head + letter + tail[1:],
         head + tail[1] + tail[0] + tail[2:]]
    )  # fmt: skip
    return None if misspelled.lower() == word.lower() else text.replace(word, misspelled, 1)


def _first(engine: Engine[Bundle], question: str) -> tuple[str | None, str]:
    """Return the url of the first section that is shown, None for a refusal, and the confidence."""
    pool = engine.retrieve(question, selection.POOL_SIZE)
    reply = engine.answer_from(pool)
    urls = [c.url for c in reply.answer.citations if isinstance(c, RecordCitation)]
    return (urls[0] if urls else None), bucket_confidence(reply.confidence)


if __name__ == "__main__":
    main("Questions with a typo on real sites", measure)
