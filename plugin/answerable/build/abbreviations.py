"""A site's abbreviations file: the lines that Markdown's `abbr` extension reads."""

import re
from pathlib import Path

from ..serve.errors import SiteError

_LINE = re.compile(r"^\*\[([^\]\n]+)\]:[ \t]*(\S.*?)[ \t]*$", re.MULTILINE)


def read(path: Path) -> dict[str, str]:
    """Each short form and its long one, from lines such as ``*[SSO]: single sign-on``.

    Other lines are not looked at; SiteError if the file cannot be read or holds no such line.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise SiteError(f"abbreviations: {path} cannot be read ({error})") from None
    found = {short.strip(): long for short, long in _LINE.findall(text) if short.strip()}
    if not found:
        raise SiteError(
            f"abbreviations: {path} holds no line such as `*[SSO]: single sign-on`; add one or "
            "drop the option"
        )
    return found
