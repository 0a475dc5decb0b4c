"""What a prompt tells a scripted model: the evidence and the question, read from its data lines."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Source:
    """A quotable text under its title."""

    id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Hint:
    """The public surface of something that can only be pointed at."""

    id: str
    label: str
    locator: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """A request as a scripted model sees it.

    ``text`` is the whole of what the user said, ``schema`` the strict one that was sent, if any.
    """

    text: str
    question: str = ""
    sources: tuple[Source, ...] = ()
    hints: tuple[Hint, ...] = ()
    violation: str | None = None
    schema: Mapping[str, Any] | None = None


def read(texts: Iterable[str], schema: Mapping[str, Any] | None = None) -> Prompt:
    """The prompt in what a user said. Lines that are not data are skipped.

    Of two sources or hints with one id the first counts; of questions and violations the last.
    """
    text = "\n".join(texts)
    sources: dict[str, Source] = {}
    hints: dict[str, Hint] = {}
    question, violation = "", None
    for line in _data(text):
        words = {name: v if isinstance(v, str) else "" for name, v in line.items()}
        name = words.get("id", "")
        match words.get("kind"):
            case "source" if name:
                source = Source(name, words.get("title", ""), words.get("text", ""))
                sources.setdefault(name, source)
            case "hint" if name:
                hint = Hint(name, words.get("label", ""), words.get("locator", ""))
                hints.setdefault(name, hint)
            case "violation":
                violation = words.get("text", "")
            case "question":
                question = words.get("text", "")
    return Prompt(text, question, tuple(sources.values()), tuple(hints.values()), violation, schema)


def _data(text: str) -> Iterator[dict[str, Any]]:
    # Only a line feed ends a data line: a text may hold other line separators unescaped.
    for line in text.split("\n"):
        if not line.startswith("{"):
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            yield value
