"""``answerable gaps``: count the questions of readers that the site does not answer."""

import codecs
import json
from dataclasses import asdict
from pathlib import Path

import click

from ..check.gaps import list_gaps, parse_refusals
from ..engine.errors import SiteError
from ..function.logs import REFUSAL_LOG_FILE
from ..indexing.files import format_count
from .context import DEFAULT_CACHE, SiteLocation, open_engine
from .render import print_hanging


@click.command("gaps")
@click.argument("logs", nargs=-1, type=click.Path(path_type=Path, allow_dash=True))
@click.option("--json", "as_json", is_flag=True, help="Print the questions as JSON.")
@click.pass_obj
def command(location: SiteLocation, logs: tuple[Path, ...], as_json: bool) -> None:
    """List the questions that readers have asked and the site does not answer.

    Each is counted, and its nearest section named.

    LOGS: files with the refusals of a function or the questions that readers have sent to
    widget.feedback, a JSON object a line; - for standard input. Default: the refusals that the dev
    server has kept.
    """
    cache = DEFAULT_CACHE
    # `answerable serve` needs no configuration, nor does a log that was copied here.
    if location[1].is_file():
        from ..mkdocs.site_config import load_site

        cache = Path(load_site(location[1])[1].cache)
    default_log = cache / REFUSAL_LOG_FILE
    if not logs and not default_log.exists():
        raise SiteError(
            f"there is no {default_log}: set `log_refusals` in mkdocs.yml and ask, or name a log"
        )
    refusals, damaged = parse_refusals(map(_read_log, logs or (default_log,)))
    # The bundle is needed only where a log holds the text of a question.
    has_text = any(refusal.text is not None for refusal in refusals)
    gaps, answered = list_gaps(refusals, open_engine(*location) if has_text else None)
    if as_json:
        body = {"answered": answered, "damaged": damaged, "gaps": [asdict(gap) for gap in gaps]}
        click.echo(json.dumps(body, indent=2))
        return
    counts = [f"{format_count(len(gaps), 'question')} not answered", f"{answered} answered by now"]
    counts += [f"{format_count(damaged, 'damaged line')} skipped"] if damaged else []
    click.echo(", ".join(counts))
    if not gaps:
        return
    click.echo("asked  question, its reason and the nearest section")
    for gap in gaps:
        print_hanging(f"{gap.asked:5}  ", gap.question)
        print_hanging(" " * 7, f"{gap.reason}, {gap.near}" if gap.near else gap.reason)
    click.echo("\n`answerable why QUESTION` names the cheapest remedy for one of them.")


def _read_log(path: Path) -> str:
    """Read a log, or standard input for -; SiteError if it cannot be read."""
    try:
        with click.open_file(str(path), "rb") as file:
            data: bytes = file.read()
    except OSError as error:
        raise SiteError(f"{path} cannot be read ({error.strerror}); name another log") from None
    # A line of another program may hold anything.
    is_utf16 = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return data.decode("utf-16" if is_utf16 else "utf-8", "replace")
