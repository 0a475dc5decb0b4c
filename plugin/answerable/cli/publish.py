"""``answerable publish``: send a bundle's rows to the database of ANSWERABLE_DATABASE_URL."""

import os

import click

from ..indexing.postgres.publisher import DatabaseTarget, publish_bundle_rows
from ..serve.errors import SiteError
from ..serve.stores.bundle_reader import open_bundle
from ..serve.stores.postgres.database_options import (
    DATABASE_URL_VARIABLE,
    DEFAULT_STORE_NAME,
    check_database_url,
)
from .context import SiteLocation, find_bundle


@click.command("publish")
@click.option(
    "--name", default=DEFAULT_STORE_NAME, show_default=True, help="What the site is called there."
)
@click.pass_obj
def command(location: SiteLocation, name: str) -> None:
    """Publish the bundle to the database of ANSWERABLE_DATABASE_URL, to be searched exactly.

    `mkdocs build` does this by itself where `store` is set.
    """
    url = os.environ.get(DATABASE_URL_VARIABLE, "").strip()
    if not url:
        raise SiteError(
            f"{DATABASE_URL_VARIABLE}: it names no database; set it to a postgresql:// address"
        )
    check_database_url(url, DATABASE_URL_VARIABLE)
    bundle = open_bundle(find_bundle(*location))
    changes = publish_bundle_rows(bundle, DatabaseTarget(url, name))
    click.echo(
        f"{bundle.manifest.id[:12]} published as {name}: {changes.sent} rows sent, "
        f"{changes.reused} as before, {changes.removed} older bundles removed"
    )
