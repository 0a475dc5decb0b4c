"""``answerable doctor``: what keeps a site's published ask box from answering."""

import json

import click

from ..mkdocs.options import is_absolute_endpoint
from ..mkdocs.site_checks import SiteCheck, check_site
from ..mkdocs.site_config import load_site
from .context import SiteLocation
from .published_site import FETCH_ERRORS, MAX_JSON_BYTES, fetch, format_line, format_reason
from .render import print_hanging

_MARKS = {"good": "✓", "advice": "•", "problem": "✗"}


@click.command("doctor")
@click.option("--online", is_flag=True, help="Ask the function at widget.endpoint too.")
@click.pass_obj
def command(location: SiteLocation, online: bool) -> None:
    """Check what keeps a published ask box from answering; exit status 1 if something does."""
    config, options = load_site(location[1])
    checks = list(check_site(location[1], config, options))
    endpoint = options.widget.endpoint
    if online and is_absolute_endpoint(endpoint) and "{" not in endpoint:
        checks.append(_check_function(endpoint))
    for check in checks:
        print_hanging(f"{_MARKS[check.level]} ", format_line(check.text))
    raise SystemExit(any(check.level == "problem" for check in checks))


def _check_function(endpoint: str) -> SiteCheck:
    """Check that a function answers at an address."""
    address = f"{endpoint.rstrip('/')}/health"
    try:
        json.loads(fetch(address, MAX_JSON_BYTES)[1])["bundle"]
    except (*FETCH_ERRORS, LookupError, TypeError) as error:
        return SiteCheck(
            "problem",
            f"no function answers at {address} ({format_reason(error)}); deploy it, or correct "
            "widget.endpoint",
        )
    return SiteCheck("good", f"the function at {endpoint} answers")
