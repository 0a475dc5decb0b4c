"""``answerable stub-openai``: a local server to try the providers with."""

import click

from ..serve.errors import SiteError
from ..testing.openai_stub import start_stub
from ..testing.stub_messages import StubError


def run_stub(port: int) -> None:
    """Serve until interrupted; SiteError if the port is taken."""
    try:
        stub = start_stub(port, keep=0)
    except StubError as error:
        raise SiteError(f"--port: {error}") from None
    with stub:
        click.echo(f"Serving the OpenAI protocol at {stub.base_url} (Ctrl-C stops)")
        try:
            stub.wait()
        except KeyboardInterrupt:
            click.echo()
