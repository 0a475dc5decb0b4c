"""The argument QUESTION, which is one text."""

import click


def _one(ctx: click.Context, param: click.Parameter, words: tuple[str, ...]) -> str:
    """The question; UsageError if the shell has taken it apart."""
    del param
    if len(words) > 1:
        raise click.UsageError(
            f'put the question in quotes: {ctx.command_path} "{" ".join(words)}"', ctx
        )
    return words[0]


argument = click.argument("question", nargs=-1, required=True, metavar="QUESTION", callback=_one)
