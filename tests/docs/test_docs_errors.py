"""Each error that somebody can see says what to do, or the manual does; none there is gone."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from answerable.serve import errors
from support import manual
from support.sites import ROOT

# What a caller turns into a status of its own, or into another attempt.
UNSEEN = {"BudgetError", "CancelledError", "ContractViolation", "CrowdedError"}
SHOWN = {name for name, kind in vars(errors).items() if isinstance(kind, type)} - UNSEEN
ERRORS = {*SHOWN, "ClickException", "UsageError", "PluginError", "add_error"}
# Made of parts that no literal holds, or said by pip, MkDocs or the system.
OTHERS = {
    "requires a different Python: … not in '>=3.11'",
    "externally-managed-environment",
    'The "answerable" plugin is not installed',
    'The "answerables" plugin is not installed',
    "Plugin 'answerable' option 'notebook': The path '…' isn't an existing directory",
    "mapping values are not allowed here",
    "Address already in use",
    "words … of the note stand in site/…",
}
_RUN = 12
_ENDS = " ,:;()"


def flat(text: str) -> str:
    """A text without marks of code, which the manual has where a terminal has none."""
    return " ".join(text.replace("`", "").split())


@cache
def trees() -> dict[Path, list[ast.AST]]:
    """The nodes of every module of the package."""
    paths = sorted((ROOT / "plugin").rglob("*.py"))
    return {path: list(ast.walk(ast.parse(path.read_text("utf-8")))) for path in paths}


@cache
def docstrings() -> set[int]:
    """The nodes of texts that no user sees: docstrings, by their identity."""
    return {
        id(node.value)
        for nodes in trees().values()
        for node in nodes
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }


@cache
def raised() -> dict[str, list[str]]:
    """Every text that an error is raised with, by its place, as the literals between its holes."""
    return dict(message for path in trees() for message in _in(path))


def _in(path: Path) -> Iterator[tuple[str, list[str]]]:
    for node in trees()[path]:
        name = _name(node.func) if isinstance(node, ast.Call) else ""
        # A wrong setting is a ValueError until `read_policy` knows the variable's name.
        is_setting = name == "ValueError" and path.name == "policy.py"
        if isinstance(node, ast.Call) and node.args and (name in ERRORS or is_setting):
            yield f"{path.name}:{node.lineno}", list(_literals(node.args[0]))


def _name(function: ast.expr) -> str:
    return str(getattr(function, "id", getattr(function, "attr", "")))


def _literals(node: ast.expr) -> Iterator[str]:
    parts = node.values if isinstance(node, ast.JoinedStr) else [node]
    for part in parts:
        if isinstance(part, ast.Constant) and isinstance(part.value, str) and flat(part.value):
            yield flat(part.value)


def shares(shown: str, literals: list[str]) -> bool:
    """Tell whether a message that the manual shows has the words of a literal.

    It has a whole one, or half of its own longest part, between its holes, is in one.
    """
    message, runs = _runs(shown)
    return any(run in text for text in literals for run in runs) or any(
        len(text) > _RUN and text.strip(_ENDS) in message for text in literals
    )


@cache
def _runs(shown: str) -> tuple[str, list[str]]:
    message = flat(shown)
    longest = max((part.strip(_ENDS) for part in message.split("…")), key=len)
    least = min(len(longest), max(_RUN, (len(longest) + 1) // 2))
    return message, [longest[at : at + least] for at in range(len(longest) - least + 1)]


@cache
def shown() -> list[str]:
    """Every message of the tables of the manual."""
    cells = [row[0] for row in manual.rows("troubleshoot.md", "message")]
    # A backtick inside a message is written in double ones.
    return [text for cell in cells for _, text in re.findall(r"(``?)(.+?)\1(?!`)", cell)]


# What to do, as a verb after a stop, or the form that a value has to have.
_REMEDY = re.compile(
    r"(?:^|[;:,.(]\s?|\band |\bor |\bthen )(?:first )?(?:add|ask|begin|break|build|check|choose"
    r"|commit|copy|correct|create|delete|deploy|drop|give|install|join|judge|keep|leave|look|make|move|name|pin|publish"
    r"|put|raise|read|reinstall|remove|rename|restore|run|save|say|see|set|shorten|take|try|unset"
    r"|upgrade|use|wait|write)\b"
    r"|\bhas to (?:be|begin|hold)\b|\bsuch as\b|\bonly .+ is\b|\bneither .+ nor\b"
    r"|\bis not (?:between|a whole number from|a number of seconds from)\b|\bstands before\b"
    # What follows lists what there is, or is a remedy that several messages share.
    r"|\bit has$|[:;(]$"
)
# They end with what there is instead: near ids, fields and values, or the nearest one.
ENDS_WITH_CHOICES = {
    "--expect: there is no record, passage or note…in the bundle",
    ":…is not a field of a gold query",
    ":…is not known here",
}


def test_every_error_says_what_to_do_or_is_in_the_manual() -> None:
    messages = raised()
    assert len(messages) > 200
    silent = {
        place: text
        for place, literals in messages.items()
        if (text := "…".join(literals)) not in ENDS_WITH_CHOICES
        # What is made of others' texts has no words of its own to look for.
        if any(len(part.strip(_ENDS)) > _RUN for part in literals)
        and not _REMEDY.search(text)
        and not any(shares(shown_text, literals) for shown_text in shown())
    }
    assert silent == {}
    assert {"…".join(literals) for literals in messages.values()} >= ENDS_WITH_CHOICES


def test_every_message_of_the_manual_is_one_that_there_is() -> None:
    literals = [
        flat(node.value)
        for nodes in trees().values()
        for node in nodes
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and id(node) not in docstrings()
    ]
    everything = "\n".join(literals)
    unknown = {text for text in shown() if not shares(text, [everything])}
    assert {text for text in unknown if not shares(text, literals)} == OTHERS


def test_every_message_has_a_remedy() -> None:
    rows = manual.rows("troubleshoot.md", "message")
    assert rows
    assert [row for row in rows if len(row) != 2 or not row[1]] == []


@pytest.mark.parametrize(
    ("text", "is_known"),
    [
        ("… does not exist: run `mkdocs build` first", True),
        ("… does not exist: run `answerable nothing` before that", False),
    ],
)
def test_a_message_is_known_by_its_words(text: str, is_known: bool) -> None:
    assert shares(text, ["does not exist: run mkdocs build first"]) == is_known


def test_every_text_of_a_problem_is_in_the_manual() -> None:
    details = {row[2] for row in manual.rows("api.md", "status")}
    literals: dict[str, str] = {}
    for path, nodes in trees().items():
        for node in nodes:
            if isinstance(node, ast.Call) and _name(node.func) == "Problem":
                literals |= dict.fromkeys(_literals(node.args[1]), path.name)
    assert len(literals) > 15
    parts = "\n".join(sorted(flat(detail) for detail in details))
    assert {text for text in literals if text not in parts} == set()
