"""``answerable doctor``: say what keeps a site's published ask box from answering."""

import json
from urllib.error import HTTPError

import click

from ..mkdocs.site_checks import SiteCheck, check_site
from .context import SiteLocation
from .http_fetch import FETCH_ERRORS, WebClient, format_reason, read_response

_MARKS = {"good": "✓", "advice": "•", "problem": "✗"}
_MAX_HEALTH_BYTES = 64 * 1024
_REMEDY = "deploy the function, or correct widget.endpoint"


@click.command("doctor")
@click.option("--online", is_flag=True, help="Ask the function at widget.endpoint too.")
@click.pass_obj
def command(location: SiteLocation, online: bool) -> None:
    """Check the configuration and what publishes the site; exit status 1 if something is wrong."""
    # Said before the file is read: afterwards its code has run.
    click.echo(
        f"{_MARKS['advice']} MkDocs runs the code that {location[1]} names (tags of YAML such as "
        "!!python/object/apply, hooks and plugins); read a stranger's file before you go on"
    )
    has_problem = False
    for check in check_site(location[1], _check_function if online else None):
        click.echo(f"{_MARKS[check.level]} {check.text}")
        has_problem |= check.level == "problem"
    raise SystemExit(1 if has_problem else 0)


def _check_function(endpoint: str, bundle: str | None) -> SiteCheck:
    """Check that a function answers at an address, from the bundle of the last build."""
    address = f"{endpoint.rstrip('/')}/health"
    try:
        with WebClient("doctor").open(address, "application/json") as response:
            health = json.loads(read_response(response, _MAX_HEALTH_BYTES))
        published = health["bundle"]
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
