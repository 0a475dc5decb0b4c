"""The keys that open the widget."""

import re

from ..serve.errors import SiteError

DEFAULT = "Ctrl+I"
NONE = "none"

_MODIFIERS = ("Ctrl", "Alt", "Shift")
_KEY = re.compile(r"[!-~]|F(?:[1-9]|1[0-2])")


def parse(given: str) -> str:
    """A shortcut as the widget is told it: ``Ctrl+Alt+Shift+K`` in this order, or ``none``.

    SiteError for one without Ctrl or Alt, which would take a letter from readers who type, or from
    a theme.
    """
    if given.strip().lower() == NONE:
        return NONE
    *before, key = (part.strip() for part in given.split("+"))
    modifiers = [part.capitalize() for part in before]
    if (
        not {"Ctrl", "Alt"} & set(modifiers)
        or len(set(modifiers)) < len(modifiers)
        or not set(modifiers) <= set(_MODIFIERS)
        or not _KEY.fullmatch(key.upper())
    ):
        raise SiteError(
            f"widget.shortcut: {given!r} has to be Ctrl, Alt or both, Shift if you like, and one "
            f"key, such as {DEFAULT} or Alt+Shift+K; correct it, or write {NONE}"
        )
    return "+".join([*(name for name in _MODIFIERS if name in modifiers), key.upper()])
