"""The command ``answerable``: the only part that parses arguments and prints."""

from collections.abc import Callable
from pathlib import Path

import click

from ..indexing.error_messages import format_error
from ..serve.errors import AnswerableError
from ..serve.settings import LOG_REFUSALS_CHOICES, LogRefusals
from . import evaluate_options, package, publish
from .context import question_argument

_CONFIG_FILES = ("mkdocs.yml", "mkdocs.yaml", "properdocs.yml", "properdocs.yaml")
# The options of `answerable` itself, which people type after its command too.
_GLOBAL_OPTIONS = ("-f", "--config-file", "--bundle")


class _ErrorReportingGroup(click.Group):
    """Turns the package's errors into one sentence and an exit status of 1."""

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except AnswerableError as error:
            raise click.ClickException(str(error)) from None
        except OSError as error:
            if error.filename is None or isinstance(error, BrokenPipeError):
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


@click.group(cls=_ErrorReportingGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="mkdocs-answerable")
@click.option(
    "--bundle",
    type=click.Path(path_type=Path),
    help="The bundle's folder. Default: where mkdocs.yml puts it, function/bundle.",
)
@click.option(
    "-f",
    "--config-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The site's configuration. Default: mkdocs.yml, else properdocs.yml.",
)
@click.pass_context
def main(ctx: click.Context, bundle: Path | None, config_file: Path | None) -> None:
    """Ask a site that was built with mkdocs-answerable, and evaluate it."""
    found = (path for path in map(Path, _CONFIG_FILES) if path.is_file())
    ctx.obj = (bundle, config_file or next(found, Path(_CONFIG_FILES[0])))


# Commands import what they use when they run, so that `--help` stays quick.
@main.command()
@question_argument
@click.option("--json", "as_json", is_flag=True, help="Print the answer as the function sends it.")
@click.option("--language", help="What you ask in, such as fr: pages in it go first.")
@click.pass_obj
def ask_command(
    places: tuple[Path | None, Path], question: str, as_json: bool, language: str | None
) -> None:
    """Answer one QUESTION with citations, or say that the site does not know."""
    from .ask import print_answer

    print_answer(*places, question, as_json, language)


@main.command()
@question_argument
@click.option("--json", "as_json", is_flag=True, help="Print the candidates as JSON.")
@click.option(
    "--top-k",
    type=click.IntRange(1, 100),
    default=8,
    show_default=True,
    help="How many candidates of each kind to show.",
)
@click.option("--near", is_flag=True, help="Show near misses, under the floor, too.")
@click.option("--language", help="What you ask in, such as fr: pages in it go first.")
@click.pass_obj
def search_command(
    places: tuple[Path | None, Path],
    question: str,
    as_json: bool,
    top_k: int,
    near: bool,
    language: str | None,
) -> None:
    """Show what a QUESTION retrieves, with scores."""
    from .ask import print_candidates

    print_candidates(*places, question, top_k, language, as_json=as_json, near=near)


@main.command()
@click.pass_obj
def chat_command(places: tuple[Path | None, Path]) -> None:
    """Ask in the terminal, one question at a time."""
    from .chat import run_chat

    run_chat(*places)


@main.command("check-links")
@click.argument("url")
@click.pass_obj
def check_links_command(places: tuple[Path | None, Path], url: str) -> None:
    """Look up all that answers may cite on the site at URL; exit status 1 if some is gone."""
    from .check_links import check_site_links

    check_site_links(*places, url)


@main.command("bench-cold")
@click.argument("function_dir", type=click.Path(path_type=Path))
@click.option("--question", default="", help="What to ask. Default: one about the first page.")
@click.option(
    "--runs",
    type=click.IntRange(1, 100),
    default=5,
    show_default=True,
    help="How many starts to time.",
)
@click.option("--skip-hashes", is_flag=True, help="As with ANSWERABLE_SKIP_HASHES=1.")
@click.option("--json", "as_json", is_flag=True, help="Print the times as JSON.")
def bench_cold_command(
    function_dir: Path, question: str, runs: int, skip_hashes: bool, as_json: bool
) -> None:
    """Time FUNCTION_DIR from the start of a process to its first answer, phase by phase."""
    from .bench_cold import bench_cold_starts

    bench_cold_starts(function_dir, question, runs, verify=not skip_hashes, as_json=as_json)


def _site_options(command: Callable[..., None]) -> Callable[..., None]:
    """The options that `index` and `serve` share."""
    options = (
        click.argument("site_dir", type=click.Path(path_type=Path)),
        click.option(
            "--notebook", type=click.Path(path_type=Path), help="The private notes. Default: none."
        ),
        click.option(
            "--base-url",
            help="Where the site is published. Default: its first page's canonical link, else /.",
        ),
        click.option("--site-name", help="The site's name. Default: as its pages say."),
        click.option("--language", help="The language of all pages. Default: as each page says."),
        click.option(
            "--cache",
            type=click.Path(path_type=Path),
            default=Path(".cache", "plugin", "answerable"),
            show_default=True,
            help="Where vectors are kept between runs.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


@main.command("index")
@_site_options
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("function"),
    show_default=True,
    help="Where the function is written.",
)
@click.option("--inject", is_flag=True, help="Put the Ask button into every page of SITE_DIR.")
@click.option("--endpoint", help="Where the button asks. Default: _answerable/ under the site.")
def index_command(
    site_dir: Path,
    notebook: Path | None,
    base_url: str | None,
    site_name: str | None,
    language: str | None,
    cache: Path,
    out: Path,
    inject: bool,
    endpoint: str | None,
) -> None:
    """Make a function for SITE_DIR, a site that any generator has built."""
    from ..indexing.html_site.built_site import BuiltSiteOptions
    from .index import IndexOptions, index_built_site

    reading = BuiltSiteOptions(base_url, site_name, language)
    index_built_site(
        IndexOptions(site_dir, notebook, cache, reading), out, inject=inject, endpoint=endpoint
    )


@main.command("serve")
@_site_options
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=8000,
    show_default=True,
    help="The port to listen on; 0 takes a free one.",
)
@click.option(
    "--log-refusals",
    type=click.Choice(LOG_REFUSALS_CHOICES),
    default="none",
    show_default=True,
    help="What is kept of refused questions, in the cache.",
)
def serve_command(
    site_dir: Path,
    notebook: Path | None,
    base_url: str | None,
    site_name: str | None,
    language: str | None,
    cache: Path,
    host: str,
    port: int,
    log_refusals: LogRefusals,
) -> None:
    """Serve SITE_DIR, a site that any generator has built, with a live ask box."""
    from ..indexing.html_site.built_site import BuiltSiteOptions
    from .index import IndexOptions
    from .serve import serve_built_site

    reading = BuiltSiteOptions(base_url, site_name, language)
    serve_built_site(IndexOptions(site_dir, notebook, cache, reading), host, port, log_refusals)


@main.command("stub-openai")
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=8899,
    show_default=True,
    help="The port to listen on; 0 takes a free one.",
)
def stub_openai_command(port: int) -> None:
    """Serve the OpenAI protocol on loopback, to try the whole flow without a key."""
    from .stub_openai import run_stub

    run_stub(port)


for command in (*evaluate_options.EVALUATE_COMMANDS, package.package, *publish.DATABASE_COMMANDS):
    main.add_command(command)
