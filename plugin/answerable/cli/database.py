"""``answerable database``: print a database's roles, or send it the rows of a bundle."""

import os

import click

from ..postgres.catalog import read_roles_sql
from ..postgres.options import DEFAULT_STORE_NAME, check_database_url
from ..serve.database_registry import DATABASE_URL_VARIABLE
from ..serve.errors import SiteError
from ..serve.stores.bundle import open_bundle
from .context import SiteLocation, find_bundle


@click.group("database")
def command() -> None:
    """Prepare a PostgreSQL database, and publish a bundle to it."""


@command.command("roles")
def print_roles() -> None:
    """Print the SQL that makes the roles and schemas of a database, for an administrator."""
    click.echo(read_roles_sql(), nl=False)


@command.command("publish")
@click.option(
    "--name", default=DEFAULT_STORE_NAME, show_default=True, help="What the site is called there."
)
@click.pass_obj
def publish(location: SiteLocation, name: str) -> None:
    """Publish the bundle to the database of ANSWERABLE_DATABASE_URL, to be searched exactly.

    `mkdocs build` does this by itself where `store` is set.
    """
    from ..postgres.publication import DatabaseTarget, publish_bundle_rows

    url = os.environ.get(DATABASE_URL_VARIABLE, "").strip()
    if not url:
        raise SiteError(
            f"{DATABASE_URL_VARIABLE}: it names no database; set it to a postgresql:// address"
        )
    check_database_url(url, DATABASE_URL_VARIABLE)
    bundle = open_bundle(find_bundle(*location))
    published = publish_bundle_rows(bundle, DatabaseTarget(url, name))
    click.echo(
        f"{bundle.manifest.id[:12]} published as {name}: {published.sent} rows sent, "
        f"{published.removed} older bundles removed"
    )
