"""Fixtures that every test may use, the markers of tests, and the order of their files."""

import os
import signal
from pathlib import Path

import pytest
from hypothesis import settings

from hatch_build import write_model
from support.fuzz_settings import DEEP

# An example may take as long as a busy machine lets it, and only a deep run tries others.
settings.register_profile("patient", deadline=None, derandomize=not DEEP)
settings.load_profile("patient")

pytest_plugins = [
    "support.browser",
    "support.frozen_site",
    "support.postgres_server",
    "support.redis_server",
    "support.stub_fixtures",
    "support.widget_site",
]

# What commands under test tell of their runs is no news of the run of these tests.
for variable in ("CI", "GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "GITHUB_WORKSPACE"):
    os.environ.pop(variable, None)

# A shell lets its background jobs ignore Ctrl-C, and every process under test would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

_TESTS = Path(__file__).parent

# Which marker a test has that uses a fixture, itself or by another one.
_BY_FIXTURE = {
    "browser": "browser",
    "postgres_server": "postgres",
    "redis_server": "redis",
}

# Files and folders that build and serve whole sites.
_SLOW = {
    "cli", "e2e", "mkdocs_plugin", "site_build", "test_adversarial_drafts.py", "test_bundle.py",
    "test_diff_command.py", "test_eval_command.py", "test_function_folder.py",
    "test_fuzz_files.py", "test_fuzz_pages.py", "test_generator_sites.py", "test_killed_build.py",
    "test_note_windows.py", "test_openai.py", "test_openai_embedder.py", "test_parity.py",
    "test_parity_deep.py", "test_planted_leaks.py", "test_private_files.py",
    "test_process_pool.py", "test_publication.py", "test_published_privacy.py",
    "test_python_api.py", "test_retrieval_gate.py", "test_site_config.py",
    "test_unrouted_notes.py", "test_vector_encodings.py",
}  # fmt: skip

# They go first, so that at the end no core waits for one of them.
_LONGEST = (
    "test_generator_commands.py", "test_questions_command.py", "test_plugin_parity.py",
    "test_live_browser.py", "test_record_paths.py", "test_planted_leaks.py",
    "test_widget_replies.py", "test_eval_command.py",
)  # fmt: skip


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        names_of_path = set(item.path.relative_to(_TESTS).parts)
        for fixture in getattr(item, "fixturenames", ()):
            if fixture in _BY_FIXTURE:
                item.add_marker(_BY_FIXTURE[fixture])
        if not names_of_path.isdisjoint(_SLOW):
            item.add_marker("slow")
    last = len(_LONGEST)
    places = {name: place for place, name in enumerate(_LONGEST)}
    items.sort(key=lambda item: places.get(item.path.name, last))


def pytest_sessionstart(session: pytest.Session) -> None:
    # A worker of pytest-xdist finds what its controller has made.
    if not hasattr(session.config, "workerinput"):
        write_model()
