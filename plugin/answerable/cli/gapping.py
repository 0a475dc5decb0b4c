"""``answerable gaps``: refused questions, and what the site likely lacks."""

import codecs
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click

from ..evaluate import gaps as grouping
from ..evaluate import gold, proposals, refusal_logs
from ..evaluate.gaps import Gap
from ..serve.errors import SiteError
from ..serve.refusals import FILE
from . import opening, showing

_CACHE = Path(".cache", "plugin", "answerable")
# How many of each are printed; the JSON has all.
_GAPS = 20
_OFF_TOPIC = 5
_ENTRIES = 10

_ADVICE = {
    "no-evidence": "say it there in the words of the readers",
    "declined": "it was found and holds no sentence that answers",
    "contract": "the answer could not be tied to it: a fault of the model, not of the page",
}


@dataclass(frozen=True, slots=True)
class _Site:
    """Where a site keeps its log and its gold set; ``gold`` is None where there is no site."""

    cache: Path
    gold: Path | None
    author: str | None


def gaps(bundle: Path | None, config_file: Path, logs: tuple[Path, ...], *, as_json: bool) -> None:
    """Group the refusals of some logs and propose gold queries; SiteError for an unreadable log.

    logs: - is standard input; the dev server's log if none is named. The bundle is opened only
    where the text of a question was kept.
    """
    site = _site(config_file)
    texts = [_read(path) for path in logs] if logs else [_own(site.cache / FILE)]
    kept = [refusal for text in texts for refusal in refusal_logs.read(text)]
    has_text = any(refusal.text is not None for refusal in kept)
    engine = opening.engine(bundle, config_file) if has_text else None
    found, since = grouping.grouped(kept, engine)
    known = gold.load(site.gold, site.author) if site.gold and site.gold.is_file() else ()
    entries = proposals.entries(found, known)
    if as_json:
        rows = [asdict(gap) for gap in found]
        body = {"refusals": len(kept), "answered_since": since, "gaps": rows, "gold": entries}
        click.echo(json.dumps(body, indent=2))
        return
    _show(found, len(kept), since)
    _show_entries(entries, site.gold)


def _site(config_file: Path) -> _Site:
    if not config_file.is_file():
        # `answerable serve` needs no configuration, nor does a log that was copied here.
        return _Site(_CACHE, None, None)
    from ..mkdocs import settings

    found = settings.load(config_file)
    return _Site(found.cache, found.gold, found.author)


def _own(path: Path) -> str:
    if not path.exists():
        raise SiteError(
            f"there is no {path}: set `log_refusals` in mkdocs.yml and ask, or name a log"
        )
    return _read(path)


def _read(path: Path) -> str:
    try:
        with click.open_file(str(path), "rb") as file:
            data: bytes = file.read()
    except OSError as error:
        raise SiteError(f"{path} cannot be read ({error.strerror}); name another log") from None
    # A line of another program may hold anything.
    is_utf16 = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return data.decode("utf-16" if is_utf16 else "utf-8", "replace")


def _show(found: Sequence[Gap], kept: int, since: int) -> None:
    if not kept:
        click.echo("No question was refused: the logs hold no refusal.")
        return
    click.echo(f"{_count(kept, 'refused question')} in the logs")
    if since:
        verb = "is" if since == 1 else "are"
        click.echo(f"{since} of them {verb} answered by the site as it is")
    about = [gap for gap in found if gap.action != "off-topic"]
    for number, gap in enumerate(about[:_GAPS], 1):
        click.echo(f"\n{number}. {_headline(gap)}")
        _details(gap)
    _more(len(about) - _GAPS, "\n")
    _show_off_topic([gap for gap in found if gap.action == "off-topic"])


def _show_off_topic(found: Sequence[Gap]) -> None:
    if not found:
        return
    click.echo(f"\nProbably off-topic: {_count(sum(gap.asked for gap in found), 'question')}")
    named = [gap for gap in found if gap.samples]
    for gap in named[:_OFF_TOPIC]:
        again = f" ({gap.asked} times)" if gap.asked > 1 else ""
        click.echo(f"   - {_plain(gap.samples[0])}{again}")
    _more(len(named) - _OFF_TOPIC, "   - ")


def _more(count: int, before: str) -> None:
    if count > 0:
        click.echo(f"{before}and {count} more, which --json prints")


def _headline(gap: Gap) -> str:
    if gap.action == "extend":
        return _plain(f"Extend {gap.near}: {_ADVICE[gap.reason]}")
    title = f': "{gap.title}"' if gap.title else ""
    return _plain(f"Likely a missing page{title} (nearest: {gap.near})")


def _details(gap: Gap) -> None:
    asked = "once" if gap.asked == 1 else f"{gap.asked} times"
    wordings = f" in {gap.questions} wordings" if gap.questions > 1 else ""
    days = gap.first if gap.first == gap.last else f"{gap.first} to {gap.last}"
    click.echo(f"   asked {asked} by {_count(gap.askers, 'asker')}{wordings}, {days}")
    for sample in gap.samples:
        click.echo(f"   - {_plain(sample)}")


def _show_entries(entries: Sequence[dict[str, Any]], gold_file: Path | None) -> None:
    if entries:
        name = gold_file.name if gold_file else "gold.yaml"
        click.echo(f"\nTo paste under `queries:` of {name}:\n")
        click.echo(proposals.as_yaml(entries[:_ENTRIES]), nl=False)
        _more(len(entries) - _ENTRIES, "  # ")


def _plain(text: str) -> str:
    """Readers' text for a terminal, which control characters would command."""
    return showing.plain(text).plain.replace("\n", " ")


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
