"""The tables of the command's options in the manual, written from the command itself.

The page has one between ``<!-- command:NAME -->`` and ``<!-- /command:NAME -->``, the group's own
as ``answerable``. Run as a script, this writes them anew.
"""

import inspect
import re

import click

from answerable.cli import main as group
from answerable.indexing.files import write_file
from support import sites
from support.widget_tables import table

PAGE = sites.ROOT / "docs" / "commands.md"
_MARKED = re.compile(r"(<!-- command:([\w -]+) -->\n)(.*?)(<!-- /command:\2 -->)", re.S)
_DEFAULT = re.compile(r"\s*Default: (.+)\.$")
_KINDS = {"integer": "whole number", "integer range": "whole number", "float range": "number"}


def commands() -> dict[str, click.Command]:
    """The group and every command, by their names; one of a group in it has both names."""
    by_name = {"answerable": group, **subcommands(group)}
    for name, command in subcommands(group).items():
        if isinstance(command, click.Group):
            by_name |= {f"{name} {part}": each for part, each in subcommands(command).items()}
    return by_name


def subcommands(group: click.Group) -> dict[str, click.Command]:
    """Every command of a group, which may import one when it is asked for it."""
    context = click.Context(group)
    names = group.list_commands(context)
    return {name: command for name in names if (command := group.get_command(context, name))}


def parts() -> dict[str, str]:
    """Render the part between the marks of each command."""
    return {name: _part(name, command) for name, command in commands().items()}


def marked(text: str) -> dict[str, str]:
    """Return the parts between the marks of a page, by the commands' names."""
    return {name: part for _, name, part, _ in _MARKED.findall(text)}


def write_tables() -> None:
    """Write the page's tables anew."""
    written = parts()
    text = PAGE.read_text("utf-8")
    new = _MARKED.sub(lambda mark: f"{mark[1]}{written[mark[2]]}{mark[4]}", text)
    write_file(PAGE, new.encode())


def _part(name: str, command: click.Command) -> str:
    path = "answerable" if command is group else f"answerable {name}"
    pieces = command.collect_usage_pieces(click.Context(command, info_name=path))
    # The heading and the table say the rest of a command without arguments.
    usage = f"`{' '.join([path, *pieces])}`\n\n" if pieces != ["[OPTIONS]"] else ""
    options = [each for each in command.params if isinstance(each, click.Option)]
    rows = table(("option", "type", "default", "effect"), map(_row, options)) if options else "\n"
    return f"\n{inspect.cleandoc(command.help or '')}\n\n{usage}{rows.lstrip()}"


def _row(option: click.Option) -> tuple[str, str, str, str]:
    documented = _DEFAULT.search(option.help or "")
    effect = _DEFAULT.sub("", option.help or "").strip()
    if option.multiple:
        effect += " May be given several times."
    names = ", ".join(f"`{name}`" for name in option.opts)
    return (
        names,
        _type(option),
        _default(option, documented[1] if documented else None),
        effect or "—",
    )


def _default(option: click.Option, documented: str | None) -> str:
    if option.required:
        return "none, required"
    if option.is_flag:
        return "off"
    if documented:
        return documented
    return f"`{option.default}`" if option.show_default else "none"


def _type(option: click.Option) -> str:
    kind = option.type
    if option.is_flag:
        return "flag"
    if isinstance(kind, click.Choice):
        return ", ".join(f"`{choice}`" for choice in kind.choices)
    text = _KINDS.get(kind.name, kind.name)
    if isinstance(kind, (click.IntRange, click.FloatRange)):
        return f"{text}, {kind.min} to {kind.max}"
    return text


if __name__ == "__main__":
    write_tables()
