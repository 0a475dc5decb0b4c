"""Load the Jinja templates of the pages that evaluation writes for people."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template


def load_page_template(path: Path, **filters: Callable[..., Any]) -> Template:
    """Load a template that escapes every value and refuses a name that it was not given."""
    environment = Environment(
        loader=FileSystemLoader(path.parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= filters
    return environment.get_template(path.name)
