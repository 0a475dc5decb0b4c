"""Test enrichment and abbreviations, by which pages are found and which are never quoted."""

from pathlib import Path

import pytest

from answerable.indexing.index import weigh_records
from answerable.indexing.pages.page_index import (
    check_enrichment_ids,
    read_abbreviations,
    read_enrichment,
)
from answerable.serve.errors import SiteError
from support.sites import PAGES, ask, build, opened, put, write_site


def written(folder: Path, text: str) -> Path:
    put(folder / "extra.yml", text)
    return folder / "extra.yml"


def test_a_text_and_a_list_of_texts(tmp_path: Path) -> None:
    path = written(tmp_path, "mooring: One  fact.\nguide/deploy:\n  - Two\n  - Three facts\n")
    assert read_enrichment(path) == {"mooring": "One fact.", "guide/deploy": "Two\nThree facts"}
    assert read_enrichment(written(tmp_path, "")) == {}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("- a\n", r"is not a list of `record id: text` lines"),
        ("a: 12\n", r"'a' has to be a text or a list of texts"),
        ("a: [x, 3]\n", r"'a' has to be a text or a list of texts"),
        ("a: ' '\n", r"'a' has to be a text"),
        ("a: []\n", r"'a' has to be a text"),
        ("a: b\nc: {{\n", r"is not YAML in line"),
        ("a: b\na: c\n", r"'a' stands there twice"),
    ],
)
def test_a_mistake_names_file_and_id(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(SiteError, match=problem) as raised:
        read_enrichment(written(tmp_path, text))
    assert "extra.yml" in str(raised.value)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(SiteError, match=r"enrichment: .*extra\.yml cannot be read"):
        read_enrichment(tmp_path / "extra.yml")
    (tmp_path / "extra.yml").write_bytes(b"a: \xff\n")
    with pytest.raises(SiteError, match="cannot be read"):
        read_enrichment(tmp_path / "extra.yml")


def test_an_id_of_no_record_names_what_is_close() -> None:
    with pytest.raises(SiteError, match=r"'moorings' is the id of no record: .* mooring"):
        check_enrichment_ids(["moorings"], ["mooring", "storms"], Path("e.yml"))
    check_enrichment_ids(["mooring"], ["mooring", "storms"], Path("e.yml"))


def test_a_page_is_found_by_its_enrichment_and_never_quoted_for_it(tmp_path: Path) -> None:
    question = "Does the insurance pay for a lost propeller?"
    plain = write_site(tmp_path / "plain")
    assert build(plain).returncode == 0
    assert ask(opened(plain), question).answer.mode == "not-found"
    folder = write_site(tmp_path / "rich", options={"enrichment": "enrichment.yml"})
    fact = "The insurance does not pay for a lost propeller."
    put(folder / "enrichment.yml", f"mooring: {fact}\n")
    assert build(folder, "--strict").returncode == 0
    bundle = opened(folder)
    rows = [bundle.passage(row) for row in range(len(bundle.passage_records))]
    assert not any("propeller" in f"{p.title} {p.text}" for p in rows)
    reply = ask(bundle, question)
    assert "propeller" not in " ".join(claim.text for claim in reply.answer.claims)
    assert "propel" in " ".join(bundle.postings.terms)


def test_an_id_of_no_record_fails_the_build(tmp_path: Path) -> None:
    folder = write_site(tmp_path, options={"enrichment": "enrichment.yml"})
    put(folder / "enrichment.yml", "morings: x\n")
    done = build(folder)
    assert done.returncode != 0
    assert "'morings' is the id of no record" in done.stderr
    assert not (folder / "function").exists()


def test_abbreviations_are_read_as_markdown_writes_them(tmp_path: Path) -> None:
    put(tmp_path / "a.md", "\ufeff*[SSO]: Single sign-on  \n\ntext\n*[W3C]:World Wide Web C.\n")
    assert read_abbreviations(tmp_path / "a.md") == {
        "SSO": "Single sign-on",
        "W3C": "World Wide Web C.",
    }


def test_an_abbreviations_file_without_any(tmp_path: Path) -> None:
    put(tmp_path / "a.md", "SSO: Single sign-on\n")
    with pytest.raises(SiteError, match=r"a\.md holds no line such as"):
        read_abbreviations(tmp_path / "a.md")
    with pytest.raises(SiteError, match="cannot be read"):
        read_abbreviations(tmp_path / "none.md")


@pytest.mark.parametrize(
    ("page", "question"),
    [
        ("The crew uses single sign-on at the gate.", "How does SSO work at the gate?"),
        ("The crew uses SSO at the gate.", "How does single sign-on work at the gate?"),
    ],
)
def test_a_short_form_finds_the_long_one_and_back(tmp_path: Path, page: str, question: str) -> None:
    folder = write_site(
        tmp_path,
        pages={**PAGES, "gate.md": f"# Gate\n\n{page}\n"},
        options={"abbreviations": "abbr.md"},
    )
    put(folder / "abbr.md", "*[SSO]: Single sign-on\n")
    assert build(folder, "--strict").returncode == 0
    claims = ask(opened(folder), question).answer.claims
    assert [claim.text for claim in claims] == [page]


def test_weights_by_page_folder_and_pattern() -> None:
    ids = ["index", "guide/a", "guide/b", "guidebook", "blog/2024/x"]
    weights = {"guide/a": 2, "guide/": 0.5, "blog/*": 0.7}
    assert weigh_records(ids, weights) == (1.0, 2.0, 0.5, 1.0, 0.7)
    assert weigh_records(ids, {}) == (1.0,) * 5


def test_a_weight_for_nothing_fails_the_build(tmp_path: Path) -> None:
    folder = write_site(tmp_path, options={"retrieval": {"weights": {"blog/*": 0.5}}})
    done = build(folder)
    assert done.returncode != 0
    assert "retrieval.weights: 'blog/*' matches no page" in done.stderr
