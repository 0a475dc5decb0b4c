"""``answerable package``: write the function's package for a platform; check its size limits.

It prints the package's sizes against the platform's limits, and how to deploy it.
"""

from pathlib import Path
from typing import Literal

import click
from rich.console import Console
from rich.table import Table

from ..indexing.output.files import check_private_location
from ..indexing.packaging.package_writer import FunctionPackage, PackageOrder, write_package
from ..indexing.packaging.packages import PACKAGE_EXTRAS
from ..indexing.packaging.platforms import (
    ARCHITECTURES,
    DEFAULT_PYTHON,
    MEGABYTE,
    PACKAGE_FOLDER,
    PLATFORM_NAMES,
    PLATFORMS,
    Architecture,
    PlatformName,
    choose_machine,
    list_deploy_commands,
)
from ..serve.errors import SiteError
from ..serve.settings import BUNDLE_FOLDER
from ..serve.stores.bundle import open_bundle
from .context import SiteLocation, find_bundle

_DEFAULT_OUT = Path(PACKAGE_FOLDER)


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
def command(
    location: SiteLocation,
    target: PlatformName,
    arch: Architecture | None,
    python: str,
    function: Path | None,
    out: Path | None,
    extras: tuple[str, ...],
) -> None:
    """Turn the function's folder into what a platform takes; exit status 1 above its limits."""
    platform = PLATFORMS[target]
    machine = choose_machine(platform, arch, python)
    folder = function or find_bundle(*location).parent
    order = PackageOrder(platform, machine, folder, out or _DEFAULT_OUT / target, extras)
    _require_unpublished(location[1], order.out)
    raise SystemExit(0 if package_function(order) else 1)


def _require_unpublished(config_file: Path, out: Path) -> None:
    """Refuse to write vectors of notes where a site publishes them."""
    if not config_file.is_file():
        return
    # A function folder that was deployed alone may lack mkdocs.
    from ..mkdocs.site_config import load_mkdocs_config

    config = load_mkdocs_config(config_file)
    published = {"docs_dir": Path(config.docs_dir), "site_dir": Path(config.site_dir)}
    check_private_location("--out", out, published)


def package_function(order: PackageOrder) -> bool:
    """Write a package, print its sizes and commands, and tell whether it is within all limits."""
    try:
        package = write_package(order, lambda step: click.echo(f"{step} …", err=True))
    except OSError as error:
        name = error.filename or order.out
        raise SiteError(
            f"{name} cannot be read or written ({error.strerror}): check its permissions or free "
            "space"
        ) from None
    machine = order.machine
    click.echo(f"{order.target.name}, Python {machine.version}, {machine.architecture}")
    Console().print(_make_size_table(package, order))
    _print_notices(package, order)
    exceeded = [
        limit for limit in order.target.limits if _measure(package, limit.what) > limit.bytes
    ]
    for limit in exceeded:
        size = f"{_format_megabytes(_measure(package, limit.what))} MB {limit.what}"
        most = _format_megabytes(limit.bytes)
        click.echo(f"{size} is more than {most} MB: {limit.remedy}", err=True)
    click.echo(f"\nWritten to {order.out}. To deploy it:")
    for line in list_deploy_commands(order.target, order.machine, order.out, package.keys):
        click.echo(f"  {line}")
    click.echo("\nThen, once:")
    for number, step in enumerate(_list_remaining_steps(order), 1):
        click.echo(f"  {number}. {step}")
    return not exceeded


def _list_remaining_steps(order: PackageOrder) -> list[str]:
    """List what remains after the platform: from the function's address to an answering site."""
    site_url = open_bundle(order.function / BUNDLE_FOLDER, verify=False).site.url
    steps = [
        "Write the function's address into mkdocs.yml: widget.endpoint: https://ADDRESS/",
        "Build the site and publish it again: mkdocs build, or mkdocs gh-deploy",
        "Ask whether it answers: curl https://ADDRESS/health, then answerable doctor",
    ]
    if site_url is None:
        steps.insert(
            0,
            "Set site_url in mkdocs.yml, build and package again: without it the function admits "
            "no page, unless ANSWERABLE_ALLOWED_ORIGINS names the site's origin",
        )
    return steps


def _make_size_table(package: FunctionPackage, order: PackageOrder) -> Table:
    table = Table("what")
    table.add_column("MB", justify="right")
    table.add_column("limit", justify="right")
    for part, size in package.parts.items():
        table.add_row(part, _format_megabytes(size), "")
    limits = {limit.what: _format_megabytes(limit.bytes) for limit in order.target.limits}
    table.add_section()
    table.add_row("unpacked", _format_megabytes(package.unpacked), limits.get("unpacked", "none"))
    if package.zipped is not None:
        table.add_row("zipped", _format_megabytes(package.zipped), limits.get("zipped", "none"))
    return table


def _print_notices(package: FunctionPackage, order: PackageOrder) -> None:
    """Print what whoever deploys this package has to know of it."""
    python = f"Python {order.machine.version}"
    for name, pinned, replacement in package.older:
        click.echo(
            f"{name} {replacement} stands in for {pinned}, which has no wheel for {python} with "
            f"glibc 2.{order.machine.glibc}."
        )
    if package.is_compiled:
        click.echo(f"Bytecode for {python} is in it.")
    elif package.is_compiled is False:
        click.echo(
            f"No bytecode is in it: {python} is not installed here, so every cold start compiles "
            "the code."
        )
    if package.is_stored:
        click.echo(
            "The bundle is not in it: a database serves this site. Set ANSWERABLE_DATABASE_URL in "
            "the platform's environment."
        )
    for key in package.keys:
        click.echo(f"Set {key} in the platform's environment: no package holds a key.")


def _measure(package: FunctionPackage, what: Literal["zipped", "unpacked"]) -> int:
    return package.unpacked if what == "unpacked" else package.zipped or 0


def _format_megabytes(size: int) -> str:
    return f"{size / MEGABYTE:.1f}"
