"""The overlap lint: enrichment, prompts and front matter share no run of words with a query."""

from pathlib import Path

import pytest

from answerable.check.gold import GoldQuery
from answerable.check.sources import (
    check_gold_overlap,
    list_bundle_metadata,
    read_existing_files,
    read_prompt_templates,
)
from answerable.engine.errors import GoldError
from support.sites import build_here, opened, write_site

TIMEOUT = GoldQuery(id="timeout", query="How do I set a timeout for idle sockets?")


def shared(question: str, text: str, site: str | None = None, language: str | None = None) -> str:
    """Return the words that a text shares with a question; "" where the lint passes."""
    query = GoldQuery(id="q", query=question, language=language)
    try:
        check_gold_overlap([query], {"place": text}, site)
    except GoldError as error:
        return str(error).partition("the words '")[2].partition("'")[0]
    return ""


def test_a_copied_question_is_refused_by_query_place_and_words() -> None:
    texts = {"extra.yml": "guide/sockets:\n  - Pools\n  - how do I\n    set a TIMEOUT?\n"}
    with pytest.raises(GoldError) as error:
        check_gold_overlap([TIMEOUT], texts)
    assert str(error.value) == (
        "extra.yml: line 3 shares the words 'do i set a timeout' with gold query 'timeout', which "
        "would answer the question instead of the subject: say it in other words"
    )
    check_gold_overlap([TIMEOUT], {"extra.yml": "idle sockets: close them after a set timeout"})


@pytest.mark.parametrize(
    ("question", "text", "words"),
    [
        ("How do I use the Frobnicator?", "how do I use the other one", ""),
        ("Where is the pool?", "where is the pool", ""),
        ("Where is the idle pool?", "WHERE — *is* the ‘idle’ pool", "where is the idle pool"),
        ("Can naïve cafés be found?", "can nai\u0308ve cafe\u0301s be found",
         "can naïve cafés be found"),
    ],
)  # fmt: skip
def test_overlap_ignores_case_and_punctuation(question: str, text: str, words: str) -> None:
    assert shared(question, text) == words


def test_site_name_is_no_content_of_overlap() -> None:
    question = "How do I install answerable on Windows?"
    assert shared(question, "how do I install answerable") == "how do i install answerable"
    assert shared(question, "how do I install answerable", "Answerable") == ""


def test_overlap_of_unspaced_script_counts_letters() -> None:
    question = "プラグインをインストールするにはどうすればよいですか"
    assert shared(question, "プラグインをインストール", language="ja") == ""
    overlap = shared(question, "「プラグインをインストールするには」", language="ja")
    assert overlap.replace(" ", "") == "プラグインをインストールするに"


def test_overlap_lint_reads_package_prompts_and_the_files_that_there_are(tmp_path: Path) -> None:
    extra = tmp_path / "extra.yml"
    extra.write_text("a: b", encoding="utf-8")
    assert read_existing_files([extra, None, tmp_path / "nowhere.yml"]) == {str(extra): "a: b"}
    with pytest.raises(GoldError, match=r"^prompts/answer\.jinja: line \d+ shares the words"):
        check_gold_overlap(
            [GoldQuery(id="q", query="A plain refusal is a good answer?")], read_prompt_templates()
        )


@pytest.mark.parametrize(
    ("field", "place"),
    [
        ("description: Set a timeout for idle sockets.", "description"),
        ("aliases: [how do I set a timeout, pools]", "alias 'how do i set a timeout'"),
        ("tags: ['sockets: do I set a timeout?']", "tag 'sockets: do I set a timeout?'"),
    ],
)
def test_metadata_that_repeats_a_gold_query_is_named_by_page_and_field(
    tmp_path: Path, field: str, place: str
) -> None:
    # The text of a page may say what it likes.
    text = f"---\n{field}\n---\n\n# Pools\n\n{TIMEOUT.query} Name it.\n"
    site = write_site(tmp_path, {"pools.md": text})
    build_here(site)
    with pytest.raises(GoldError, match="shares the words") as error:
        check_gold_overlap([TIMEOUT], list_bundle_metadata(opened(site)))
    assert str(error.value).startswith(f"page pools: {place}: line 1 ")
