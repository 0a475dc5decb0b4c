"""The time of a build."""

import datetime as dt
import os

from ..build import bundle_writer


def now() -> dt.datetime:
    """Now, or what the environment says; SiteError if that is no time."""
    return bundle_writer.build_time(os.environ.get("SOURCE_DATE_EPOCH"))
