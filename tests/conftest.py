"""Fixtures that every test may use, and the order of the files."""

import pytest
from hypothesis import settings

# An example may take as long as a busy machine lets it.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

pytest_plugins = ["browser", "postgres_server", "redis_server", "stubs", "widget_site"]

# They go first, so that at the end no core waits for one of them.
_LONGEST = (
    "test_package.py", "test_plugin_parity.py", "test_paths_i18n.py", "test_paths_mike.py",
    "test_schemathesis.py", "test_hostile_bundle.py", "test_live_browser.py", "test_paths.py",
    "test_redis.py", "test_removals.py", "test_workers.py", "test_kill.py", "test_paths_data.py",
    "test_gold_models.py", "test_any_site.py", "test_canary.py", "test_leaks.py", "test_eval.py",
)  # fmt: skip


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    last = len(_LONGEST)
    places = {name: place for place, name in enumerate(_LONGEST)}
    items.sort(key=lambda item: places.get(item.path.name, last))
