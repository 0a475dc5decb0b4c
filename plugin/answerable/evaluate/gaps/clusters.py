"""Group logged refusals into pages to write or extend; leave out what the site answers today."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from ...serve.engine import Engine
from ...serve.http.refusal_log import NEARNESS_LEVELS, LoggedRefusal, NearestRecord, Nearness
from ...serve.retrieval.question import read_site_name_terms
from ...serve.stores.bundle import Bundle
from ...serve.text.tokenization import extract_terms
from ...serve.types import Reason
from .logged_questions import LoggedQuestion, ask_again, collect_questions
from .subjects import cluster_by_subject

GapAction = Literal["write", "extend", "off-topic"]

_MAX_TITLE_WORDS = 4


@dataclass(frozen=True, slots=True)
class Wording:
    """Hold a question as it was asked, and how often; case and punctuation make no other one."""

    text: str
    asked: int


@dataclass(frozen=True, slots=True)
class Gap:
    """Refused questions that one edit may answer, the most asked first.

    ``asked`` counts refusals, ``questions`` those that differ, ``askers`` each asker once a day.
    ``near`` is the nearest record, which is to be extended if ``action`` says so, and ``score`` how
    near its best passage came. ``title`` and ``wordings`` are empty where the log holds no text.
    """

    action: GapAction
    near: str | None
    score: Nearness | None
    reason: Reason
    asked: int
    questions: int
    askers: int
    first: str
    last: str
    title: str = ""
    wordings: tuple[Wording, ...] = ()


_Cluster = Sequence[LoggedQuestion]


def group_refusals(
    refusals: Iterable[LoggedRefusal], engine: Engine[Bundle] | None
) -> tuple[tuple[Gap, ...], int]:
    """Group refusals into gaps, and count the refusals that the site answers by now.

    Largest gap first and off-topic ones last. engine: over the site as it is; without one, only
    questions without a text are grouped. Every question with a text is asked again: what the site
    answers is no gap.
    """
    with_text, hashed = collect_questions(refusals)
    clusters = _group_by_page(hashed)
    site_terms: Collection[str] = ()
    answered_count = 0
    if engine and with_text:
        site_terms = _collect_site_name_terms(engine.store)
        still_refused, subjects = ask_again(with_text, engine)
        clusters += [
            [still_refused[number] for number in numbers]
            for numbers in cluster_by_subject(subjects, engine.store)
        ]
        answered_count = _count_refusals(with_text) - _count_refusals(still_refused)
    gaps = [_summarize_cluster(cluster, site_terms) for cluster in clusters]
    gaps.sort(key=lambda gap: (gap.action == "off-topic", -gap.asked, gap.near or "", gap.title))
    return tuple(gaps), answered_count


def _count_refusals(questions: Iterable[LoggedQuestion]) -> int:
    return sum(len(question.refusals) for question in questions)


def _group_by_page(questions: Iterable[LoggedQuestion]) -> list[_Cluster]:
    """Group questions without a text by their nearest record; one with none near is alone."""
    groups: dict[tuple[str, bool], list[LoggedQuestion]] = {}
    for question in questions:
        near = question.near
        is_near = near is not None and near.nearness != "far"
        key = near.record if near and is_near else question.latest.question_hash
        groups.setdefault((key, is_near), []).append(question)
    return list(groups.values())


def _summarize_cluster(cluster: _Cluster, site_terms: Collection[str]) -> Gap:
    refusals = [refusal for question in cluster for refusal in question.refusals]
    most_asked_first = sorted(cluster, key=lambda question: -len(question.refusals))
    action, near = _choose_action(most_asked_first)
    wordings = tuple(
        Wording(question.latest.text, len(question.refusals))
        for question in most_asked_first
        if question.latest.text is not None
    )
    days = sorted(refusal.time[:10] for refusal in refusals)
    return Gap(
        action=action,
        near=near.record if near else None,
        score=near.nearness if near else None,
        reason=Counter(refusal.reason for refusal in refusals).most_common(1)[0][0],
        asked=len(refusals),
        questions=len(cluster),
        askers=len({refusal.asker_hash for refusal in refusals if refusal.asker_hash}),
        first=days[0],
        last=days[-1],
        title=_suggest_title([wording.text for wording in wordings], site_terms),
        wordings=wordings,
    )


def _choose_action(cluster: _Cluster) -> tuple[GapAction, NearestRecord | None]:
    """Choose what would answer a cluster, and the record that is nearest to it.

    A page is to be extended if it is clearly the nearest to half of the refusals or more.
    """
    places = [(question.near, len(question.refusals)) for question in cluster]
    nearest = [near for near, _ in places if near is not None]
    best = min(nearest, key=lambda near: NEARNESS_LEVELS.index(near.nearness), default=None)
    if best is None or best.nearness == "far":
        return "off-topic", best
    counts: Counter[str] = Counter()
    for near, count in places:
        if near and _is_to_extend(near):
            counts[near.record] += count
    record, votes = max(counts.items(), key=lambda item: item[1], default=("", 0))
    if 2 * votes < sum(count for _, count in places):
        return "write", best
    return "extend", next(near for near in nearest if near.record == record and near.is_clear)


def _is_to_extend(near: NearestRecord) -> bool:
    return near.is_clear and near.nearness in ("above", "close")


def _collect_site_name_terms(bundle: Bundle) -> Collection[str]:
    """Collect the terms of the site's name, which tell no page from another."""
    return {term for tag in bundle.site.tags for term in read_site_name_terms(bundle, tag)}


def _suggest_title(texts: Sequence[str], site_terms: Collection[str]) -> str:
    """Suggest a page's title: the terms that most questions share, in the first one's order."""
    counts: Counter[str] = Counter()
    words_by_term: dict[str, str] = {}
    for text in texts:
        words = {term: word for word in text.split() for term in extract_terms(word)[:1]}
        counts.update(words.keys() - site_terms)
        for term, word in words.items():
            words_by_term.setdefault(term, word)
    highest = max(counts.values(), default=0)
    shared = [term for term in words_by_term if counts[term] * 2 > highest][:_MAX_TITLE_WORDS]
    title = " ".join(words_by_term[term].strip("?!.,:;\"'()[]") for term in shared)
    return title[:1].upper() + title[1:]
