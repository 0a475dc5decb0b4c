"""The overlap lint: enrichment, prompts and code share no run of words with a gold query."""

from pathlib import Path

import pytest
import yaml

from answerable.evaluate.gold import GoldQuery, load_gold_queries
from answerable.evaluate.sources import (
    Overlap,
    check_gold_overlap,
    find_gold_overlaps,
    list_bundle_metadata,
    read_existing_files,
    read_prompt_templates,
)
from answerable.serve.errors import GoldError
from support.sites import ROOT, build, command, opened, put, write_site

PACKAGE = ROOT / "plugin" / "answerable"

TIMEOUT = GoldQuery(id="timeout", query="How do I set a timeout for idle sockets?")


def shared(question: str, text: str, site: str | None = None, language: str | None = None) -> str:
    """Return the words that a text shares with a question; "" where the lint passes."""
    query = GoldQuery(id="q", query=question, language=language)
    return "; ".join(
        overlap.words for overlap in find_gold_overlaps([query], {"place": text}, site)
    )


def test_a_copied_question_is_refused_by_query_place_and_words() -> None:
    texts = {"extra.yml": "guide/sockets:\n  - Pools\n  - how do I\n    set a TIMEOUT?\n"}
    with pytest.raises(GoldError) as error:
        check_gold_overlap([TIMEOUT], texts)
    assert str(error.value) == (
        "extra.yml: line 3 shares the words 'do i set a timeout' with gold query 'timeout', which "
        "would answer the question instead of the subject: say it in other words"
    )


def test_overlap_error_counts_other_overlaps() -> None:
    other = GoldQuery(id="bread", query="Where can sourdough bread be baked?")
    texts = {"a": "Set a timeout for idle sockets.", "b": "where can sourdough bread be baked"}
    assert list(find_gold_overlaps([TIMEOUT, other], texts)) == [
        Overlap("timeout", "a", 1, "set a timeout for idle"),
        Overlap("bread", "b", 1, "where can sourdough bread be"),
    ]
    with pytest.raises(GoldError, match=r"gold query 'timeout' \(and 1 more\), which"):
        check_gold_overlap([TIMEOUT, other], texts)


def test_paraphrase_of_gold_query_passes_overlap_lint() -> None:
    check_gold_overlap(
        [TIMEOUT], {"extra.yml": "idle sockets: close them after a timeout that is set"}
    )
    check_gold_overlap([TIMEOUT], {})
    check_gold_overlap([], {"extra.yml": TIMEOUT.query})


@pytest.mark.parametrize(
    ("question", "text", "words"),
    [
        ("How do I use the Frobnicator?", "how do I use the other one", ""),
        ("what is it and how do they do that", "what is it and how do they do that", ""),
        ("Where is the pool?", "where is the pool", ""),
        ("Where is the idle pool?", "WHERE — *is* the ‘idle’ pool", "where is the idle pool"),
        ("Straße und Weg sind lang", "STRASSE UND WEG SIND LANG", "strasse und weg sind lang"),
        ("Can naïve cafés be found?", "can nai\u0308ve cafe\u0301s be found",
         "can naïve cafés be found"),
        ("Set a time-out for idle sockets", "time out for idle sockets",
         "time out for idle sockets"),
    ],
)  # fmt: skip
def test_overlap_ignores_case_and_punctuation(question: str, text: str, words: str) -> None:
    assert shared(question, text) == words


def test_site_name_is_no_content_of_overlap() -> None:
    question = "How do I install answerable on Windows?"
    text = "how do I install answerable"
    assert shared(question, text) == "how do i install answerable"
    assert shared(question, text, "Answerable") == ""
    assert shared(question, "install answerable on windows now", "Answerable") == ""
    assert shared(question, "do I install answerable on windows", "Answerable") == (
        "i install answerable on windows"
    )


def test_overlap_of_unspaced_script_counts_letters() -> None:
    question = "プラグインをインストールするにはどうすればよいですか"
    assert shared(question, "プラグインをインストール", language="ja") == ""
    overlap = shared(question, "「プラグインをインストールするには」", language="ja")
    assert overlap.replace(" ", "") == "プラグインをインストールするに"


def test_missing_files_are_left_out_of_overlap_lint(tmp_path: Path) -> None:
    extra = tmp_path / "extra.yml"
    extra.write_text("a: set a timeout for idle sockets", encoding="utf-8")
    texts = read_existing_files([extra, None, tmp_path / "nowhere.yml"])
    assert texts == {str(extra): "a: set a timeout for idle sockets"}


def test_overlap_lint_reads_package_prompts() -> None:
    texts = read_prompt_templates()
    assert sorted(texts) == [
        f"prompts/{path.name}"
        for path in sorted((PACKAGE / "serve" / "answers" / "prompts").iterdir())
    ]
    with pytest.raises(GoldError, match=r"^prompts/answer\.jinja: line \d+ shares the words"):
        check_gold_overlap([GoldQuery(id="q", query="A plain refusal is a good answer?")], texts)


METADATA = """---
description: Set a timeout for idle sockets.
aliases: [how do I set a timeout, pools]
tags: [idle sockets, "sockets: do I set a timeout?"]
---

# Pools

How do I set a timeout for idle sockets? Name it.
"""


def test_metadata_that_repeats_a_gold_query_is_named_by_page_and_field(tmp_path: Path) -> None:
    site = write_site(tmp_path, {"pools.md": METADATA, "other.md": "# Other\n\nText.\n"})
    done = build(site, "-q")
    assert done.returncode == 0, done.stderr
    bundle = opened(site)
    places = {
        overlap.place for overlap in find_gold_overlaps([TIMEOUT], list_bundle_metadata(bundle))
    }
    assert places == {
        "page pools: description",
        "page pools: alias 'how do i set a timeout'",
        "page pools: tag 'sockets: do I set a timeout?'",
    }
    put(
        site / "eval" / "gold.yaml",
        f"- {{id: timeout, query: '{TIMEOUT.query}', topSource: pools}}",
    )
    message = "shares the words 'set a timeout for idle' with gold query 'timeout'"
    done = command(site, "eval")
    assert done.returncode == 1
    assert f"page pools: description: line 1 {message}" in done.stderr


def test_package_shares_no_run_with_own_gold_queries() -> None:
    config = yaml.load((ROOT / "mkdocs.yml").read_text("utf-8"), yaml.BaseLoader)
    queries = load_gold_queries(ROOT / "eval" / "gold.yaml", config["site_author"])
    suffixes = (".py", ".jinja", ".js")
    ours = read_existing_files(p for p in PACKAGE.rglob("*") if p.suffix in suffixes)
    assert len(ours) > 100
    assert list(find_gold_overlaps(queries, ours, config["site_name"])) == []
