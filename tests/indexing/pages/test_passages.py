"""Test passages of records: windows, ids, sentences and retrieval text."""

import re
from dataclasses import replace

import pytest

from answerable.engine.text.tokenization import count_words
from answerable.engine.text.urls import is_safe_url
from answerable.indexing.pages.passages import (
    IndexedPassage,
    PassageWindow,
    cut_passages,
    cut_plain_text,
)
from support.doubles import record

SMALL = PassageWindow(words=40, overlap=0.25)


def words(count: int, stem: str = "word") -> str:
    return " ".join(f"{stem}{n}" for n in range(count))


def paragraphs(count: int, length: int) -> str:
    return "".join(f"<p>{words(length, f'p{n}w')}.</p>" for n in range(count))


def cuts(html: str, window: PassageWindow = SMALL) -> list[IndexedPassage]:
    return cut_passages(record("page", html), window)


def test_a_window_never_crosses_a_heading() -> None:
    passages = cuts("<p>intro<h2 id=a>A</h2><p>one<h2 id=b>B</h2><p>two<p>three")
    assert [(c.passage.id, c.passage.text) for c in passages] == [
        ("page", "intro"),
        ("page#a", "one"),
        ("page#b", "two\n\nthree"),
    ]


@pytest.mark.parametrize("length", [5, 13, 40, 41, 95])
@pytest.mark.parametrize("overlap", [0.0, 0.5])
def test_no_window_is_longer_than_asked(length: int, overlap: float) -> None:
    passages = cuts(paragraphs(9, length), PassageWindow(40, overlap))
    assert max(len(c.passage.text.split()) for c in passages) <= 40
    assert set(" ".join(c.passage.text for c in passages).split()) == set(
        re.sub(r"</?p>", " ", paragraphs(9, length)).split()
    )


def test_a_window_is_found_by_the_last_paragraphs_before_it_that_fit_the_overlap() -> None:
    first, second = cuts(paragraphs(6, 10))
    *_, last = first.passage.text.split("\n\n")
    assert second.retrieval_text == f"{second.context}\n{last}\n{second.passage.text}"
    assert second.passage.text.count("\n\n") == 1
    _, alone = cuts(paragraphs(6, 10), PassageWindow(40, 0.0))
    assert alone.retrieval_text == f"{alone.context}\n{alone.passage.text}"


def test_the_second_window_under_a_heading_is_numbered() -> None:
    passages = cuts(f"<h2 id=a>A</h2>{paragraphs(9, 20)}")
    assert [c.passage.id for c in passages[:3]] == ["page#a", "page#a~2", "page#a~3"]
    assert {c.passage.url for c in passages} == {"/page/#a"}


def test_ids_are_unique_even_where_anchors_repeat() -> None:
    html = "<h2 id=x>A</h2><p>a</p><h2 id=x>B</h2><p>b</p><h3>no id</h3><p>c</p>"
    assert [c.passage.id for c in cuts(html)] == ["page#x", "page#x~2", "page#x~3"]


def test_an_over_long_sentence_is_broken() -> None:
    passages = cuts(f"<p>{words(100)}</p>")
    assert [len(c.passage.text.split()) for c in passages] == [40, 40, 20]


def test_retrieval_text_adds_what_authors_say_and_the_passage_text_does_not() -> None:
    page = record(
        "guide/deploy",
        "<h2 id=aws>AWS</h2><p>The <abbr title='Content Delivery Network'>CDN</abbr> serves.</p>",
        "Deploying",
        description="How to ship",
        tags=["ops", "cloud"],
        aliases=["Going live"],
        date="2024-05-01",
    )
    (passages,) = cut_passages(page, SMALL)
    assert passages.retrieval_text.split("\n") == [
        "Deploying", "Going live", "AWS", "How to ship", "ops", "cloud",
        "Content Delivery Network", "The CDN serves.",
    ]  # fmt: skip
    assert passages.passage.text == "The CDN serves."
    assert passages.passage.date == "2024-05-01"


def test_an_abbreviation_expands_where_it_is_used_as_a_word_only() -> None:
    html = "<h2 id=a>A</h2><p><abbr title='Hold'>HO</abbr></p><h2 id=b>B</h2><p>HOLDER</p>"
    passages = cuts(html)
    assert "Hold" in passages[0].retrieval_text.split("\n")
    assert "Hold" not in passages[1].retrieval_text.split("\n")


UNSPACED = {
    "ja": "係留索は嵐の前に二重にする。赤い灯は強い風を知らせる。",
    "th": "ก่อนพายุลูกเรือจะเพิ่มเชือกทุกเส้นเป็นสองเท่าโคมไฟสีแดงเตือนลมแรง",
}


@pytest.mark.parametrize("language", UNSPACED)
@pytest.mark.parametrize("ends", [True, False])
def test_a_script_without_spaces_is_cut_to_the_window(language: str, ends: bool) -> None:
    one = UNSPACED[language] if ends else UNSPACED[language].replace("。", "")
    text = one * (7200 // len(one))
    page = record("page", f"<p>{text}</p>")
    window = PassageWindow(240, 0.0)
    passages = [c.passage.text for c in cut_passages(replace(page, language=language), window)]
    assert len(passages) > 10
    assert max(map(count_words, passages)) <= 240
    assert min(map(count_words, passages[:-1])) > 100
    assert "".join(passages) == text
    assert not any(re.match(r"[\u0e31\u0e34-\u0e3a\u0e47-\u0e4e]", part) for part in passages)
    assert all(part in text for part in cut_plain_text(text, window))


@pytest.mark.parametrize(
    ("anchor", "fragment"),
    [
        ("my section", "my%20section"),
        ("grüße_2.1:x-é~", "grüße_2.1:x-é~"),
        ("a%20b c", "a%2520b%20c"),
        ("嵐", "嵐"),
    ],
)
def test_an_anchor_is_written_so_that_a_url_may_hold_it(anchor: str, fragment: str) -> None:
    (passages,) = cuts(f'<h2 id="{anchor}">A</h2><p>x</p>')
    assert passages.passage.url == f"/page/#{fragment}"
    assert is_safe_url(passages.passage.url)
    assert len(passages.passage.id.split()) == 1
    assert passages.passage.id == f"page#{'-'.join(anchor.split())}"
