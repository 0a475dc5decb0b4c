"""What a run would ask of a paid provider, said before it is asked."""

import sys
from urllib.parse import urlsplit

import click

from ..serve.embedder import Identity
from ..serve.settings import Settings

_OWN = ("localhost", "127.0.0.1", "::1")


def agree(
    identity: Identity, chosen: Settings, *, embedded: int, answered: int, is_agreed: bool
) -> None:
    """Warn of calls that cost money; at a terminal ask, unless that is agreed already.

    embedded: questions of one call. answered: questions of a call each, or two where a draft
    breaks the contract. click.Abort if the answer is no.
    """
    calls = []
    if answered and _is_paid(chosen.base_url):
        calls.append(f"{answered} to {2 * answered} calls of {chosen.model}")
    if embedded and identity.provider != "local" and _is_paid(chosen.embedding_base_url):
        calls.append(f"1 call of {identity.model} for {embedded} questions")
    if not calls:
        return
    click.echo(f"This run makes {' and '.join(calls)}, which cost money.", err=True)
    if sys.stdin.isatty() and not is_agreed:
        click.confirm("Go on?", default=True, abort=True, err=True)


def _is_paid(base_url: str | None) -> bool:
    """Whether a host may want money: every one but this machine."""
    return base_url is None or urlsplit(base_url).hostname not in _OWN
