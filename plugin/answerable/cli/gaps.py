"""``answerable gaps``: group logged refusals by page to write or extend; propose gold queries."""

import codecs
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click

from ..evaluate.gaps.clusters import Gap, group_refusals
from ..evaluate.gaps.gold_proposals import format_proposals, propose_gold_queries
from ..evaluate.gaps.log_reader import parse_refusal_log
from ..evaluate.gold import load_gold_queries
from ..serve.errors import SiteError
from ..serve.http.refusal_log import REFUSAL_LOG_FILE
from .context import SiteLocation, open_engine
from .render import to_plain_text

_DEFAULT_CACHE = Path(".cache", "plugin", "answerable")
# So many of each are printed; the JSON has all.
_SHOWN_GAPS = 20
_SHOWN_OFF_TOPIC = 5
_SHOWN_PROPOSALS = 10
_SHOWN_WORDINGS = 3

_ADVICE_BY_REASON = {
    "no-evidence": "say it there in the words of the readers",
    "declined": "it was found and holds no sentence that answers",
    "contract": "the answer could not be tied to it: a fault of the model, not of the page",
}


@dataclass(frozen=True, slots=True)
class _LogSite:
    """Locate a site's log and its gold set; ``gold`` is None where there is no site."""

    cache: Path
    gold: Path | None
    author: str | None


@click.command("gaps")
@click.argument("logs", nargs=-1, type=click.Path(path_type=Path, allow_dash=True))
@click.option("--json", "as_json", is_flag=True, help="Print the groups as JSON.")
@click.pass_obj
def command(location: SiteLocation, logs: tuple[Path, ...], as_json: bool) -> None:
    """Group refused questions into likely missing pages.

    LOGS: files of refusals, - for standard input. Default: those that the dev server has kept.
    """
    site = _load_log_site(location[1])
    texts = [_read_log(path) for path in logs] or [_read_own_log(site.cache / REFUSAL_LOG_FILE)]
    refusals = [refusal for text in texts for refusal in parse_refusal_log(text)]
    # The bundle is needed only where a log holds the text of a question.
    has_text = any(refusal.text is not None for refusal in refusals)
    engine = open_engine(*location) if has_text else None
    gaps, answered_count = group_refusals(refusals, engine)
    has_gold = site.gold and site.gold.is_file()
    gold = load_gold_queries(site.gold, site.author) if site.gold and has_gold else ()
    proposals = propose_gold_queries(gaps, gold)
    if as_json:
        body = {
            "refusals": len(refusals),
            "answered_since": answered_count,
            "gaps": [asdict(gap) for gap in gaps],
            "gold": proposals,
        }
        click.echo(json.dumps(body, indent=2))
        return
    _print_gaps(gaps, len(refusals), answered_count)
    _print_proposals(proposals, site.gold)


def _load_log_site(config_file: Path) -> _LogSite:
    if not config_file.is_file():
        # `answerable serve` needs no configuration, nor does a log that was copied here.
        return _LogSite(_DEFAULT_CACHE, None, None)
    from ..mkdocs.site_config import load_site_config

    site = load_site_config(config_file)
    return _LogSite(site.cache, site.gold, site.author)


def _read_own_log(path: Path) -> str:
    if not path.exists():
        raise SiteError(
            f"there is no {path}: set `log_refusals` in mkdocs.yml and ask, or name a log"
        )
    return _read_log(path)


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


def _print_gaps(gaps: Sequence[Gap], refusal_count: int, answered_count: int) -> None:
    if not refusal_count:
        click.echo("No question was refused: the logs hold no refusal.")
        return
    click.echo(f"{_pluralize(refusal_count, 'refused question')} in the logs")
    if answered_count:
        verb = "is" if answered_count == 1 else "are"
        click.echo(f"{answered_count} of them {verb} answered by the site as it is")
    on_topic = [gap for gap in gaps if gap.action != "off-topic"]
    for number, gap in enumerate(on_topic[:_SHOWN_GAPS], 1):
        click.echo(f"\n{number}. {_format_headline(gap)}")
        _print_details(gap)
    _print_omitted(len(on_topic) - _SHOWN_GAPS, "\n")
    _print_off_topic([gap for gap in gaps if gap.action == "off-topic"])


def _print_off_topic(gaps: Sequence[Gap]) -> None:
    if not gaps:
        return
    click.echo(f"\nProbably off-topic: {_pluralize(sum(gap.asked for gap in gaps), 'question')}")
    with_text = [gap for gap in gaps if gap.wordings]
    for gap in with_text[:_SHOWN_OFF_TOPIC]:
        times = f" ({gap.asked} times)" if gap.asked > 1 else ""
        click.echo(f"   - {_strip_controls(gap.wordings[0].text)}{times}")
    _print_omitted(len(with_text) - _SHOWN_OFF_TOPIC, "   - ")


def _print_omitted(count: int, prefix: str, noun: str = "") -> None:
    """Print how many are left out; noun: names one of them."""
    if count > 0:
        nouns = f" {noun}{'s' if count > 1 else ''}" if noun else ""
        click.echo(f"{prefix}and {count} more{nouns}, which --json prints")


def _format_headline(gap: Gap) -> str:
    if gap.action == "extend":
        return _strip_controls(f"Extend {gap.near}: {_ADVICE_BY_REASON[gap.reason]}")
    title = f': "{gap.title}"' if gap.title else ""
    return _strip_controls(f"Likely a missing page{title} (nearest: {gap.near})")


def _print_details(gap: Gap) -> None:
    times = "once" if gap.asked == 1 else f"{gap.asked} times"
    wordings = f" in {gap.questions} wordings" if gap.questions > 1 else ""
    days = gap.first if gap.first == gap.last else f"{gap.first} to {gap.last}"
    click.echo(f"   asked {times} by {_pluralize(gap.askers, 'asker')}{wordings}, {days}")
    for wording in gap.wordings[:_SHOWN_WORDINGS]:
        times = f" ({wording.asked} times)" if wording.asked > 1 else ""
        click.echo(f"   - {_strip_controls(wording.text)}{times}")
    _print_omitted(len(gap.wordings) - _SHOWN_WORDINGS, "   - ", "wording")


def _print_proposals(proposals: Sequence[dict[str, Any]], gold_path: Path | None) -> None:
    if proposals:
        name = gold_path.name if gold_path else "gold.yaml"
        click.echo(f"\nTo paste under `queries:` of {name}:\n")
        click.echo(format_proposals(proposals[:_SHOWN_PROPOSALS]), nl=False)
        _print_omitted(len(proposals) - _SHOWN_PROPOSALS, "  # ")


def _strip_controls(text: str) -> str:
    """Strip readers' text of the characters that would command a terminal."""
    return to_plain_text(text).plain.replace("\n", " ")


def _pluralize(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
