"""``answerable stub-openai``: run the stub of OpenAI's API on a loopback port until Ctrl-C."""

import threading

import click

from ..testing.openai_stub import OpenAIStub


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
    with OpenAIStub(port) as stub:
        click.echo(f"Serving the OpenAI protocol at {stub.base_url} (Ctrl-C stops)")
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            click.echo()
