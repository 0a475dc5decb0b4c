"""The commands of a site that a database serves: its roles, and a bundle put there by hand."""

import os
from pathlib import Path

import click

from ..serve.errors import SiteError
from ..serve.stores.postgres.database_options import (
    DATABASE_URL_VARIABLE,
    DEFAULT_STORE_NAME,
    check_database_url,
)


# Commands import what they use when they run, so that `--help` stays quick.
@click.command("database-roles")
def database_roles() -> None:
    """Print the SQL that makes the roles and schemas of a database, for an administrator."""
    from ..indexing.postgres.roles import read_roles_sql

    click.echo(read_roles_sql(), nl=False)


@click.command()
@click.option(
    "--name", default=DEFAULT_STORE_NAME, show_default=True, help="What the site is called there."
)
@click.pass_obj
def publish(places: tuple[Path | None, Path], name: str) -> None:
    """Publish the bundle to the database of ANSWERABLE_DATABASE_URL, to be searched exactly.

    `mkdocs build` does this by itself where `store` is set.
    """
    from ..indexing.postgres.publisher import DatabaseTarget, publish_bundle_rows
    from ..serve.stores.bundle_reader import open_bundle
    from .context import find_bundle

    url = os.environ.get(DATABASE_URL_VARIABLE, "").strip()
    if not url:
        raise SiteError(
            f"{DATABASE_URL_VARIABLE}: it names no database; set it to a postgresql:// address"
        )
    check_database_url(url, DATABASE_URL_VARIABLE)
    bundle = open_bundle(find_bundle(*places))
    done = publish_bundle_rows(bundle, DatabaseTarget(url, name))
    click.echo(
        f"{bundle.manifest.id[:12]} published as {name}: {done.sent} rows sent, {done.kept} as "
        f"before, {done.removed} older bundles removed"
    )


DATABASE_COMMANDS = (database_roles, publish)
