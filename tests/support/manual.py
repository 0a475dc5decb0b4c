"""Parse the manual for the tests that check it: its code blocks, tables and commands."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from support import sites

PAGES = (*sorted((sites.ROOT / "docs").glob("*.md")), sites.ROOT / "README.md")
# Four spaces put a block into a tab.
_FENCE = re.compile(r"( {4})?```([\w+-]*)$")
_SET = re.compile(r"([A-Z_]+)=(.*)", re.S)
# What ends one command of a line and begins another.
_BREAKS = {"&&", "|", ";", "(", ")", ">"}


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: where it stands, as ``page:line``, its language and its text."""

    where: str
    language: str
    text: str


@dataclass(frozen=True, slots=True)
class Command:
    """A command of a shell block: its words, and the variables that are set for it."""

    where: str
    words: tuple[str, ...]
    variables: tuple[tuple[str, str], ...]

    def starts(self, *words: str) -> bool:
        return self.words[: len(words)] == words


@cache
def blocks() -> tuple[Block, ...]:
    """Every fenced block of the manual and the README; AssertionError for one without an end."""
    return tuple(block for page in PAGES for block in _blocks(page.name, page.read_text("utf-8")))


def block(page: str, text: str) -> Block:
    """The only block of a page that holds a text."""
    (block,) = (b for b in blocks() if b.where.startswith(f"{page}:") and text in b.text)
    return block


def _blocks(name: str, text: str) -> Iterator[Block]:
    opened: tuple[int, str, str] | None = None
    block_lines: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        fence = _FENCE.fullmatch(line)
        if opened and line == f"{opened[1]}```":
            yield Block(f"{name}:{opened[0]}", opened[2], "".join(block_lines))
            opened, block_lines = None, []
        elif opened:
            block_lines.append(line.removeprefix(opened[1]) + "\n")
        else:
            # A fence with another indent or attributes would be no block to these tests.
            assert fence or not line.lstrip().startswith(("```", "~~~")), f"{name}:{number}"
            opened = (number, fence[1] or "", fence[2]) if fence else None
    assert opened is None, f"{name}: {opened}"


@cache
def commands() -> tuple[Command, ...]:
    """Every command of the shell blocks."""
    return tuple(
        command
        for block in blocks()
        if block.language in ("sh", "console")
        for line in block.text.replace("\\\n", " ").splitlines()
        for command in parsed(line, block.where)
    )


def parsed(line: str, where: str = "") -> Iterator[Command]:
    """The commands of a line of a shell."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars="()|;&>")
    lexer.whitespace_split = True
    words: list[str] = []
    for word in [*lexer, "&&"]:
        if word not in _BREAKS:
            words.append(word)
            continue
        if words:
            yield _command(where, words)
        # What follows ``>`` is the name of a file.
        words = ["a-file"] if word == ">" else []


def _command(where: str, words: list[str]) -> Command:
    remaining = words[1:] if words[0] == "export" else words
    variables = []
    while remaining and (assignment := _SET.fullmatch(remaining[0])):
        variables.append((assignment[1], assignment[2]))
        remaining = remaining[1:]
    return Command(where, tuple(remaining), tuple(variables))


# The site that the examples speak of: its notebook, its gold set and the rest are theirs.
_PAGES = {
    "index.md": "# Docs\n\nA client for HTTP.\n",
    "async.md": "# Async support\n\nA coroutine awaits each response.\n",
    "advanced/timeouts.md": (
        "# Timeouts\n\nTo set a timeout, pass `timeout=10.0` to the client.\n\n"
        "## Fine tuning\n\nA connect timeout is set apart from a read timeout.\n"
    ),
}


def write_site(top: Path) -> Path:
    """Write that site into a folder of a folder, with all that the examples name; its folder."""
    note = block("notebook.md", "keep-alive expiry with forty").text
    folder = sites.write_site(
        top / "site", _PAGES, {"pooling.md": note}, {"log_refusals": "hashed"}
    )
    for place in (top / "private-notes", folder / "notes"):
        sites.put(place / "pooling.md", note)
    sites.put(folder / "abbreviations.md", block("configure.md", "*[SSO]").text)
    sites.put(folder / "enrichment.yml", block("configure.md", "guide/deploy: ").text)
    sites.put(folder / "overrides" / "main.html", block("theme.md", "super()").text)
    sites.put(folder / "eval" / "gold.yaml", block("evaluate.md", "no-bread").text)
    return folder


def rows(page: str, head: str) -> list[list[str]]:
    """The cells of every table of a page whose first column has this head."""
    text = (sites.ROOT / "docs" / page).read_text("utf-8")
    tables = re.findall(rf"^\| {re.escape(head)} \|.*\n\|[-|]+\n((?:\|.*\n)+)", text, re.M)
    lines = [line for table in tables for line in table.splitlines()]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
