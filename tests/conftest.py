"""Fixtures that every test may use."""

pytest_plugins = ["browser", "redis_server", "stubs"]
