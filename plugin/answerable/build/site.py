"""A whole build's last step: an index published as a bundle, with the function around it."""

import datetime as dt
from pathlib import Path

from ..serve.embedder import Identity
from ..serve.manifest import Manifest
from ..serve.profile import Profile
from ..serve.providers import BUNDLE
from ..serve.settings import Settings
from . import bundle_writer, files, function_writer
from .index import Index


def publish(
    index: Index,
    function: Path,
    identity: Identity,
    profile: Profile,
    settings: Settings,
    now: dt.datetime,
) -> Manifest:
    """Write the function's folder: its code first, then the bundle, whose manifest comes last.

    Of two builds at once, one waits for the other to be published.
    """
    # Before the lock, which must not be left in a folder that is refused.
    function_writer.check(function)
    with files.lock(function):
        function_writer.write(function, identity, settings)
        return bundle_writer.write(index, function / BUNDLE, identity, profile, now)
