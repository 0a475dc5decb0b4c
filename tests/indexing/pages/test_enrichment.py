"""Test enrichment and abbreviations, by which pages are found and which are never quoted."""

from pathlib import Path
from typing import Any

import pytest

from answerable.engine.errors import SiteError
from answerable.indexing.page_weights import weigh_records
from answerable.indexing.pages.page_index import read_abbreviations, read_enrichment
from support.sites import PAGES, ask, build_here, failure, opened, put, write_site


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
        ("a: b\nc: {{\n", r"is not YAML in line"),
        ("a: b\na: c\n", r"'a' stands there twice"),
        ("!!timestamp x", r"enrichment: .*extra\.yml"),
        ("\udcff", "cannot be read"),
    ],
)
def test_a_mistake_names_file_and_id(tmp_path: Path, text: str, problem: str) -> None:
    (tmp_path / "extra.yml").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(SiteError, match=problem) as raised:
        read_enrichment(tmp_path / "extra.yml")
    assert "extra.yml" in str(raised.value)


def test_a_page_is_found_by_its_enrichment_and_never_quoted_for_it(tmp_path: Path) -> None:
    question = "Does the insurance pay for a lost propeller?"
    build_here(write_site(tmp_path))
    assert ask(opened(tmp_path), question).answer.mode == "not-found"
    write_site(tmp_path, options={"enrichment": "extra.yml"})
    written(tmp_path, "mooring: The insurance does not pay for a lost propeller.\n")
    build_here(tmp_path)
    bundle = opened(tmp_path)
    assert "propel" in " ".join(bundle.postings_of(()).terms)
    assert not any("propeller" in f"{p.title} {p.text}" for p in bundle.passages())
    claims = ask(bundle, question).answer.claims
    assert "propeller" not in " ".join(claim.text for claim in claims)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"enrichment": "extra.yml"}, "'morings' is the id of no record"),
        ({"retrieval": {"weights": {"blog/*": 0.5}}}, "weights: 'blog/*' matches no page"),
    ],
)
def test_what_fits_no_page_fails_the_build(
    tmp_path: Path, options: dict[str, Any], problem: str
) -> None:
    written(tmp_path, "morings: x\n")
    assert problem in failure(write_site(tmp_path, options=options))
    assert not (tmp_path / "function").exists()


def test_abbreviations_are_read_as_markdown_writes_them(tmp_path: Path) -> None:
    put(tmp_path / "a.md", "\ufeff*[SSO]: Single sign-on  \n\ntext\n*[W3C]:World Wide Web C.\n")
    assert read_abbreviations(tmp_path / "a.md") == {
        "SSO": "Single sign-on",
        "W3C": "World Wide Web C.",
    }
    put(tmp_path / "a.md", "SSO: Single sign-on\n")
    with pytest.raises(SiteError, match=r"a\.md holds no line such as"):
        read_abbreviations(tmp_path / "a.md")


@pytest.mark.parametrize(
    ("page", "question"),
    [
        ("The crew uses single sign-on at the gate.", "How does SSO work at the gate?"),
        ("The crew uses SSO at the gate.", "How does single sign-on work at the gate?"),
    ],
)
def test_a_short_form_finds_the_long_one_and_back(tmp_path: Path, page: str, question: str) -> None:
    pages = {**PAGES, "gate.md": f"# Gate\n\n{page}\n"}
    put(tmp_path / "abbr.md", "*[SSO]: Single sign-on\n")
    build_here(write_site(tmp_path, pages, options={"abbreviations": "abbr.md"}))
    assert [claim.text for claim in ask(opened(tmp_path), question).answer.claims] == [page]


def test_weights_by_page_folder_and_pattern() -> None:
    ids = ["index", "guide/a", "guide/b", "guidebook", "blog/2024/x"]
    weights = {"guide/a": 2, "guide/": 0.5, "blog/*": 0.7}
    assert weigh_records(ids, weights) == (1.0, 2.0, 0.5, 1.0, 0.7)
