"""``answerable doctor``: what keeps a site's published ask box from answering."""

import json
from urllib.error import HTTPError

import click
from rich.console import Console
from rich.text import Text

from ..indexing.generators import detect_generator
from ..mkdocs.site_checks import SiteCheck, check_site
from .context import SiteLocation
from .published_site import FETCH_ERRORS, MAX_JSON_BYTES, fetch, format_line, format_reason
from .render import print_hanging, to_plain_text

_MARKS = {"good": "✓", "advice": "•", "problem": "✗"}
_REMEDY = "deploy the function, or correct widget.endpoint"


@click.command("doctor")
@click.option("--online", is_flag=True, help="Ask the function at widget.endpoint too.")
@click.pass_obj
def command(location: SiteLocation, online: bool) -> None:
    """Check what keeps a published ask box from answering; exit status 1 if something does."""
    if detect_generator(location[1]) == "mkdocs":
        # Said before the file is read: afterwards its code has run.
        warning = (
            f"MkDocs runs the code that {location[1]} names (tags of YAML such as "
            "!!python/object/apply, hooks and plugins); read a stranger's file before you go on"
        )
        _print_check(SiteCheck("advice", warning))
    has_problem = False
    for check in check_site(location[1], check_function if online else None):
        _print_check(check)
        has_problem |= check.level == "problem"
    raise SystemExit(1 if has_problem else 0)


def _print_check(check: SiteCheck) -> None:
    """Print what was checked, broken at the terminal's width."""
    text = to_plain_text(format_line(check.text))
    print_hanging(Console(), Text(f"{_MARKS[check.level]} "), text)


def check_function(endpoint: str, bundle: str | None) -> SiteCheck:
    """Check that a function answers at an address, from the bundle of the last build."""
    address = f"{endpoint.rstrip('/')}/health"
    try:
        published = json.loads(fetch(address, MAX_JSON_BYTES)[1])["bundle"]
    except HTTPError as error:
        return SiteCheck("problem", f"{address} answers with {error.code}; {_REMEDY}")
    except (*FETCH_ERRORS, LookupError, TypeError) as error:
        reason = format_reason(error)
        return SiteCheck("problem", f"{address} is no answer function ({reason}); {_REMEDY}")
    if bundle is not None and published != bundle:
        return SiteCheck(
            "advice",
            f"the function at {endpoint} answers from another index than the last build's; "
            "deploy it again",
        )
    return SiteCheck("good", f"the function at {endpoint} answers from the last index")
