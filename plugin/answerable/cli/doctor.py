"""``answerable doctor``: say what keeps a site's published ask box from answering."""

import click

from .context import SiteLocation

_MARKS = {"good": "✓", "advice": "•", "problem": "✗"}


@click.command("doctor")
@click.pass_obj
def command(location: SiteLocation) -> None:
    """Check the configuration and what publishes the site; exit status 1 if something is wrong."""
    from ..mkdocs.site_checks import check_site

    has_problem = False
    for check in check_site(location[1]):
        click.echo(f"{_MARKS[check.level]} {check.text}")
        has_problem |= check.level == "problem"
    raise SystemExit(1 if has_problem else 0)
