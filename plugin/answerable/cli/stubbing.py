"""``answerable stub-openai``: a local server to try the providers with."""

import click

from ..serve.errors import SiteError
from ..stub import server
from ..stub.errors import StubError


def serve(port: int) -> None:
    """Serve until interrupted; SiteError if the port is taken."""
    try:
        stub = server.serve(port, keep=0)
    except StubError as error:
        raise SiteError(f"--port: {error}") from None
    with stub:
        click.echo(f"Serving the OpenAI protocol at {stub.base_url} (Ctrl-C stops)")
        try:
            stub.wait()
        except KeyboardInterrupt:
            click.echo()
