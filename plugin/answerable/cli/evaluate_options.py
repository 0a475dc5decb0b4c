"""Helpers of commands with a gold set: --gold and --ids, note sources, confirming paid calls."""

import sys
from pathlib import Path
from urllib.parse import urlsplit

import click

from ..evaluate.entailment import EntailmentJudge
from ..evaluate.gold_sources import NoteSources, make_note_sources
from ..evaluate.verdict import VerdictStatus
from ..indexing.notes.note import Notebook
from ..serve.answers.prompt import MAX_PROMPT_CLAIMS
from ..serve.embedders.embedder import EmbedderIdentity
from ..serve.provider_registry import ANSWERER_PROVIDERS, EMBEDDER_PROVIDERS
from ..serve.settings import FunctionSettings
from .context import read_site_notebook

# Folder of reports under the cache folder, and the last trials of settings among them.
REPORTS_FOLDER = "eval"
TRIALS_FILE = "tune.json"
# Queries that are asked of a model at once, unless an option says otherwise.
MODEL_JOBS = 4

_OPENAI_HOST = ANSWERER_PROVIDERS["openai"].host or ""
_LOOPBACK_HOSTS = ("localhost", "127.0.0.1", "::1")

gold_option = click.option(
    "--gold",
    type=click.Path(path_type=Path),
    help="The gold set. Default: eval/gold.yaml beside mkdocs.yml.",
)


def parse_ids(text: str | None) -> tuple[str, ...]:
    """Split the value of --ids; UsageError if it names no query."""
    if text is None:
        return ()
    ids = tuple(filter(None, (part.strip() for part in text.split(","))))
    if not ids:
        raise click.UsageError("--ids names no query: write ids with commas between them")
    return ids


def read_note_sources(folder: Path | str | None) -> NoteSources:
    """Read the notes that gold sources may name, from a site's notebook; none for None."""
    return list_note_sources(read_site_notebook(folder))


def list_note_sources(notebook: Notebook) -> NoteSources:
    """List the notes that gold sources may name."""
    return make_note_sources(notebook.ids, notebook.unrouted_paths)


def format_verdict(*, passed: bool) -> str:
    """Format a verdict for a table."""
    return "[green]pass[/green]" if passed else "[red]FAIL[/red]"


def format_status(status: VerdictStatus) -> str:
    """Format the status of a verdict for a table."""
    if status in ("error", "flaky", "known-failure"):
        return f"[yellow]{status}[/yellow]"
    if status == "unexpected-pass":
        return f"[red]{status}[/red]"
    return format_verdict(passed=status == "pass")


def confirm_cost(
    identity: EmbedderIdentity,
    settings: FunctionSettings,
    *,
    embedded: int,
    answered: int,
    is_agreed: bool,
    judge: EntailmentJudge | None = None,
    judged: int = 0,
) -> None:
    """Warn of calls that cost money; at a terminal ask, unless that is agreed already.

    embedded: questions of one call. answered: questions of a call each, or two where a draft
    breaks the contract. click.Abort if the answer is no.
    """
    calls = []
    host = ANSWERER_PROVIDERS[settings.answers].host
    if answered and host and _is_paid(settings.base_url or host):
        calls.append(f"{answered} to {2 * answered} calls of {settings.model}")
    host = EMBEDDER_PROVIDERS[identity.provider].host
    if embedded and host and _is_paid(settings.embedding_base_url or host):
        calls.append(f"1 call of {identity.model} for {embedded} questions")
    if judge and judged and _is_paid(judge.base_url or _OPENAI_HOST):
        calls.append(f"up to {MAX_PROMPT_CLAIMS * judged} calls of {judge.model} as the judge")
    if not calls:
        return
    click.echo(f"This run makes {' and '.join(calls)}, which cost money.", err=True)
    if sys.stdin.isatty() and not is_agreed:
        click.confirm("Go on?", default=True, abort=True, err=True)


def _is_paid(host: str) -> bool:
    """Tell whether a host may cost money: every one but this machine."""
    return urlsplit(host).hostname not in _LOOPBACK_HOSTS
