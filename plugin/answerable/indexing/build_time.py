"""The time of a build."""

import datetime as dt
import os

from .output import bundle_writer


def read_build_time() -> dt.datetime:
    """Now, or what the environment says; SiteError if that is no time."""
    return bundle_writer.read_build_time(os.environ.get("SOURCE_DATE_EPOCH"))
