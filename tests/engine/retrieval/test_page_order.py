"""The order of pages: titles, the words of a page's best passages, history and contributing."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from answerable.engine.bundle import Bundle
from answerable.engine.index.manifest import Profile
from answerable.engine.retrieval.retrieve import RetrievalResult
from answerable.engine.retrieval.store import compute_idfs
from answerable.indexing.page_weights import mark_history_pages, weigh_records
from answerable.indexing.pages.records import PageMetadata, Record
from answerable.indexing.stems import extract_stems
from support import doubles
from support.doubles import bundle_of, index_of, record
from support.scripted import LetterEmbedder

OPEN = Profile(floor=-1.0, note_floor=-1.0)
PAGES = {
    "ropes": ("Mooring ropes", ["A rope of hemp.", "Wind and rain.", "Rope on rope.", "Rope."]),
    "anchors": ("Anchors", ["An anchor of iron on a rope.", "Rust."]),
    "chain-care": ("How to look after a chain", ["Oil it in spring."]),
}


def site(
    folder: Path,
    pages: Mapping[str, tuple[str, Sequence[str]]] = PAGES,
    weights: Mapping[str, float] | None = None,
) -> Bundle:
    records = []
    for name, (title, parts) in pages.items():
        sections = (f"<h2 id='s{n}'>S{n}</h2><p>{text}</p>" for n, text in enumerate(parts))
        records.append(record(name, "".join(sections), title))
    return bundle_of(folder, index_of(folder, records, weights=weights), OPEN)


def search(bundle: Bundle, question: str) -> RetrievalResult:
    return doubles.retrieve(bundle, question, LetterEmbedder().embed([question])[0], 99)


QUESTIONS = ["rope", "Mooring ropes of hemp", "chain-care in spring", "anchors zeppelins"]


@pytest.mark.parametrize("question", QUESTIONS)
def test_page_evidence_is_the_formula(tmp_path: Path, question: str) -> None:
    bundle = site(tmp_path)
    scored = search(bundle, question).passages
    terms = set(extract_stems(question))
    count = len(bundle.index.passage_ids)

    def idf(term: str) -> float:
        return compute_idfs(bundle.postings_of(()), [term], (0, count))[term]

    def length(those: set[str]) -> float:
        return math.sqrt(sum(idf(term) ** 2 for term in those))

    for name, (title, _) in PAGES.items():
        own = set(extract_stems(title))
        cosine = sum(idf(term) ** 2 for term in own & terms) / (length(own) * length(terms))
        shares = [
            sum(idf(term) for term in set(extract_stems(phrase)) & terms)
            for phrase in (title.lower(), name.replace("-", " "))
            if f" {phrase} " in f" {question.lower().replace('-', ' ')} "
        ]
        share = max(shares, default=0.0) / sum(map(idf, terms))
        best = sorted((s.lexical for s in scored if s.item.record == name), reverse=True)[:3]
        expected = 0.10 * cosine + 0.15 * share + 0.15 * sum(best) / 3
        (page,) = {s.page for s in scored if s.item.record == name}
        assert page == pytest.approx(expected, abs=1e-6)


def test_pages_of_history_and_of_contributing_weigh_less(tmp_path: Path) -> None:
    pages = {
        **PAGES,
        "release-notes": ("Release notes", ["A rope of hemp was mended."]),
        "contributing": ("For you", ["Send a rope of hemp."]),
    }

    def weights(bundle: Bundle, question: str) -> dict[str, float]:
        scored = search(bundle, question).passages
        return {s.item.record: s.score / (s.base + s.page) for s in scored if s.base > 0.05}

    bundle = site(tmp_path, pages)
    expected = {"release-notes": 0.8, "contributing": 0.8, "ropes": 1.0}
    for question, of_history in (("a rope of hemp", 0.8), ("a release with a rope of hemp", 1.0)):
        measured = weights(bundle, question)
        assert {name: measured[name] for name in expected} == pytest.approx(
            expected | {"release-notes": of_history}
        )
    authored = site(tmp_path / "own", pages, {"release-notes": 0.5, "contributing": 1.0})
    measured = weights(authored, "a rope of hemp in 2.1")
    assert (measured["release-notes"], measured["contributing"]) == pytest.approx((0.5, 1.0))


def test_contributing_is_known_by_a_part_of_the_path() -> None:
    names = ["contributing", "about/Contributing-Guide", "development/setup", "guide/contributors"]
    assert weigh_records(names, {}) == (0.8, 0.8, 0.8, 1.0)
    assert weigh_records(names[:1], {"contrib*": 1.5}) == (1.5,)


def plain_record(name: str, title: str) -> Record:
    return Record(name, f"/{name}/", title, PageMetadata(), ())


def test_history_is_known_by_its_names() -> None:
    others = [plain_record(f"guide/{n}", f"Detecting changes {n}") for n in range(5)]
    others.append(plain_record("guide/releases-of-boats", "Boats"))
    history = [
        plain_record(*names)
        for names in (("CHANGELOG", "Changes"), ("blog/posts/a", "A"), ("new", "What's new"),
                      ("harbour-people", "Harbour People"), ("upgrade", "Upgrade notes for 2.0"))
    ]  # fmt: skip
    marks = mark_history_pages([*history, *others], "Harbour", {})
    assert marks == (True,) * len(history) + (False,) * len(others)
    assert mark_history_pages([history[0], *others], "Harbour", {"CHANGE*": 1.0}) == (False,) * 7


def test_a_site_that_is_mostly_a_blog_has_no_history() -> None:
    records = [plain_record(f"blog/{n}", f"Post {n}") for n in range(3)]
    records.append(plain_record("about", "About"))
    assert mark_history_pages(records, "Harbour", {}) == (False,) * 4
