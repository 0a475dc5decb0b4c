"""The order of pages: titles, the words of a page's best passages, and pages of history."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from answerable.indexing.index import mark_history_pages
from answerable.indexing.pages.records import PageMetadata, Record
from answerable.indexing.stems import extract_stems
from answerable.serve.bundle_format.manifest import Profile
from answerable.serve.retrieval.bm25 import compute_idf, compute_idfs
from answerable.serve.retrieval.question import asks_for_history
from answerable.serve.retrieval.retrieve import RetrievalResult
from answerable.serve.stores.bundle import Bundle
from answerable.serve.text.normalization import split_ngrams
from support import doubles
from support.doubles import bundle_of, index_of, record
from support.scripted import LetterEmbedder

OPEN = Profile(floor=-1.0, note_floor=-1.0)
PAGES = {
    "ropes": ("Mooring ropes", ["A rope of hemp.", "Wind and rain.", "Rope on rope.", "Rope."]),
    "anchors": ("Anchors", ["An anchor of iron on a rope.", "Rust."]),
    "chain-care": ("How to look after a chain", ["Oil it in spring."]),
}


def html(parts: Sequence[str]) -> str:
    return "".join(f"<h2 id='s{n}'>S{n}</h2><p>{text}</p>" for n, text in enumerate(parts))


def site(
    folder: Path,
    pages: Mapping[str, tuple[str, Sequence[str]]] = PAGES,
    profile: Profile = OPEN,
    weights: Mapping[str, float] | None = None,
    languages: Mapping[str, str] | None = None,
) -> Bundle:
    records = [record(name, html(parts), title) for name, (title, parts) in pages.items()]
    return bundle_of(folder, index_of(folder, records, weights=weights, languages=languages),
                     profile)  # fmt: skip


def search(bundle: Bundle, question: str) -> RetrievalResult:
    return doubles.retrieve(bundle, question, LetterEmbedder().embed([question])[0], 99)


def pages_of(bundle: Bundle, question: str) -> dict[str, float]:
    return {scored.item.record: scored.page for scored in search(bundle, question).passages}


QUESTIONS = ["rope", "Mooring ropes of hemp", "chain-care in spring", "anchors zeppelins", "rust"]


@pytest.mark.parametrize("question", QUESTIONS)
def test_page_evidence_is_the_formula(tmp_path: Path, question: str) -> None:
    bundle = site(tmp_path)
    scored = search(bundle, question).passages
    terms = set(extract_stems(question))
    count = len(bundle.passage_ids)

    def idf(term: str) -> float:
        return compute_idfs(bundle.postings, [term], (0, count))[term]

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
        got = {s.page for s in scored if s.item.record == name}
        assert len(got) == 1
        assert got.pop() == pytest.approx(expected, abs=1e-6)


def test_without_hybrid_a_page_adds_nothing_and_history_weighs_in_full(tmp_path: Path) -> None:
    pages = {**PAGES, "changelog": ("Changelog", ["A rope was added."])}
    bundle = site(tmp_path, pages, Profile(hybrid=0.0, floor=-1.0, note_floor=-1.0, name_boost=0.0))
    for scored in search(bundle, "a mooring rope in the chain").passages:
        assert scored.page == 0
        assert scored.score == scored.base


def test_a_title_in_another_language_is_weighed_by_its_own_passages(tmp_path: Path) -> None:
    pages = {
        "en": ("Port", ["A port of ropes."]),
        "de": ("Port", ["Ein Port."]),
        "de2": ("Seil", ["Noch ein Seil im Port."]),
    }
    bundle = site(tmp_path, pages, languages={"de": "de", "de2": "de"})
    english, german = (bundle.title_norms[list(bundle.record_ids).index(n)] for n in ("en", "de"))
    # One English passage, and it holds the word; two German ones, and both do.
    assert english == pytest.approx(compute_idf(1, 1))
    assert german == pytest.approx(compute_idf(2, 2))
    assert pages_of(bundle, "port")["en"] > 0.25
    assert pages_of(bundle, "port")["de"] > 0.25


def test_pages_of_history_weigh_less_unless_they_are_asked_for(tmp_path: Path) -> None:
    pages = {**PAGES, "release-notes": ("Release notes", ["A rope of hemp was mended."])}
    bundle = site(tmp_path, pages)

    def weights(question: str, own: Bundle = bundle) -> dict[str, float]:
        return {
            s.item.record: s.score / (s.base + s.page)
            for s in search(own, question).passages
            if s.base > 0.05
        }

    plain = weights("a rope of hemp")
    assert plain["release-notes"] == pytest.approx(0.8)
    assert plain["ropes"] == pytest.approx(1.0)
    assert weights("a rope of hemp in 2.1")["release-notes"] == pytest.approx(1.0)
    authored = site(tmp_path / "own", pages, weights={"release-notes": 0.5})
    assert weights("a rope of hemp", authored)["release-notes"] == pytest.approx(0.5)
    assert weights("a rope of hemp in 2.1", authored)["release-notes"] == pytest.approx(0.5)


def plain_record(name: str, title: str) -> Record:
    return Record(name, f"/{name}/", title, PageMetadata(), ())


@pytest.mark.parametrize(
    ("name", "title", "is_history"),
    [
        ("CHANGELOG", "Changes", True),
        ("about/release-notes", "Release Notes", True),
        ("blog/posts/hello", "Hello", True),
        ("harbour-people", "Harbour People", True),
        ("proposals/7", "A winch", True),
        ("new", "What's new", True),
        ("upgrade", "Upgrade notes for 2.0", True),
        ("people", "Working with people", True),
        ("guide/detecting-changes", "Detecting changes", False),
        ("guide/history", "History of the harbour", False),
        ("guide/releases-of-boats", "Boats", False),
    ],
)
def test_history_is_known_by_its_names(name: str, title: str, *, is_history: bool) -> None:
    records = [plain_record(name, title), *(plain_record(f"g{n}", f"G{n}") for n in range(3))]
    assert mark_history_pages(records, "Harbour", {}) == (is_history, False, False, False)
    assert mark_history_pages(records, "Harbour", {f"{name}*": 1.0}) == (False,) * 4


def test_a_site_that_is_mostly_a_blog_has_no_history() -> None:
    records = [plain_record(f"blog/{n}", f"Post {n}") for n in range(3)]
    records.append(plain_record("about", "About"))
    assert mark_history_pages(records, "Harbour", {}) == (False,) * 4


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("What changed in 0.110?", True),
        ("is it in v2", True),
        ("Which release brought ropes?", True),
        ("the changelog", True),
        ("Does it need Python 3.8?", True),
        ("How do I release a rope?", True),
        ("How thick is a chain?", False),
        ("Are 12 ropes enough?", False),
        ("the version of a rope", False),
    ],
)
def test_a_question_asks_for_history_by_its_words(question: str, *, asks: bool) -> None:
    assert asks_for_history(question, frozenset(split_ngrams(question, [1]))) is asks
