"""The report of a gold run: its verdicts, its archive, and how it differs from an earlier one."""

import datetime as dt
import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

import msgspec

from ..indexing.output.files import write_file, write_private_file
from ..serve.answers import openai_answerer as prompt
from ..serve.bundle_format.manifest import Manifest
from ..serve.errors import GoldError
from .gold import GoldQuery
from .verdict import (
    CallUsage,
    ModelPrice,
    Verdict,
    VerdictStatus,
    compute_metrics,
    compute_metrics_by_tag,
    encode_verdict,
    parse_verdict,
    sum_usages,
)

Tier = Literal["retrieval", "full"]
AnswerPart = Literal["text", "mode", "citations"]
ANSWER_PARTS: tuple[AnswerPart, ...] = get_args(AnswerPart)

REPORT_VERSION = 2
# An archive keeps so many reports of a site; the oldest are deleted.
MAX_REPORTS = 50

_REPORT_SUFFIX = ".json"


@dataclass(frozen=True, slots=True)
class EvalReport:
    """The verdicts of a run over ``total`` queries, and what they depended on.

    ``made_at``: UTC, to the microsecond, which names the file. ``prompt``: the version of the
    instructions; ``embedder`` and ``answers``: the models. ``skipped``: queries that only an
    answer model can be held to. ``site_url``: what urls of citations are relative to, if known.
    ``cost``: of the answer model's tokens; None without its price. ``judge``: the model that was
    asked whether quotes support claims. ``half_judged``: queries that require something of an
    answer, which this tier does not ask for.
    """

    made_at: str
    bundle: str
    prompt: str
    embedder: str
    answers: str
    floor: float
    note_floor: float
    tier: Tier
    total: int
    verdicts: tuple[Verdict, ...]
    skipped: tuple[str, ...] = ()
    site_url: str | None = None
    cost: float | None = None
    judge: str | None = None
    half_judged: tuple[str, ...] = ()

    @property
    def public(self) -> "EvalReport":
        """Return the report with the issues of its verdicts as anybody may read them."""
        return replace(self, verdicts=tuple(verdict.public for verdict in self.verdicts))

    @property
    def failed(self) -> tuple[str, ...]:
        """List the ids of the queries whose outcome the gold file does not expect."""
        return tuple(verdict.id for verdict in self.verdicts if not verdict.holds)

    @property
    def errors(self) -> tuple[str, ...]:
        """List the ids of the queries that could not be judged, because a call failed."""
        return self.list_ids("error")

    @property
    def usage(self) -> CallUsage | None:
        """Add up the tokens and seconds of the answer model; None if it was not called."""
        return sum_usages([verdict.usage for verdict in self.verdicts])

    @property
    def judge_usage(self) -> CallUsage | None:
        """Add up the tokens and seconds of the judge model; None if it was not called."""
        return sum_usages([verdict.judge_usage for verdict in self.verdicts])

    @property
    def is_unjudged(self) -> bool:
        """Tell whether no query could be judged, because every one met a failed call.

        An aborted run has not asked every query.
        """
        return (
            bool(self.verdicts) and len(self.errors) == len(self.verdicts) and not self.is_aborted
        )

    @property
    def passed(self) -> int:
        """Count the queries that passed."""
        return sum(verdict.status == "pass" for verdict in self.verdicts)

    @property
    def runnable(self) -> int:
        """Count the queries that were not skipped."""
        return self.total - len(self.skipped)

    @property
    def is_aborted(self) -> bool:
        """Tell whether the run ended before every query was judged."""
        return len(self.verdicts) < self.runnable

    @property
    def holds(self) -> bool:
        """Tell whether every query was judged and none failed."""
        return not self.failed and not self.is_aborted

    def list_ids(self, status: VerdictStatus) -> tuple[str, ...]:
        """List the ids of the queries with this status."""
        return tuple(verdict.id for verdict in self.verdicts if verdict.status == status)


@dataclass(frozen=True, slots=True)
class AnswerChange:
    """Hold both verdicts of a question whose answer has changed, and the parts that differ."""

    before: Verdict
    after: Verdict
    parts: tuple[AnswerPart, ...]

    @property
    def holds_no_longer(self) -> bool:
        """Tell whether the change made the verdict fail."""
        return self.before.holds and not self.after.holds


@dataclass(frozen=True, slots=True)
class AnswerDiff:
    """Hold how the answers of two runs differ, by the ids of the later one.

    ``unchanged``: have the same text, mode and citations. ``new`` and ``gone``: only one of the
    runs has asked the question. ``uncompared``: one of the runs has no answer to it.
    """

    changed: tuple[AnswerChange, ...] = ()
    unchanged: tuple[str, ...] = ()
    new: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    uncompared: tuple[str, ...] = ()


def diff_answers(before: Sequence[Verdict], after: Sequence[Verdict]) -> AnswerDiff:
    """Compare answers question by question.

    Questions are the same if their words are, so that a reworded query is a new one and a renamed
    query the same one. Confidence, scores and the id of a hint, which is a keyed hash of a note's
    path, make no difference.
    """
    by_id = {(verdict.id, verdict.query): verdict for verdict in before}
    by_query = {verdict.query: verdict for verdict in reversed(before)}
    changed: list[AnswerChange] = []
    unchanged, new, uncompared = [], [], []
    for verdict in after:
        earlier = by_id.get((verdict.id, verdict.query)) or by_query.get(verdict.query)
        if earlier is None:
            new.append(verdict.id)
        elif earlier.answer is None or verdict.answer is None:
            uncompared.append(verdict.id)
        elif parts := _list_changed_parts(earlier, verdict):
            changed.append(AnswerChange(earlier, verdict, parts))
        else:
            unchanged.append(verdict.id)
    queries = {verdict.query for verdict in after}
    gone = [verdict.id for verdict in before if verdict.query not in queries]
    return AnswerDiff(tuple(changed), *map(tuple, (unchanged, new, gone, uncompared)))


def _list_changed_parts(before: Verdict, after: Verdict) -> tuple[AnswerPart, ...]:
    pairs = {
        "text": (_normalize_text(before), _normalize_text(after)),
        "mode": (before.mode, after.mode),
        "citations": (_list_citations(before), _list_citations(after)),
    }
    return tuple(part for part in ANSWER_PARTS if pairs[part][0] != pairs[part][1])


def _normalize_text(verdict: Verdict) -> str:
    return " ".join(verdict.answer.text.split()) if verdict.answer else ""


def _list_citations(verdict: Verdict) -> list[tuple[str, ...]]:
    return [
        (
            citation.kind,
            citation.id if citation.kind == "record" else "",
            citation.url,
            citation.title,
            " ".join(citation.quote.split()),
        )
        for citation in (verdict.answer.citations if verdict.answer else ())
    ]


@dataclass(frozen=True, slots=True)
class ReportDiff:
    """The ids of the verdicts that differ from those of the report made at ``against``.

    ``changed_answers``: the text, the mode or the citations are others, whatever the verdicts.
    """

    against: str
    newly_failing: tuple[str, ...]
    newly_passing: tuple[str, ...]
    changed_answers: tuple[str, ...] = ()


def make_report(
    manifest: Manifest,
    verdicts: Iterable[Verdict],
    queries: Sequence[GoldQuery],
    runnable: Sequence[GoldQuery],
    *,
    tier: Tier,
    answers: str,
    site_url: str | None = None,
    price: ModelPrice | None = None,
    judge: str | None = None,
) -> EvalReport:
    """Make the report of a run that ends now.

    runnable: the queries that were not skipped. price: of the answer model, if it is known.
    """
    report = EvalReport(
        made_at=format_timestamp(dt.datetime.now(dt.UTC)),
        bundle=manifest.id,
        prompt=prompt.PROMPT_VERSION,
        embedder=manifest.identity.label,
        answers=answers,
        floor=manifest.profile.floor,
        note_floor=manifest.profile.note_floor,
        tier=tier,
        total=len(queries),
        verdicts=tuple(verdicts),
        skipped=tuple(query.id for query in queries if query not in runnable),
        site_url=site_url,
        judge=judge,
        half_judged=tuple(
            query.id
            for query in runnable
            if tier == "retrieval" and not query.is_judged_by_retrieval_alone
        ),
    )
    if price is None or report.usage is None:
        return report
    return replace(report, cost=price.compute_cost(report.usage))


def diff_reports(before: EvalReport, after: EvalReport) -> ReportDiff:
    """Compare two reports by the verdicts of the queries that both have judged."""
    held_before = {verdict.id: verdict.holds for verdict in before.verdicts}
    changed = [
        verdict
        for verdict in after.verdicts
        if held_before.get(verdict.id, verdict.holds) != verdict.holds
    ]
    return ReportDiff(
        before.made_at,
        tuple(verdict.id for verdict in changed if not verdict.holds),
        # A failure that has become a known one holds too, and passes no more than before.
        tuple(verdict.id for verdict in changed if verdict.holds and not verdict.known_failure),
        tuple(change.after.id for change in diff_answers(before.verdicts, after.verdicts).changed),
    )


def format_timestamp(moment: dt.datetime) -> str:
    """Format a moment as reports are named by it, so that names sort by time."""
    return moment.astimezone(dt.UTC).strftime("%Y-%m-%dT%H-%M-%S.%fZ")


def encode_report(report: EvalReport, previous: EvalReport | None) -> dict[str, Any]:
    """Encode a report as JSON. previous: the report that it is compared with."""
    tags = compute_metrics_by_tag(report.verdicts)
    return {
        "version": REPORT_VERSION,
        **msgspec.to_builtins(report),
        # So that nobody has to count the verdicts.
        "passed": report.passed,
        "known_failures": len(report.list_ids("known-failure")),
        "errors": len(report.errors),
        "flaky": len(report.list_ids("flaky")),
        "failed": len(report.failed),
        "aborted": report.is_aborted,
        "usage": msgspec.to_builtins(report.usage),
        "judge_usage": msgspec.to_builtins(report.judge_usage),
        "verdicts": [encode_verdict(verdict) for verdict in report.verdicts],
        "metrics": compute_metrics(report.verdicts).as_json(),
        "tags": {tag: metrics.as_json() for tag, metrics in tags.items()},
        "diff": asdict(diff_reports(previous, report)) if previous else None,
    }


def write_report(
    path: Path, report: EvalReport, previous: EvalReport | None, *, private: bool = False
) -> None:
    """Write a report to a file. private: for its owner alone, since it may name notes by path."""
    text = json.dumps(encode_report(report, previous), indent=1, ensure_ascii=False) + "\n"
    write = write_private_file if private else write_file
    write(path, text.encode("utf-8", "backslashreplace"))


def archive_report(folder: Path, report: EvalReport, previous: EvalReport | None) -> Path:
    """Write a report into a site's archive, delete the oldest ones, and return its path."""
    path = folder / f"{report.made_at}{_REPORT_SUFFIX}"
    write_report(path, report, previous, private=True)
    for old in _list_report_paths(folder)[:-MAX_REPORTS]:
        old.unlink(missing_ok=True)
    return path


def read_latest_report(folder: Path) -> EvalReport:
    """Read the report of the last run; GoldError if there is none or it cannot be read."""
    paths = _list_report_paths(folder)
    return read_report(paths[-1] if paths else folder / f"latest{_REPORT_SUFFIX}")


def find_previous_report(folder: Path, report: EvalReport) -> EvalReport | None:
    """Find the last report of the same tier and answerer to compare one with; None without any.

    Of those that share the most queries with it: a run of a part says nothing of the others.
    """
    ids = {verdict.id for verdict in report.verdicts}
    best: EvalReport | None = None
    most_shared = 0
    for path in reversed(_list_report_paths(folder)):
        # A report that another version has written is no reason not to run the gold set.
        with suppress(GoldError):
            candidate = read_report(path)
            shared = len(ids & {verdict.id for verdict in candidate.verdicts})
            is_alike = (candidate.tier, candidate.answers) == (report.tier, report.answers)
            if is_alike and shared > most_shared:
                best, most_shared = candidate, shared
        if most_shared == len(ids):
            break
    return best


def read_report(path: Path) -> EvalReport:
    """Read a report; GoldError for another file."""
    try:
        data = msgspec.json.decode(path.read_bytes())
        if data["version"] != REPORT_VERSION:
            raise ValueError(f"version {data['version']!r:.20}, this is {REPORT_VERSION}")
        verdicts = tuple(map(parse_verdict, data["verdicts"]))
        report = replace(msgspec.convert({**data, "verdicts": ()}, EvalReport), verdicts=verdicts)
        names = [*(verdict.id for verdict in verdicts), *report.skipped]
        if len(set(names)) < len(names) or len(names) > report.total:
            raise ValueError(f"it has {len(names)} verdicts of {report.total} queries")
    except FileNotFoundError:
        raise GoldError(f"{path} does not exist: run `answerable eval` first") from None
    except OSError as error:
        raise GoldError(f"{path} cannot be read ({error.strerror}): name a report") from None
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise GoldError(
            f"{path} is not a report of `answerable eval` ({error!s:.100}): delete it, or name "
            "another"
        ) from None
    return report


def _list_report_paths(folder: Path) -> list[Path]:
    """List the reports of a site, the oldest first."""
    return sorted(folder.glob(f"*Z{_REPORT_SUFFIX}"))
