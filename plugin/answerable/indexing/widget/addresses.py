"""Check the addresses that the widget leads to, and make a repository's form for issues."""

import re
from string import Formatter
from urllib.parse import quote, urlsplit

from ...serve.errors import SiteError
from ...serve.structure import is_safe_url

_FIELDS = frozenset({"question", "bundle"})
_ISSUE_BODY = (
    "The ask box of this site did not find an answer.\n\nQuestion: {question}\nBundle: {bundle}\n"
)


def make_issue_form(repo_url: str) -> str | None:
    """Make the address of a repository's form for issues; None for an unknown host.

    The question and the bundle are placeholders in it.
    """
    parts = urlsplit(repo_url)
    host = (parts.hostname or "").removeprefix("www.")
    names = [name for name in parts.path.partition("/-/")[0].split("/") if name]
    is_gitlab = host == "gitlab.com" or host.startswith("gitlab.")
    if len(names) < 2 or (host != "github.com" and not is_gitlab):
        return None
    # Without the user info, which may hold a password.
    root = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
    body = quote(_ISSUE_BODY, safe="{}")
    if is_gitlab:
        form = f"-/issues/new?issue%5Btitle%5D={{question}}&issue%5Bdescription%5D={body}"
    else:
        names = names[:2]
        form = f"issues/new?title={{question}}&body={body}"
    names[-1] = names[-1].removesuffix(".git")
    return f"{root}/{quote('/'.join(names), safe='/%')}/{form}"


def check_address(name: str, option: str, value: object, remedy: str) -> None:
    """Refuse an address that the widget cannot follow; SiteError.

    name: of the address in the widget's configuration. option: how the owner of the site calls it.
    remedy: ends the message.
    """
    schemes = ("https://", "http://", *(["mailto:"] if name == "authors" else []))
    text = str(value)
    is_known = not re.match(r"[^/?#]*:", text) or text.lower().startswith(schemes)
    if not (text and isinstance(value, str) and is_safe_url(f"/{text}") and is_known):
        absolute = "an http(s) or mailto: url" if "mailto:" in schemes else "an http(s) url"
        raise SiteError(
            f"{option}: {value!r} is neither {absolute} nor an address from the site's root "
            f"without a leading slash; {remedy}"
        )
    fields = frozenset() if name == "feedback" else _FIELDS
    if not _find_placeholders(text) <= fields:
        allowed = " and ".join(f"{{{field}}}" for field in sorted(fields, reverse=True))
        may = f"only {allowed} may stand in it" if allowed else "no placeholder may stand in it"
        raise SiteError(f"{option}: {text!r} has other braces, and {may}; correct it")


def _find_placeholders(template: str) -> set[str]:
    """List the placeholders of a template; an open brace or a format makes an unknown one."""
    try:
        fields = [(name, spec, change) for _, name, spec, change in Formatter().parse(template)]
    except ValueError:
        return {""}
    return {f"{name}{spec}{change or ''}" for name, spec, change in fields if name is not None}
