"""The Markdown of passages: what both engines read alike, and what the writer writes back."""

import json
import random
from pathlib import Path

import pytest

from answerable.engine.text.markdown import (
    Block,
    Span,
    parse_blocks,
    plain_text,
    read_markdown,
    slice_blocks,
)
from answerable.engine.text.markdown_writer import escape_markdown, write_blocks
from answerable.engine.text.sentences import find_sentences

CASES_FILE = Path(__file__).parents[2] / "browser_engine" / "markdown_cases.jsonl"
CASES = {case["name"]: case for case in map(json.loads, CASES_FILE.read_text("utf-8").splitlines())}


@pytest.mark.parametrize("name", CASES)
def test_markdown_is_read_as_the_cases_of_both_engines_say(name: str) -> None:
    case = CASES[name]
    blocks = parse_blocks(case["markdown"])
    read = read_markdown(case["markdown"])

    assert [[*block[:4], [list(span) for span in block.spans]] for block in blocks] == case[
        "blocks"
    ]
    assert read.text == case["text"]
    assert [read.text[start:end] for start, end in find_sentences(case["markdown"])] == case[
        "sentences"
    ]
    assert write_blocks(blocks) == case["written"]


PIECES = (
    *("`", "``", "[", "]", "(", ")", "](/u)", "\\", "|", "a", "B", " ", "*", "_", "<b>", "&amp;"),
    *("- ", "1. ", '=== "x"', '!!! "y"', ":   ", "\n", "\n\n", "    ", "```", "| --- |", "---"),
    *("#", "https://x.y/", "é", "。", "~~~", "\\\n", "> ", "+ "),
)


def test_what_is_written_is_read_as_the_same_blocks() -> None:
    chance = random.Random(1)
    for _ in range(5_000):
        blocks = parse_blocks("".join(chance.choices(PIECES, k=chance.randint(1, 25))))
        assert parse_blocks(write_blocks(blocks)) == blocks


@pytest.mark.parametrize(
    "text", ["a *b* _c_ <b> [x](/y)", "# h", "- i", "1. n", "| r |", '=== "x"']
)
def test_words_of_our_own_are_one_paragraph_of_text_and_code(text: str) -> None:
    (block,) = parse_blocks(escape_markdown(f"{text}\n\n`code`"))

    assert block == Block(
        "text", f"{text} code", 0, "", (Span("code", len(text) + 1, len(text) + 5),)
    )


def test_a_slice_holds_the_words_of_a_range_and_whole_lines_of_code() -> None:
    table = "| a | b |\n| --- | --- |\n| c | d |"
    read = read_markdown(f"One `two` [three four](/x).\n\n{table}\n\n```sh\nls -l\ncd x\n```")

    def cut(words: str) -> str:
        start = read.text.index(words)
        return write_blocks(slice_blocks(read.blocks, start, start + len(words)))

    assert cut("two three") == "`two` [three](/x)"
    assert cut("four.\na · b\nc") == "[four](/x).\n\n| a | b |\n| --- | --- |\n| c |  |"
    assert cut("-l") == "```sh\nls -l\n```"
    assert plain_text(cut("l\ncd")) == "ls -l\ncd x"
