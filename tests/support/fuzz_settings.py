"""Settings of property tests: a few fixed examples, or many random ones in a deep run."""

import datetime as dt
import os

from hypothesis import HealthCheck, settings

DEEP = bool(os.environ.get("ANSWERABLE_DEEP"))


def fuzzed(few: int = 100, many: int = 3000, deadline: dt.timedelta | None = None) -> settings:
    """The settings of a test that any text may be given."""
    return settings(
        max_examples=many if DEEP else few,
        deadline=deadline,
        database=None,
        derandomize=not DEEP,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
