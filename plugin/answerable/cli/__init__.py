"""Command line ``answerable``: its group of commands, each imported only when it is used."""

from collections.abc import Mapping
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path

import click

from ..engine.errors import AnswerableError
from ..indexing.files import format_error

# The help of each command, by what a user wants to do; it stands here so that `--help` imports no
# command. Each is `command` in the module of its name, and its own help begins with these words.
_GROUPS: Mapping[str, Mapping[str, str]] = {
    "Ask": {
        "ask": "Answer a QUESTION with citations, or say that the site does not know.",
        "mcp": "Answer a coding agent over MCP on standard input, for a bundle or the site at URL.",
    },
    "Set up, build and serve": {
        "init": (
            "Add the plugin to the configuration, and the workflow that publishes on GitHub Pages."
        ),
        "doctor": (
            "Check what keeps a published ask box from answering; exit status 1 if something does."
        ),
        "build": (
            "Build the site with its own generator, then index it and put the ask box into its "
            "pages."
        ),
        "serve": "Serve the site with a live ask box, and build it again when its sources change.",
    },
    "Judge": {
        "eval": "Run the gold set; exit status 1 if a query fails, 2 if none could be judged.",
        "why": "Explain what a QUESTION found, what it did not, and what an author could do.",
        "diff": "Show which answers your edits change, compared with an earlier commit.",
        "gaps": "List the questions that readers have asked and the site does not answer.",
        "questions": (
            "Manage known questions: what readers may ask, and the section that answers it."
        ),
    },
}
_SUMMARIES = {name: text for group in _GROUPS.values() for name, text in group.items()}
# The options of `answerable` itself, which people type after its command too.
_GLOBAL_OPTIONS = ("-f", "--config-file", "--bundle")


class _LazyGroup(click.Group):
    """Import a command when it is used, and end in one sentence for an error of the package."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return list(_SUMMARIES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _SUMMARIES:
            # As click itself proposes an option.
            near = get_close_matches(cmd_name, _SUMMARIES, 3, 0.5)
            meant = f". Did you mean {' or '.join(near)}?" if near else ""
            raise click.UsageError(
                f"no command is called {cmd_name!r}; see `answerable --help`{meant}", ctx
            )
        command: click.Command = import_module(f".{cmd_name}", __name__).command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands by group, each with its whole sentence: click would cut it short."""
        del ctx
        # One column for all groups.
        width = max(map(len, _SUMMARIES))
        for title, commands in _GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), text) for name, text in commands.items()])

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except AnswerableError as error:
            raise click.ClickException(str(error)) from None
        except OSError as error:
            # Click itself ends quietly where nobody reads the output any more.
            if isinstance(error, ConnectionError) or error.errno is None:
                raise
            raise click.ClickException(format_error(error)) from None
        except click.NoSuchOption as error:
            name = error.option_name
            if name not in _GLOBAL_OPTIONS or error.ctx is None:
                raise
            raise click.UsageError(
                f"{name} stands before the command: answerable {name} … {error.ctx.info_name} …",
                error.ctx,
            ) from None


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="mkdocs-answerable")
@click.option(
    "--bundle",
    type=click.Path(path_type=Path),
    help="The bundle's folder. Default: where the last build has put it.",
)
@click.option(
    "-f",
    "--config-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The site's configuration. Default: zensical.toml, mkdocs.yml or Sphinx's conf.py.",
)
@click.pass_context
def main(ctx: click.Context, bundle: Path | None, config_file: Path | None) -> None:
    """Ask a site that was built with mkdocs-answerable, and evaluate it."""
    # Imported late: it reads YAML, and `--help` needs none.
    from ..indexing.generators import find_config_file

    ctx.obj = (bundle, config_file or find_config_file())
