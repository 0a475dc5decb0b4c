"""``answerable database-roles``: print the SQL that creates a database's roles and schemas."""

import click

from ..indexing.postgres.roles import read_roles_sql


@click.command("database-roles")
def command() -> None:
    """Print the SQL that makes the roles and schemas of a database, for an administrator."""
    click.echo(read_roles_sql(), nl=False)
