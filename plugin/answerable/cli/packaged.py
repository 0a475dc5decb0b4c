"""A package written, with its size against the limits of its platform and how to deploy it."""

from typing import Literal

import click
from rich.console import Console
from rich.table import Table

from ..build.packaging import deploying, writing
from ..build.packaging.targets import MB
from ..build.packaging.writing import Order, Package
from ..serve.errors import SiteError


def package(order: Order) -> bool:
    """Write a package and print its size and its commands; whether it is within all limits."""
    try:
        done = writing.write(order, lambda step: click.echo(f"{step} …", err=True))
    except OSError as error:
        name = error.filename or order.out
        raise SiteError(
            f"{name} cannot be read or written ({error.strerror}): correct its rights or free space"
        ) from None
    machine = order.machine
    click.echo(f"{order.target.name}, Python {machine.version}, {machine.architecture}")
    Console().print(_sizes(done, order))
    _notice(done, order)
    passed = [limit for limit in order.target.limits if _size(done, limit.what) > limit.bytes]
    for limit in passed:
        found = f"{_mb(_size(done, limit.what))} MB {limit.what}"
        click.echo(f"{found} is more than {_mb(limit.bytes)} MB: {limit.remedy}", err=True)
    click.echo(f"\nWritten to {order.out}. To deploy it:")
    for each in deploying.commands(order.target, order.machine, order.out):
        click.echo(f"  {each}")
    return not passed


def _sizes(done: Package, order: Order) -> Table:
    table = Table("what")
    table.add_column("MB", justify="right")
    table.add_column("limit", justify="right")
    for what, size in done.parts.items():
        table.add_row(what, _mb(size), "")
    limits = {limit.what: _mb(limit.bytes) for limit in order.target.limits}
    table.add_section()
    table.add_row("unpacked", _mb(done.unpacked), limits.get("unpacked", "none"))
    if done.zipped is not None:
        table.add_row("zipped", _mb(done.zipped), limits.get("zipped", "none"))
    return table


def _notice(done: Package, order: Order) -> None:
    """What whoever deploys has to know of this package."""
    for name, pinned, taken in done.older:
        click.echo(
            f"{name} {taken} stands in for {pinned}, which has no wheel for "
            f"Python {order.machine.version} with glibc 2.{order.machine.glibc}."
        )
    if done.is_compiled:
        click.echo(f"Bytecode for Python {order.machine.version} is in it.")
    elif done.is_compiled is False:
        click.echo(
            f"No bytecode is in it: Python {order.machine.version} is not installed here, so every "
            "cold start compiles the code."
        )
    if done.is_stored:
        click.echo(
            "The bundle is not in it: a database serves this site. Set ANSWERABLE_DATABASE_URL in "
            "the platform's environment."
        )
    for key in done.keys:
        click.echo(f"Set {key} in the platform's environment: no package holds a key.")


def _size(done: Package, what: Literal["zipped", "unpacked"]) -> int:
    return done.unpacked if what == "unpacked" else done.zipped or 0


def _mb(size: int) -> str:
    return f"{size / MB:.1f}"
