"""Fixtures that drive a real Chromium: one browser per session, a fresh context per page."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from support import deadlines

CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM_ARGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--no-first-run",
    # A theme's scripts from other hosts fail at once, wherever the tests run.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
]
# How long a browser may take on a machine that does much else, in ms.
PATIENCE = deadlines.PATIENCE * 1000


def executable() -> str | None:
    """The system's Chromium, None where there is none."""
    return next(filter(None, map(shutil.which, CHROMIUM_NAMES)), None)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """The system's Chromium, started once; tests that need it are skipped where there is none."""
    program = executable()
    if program is None:
        pytest.skip("no Chromium on the path")
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=program, args=CHROMIUM_ARGS, timeout=PATIENCE
        )
        try:
            yield chromium
        finally:
            chromium.close()


@contextmanager
def browsing(browser: Browser, **options: Any) -> Iterator[Page]:
    """A page in a context of its own, where nothing is given up because the machine is busy.

    options: of ``Browser.new_context``. The box waits a few seconds for its files, but forever
    here; its worker waits for thirty seconds anywhere.
    """
    context = browser.new_context(**options)
    context.set_default_timeout(PATIENCE)
    context.add_init_script("AbortSignal.timeout = () => new AbortController().signal")
    try:
        yield context.new_page()
    finally:
        context.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page in its own context, whose script errors and CSP violations fail the test."""
    size = {"width": 1100, "height": 760}
    problems: list[str] = []
    with browsing(browser, viewport=size, reduced_motion="reduce") as page:
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on(
            "console",
            lambda message: (
                problems.append(message.text)
                if "Content Security Policy" in message.text or "Trusted" in message.text
                else None
            ),
        )
        yield page
    assert problems == []
