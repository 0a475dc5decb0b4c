"""Real questions to real sites, without a model: what a reader is shown.

``page_first``: the share of the answerable questions of which a right page is the first that is
shown, and ``page_shown`` of which one is in a card or among the places below. ``held``: the share
of the questions with gold spans whose spans are in the shown cards, and ``held_first`` in the first
card; a refusal is a miss. ``visible``: the share whose spans can be read without a click, in the
first card or in a line. ``words``: the median of the words in the cards. ``answered``: of the
answerable questions; ``refused``: of the others. ``upper``: how many replies are headed "From this
site", and ``upper_held`` which share of these holds its spans.

With ``--known``, each site has the questions of ``generated/NAME.jsonl`` as known questions, which
a model wrote without having seen the readers' questions.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from real_sites import RealSite, build_site, list_pages, make_parser, read_lines, run_benchmark
from tables import Row, find_median, share

from answerable.engine.answers.wire import MAX_PLACES
from answerable.engine.bundle import open_bundle
from answerable.engine.engine import Engine
from answerable.engine.providers import make_engine
from answerable.engine.text.tokenization import split_lowercase_words
from answerable.indexing.local_model import open_local_embedder
from answerable.indexing.questions import (
    SectionQuestions,
    find_question_fault,
    list_sections,
    write_questions,
)

_WINDOW = re.compile(r"~\d+$")


@dataclass(frozen=True, slots=True)
class ShownReply:
    """What a reader is shown: the cards, all lines and pages in order, whether it is warned of.

    Without cards the question is refused, or only a note answers it.
    """

    cards: tuple[str, ...]
    lines: tuple[str, ...]
    pages: Sequence[str]
    is_unsure: bool


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one question; what its gold spans tell is None where it has none."""

    is_answerable: bool
    is_page_first: bool
    is_page_shown: bool
    is_held: bool | None
    is_held_first: bool | None
    is_visible: bool | None
    words: int
    is_upper: bool


def ask(engine: Engine, question: str, root: str) -> ShownReply:
    """Answer a question as the ask box shows it: a card for each section, then the places."""
    reply = engine.answer(question)
    cards: dict[str, list[str]] = {}
    for claim in reply.answer.claims:
        cards.setdefault(claim.citations[0].url, []).append(claim.text)
    found = engine.search(question)
    places = [place for place in found if place.passage.url not in cards][:MAX_PLACES]
    quotes = (citation.quote for claim in reply.answer.claims for citation in claim.citations)
    return ShownReply(
        tuple("\n".join(texts) for texts in cards.values()),
        (*quotes, *(place.line for place in places)),
        list_pages([*cards, *(place.passage.url for place in places)], root),
        reply.confidence == "low",
    )


def measure(site: RealSite, *, known: bool) -> list[Outcome]:
    """Build a site and ask it all of its questions."""
    with site.copy() as folder:
        root = build_site(folder)
        bundle_folder = folder / "function" / "bundle"
        if known:
            _write_known_questions(site, folder, bundle_folder)
            build_site(folder)
        engine = make_engine(open_bundle(bundle_folder), open_local_embedder())
        return [_judge(row, site, ask(engine, row["question"], root)) for row in site.questions]


def _judge(row: Row, site: RealSite, reply: ShownReply) -> Outcome:
    right_pages = set(row.get("gold_urls", ()))
    gold = site.gold.get(row["id"])
    return Outcome(
        is_answerable=row["answerable"],
        is_page_first=not right_pages.isdisjoint(reply.pages[:1]),
        is_page_shown=not right_pages.isdisjoint(reply.pages),
        is_held=gold.is_held("\n".join(reply.cards)) if gold else None,
        is_held_first=gold.is_held("\n".join(reply.cards[:1])) if gold else None,
        is_visible=gold.is_held("\n".join((*reply.cards[:1], *reply.lines))) if gold else None,
        words=len(split_lowercase_words("\n".join(reply.cards))),
        is_upper=bool(reply.cards) and not reply.is_unsure,
    )


def make_row(name: str, outcomes: Sequence[Outcome]) -> Row:
    """Sum up the questions of a site, or of all."""
    answerable = [outcome for outcome in outcomes if outcome.is_answerable]
    with_gold = [outcome for outcome in outcomes if outcome.is_held is not None]
    upper = [outcome for outcome in outcomes if outcome.is_upper]
    return {
        "name": name,
        "answerable": len(answerable),
        "page_first": share(outcome.is_page_first for outcome in answerable),
        "page_shown": share(outcome.is_page_shown for outcome in answerable),
        "gold": len(with_gold),
        "held": share(bool(outcome.is_held) for outcome in with_gold),
        "held_first": share(bool(outcome.is_held_first) for outcome in with_gold),
        "visible": share(bool(outcome.is_visible) for outcome in with_gold),
        "words": find_median(outcome.words for outcome in outcomes if outcome.words),
        "answered": share(outcome.words > 0 for outcome in answerable),
        "others": len(outcomes) - len(answerable),
        "refused": share(not outcome.words for outcome in outcomes if not outcome.is_answerable),
        "upper": len(upper),
        "upper_held": share(bool(outcome.is_held) for outcome in upper),
    }


def _write_known_questions(site: RealSite, folder: Path, bundle_folder: Path) -> None:
    """Write the generated questions that the lint allows, each by the section of its passage."""
    questions: dict[str, list[str]] = {}
    for row in read_lines(site.data / "generated" / f"{site.name}.jsonl"):
        questions.setdefault(_WINDOW.sub("", row["id"]), []).extend(row["questions"])
    lines = []
    for section in list_sections(open_bundle(bundle_folder).passages()):
        texts = dict.fromkeys(questions.get(section.id, ()))
        allowed = tuple(text for text in texts if not find_question_fault(text, section.text))
        if allowed:
            lines.append(SectionQuestions(section.id, section.hash, allowed))
    write_questions(folder / "eval" / "questions.jsonl", lines)


def main() -> None:
    """Measure all sites, and print a row for each and one for all of them together."""
    parser = make_parser(__doc__)
    parser.add_argument("--known", action="store_true", help="with known questions")
    arguments = parser.parse_args()
    measured: list[Outcome] = []

    def measure_one(site: RealSite) -> list[Row]:
        outcomes = measure(site, known=arguments.known)
        measured.extend(outcomes)
        return [make_row(site.name, outcomes)]

    title = "Real questions on real sites, without a model"
    run_benchmark(title, arguments, measure_one, lambda: [make_row("all", measured)])


if __name__ == "__main__":
    main()
