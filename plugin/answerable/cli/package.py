"""The command ``answerable package``: its options and where it may write.

A package written, with its size against the limits of its platform and how to deploy it.
"""

from pathlib import Path
from typing import Literal

import click
from rich.console import Console
from rich.table import Table

from ..indexing.packaging.deploy_commands import list_deploy_commands
from ..indexing.packaging.lockfile import PACKAGE_EXTRAS
from ..indexing.packaging.package_writer import FunctionPackage, PackageOrder, write_package
from ..indexing.packaging.platforms import (
    ARCHITECTURES,
    DEFAULT_PYTHON,
    MEGABYTE,
    PLATFORM_NAMES,
    PLATFORMS,
    Architecture,
    PlatformName,
    choose_machine,
)
from ..serve.errors import SiteError

_DEFAULT_OUT = Path("package")


# Commands import what they use when they run, so that `--help` stays quick.
@click.command("package")
@click.option("--target", type=click.Choice(PLATFORM_NAMES), required=True, help="The platform.")
@click.option(
    "--arch",
    type=click.Choice(ARCHITECTURES),
    help="The processor. Default: arm64 on AWS, else x86_64.",
)
@click.option("--python", default=DEFAULT_PYTHON, show_default=True, help="The minor version.")
@click.option(
    "--function",
    type=click.Path(path_type=Path),
    help="The function's folder. Default: where mkdocs.yml puts it, function.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="Where the package is written. Default: package/TARGET.",
)
@click.option(
    "--with",
    "extras",
    type=click.Choice(tuple(PACKAGE_EXTRAS)),
    multiple=True,
    help="What the function needs for this too.",
)
@click.pass_obj
def package(
    where: tuple[Path | None, Path],
    target: PlatformName,
    arch: Architecture | None,
    python: str,
    function: Path | None,
    out: Path | None,
    extras: tuple[str, ...],
) -> None:
    """Turn the function's folder into what a platform takes; exit status 1 above its limits."""
    from ..indexing.packaging.package_writer import PackageOrder
    from .context import find_bundle

    chosen = PLATFORMS[target]
    machine = choose_machine(chosen, arch, python)
    folder = function or find_bundle(*where).parent
    order = PackageOrder(chosen, machine, folder, out or _DEFAULT_OUT / target, extras)
    _require_unpublished(where[1], order.out)
    raise SystemExit(0 if package_function(order) else 1)


def _require_unpublished(config_file: Path, out: Path) -> None:
    """Refuse to write vectors of notes where a site publishes them."""
    if not config_file.is_file():
        return
    from ..indexing.output.folder_overlap import check_private_location
    from ..mkdocs.site_config import load_mkdocs_config

    config = load_mkdocs_config(config_file)
    published = {"docs_dir": Path(config.docs_dir), "site_dir": Path(config.site_dir)}
    check_private_location("--out", out, published)


def package_function(order: PackageOrder) -> bool:
    """Write a package and print its size and its commands; whether it is within all limits."""
    try:
        done = write_package(order, lambda step: click.echo(f"{step} …", err=True))
    except OSError as error:
        name = error.filename or order.out
        raise SiteError(
            f"{name} cannot be read or written ({error.strerror}): correct its rights or free space"
        ) from None
    machine = order.machine
    click.echo(f"{order.target.name}, Python {machine.version}, {machine.architecture}")
    Console().print(_size_table(done, order))
    _print_notices(done, order)
    passed = [limit for limit in order.target.limits if _size_of(done, limit.what) > limit.bytes]
    for limit in passed:
        found = f"{_format_megabytes(_size_of(done, limit.what))} MB {limit.what}"
        click.echo(
            f"{found} is more than {_format_megabytes(limit.bytes)} MB: {limit.remedy}", err=True
        )
    click.echo(f"\nWritten to {order.out}. To deploy it:")
    for each in list_deploy_commands(order.target, order.machine, order.out):
        click.echo(f"  {each}")
    return not passed


def _size_table(done: FunctionPackage, order: PackageOrder) -> Table:
    table = Table("what")
    table.add_column("MB", justify="right")
    table.add_column("limit", justify="right")
    for what, size in done.parts.items():
        table.add_row(what, _format_megabytes(size), "")
    limits = {limit.what: _format_megabytes(limit.bytes) for limit in order.target.limits}
    table.add_section()
    table.add_row("unpacked", _format_megabytes(done.unpacked), limits.get("unpacked", "none"))
    if done.zipped is not None:
        table.add_row("zipped", _format_megabytes(done.zipped), limits.get("zipped", "none"))
    return table


def _print_notices(done: FunctionPackage, order: PackageOrder) -> None:
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


def _size_of(done: FunctionPackage, what: Literal["zipped", "unpacked"]) -> int:
    return done.unpacked if what == "unpacked" else done.zipped or 0


def _format_megabytes(size: int) -> str:
    return f"{size / MEGABYTE:.1f}"
