"""The answers and pages that a change to a site changes: compared, printed, and in Markdown."""

import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from difflib import SequenceMatcher
from typing import Any

from ..engine.bundle import Bundle
from .report import (
    EvalReport,
    RecordedAnswer,
    Verdict,
    format_block,
    list_failures,
    summarize_report,
)

# Characters of a comment, which the verdicts of a run share with the changed answers.
_MAX_CHARACTERS = 40_000
# A word with the white space after it. In scripts without spaces between words, each letter is one.
_SPACELESS = r"\u3040-\u30ff\u3400-\u9fff\u0e00-\u0e7f"
_WORD = re.compile(rf"[{_SPACELESS}]\s*|[^\s{_SPACELESS}]+\s*|\s+")


@dataclass(frozen=True, slots=True)
class AnswerChange:
    """Both verdicts of a question whose answer has changed, and both answers."""

    before: Verdict
    after: Verdict
    answers: tuple[RecordedAnswer, RecordedAnswer]

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts that differ for a reader: neither ids nor quotes, which the text shows."""
        first, second = map(_list_parts, self.answers)
        return tuple(name for name in first if first[name] != second[name])


@dataclass(frozen=True, slots=True)
class SiteDiff:
    """Two runs over the same questions, and what differs, by the ids of the later run.

    ``against``: the name of the earlier site. ``new`` and ``gone``: only one of the runs has asked
    the question. ``uncompared``: one of the runs has no answer to it. ``pages``: a line for each
    page that is gone, new or moved.
    """

    against: str
    before: EvalReport
    after: EvalReport
    changed: tuple[AnswerChange, ...]
    unchanged: tuple[str, ...]
    new: tuple[str, ...]
    gone: tuple[str, ...]
    uncompared: tuple[str, ...]
    pages: tuple[str, ...]


def compare_runs(
    against: str, before: EvalReport, after: EvalReport, pages: tuple[str, ...] = ()
) -> SiteDiff:
    """Compare the answers of two runs question by question.

    Questions are the same if their words are, so that a reworded query is a new one and a renamed
    query the same one.
    """
    by_query = {verdict.query: verdict for verdict in reversed(before.verdicts)}
    changed: list[AnswerChange] = []
    unchanged, new, uncompared = [], [], []
    for verdict in after.verdicts:
        earlier = by_query.get(verdict.query)
        if earlier is None:
            new.append(verdict.id)
        elif earlier.answer is None or verdict.answer is None:
            uncompared.append(verdict.id)
        else:
            change = AnswerChange(earlier, verdict, (earlier.answer, verdict.answer))
            if change.parts:
                changed.append(change)
            else:
                unchanged.append(verdict.id)
    queries = {verdict.query for verdict in after.verdicts}
    gone = [verdict.id for verdict in before.verdicts if verdict.query not in queries]
    return SiteDiff(
        against,
        before,
        after,
        changed=tuple(changed),
        unchanged=tuple(unchanged),
        new=tuple(new),
        gone=tuple(gone),
        uncompared=tuple(uncompared),
        pages=pages,
    )


def _list_parts(answer: RecordedAnswer) -> dict[str, object]:
    citations = [(citation.url, citation.title) for citation in answer.citations]
    return {"text": answer.text.split(), "mode": answer.mode, "citations": citations}


def compare_pages(before: Bundle, after: Bundle) -> tuple[str, ...]:
    """Compare the pages of two bundles by their ids, in a line for each that has changed."""
    first, second = map(_map_record_urls, (before, after))
    gone = [f"gone: {page}" for page in first if page not in second]
    new = [f"new: {page}" for page in second if page not in first]
    moved = [
        f"moved: {page}, from {first[page]} to {url}"
        for page, url in second.items()
        if first.get(page, url) != url
    ]
    return (*gone, *new, *moved)


def _map_record_urls(bundle: Bundle) -> dict[str, str]:
    """Map each page to its url, "" for one without a passage."""
    index = bundle.index
    urls = dict.fromkeys(index.record_ids, "")
    for record, url in zip(index.passage_records.tolist(), index.passage_urls, strict=True):
        urls[index.record_ids[record]] = url.partition("#")[0]
    return urls


def encode_site_diff(diff: SiteDiff) -> dict[str, Any]:
    """Encode the outcome as JSON."""
    return {
        "against": diff.against,
        "bundle": diff.after.bundle,
        "holds": diff.after.holds,
        "changed": [
            {
                "id": change.after.id,
                "query": change.after.query,
                "parts": list(change.parts),
                "before": {"status": change.before.status, **asdict(change.answers[0])},
                "after": {"status": change.after.status, **asdict(change.answers[1])},
            }
            for change in diff.changed
        ],
        "unchanged": len(diff.unchanged),
        "new": list(diff.new),
        "gone": list(diff.gone),
        "uncompared": list(diff.uncompared),
        "pages": list(diff.pages),
        "verdicts": {verdict.id: verdict.status for verdict in diff.after.verdicts},
    }


def summarize_changes(diff: SiteDiff) -> str:
    """Say in one line how many answers change."""
    compared = len(diff.changed) + len(diff.unchanged)
    verb = "differs" if len(diff.changed) == 1 else "differ"
    asides = {
        "new": diff.new,
        "no longer asked": diff.gone,
        "without an answer to compare": diff.uncompared,
    }
    counts = "".join(f", {len(ids)} {label}" for label, ids in asides.items() if ids)
    return f"{len(diff.changed)} of {compared} answers {verb} from {diff.against}{counts}."


def list_diff_lines(diff: SiteDiff) -> Iterator[str]:
    """Lay out for a terminal what a change does: pages, changed answers, verdicts that fail."""
    yield from (f"page {line}" for line in diff.pages)
    yield from _describe_changes(diff)
    yield ""
    yield from list_failures(diff.after.verdicts)
    yield summarize_changes(diff)
    yield f"{summarize_report(diff.after)}."


def format_diff_markdown(diff: SiteDiff) -> str:
    """Format what a change does to the answers in Markdown, within what a comment may hold."""
    texts = [*_describe_changes(diff), *(f"page {line}" for line in diff.pages)]
    block = format_block([summarize_changes(diff), *texts], _MAX_CHARACTERS, "changes")
    return f"### Changed answers\n\n{block}"


def _describe_changes(diff: SiteDiff) -> Iterator[str]:
    """Describe each changed answer in lines; those that break a verdict come first."""
    changes = sorted(
        diff.changed,
        key=lambda change: (not change.before.holds or change.after.holds, change.after.holds),
    )
    for change in changes:
        before, after = change.before.status, change.after.status
        turn = "" if before == after else f"; verdict {before} → {after}"
        yield "\n".join(
            [
                f"\n{change.after.id}: {change.after.query}",
                f"  changed: {', '.join(change.parts)}{turn}",
                *(f"  {line}" if line else "" for line in _list_change_lines(change)),
            ]
        )


def _list_change_lines(change: AnswerChange) -> Iterator[str]:
    """List what a change does to an answer, as unformatted text."""
    before, after = change.answers
    if before.mode != after.mode:
        yield f"mode: {before.mode} → {after.mode}"
    if "text" in change.parts:
        yield from mark_changes(before.text, after.text).split("\n")
    if "citations" in change.parts:
        for verb, answer in (("cited", before), ("cites", after)):
            places = [f"{citation.title} {citation.url}" for citation in answer.citations]
            yield f"{verb}: {', '.join(places) or 'nothing'}"


def mark_changes(before: str, after: str) -> str:
    """Mark the words that were added to a text, and those that were removed.

    A change of white space alone is not marked.
    """
    first, second = _WORD.findall(before), _WORD.findall(after)
    keys = [[word.strip() for word in words] for words in (first, second)]
    marked = ""
    for kind, i, j, k, m in SequenceMatcher(None, keys[0], keys[1], autojunk=False).get_opcodes():
        removed, added = "".join(first[i:j]), "".join(second[k:m])
        if kind == "equal":
            marked += added
            continue
        for text, marks in ((removed, "[-{}-]"), (added, "{{+{}+}}")):
            word = text.rstrip()
            marked += (marks.format(word) if word else "") + text[len(word) :]
    return marked
