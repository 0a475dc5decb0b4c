"""``answerable gaps``: refused questions, and what the site likely lacks."""

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
from .context import open_engine
from .render import to_plain_text

_DEFAULT_CACHE = Path(".cache", "plugin", "answerable")
# How many of each are printed; the JSON has all.
_SHOWN_GAPS = 20
_SHOWN_OFF_TOPIC = 5
_SHOWN_PROPOSALS = 10

_ADVICE_BY_REASON = {
    "no-evidence": "say it there in the words of the readers",
    "declined": "it was found and holds no sentence that answers",
    "contract": "the answer could not be tied to it: a fault of the model, not of the page",
}


@dataclass(frozen=True, slots=True)
class _LogSite:
    """Where a site keeps its log and its gold set; ``gold`` is None where there is no site."""

    cache: Path
    gold: Path | None
    author: str | None


def run_gaps(
    bundle: Path | None, config_file: Path, logs: tuple[Path, ...], *, as_json: bool
) -> None:
    """Group the refusals of some logs and propose gold queries; SiteError for an unreadable log.

    logs: - is standard input; the dev server's log if none is named. The bundle is opened only
    where the text of a question was kept.
    """
    site = _load_log_site(config_file)
    texts = (
        [_read_log(path) for path in logs]
        if logs
        else [_read_own_log(site.cache / REFUSAL_LOG_FILE)]
    )
    kept = [refusal for text in texts for refusal in parse_refusal_log(text)]
    has_text = any(refusal.text is not None for refusal in kept)
    engine = open_engine(bundle, config_file) if has_text else None
    found, since = group_refusals(kept, engine)
    known = load_gold_queries(site.gold, site.author) if site.gold and site.gold.is_file() else ()
    entries = propose_gold_queries(found, known)
    if as_json:
        rows = [asdict(gap) for gap in found]
        body = {"refusals": len(kept), "answered_since": since, "gaps": rows, "gold": entries}
        click.echo(json.dumps(body, indent=2))
        return
    _print_gaps(found, len(kept), since)
    _print_proposals(entries, site.gold)


def _load_log_site(config_file: Path) -> _LogSite:
    if not config_file.is_file():
        # `answerable serve` needs no configuration, nor does a log that was copied here.
        return _LogSite(_DEFAULT_CACHE, None, None)
    from ..mkdocs.site_config import load_site_config

    found = load_site_config(config_file)
    return _LogSite(found.cache, found.gold, found.author)


def _read_own_log(path: Path) -> str:
    if not path.exists():
        raise SiteError(
            f"there is no {path}: set `log_refusals` in mkdocs.yml and ask, or name a log"
        )
    return _read_log(path)


def _read_log(path: Path) -> str:
    try:
        with click.open_file(str(path), "rb") as file:
            data: bytes = file.read()
    except OSError as error:
        raise SiteError(f"{path} cannot be read ({error.strerror}); name another log") from None
    # A line of another program may hold anything.
    is_utf16 = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return data.decode("utf-16" if is_utf16 else "utf-8", "replace")


def _print_gaps(found: Sequence[Gap], kept: int, since: int) -> None:
    if not kept:
        click.echo("No question was refused: the logs hold no refusal.")
        return
    click.echo(f"{_pluralize(kept, 'refused question')} in the logs")
    if since:
        verb = "is" if since == 1 else "are"
        click.echo(f"{since} of them {verb} answered by the site as it is")
    about = [gap for gap in found if gap.action != "off-topic"]
    for number, gap in enumerate(about[:_SHOWN_GAPS], 1):
        click.echo(f"\n{number}. {_format_headline(gap)}")
        _print_details(gap)
    _print_count_left(len(about) - _SHOWN_GAPS, "\n")
    _print_off_topic([gap for gap in found if gap.action == "off-topic"])


def _print_off_topic(found: Sequence[Gap]) -> None:
    if not found:
        return
    click.echo(f"\nProbably off-topic: {_pluralize(sum(gap.asked for gap in found), 'question')}")
    named = [gap for gap in found if gap.samples]
    for gap in named[:_SHOWN_OFF_TOPIC]:
        again = f" ({gap.asked} times)" if gap.asked > 1 else ""
        click.echo(f"   - {_strip_controls(gap.samples[0])}{again}")
    _print_count_left(len(named) - _SHOWN_OFF_TOPIC, "   - ")


def _print_count_left(count: int, before: str) -> None:
    if count > 0:
        click.echo(f"{before}and {count} more, which --json prints")


def _format_headline(gap: Gap) -> str:
    if gap.action == "extend":
        return _strip_controls(f"Extend {gap.near}: {_ADVICE_BY_REASON[gap.reason]}")
    title = f': "{gap.title}"' if gap.title else ""
    return _strip_controls(f"Likely a missing page{title} (nearest: {gap.near})")


def _print_details(gap: Gap) -> None:
    asked = "once" if gap.asked == 1 else f"{gap.asked} times"
    wordings = f" in {gap.questions} wordings" if gap.questions > 1 else ""
    days = gap.first if gap.first == gap.last else f"{gap.first} to {gap.last}"
    click.echo(f"   asked {asked} by {_pluralize(gap.askers, 'asker')}{wordings}, {days}")
    for sample in gap.samples:
        click.echo(f"   - {_strip_controls(sample)}")


def _print_proposals(entries: Sequence[dict[str, Any]], gold_file: Path | None) -> None:
    if entries:
        name = gold_file.name if gold_file else "gold.yaml"
        click.echo(f"\nTo paste under `queries:` of {name}:\n")
        click.echo(format_proposals(entries[:_SHOWN_PROPOSALS]), nl=False)
        _print_count_left(len(entries) - _SHOWN_PROPOSALS, "  # ")


def _strip_controls(text: str) -> str:
    """Readers' text for a terminal, which control characters would command."""
    return to_plain_text(text).plain.replace("\n", " ")


def _pluralize(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
