"""The commands of ``answerable``, as click knows them."""

import click


def subcommands(group: click.Group) -> dict[str, click.Command]:
    """Every command of a group, which may import one when it is asked for it."""
    context = click.Context(group)
    names = group.list_commands(context)
    return {name: command for name in names if (command := group.get_command(context, name))}
