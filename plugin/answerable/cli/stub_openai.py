"""``answerable stub-openai``: run the stub of OpenAI's API on a loopback port until Ctrl-C."""

import click

from ..serve.errors import SiteError
from ..testing.openai_stub import start_stub
from ..testing.stub_messages import StubError


@click.command("stub-openai")
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=8899,
    show_default=True,
    help="The port to listen on; 0 takes a free one.",
)
def command(port: int) -> None:
    """Serve the OpenAI protocol on loopback, to try the whole flow without a key."""
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
