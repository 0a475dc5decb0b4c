"""The roles of a database: who publishes, the function, and nobody else."""

from pathlib import Path

PUBLISHER_ROLE, FUNCTION_ROLE = "answerable_publisher", "answerable_function"


def read_roles_sql() -> str:
    """The SQL that makes them and their schemas, for an administrator."""
    return Path(__file__).with_suffix(".sql").read_text(encoding="utf-8")
