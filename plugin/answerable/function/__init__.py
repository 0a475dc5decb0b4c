"""The answer function: a Starlette app over the engine, its guards, and tools for agents."""
