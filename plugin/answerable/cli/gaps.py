"""``answerable gaps``: group logged refusals by page to write or extend."""

import codecs
import json
from dataclasses import asdict
from pathlib import Path

import click

from ..evaluate.gaps import group_refusals, make_gaps_sections, parse_refusals, propose_gold_queries
from ..evaluate.gold import load_gold_queries
from ..serve.errors import SiteError
from ..serve.http.logs import REFUSAL_LOG_FILE
from .context import DEFAULT_CACHE, SiteLocation, open_engine
from .render import print_sections


@click.command("gaps")
@click.argument("logs", nargs=-1, type=click.Path(path_type=Path, allow_dash=True))
@click.option("--json", "as_json", is_flag=True, help="Print the groups as JSON.")
@click.pass_obj
def command(location: SiteLocation, logs: tuple[Path, ...], as_json: bool) -> None:
    """Group refused questions into likely missing pages.

    LOGS: files with lines of refusals, - for standard input. Default: the refusals that the dev
    server has kept.
    """
    site = None
    # `answerable serve` needs no configuration, nor does a log that was copied here.
    if location[1].is_file():
        from ..mkdocs.site_config import load_site_config

        site = load_site_config(location[1])
    own_log = (site.cache if site else DEFAULT_CACHE) / REFUSAL_LOG_FILE
    if not logs and not own_log.exists():
        raise SiteError(
            f"there is no {own_log}: set `log_refusals` in mkdocs.yml and ask, or name a log"
        )
    refusals, damaged = parse_refusals(map(_read_log, logs or (own_log,)))
    # The bundle is needed only where a log holds the text of a question.
    has_text = any(refusal.text is not None for refusal in refusals)
    engine = open_engine(*location) if has_text else None
    gaps, answered_count = group_refusals(refusals, engine)
    has_gold = site and site.gold.is_file()
    gold = load_gold_queries(site.gold, site.author) if site and has_gold else ()
    proposals = propose_gold_queries(gaps, gold)
    gold_name = site.gold.name if site else "gold.yaml"
    if as_json:
        body = {
            "refusals": len(refusals),
            "answered_since": answered_count,
            "damaged": damaged,
            "gaps": [asdict(gap) for gap in gaps],
            "gold": proposals,
        }
        click.echo(json.dumps(body, indent=2))
    else:
        print_sections(
            make_gaps_sections(gaps, len(refusals), damaged, answered_count, proposals, gold_name)
        )


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
