"""What a run would ask of a paid provider, said before it is asked."""

import sys
from urllib.parse import urlsplit

import click

from ..serve.embedder import Identity
from ..serve.provided import ANSWERERS, EMBEDDERS
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
    host = ANSWERERS[chosen.answers].host
    if answered and host and _is_paid(chosen.base_url or host):
        calls.append(f"{answered} to {2 * answered} calls of {chosen.model}")
    host = EMBEDDERS[identity.provider].host
    if embedded and host and _is_paid(chosen.embedding_base_url or host):
        calls.append(f"1 call of {identity.model} for {embedded} questions")
    if not calls:
        return
    click.echo(f"This run makes {' and '.join(calls)}, which cost money.", err=True)
    if sys.stdin.isatty() and not is_agreed:
        click.confirm("Go on?", default=True, abort=True, err=True)


def _is_paid(host: str) -> bool:
    """Whether a host may want money: every one but this machine."""
    return urlsplit(host).hostname not in _OWN
