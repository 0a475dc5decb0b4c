"""Where on its host the service answers."""


def relative(path: str, base: str) -> str:
    """A path below the base path, relative to it; "" for one that is elsewhere.

    There is nothing at "", so what is elsewhere gets the same 404 as any other path, with the
    headers of every response.
    """
    return path.removeprefix(base) if path.startswith(base) else ""
