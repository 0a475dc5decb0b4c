"""The commands of a site that a database serves: its roles, and a bundle put there by hand."""

import os
from pathlib import Path

import click

from ..serve.database import NAME, URL, check_url
from ..serve.errors import SiteError


# Commands import what they use when they run, so that `--help` stays quick.
@click.command("database-roles")
def database_roles() -> None:
    """Print the SQL that makes the roles and schemas of a database, for an administrator."""
    from ..build.database import roles

    click.echo(roles.text(), nl=False)


@click.command()
@click.option("--name", default=NAME, show_default=True, help="What the site is called there.")
@click.pass_obj
def publish(places: tuple[Path | None, Path], name: str) -> None:
    """Publish the bundle to the database of ANSWERABLE_DATABASE_URL, to be searched exactly.

    `mkdocs build` does this by itself where `store` is set.
    """
    from ..build.database import publishing
    from ..serve.opening import open_bundle
    from . import opening

    url = os.environ.get(URL, "").strip()
    if not url:
        raise SiteError(f"{URL}: it names no database; set it to a postgresql:// address")
    check_url(url, URL)
    bundle = open_bundle(opening.bundle_folder(*places))
    done = publishing.publish(bundle, publishing.Target(url, name))
    click.echo(
        f"{bundle.manifest.id[:12]} published as {name}: {done.sent} rows sent, {done.kept} as "
        f"before, {done.removed} older bundles removed"
    )


COMMANDS = (database_roles, publish)
