"""Fixed names of the roles that publish and that serve, and the SQL that creates them."""

from pathlib import Path

PUBLISHER_ROLE, FUNCTION_ROLE = "answerable_publisher", "answerable_function"


def read_roles_sql() -> str:
    """Read the SQL that creates the roles and their schemas, for an administrator."""
    return Path(__file__).with_suffix(".sql").read_text(encoding="utf-8")
