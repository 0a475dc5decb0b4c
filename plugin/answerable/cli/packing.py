"""The command ``answerable package``: its options and where it may write."""

from pathlib import Path

import click

from ..build.packaging import targets
from ..build.packaging.extras import EXTRAS
from ..build.packaging.targets import ARCHITECTURES, DEFAULT_PYTHON, NAMES, TARGETS

_OUT = Path("package")


# Commands import what they use when they run, so that `--help` stays quick.
@click.command("package")
@click.option("--target", type=click.Choice(NAMES), required=True, help="The platform.")
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
    type=click.Choice(tuple(EXTRAS)),
    multiple=True,
    help="What the function needs for this too.",
)
@click.pass_obj
def command(
    where: tuple[Path | None, Path],
    target: targets.Name,
    arch: targets.Architecture | None,
    python: str,
    function: Path | None,
    out: Path | None,
    extras: tuple[str, ...],
) -> None:
    """Turn the function's folder into what a platform takes; exit status 1 above its limits."""
    from ..build.packaging.writing import Order
    from . import opening, packaged

    chosen = TARGETS[target]
    machine = targets.machine(chosen, arch, python)
    folder = function or opening.bundle_folder(*where).parent
    order = Order(chosen, machine, folder, out or _OUT / target, extras)
    _check_published(where[1], order.out)
    raise SystemExit(0 if packaged.package(order) else 1)


def _check_published(config_file: Path, out: Path) -> None:
    """Refuse to write vectors of notes where a site publishes them."""
    if not config_file.is_file():
        return
    from ..build import places
    from ..mkdocs import settings as site

    config = site.read(config_file)
    published = {"docs_dir": Path(config.docs_dir), "site_dir": Path(config.site_dir)}
    places.check_outside("--out", out, published)
