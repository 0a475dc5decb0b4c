"""``answerable gaps``: group logged refusals by page to write or extend; summarize usage."""

import codecs
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click

from ..evaluate.gaps.clusters import Gap, group_refusals
from ..evaluate.gaps.gold_proposals import format_proposals, propose_gold_queries
from ..evaluate.gaps.html_page import GapsReport, write_html_page
from ..evaluate.gaps.log_reader import parse_logs
from ..evaluate.gaps.plots import format_share
from ..evaluate.gaps.usage import UsageSummary, summarize_usage
from ..evaluate.gold import load_gold_queries
from ..indexing.plurals import format_count, format_times
from ..serve.errors import SiteError
from ..serve.http.refusal_log import REFUSAL_LOG_FILE
from .context import DEFAULT_CACHE, SiteLocation, open_engine
from .render import to_plain_text

# So many of each are printed; the JSON has all.
_SHOWN_GAPS = 20
_SHOWN_OFF_TOPIC = 5
_SHOWN_PROPOSALS = 10
_SHOWN_WORDINGS = 3
_SHOWN_WEEKS = 8
_SHOWN_ROWS = 10

_ADVICE_BY_REASON = {
    "no-evidence": "say it there in the words of the readers",
    "declined": "it was found and holds no sentence that answers",
    "contract": "the answer could not be tied to it: a fault of the model, not of the page",
}


@dataclass(frozen=True, slots=True)
class _LogSite:
    """Locate a site's log and its gold set; ``gold`` is None where there is no site.

    ``published``: its folders whose files are published. ``function``: the folder that is deployed.
    """

    cache: Path
    gold: Path | None
    author: str | None
    published: tuple[Path, ...]
    function: Path | None = None


@click.command("gaps")
@click.argument("logs", nargs=-1, type=click.Path(path_type=Path, allow_dash=True))
@click.option("--json", "as_json", is_flag=True, help="Print the groups as JSON.")
@click.option(
    "--html",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write an HTML page with plots to this file too.",
)
@click.pass_obj
def command(
    location: SiteLocation, logs: tuple[Path, ...], as_json: bool, html: Path | None
) -> None:
    """Group refused questions into likely missing pages.

    LOGS: files of refusals, requests and feedback, - for standard input. Default: the refusals
    that the dev server has kept.
    """
    site = _load_log_site(location[1])
    if html:
        _check_unpublished(html, site)
    texts = [_read_log(path) for path in logs] or [_read_own_log(site.cache / REFUSAL_LOG_FILE)]
    events = parse_logs(texts)
    refusals = events.refusals
    # The bundle is needed only where a log holds the text of a question.
    has_text = any(refusal.text is not None for refusal in refusals)
    engine = open_engine(*location) if has_text else None
    gaps, answered_count = group_refusals(refusals, engine)
    has_gold = site.gold and site.gold.is_file()
    gold = load_gold_queries(site.gold, site.author) if site.gold and has_gold else ()
    proposals = propose_gold_queries(gaps, gold)
    usage = summarize_usage(events)
    if html:
        yaml = format_proposals(proposals)
        report = GapsReport(gaps, usage, len(refusals), answered_count, events.damaged, yaml)
        write_html_page(html, report)
    if as_json:
        body = {
            "refusals": len(refusals),
            "answered_since": answered_count,
            "damaged": events.damaged,
            "gaps": [asdict(gap) for gap in gaps],
            "gold": proposals,
            "usage": _serialize_usage(usage),
        }
        click.echo(json.dumps(body, indent=2))
        return
    _print_gaps(gaps, len(refusals), answered_count)
    _print_usage(usage)
    if events.damaged:
        click.echo(f"\n{format_count(events.damaged, 'damaged line')} skipped")
    _print_proposals(proposals, site.gold)


def _load_log_site(config_file: Path) -> _LogSite:
    if not config_file.is_file():
        # `answerable serve` needs no configuration, nor does a log that was copied here.
        return _LogSite(DEFAULT_CACHE, None, None, ())
    from ..mkdocs.site_config import load_site_config

    site = load_site_config(config_file)
    return _LogSite(site.cache, site.gold, site.author, site.published, site.bundle.parent)


def _check_unpublished(path: Path, site: _LogSite) -> None:
    """Refuse to write what readers have typed to where it would leave the machine; SiteError."""
    fates = dict.fromkeys(site.published, "published")
    if site.function:
        fates[site.function] = "deployed"
    for folder, fate in fates.items():
        if path.resolve().is_relative_to(folder.resolve()):
            raise SiteError(
                f"--html {path}: {folder} is {fate}, and the page holds what readers have "
                "typed; name a file elsewhere"
            )


def _serialize_usage(usage: UsageSummary) -> dict[str, Any]:
    """Serialize usage as JSON, with the share of refused questions beside each week's counts."""
    body = asdict(usage)
    for row, week in zip(body["weeks"], usage.weeks, strict=True):
        row["refused_share"] = week.refused_share
    return body


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
    click.echo(f"{format_count(refusal_count, 'refused question')} in the logs")
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
    click.echo(f"\nProbably off-topic: {format_count(sum(gap.asked for gap in gaps), 'question')}")
    with_text = [gap for gap in gaps if gap.wordings]
    for gap in with_text[:_SHOWN_OFF_TOPIC]:
        _print_row(gap.wordings[0].text, gap.asked)
    _print_omitted(len(with_text) - _SHOWN_OFF_TOPIC, "   - ")


def _print_row(text: str, count: int) -> None:
    times = f" ({count} times)" if count > 1 else ""
    click.echo(f"   - {_strip_controls(text)}{times}")


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
    wordings = f" in {gap.questions} wordings" if gap.questions > 1 else ""
    days = gap.first if gap.first == gap.last else f"{gap.first} to {gap.last}"
    askers = format_count(gap.askers, "asker")
    click.echo(f"   asked {format_times(gap.asked)} by {askers}{wordings}, {days}")
    for wording in gap.wordings[:_SHOWN_WORDINGS]:
        _print_row(wording.text, wording.asked)
    _print_omitted(len(gap.wordings) - _SHOWN_WORDINGS, "   - ", "wording")


def _print_usage(usage: UsageSummary) -> None:
    """Print what the request log and the feedback log tell."""
    if usage.weeks:
        click.echo("\nQuestions by week")
        for week in usage.weeks[-_SHOWN_WEEKS:]:
            failed = f", {week.failed} failed" if week.failed else ""
            share = f" ({format_share(week.refused_share)})" if week.decided else ""
            click.echo(
                f"   {week.week}: {week.answered} answered, {week.refused} refused{share}{failed}"
            )
    if usage.questions:
        click.echo("\nTop questions")
        for question in usage.questions[:_SHOWN_ROWS]:
            counts = f"{question.answered} answered, {question.refused} refused"
            click.echo(f"   - {_strip_controls(question.text)} ({counts})")
        _print_omitted(len(usage.questions) - _SHOWN_ROWS, "   - ")
    if usage.pages:
        click.echo("\nPages that answers come from")
        for page in usage.pages[:_SHOWN_ROWS]:
            down = f", {page.unhelpful} voted down" if page.unhelpful else ""
            click.echo(f"   - {_strip_controls(page.record)}: {page.answers}{down}")
        _print_omitted(len(usage.pages) - _SHOWN_ROWS, "   - ")
    if usage.voted_down:
        click.echo("\nAnswers voted down")
        for row in usage.voted_down[:_SHOWN_ROWS]:
            reasons = ", ".join(f"{reason} {count}" for reason, count in row.reasons)
            pages = f"; cites {', '.join(row.pages)}" if row.pages else ""
            votes = f"{row.unhelpful} of {format_count(row.helpful + row.unhelpful, 'vote')}"
            click.echo(f"   - {_strip_controls(f'{row.text} ({votes}: {reasons}{pages})')}")
        _print_omitted(len(usage.voted_down) - _SHOWN_ROWS, "   - ")


def _print_proposals(proposals: Sequence[dict[str, Any]], gold_path: Path | None) -> None:
    if proposals:
        name = gold_path.name if gold_path else "gold.yaml"
        click.echo(f"\nTo paste under `queries:` of {name}:\n")
        click.echo(format_proposals(proposals[:_SHOWN_PROPOSALS]), nl=False)
        _print_omitted(len(proposals) - _SHOWN_PROPOSALS, "  # ")


def _strip_controls(text: str) -> str:
    """Strip readers' text of the characters that would command a terminal."""
    return to_plain_text(text).plain.replace("\n", " ")
