"""Build a site that is only compared, in a process of its own (`python -m` this module).

Its code may stop the process, and its modules may be named as those of another state of the site.
"""

import logging
import sys
from pathlib import Path

from ..serve.errors import AnswerableError
from .publish import write_compared_function
from .site_config import build_unpublished


def build_compared_site(config_file: Path, site_folder: str, function: Path) -> None:
    """Build a site and write a function's folder; no gate judges it, and no database gets it.

    SiteError if it cannot be built.
    """
    build_unpublished(
        config_file,
        site_folder,
        lambda built: write_compared_function(built, function),
    )


def main() -> None:
    """Build the site of a configuration file into a folder, and its function into another."""
    logging.basicConfig(level=logging.ERROR, format="%(levelname)s - %(message)s")
    config_file, site_folder, function = sys.argv[1:]
    try:
        build_compared_site(Path(config_file), site_folder, Path(function))
    except AnswerableError as error:
        sys.exit(f"Error: {error}")


if __name__ == "__main__":
    main()
