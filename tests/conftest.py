"""Fixtures that every test may use, the markers of tests, and the order of their files."""

from pathlib import Path

import pytest
from hypothesis import settings

# An example may take as long as a busy machine lets it.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

pytest_plugins = [
    "support.browser",
    "support.postgres_server",
    "support.redis_server",
    "support.stub_fixtures",
    "support.widget_site",
]

_TESTS = Path(__file__).parent

# Which marker a test has that uses a fixture, itself or by another one.
_BY_FIXTURE = {
    "browser": "browser",
    "postgres_server": "postgres",
    "redis_server": "redis",
    "shared_redis": "redis",
}

# They go first, so that at the end no core waits for one of them.
_LONGEST = (
    "test_function_package.py", "test_plugin_parity.py", "test_paths_static_i18n.py",
    "test_paths_mike.py", "test_schemathesis.py", "test_hostile_bundle.py",
    "test_live_browser.py", "test_record_paths.py", "test_redis_store.py",
    "test_safeguard_removals.py", "test_process_pool.py", "test_killed_build.py",
    "test_record_paths_data.py", "test_gold_models.py", "test_generator_sites.py",
    "test_canary_note.py", "test_planted_leaks.py", "test_eval_command.py",
)  # fmt: skip


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        for fixture in getattr(item, "fixturenames", ()):
            if fixture in _BY_FIXTURE:
                item.add_marker(_BY_FIXTURE[fixture])
    last = len(_LONGEST)
    places = {name: place for place, name in enumerate(_LONGEST)}
    items.sort(key=lambda item: places.get(item.path.name, last))
