"""Format workflow commands of GitHub Actions: annotations of lines of a file."""

from typing import Literal

Level = Literal["error", "warning", "notice"]


def format_annotation(
    level: Level, message: str, *, file: str | None = None, line: int | None = None, title: str = ""
) -> str:
    """Format one annotation as a line of output, whatever characters its texts hold.

    file: relative to the repository's folder. line: from 1. The escapes are those of GitHub's
    toolkit (actions/toolkit, packages/core/src/command.ts).
    """
    properties = {"file": file, "line": line, "title": title}
    fields = ",".join(
        f"{name}={_escape_property(str(value))}" for name, value in properties.items() if value
    )
    return f"::{level}{' ' if fields else ''}{fields}::{_escape_data(message)}"


def defuse_commands(text: str) -> str:
    """Change a text that is printed in a workflow so that no line of it is read as a command.

    A runner reads `::name::` at the start of a line, and `##[name]` anywhere in it.
    """
    lines = (f"| {line}" if line.lstrip().startswith("::") else line for line in text.splitlines())
    return "\n".join(lines).replace("##[", "# #[")


def _escape_data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escape_property(text: str) -> str:
    return _escape_data(text).replace(":", "%3A").replace(",", "%2C")
