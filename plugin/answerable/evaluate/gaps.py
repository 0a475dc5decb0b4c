"""Read logged refusals, group them into pages to write or extend, and propose gold queries."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
import yaml
from msgspec import Meta

from ..indexing.output.files import format_count, format_times
from ..indexing.stems import extract_stems
from ..serve.engine import Engine
from ..serve.http.logs import (
    NEAR_PASSAGES,
    NEARNESS_LEVELS,
    LoggedRefusal,
    NearestRecord,
    Nearness,
    find_nearest_record,
    normalize_question_words,
)
from ..serve.retrieval.bm25 import compute_idf, match_terms
from ..serve.retrieval.question import clean_question, find_question_problem
from ..serve.retrieval.retrieve import retrieve
from ..serve.retrieval.selection import POOL_SIZE
from ..serve.retrieval.store import Floats
from ..serve.stores.bundle import Bundle
from ..serve.text.tokenization import STOPWORDS, split_lowercase_words
from ..serve.types import Reason
from .gold import GoldQuery
from .report import ReportSection

# Two questions are about one thing from this similarity on, the mean of the cosine of their terms
# and that of their vectors. Under the local embedder, on 169 refusals of real questions by two
# sites, 32 of 34 merges are right as read by hand; by a cosine of vectors from 0.45 on, 32 of 47.
MIN_SIMILARITY = 0.42
# Added where the same section comes nearest to both.
SECTION_BONUS = 0.1
# A page is to be extended only if it holds this share of what a question's words weigh: of 55
# questions that two sites refused, "extend" then names the right page 8 times of 14, else of 18.
_MIN_PAGE_SHARE = 1 / 3
_SHOWN_PROPOSALS = 10
_MAX_TITLE_WORDS = 4
_MAX_ID_WORDS = 5

_ADVICE_BY_REASON = {
    "no-evidence": "say it there in the words of the readers",
    "declined": "it was found and holds no sentence that answers",
    "contract": "the answer could not be tied to it: a fault of the model, not of the page",
}

GapAction = Literal["write", "extend", "off-topic"]
# What only a refusal's line holds, so that one that is cut off is told from another program's.
_REFUSAL_EVENT = re.compile(r'"event"\s*:\s*"refusal"')
Hour = Annotated[
    str,
    Meta(pattern=r"^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):00Z$"),
]
Name = Annotated[str, Meta(max_length=500)]


class RefusalLine(msgspec.Struct, tag_field="event", tag="refusal"):
    """A line of the refusal log."""

    time: Hour
    reason: Reason
    bundle: Name
    asker: Name
    question: Name
    near: Name | None = None
    score: Nearness | None = None
    clear: bool | None = None
    text: str | None = None

    def read_refusal(self) -> LoggedRefusal:
        """Read the refusal; ValueError for a text that nobody could ask."""
        near = None
        if self.near is not None and self.score is not None:
            near = NearestRecord(self.near, self.score, self.clear is True)
        text = None if self.text is None else clean_question(self.text)
        if text is not None and find_question_problem(text):
            raise ValueError("a question that nobody could ask")
        return LoggedRefusal(
            self.time, self.reason, self.bundle, self.asker, self.question, near, text
        )


def parse_refusals(texts: Iterable[str]) -> tuple[tuple[LoggedRefusal, ...], int]:
    """Parse the refusals of logs, a JSON object a line, and count the damaged lines of ours.

    Every line of another kind is skipped.
    """
    refusals: list[LoggedRefusal] = []
    damaged = 0
    for line in (line for text in texts for line in text.split("\n")):
        try:
            row = msgspec.json.decode(line)
        except (msgspec.DecodeError, RecursionError):
            damaged += _REFUSAL_EVENT.search(line) is not None
            continue
        if isinstance(row, dict) and row.get("event") == "refusal":
            try:
                refusals.append(msgspec.convert(row, RefusalLine).read_refusal())
            except ValueError:
                damaged += 1
    return tuple(refusals), damaged


@dataclass(frozen=True, slots=True)
class Wording:
    """A question as it was asked, and how often; case and punctuation make no other one."""

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


# Every refusal of one question, in the order of the log.
LoggedQuestion = list[LoggedRefusal]


@dataclass(frozen=True, slots=True)
class Subject:
    """The subject of a question, by what it can be compared with others.

    ``terms``: its content terms. ``vector``: (d,) of its content words, of length 1 or 0.
    ``section``: the id of the passage that it is near, None if it is far from all.
    """

    terms: Collection[str]
    vector: Floats
    section: str | None


def group_refusals(
    refusals: Iterable[LoggedRefusal], engine: Engine[Bundle] | None
) -> tuple[tuple[Gap, ...], int]:
    """Group refusals into gaps, and count the refusals that the site answers by now.

    Largest gap first and off-topic ones last. engine: over the site as it is; without one, only
    questions without a text are grouped. Every question with a text is asked again: what the site
    answers is no gap.
    """
    with_text, hashed = _collect_questions(refusals)
    clusters = _group_by_page(hashed)
    site_terms: Collection[str] = ()
    answered_count = 0
    if engine and with_text:
        store = engine.store
        # The terms of the site's name tell no page from another.
        site_terms = {
            term
            for tag in store.site.tags
            for name in store.site.names
            for term in extract_stems(name, tag)
        }
        still_refused, subjects = _ask_again(with_text, engine)
        groups = cluster_by_subject(subjects, store)
        clusters += [[still_refused[number] for number in numbers] for numbers in groups]
        answered_count = sum(map(len, with_text)) - sum(map(len, still_refused))
    gaps = [_summarize_cluster(cluster, site_terms) for cluster in clusters]
    gaps.sort(key=lambda gap: (gap.action == "off-topic", -gap.asked, gap.near or "", gap.title))
    return tuple(gaps), answered_count


def _collect_questions(
    refusals: Iterable[LoggedRefusal],
) -> tuple[list[LoggedQuestion], list[LoggedQuestion]]:
    """Collect the questions with a text and those without, the most asked first."""
    groups: tuple[dict[str, list[LoggedRefusal]], ...] = ({}, {})
    for refusal in refusals:
        # A hash is of one process or one secret, a text is the same whoever has logged it.
        has_text = refusal.text is not None
        key = normalize_question_words(refusal.text or "") if has_text else refusal.question_hash
        groups[0 if has_text else 1].setdefault(key, []).append(refusal)
    with_text, hashed = (sorted(group.values(), key=len, reverse=True) for group in groups)
    return with_text, hashed


def _group_by_page(questions: Iterable[LoggedQuestion]) -> list[list[LoggedQuestion]]:
    """Group questions without a text by their nearest record; one with none near is alone."""
    groups: dict[tuple[str, bool], list[LoggedQuestion]] = {}
    for question in questions:
        near = question[-1].near
        is_near = near is not None and near.nearness != "far"
        key = near.record if near and is_near else question[-1].question_hash
        groups.setdefault((key, is_near), []).append(question)
    return list(groups.values())


def _ask_again(
    questions: Sequence[LoggedQuestion], engine: Engine[Bundle]
) -> tuple[list[LoggedQuestion], list[Subject]]:
    """Ask questions with a text of the site as it is; return those still refused, their subjects.

    One call embeds them all; an answer model is never called.
    """
    store = engine.store
    readings = [engine.parse_question(question[-1].text or "") for question in questions]
    # "How do I" is in every other question, and names no subject.
    contents = (
        " ".join(word for word in split_lowercase_words(reading.text) if word not in STOPWORDS)
        for reading in readings
    )
    vectors = engine.embedder.embed([*(reading.text for reading in readings), *contents])
    still_refused: list[LoggedQuestion] = []
    subjects: list[Subject] = []
    for number, (question, reading) in enumerate(zip(questions, readings, strict=True)):
        retrieved = retrieve(store, reading, vectors[number], POOL_SIZE, near=NEAR_PASSAGES)
        if engine.answerer.max_question_tokens == 0:
            is_gap = engine.answer_from(retrieved).reason is not None
        else:
            # An answer of a model would cost money, so there it is enough that something is above
            # a floor where nothing was.
            has_evidence = bool(retrieved.passages or retrieved.hints)
            is_gap = question[-1].reason != "no-evidence" or not has_evidence
        if not is_gap:
            continue
        near = find_nearest_record(retrieved, store.manifest.profile.floor)
        section = None
        if near:
            nearest = (retrieved.passages or retrieved.near_passages)[0]
            # What is far from all sections shares none.
            section = None if near.nearness == "far" else nearest.item.id
            # The share of the question's idf whose terms the page holds.
            idfs = {term: idf for weights in reading.idfs.values() for term, idf in weights.items()}
            records = store.passage_records
            rows = np.flatnonzero(records == records[nearest.row])
            matches = match_terms(store.postings_of(idfs.keys()), idfs.keys(), rows)
            weight = sum(idfs[term] for term in frozenset[str]().union(*matches))
            share = weight / (sum(idfs.values()) or 1.0)
            near = replace(near, is_clear=near.is_clear and share >= _MIN_PAGE_SHARE)
        still_refused.append([*question[:-1], replace(question[-1], near=near)])
        terms = {term for weights in reading.idfs.values() for term in weights}
        subjects.append(Subject(terms, vectors[len(questions) + number], section))
    return still_refused, subjects


def cluster_by_subject(subjects: Sequence[Subject], store: Bundle) -> list[list[int]]:
    """Put each question, in turn, to the cluster that it is most like, or into one of its own.

    Returns the numbers of each cluster's questions. The similarity to a cluster is the mean of
    those to its questions (average linkage), so that a chain of neighbors is not one cluster.
    """
    clusters: list[list[int]] = []
    weights = _weigh_terms(subjects, store)
    vectors = np.array([subject.vector for subject in subjects])
    owners = np.zeros(len(subjects), dtype=np.intp)
    postings: dict[str, list[tuple[int, float]]] = defaultdict(list)
    sections: dict[str, list[int]] = defaultdict(list)
    for number, subject in enumerate(subjects):
        similarity = (vectors[:number] @ subject.vector).astype(np.float64)
        for term, weight in weights[number].items():
            for other, other_weight in postings[term]:
                similarity[other] += weight * other_weight
            postings[term].append((number, weight))
        similarity /= 2
        if subject.section is not None:
            similarity[sections[subject.section]] += SECTION_BONUS
            sections[subject.section].append(number)
        sizes = [len(cluster) for cluster in clusters]
        means = np.bincount(owners[:number], similarity, len(clusters)) / sizes
        best = int(means.argmax()) if clusters else 0
        if not clusters or means[best] < MIN_SIMILARITY:
            best = len(clusters)
            clusters.append([])
        clusters[best].append(number)
        owners[number] = best
    return clusters


def _weigh_terms(subjects: Sequence[Subject], store: Bundle) -> list[Mapping[str, float]]:
    """Weigh the terms of each question by idf, scaled to length 1.

    The questions count as passages: a word that the site lacks and half of them have, such as the
    name of another product, tells none from another.
    """
    frequencies = Counter(term for subject in subjects for term in set(subject.terms))
    postings = store.postings_of(frequencies.keys())
    passages = len(postings.lengths) + len(subjects)
    idfs = {}
    for term, frequency in frequencies.items():
        index = postings.terms.get(term)
        on_site = 0 if index is None else int(postings.edges[index + 1] - postings.edges[index])
        idfs[term] = compute_idf(passages, on_site + frequency)
    lengths = [
        math.sqrt(sum(idfs[term] ** 2 for term in set(subject.terms))) or 1.0
        for subject in subjects
    ]
    return [
        {term: idfs[term] / length for term in set(each.terms)}
        for each, length in zip(subjects, lengths, strict=True)
    ]


def _summarize_cluster(cluster: Sequence[LoggedQuestion], site_terms: Collection[str]) -> Gap:
    refusals = [refusal for question in cluster for refusal in question]
    most_asked_first = sorted(cluster, key=len, reverse=True)
    action, near = _choose_action(most_asked_first)
    wordings = tuple(
        Wording(question[-1].text, len(question))
        for question in most_asked_first
        if question[-1].text is not None
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


def _choose_action(cluster: Sequence[LoggedQuestion]) -> tuple[GapAction, NearestRecord | None]:
    """Choose what would answer a cluster, and the record that is nearest to it.

    A page is to be extended if it is clearly the nearest to half of the refusals or more.
    """
    places = [(question[-1].near, len(question)) for question in cluster]
    nearest = [near for near, _ in places if near is not None]
    best = min(nearest, key=lambda near: NEARNESS_LEVELS.index(near.nearness), default=None)
    if best is None or best.nearness == "far":
        return "off-topic", best
    counts: Counter[str] = Counter()
    for near, times in places:
        if near and near.is_clear and near.nearness in ("above", "close"):
            counts[near.record] += times
    record, votes = max(counts.items(), key=lambda item: item[1], default=("", 0))
    if 2 * votes < sum(times for _, times in places):
        return "write", best
    return "extend", next(near for near in nearest if near.record == record and near.is_clear)


def _suggest_title(texts: Sequence[str], site_terms: Collection[str]) -> str:
    """Suggest a page's title: the terms that most questions share, in the first one's order."""
    counts: Counter[str] = Counter()
    words_by_term: dict[str, str] = {}
    for text in texts:
        words = {term: word for word in text.split() for term in extract_stems(word)[:1]}
        counts.update(words.keys() - site_terms)
        words_by_term = words | words_by_term
    highest = max(counts.values(), default=0)
    shared = [term for term in words_by_term if counts[term] * 2 > highest][:_MAX_TITLE_WORDS]
    title = " ".join(words_by_term[term].strip("?!.,:;\"'()[]") for term in shared)
    return title[:1].upper() + title[1:]


def propose_gold_queries(gaps: Iterable[Gap], gold: Sequence[GoldQuery]) -> list[dict[str, Any]]:
    """Propose a gold query for each gap with a text, unless the gold set asks the same already.

    A refusal for a broken contract is the model's fault, which no gold query should require.
    """
    ids = {query.id for query in gold}
    gold_questions = {normalize_question_words(query.query) for query in gold}
    proposals = []
    for gap in gaps:
        if gap.action == "off-topic" or gap.reason == "contract" or not gap.wordings:
            continue
        question = gap.wordings[0].text
        # A gold file resolves placeholders, so that a question with one cannot be pasted.
        if normalize_question_words(question) in gold_questions or "{{" in question:
            continue
        words = split_lowercase_words(question)
        content = [word for word in words if word not in STOPWORDS] or words or ["question"]
        stem = "-".join(["gap", *content[:_MAX_ID_WORDS]])
        names = (stem if number == 1 else f"{stem}-{number}" for number in count(1))
        name = next(name for name in names if name not in ids)
        ids.add(name)
        is_near = gap.action == "extend"
        note = (
            f"refused {format_times(gap.asked)} up to {gap.last}; once "
            f"{gap.near if is_near else 'a page'} answers it, set expectAnswerMode to partial and "
            f"expectSources to {f'[{gap.near}]' if is_near else 'that page'}"
        )
        proposal = {"id": name, "query": question, "expectAnswerMode": "not-found"}
        proposals.append(proposal | {"tags": ["gap"], "note": note})
    return proposals


def format_proposals(proposals: Sequence[dict[str, Any]]) -> str:
    """Format gold queries as lines to paste under ``queries:``."""
    if not proposals:
        return ""
    text = yaml.safe_dump(
        list(proposals), sort_keys=False, allow_unicode=True, width=1000, default_flow_style=None
    )
    return "".join(f"  {line}\n" for line in text.splitlines())


def make_gaps_sections(
    gaps: Sequence[Gap],
    refusals: int,
    damaged: int,
    answered_since: int,
    proposals: Sequence[dict[str, Any]],
    gold_name: str,
) -> list[ReportSection]:
    """Lay out gaps for a terminal.

    refusals, damaged: the number of lines. answered_since: refusals that the site answers by now.
    gold_name: the file that proposals are pasted into.
    """
    on_topic = [gap for gap in gaps if gap.action != "off-topic"]
    off_topic = [gap for gap in gaps if gap.action == "off-topic"]
    opening = "No question was refused: the logs hold no refusal."
    if refusals:
        opening = f"{format_count(refusals, 'refused question')} in the logs"
    lines = [opening]
    if answered_since:
        verb = "is" if answered_since == 1 else "are"
        lines.append(f"{answered_since} of them {verb} answered by the site as it is")
    off_topic_count = format_count(sum(gap.asked for gap in off_topic), "question")
    texts = tuple(_describe_wording(gap.wordings[0]) for gap in off_topic if gap.wordings)
    if off_topic and not texts:
        texts = ("the logs hold no text of them",)
    title = f"Probably off-topic: {off_topic_count}"
    code = format_proposals(proposals[:_SHOWN_PROPOSALS])
    if len(proposals) > _SHOWN_PROPOSALS:
        code += f"  # and {len(proposals) - _SHOWN_PROPOSALS} more, which --json prints\n"
    sections = [
        ReportSection(lines=tuple(lines)),
        ReportSection(
            "Pages to write or to extend",
            tuple(_limit([_describe_gap(n, gap) for n, gap in enumerate(on_topic, 1)], 20)),
        ),
        ReportSection(title, tuple(f"   - {text}" for text in _limit(texts, 5))),
        ReportSection(f"To paste under `queries:` of {gold_name}:" if code else "", code=code),
    ]
    if damaged:
        sections.append(
            ReportSection(lines=("", f"{format_count(damaged, 'damaged line')} skipped"))
        )
    return sections


def _limit(lines: Sequence[str], limit: int, noun: str = "") -> list[str]:
    """Limit what a terminal shows. noun: of what is left out."""
    left_out = len(lines) - limit
    plural = f" {noun}{'s' * (left_out > 1)}" if noun else ""
    omission = f"and {left_out} more{plural}, which --json prints"
    return [*lines[:limit], *([omission] if left_out > 0 else [])]


def _describe_gap(number: int, gap: Gap) -> str:
    if gap.action == "extend":
        title = f"Extend {gap.near}: {_ADVICE_BY_REASON[gap.reason]}"
    else:
        name = f': "{gap.title}"' if gap.title else ""
        title = f"Likely a missing page{name} (nearest: {gap.near})"
    wordings = f" in {gap.questions} wordings" if gap.questions > 1 else ""
    days = gap.first if gap.first == gap.last else f"{gap.first} to {gap.last}"
    askers = format_count(gap.askers, "asker")
    asked = f"asked {format_times(gap.asked)} by {askers}{wordings}, {days}"
    lines = [f"\n{number}. {title}", asked]
    lines += (f"- {line}" for line in _limit([*map(_describe_wording, gap.wordings)], 3, "wording"))
    return "\n   ".join(lines)


def _describe_wording(wording: Wording) -> str:
    return f"{wording.text} ({wording.asked} times)" if wording.asked > 1 else wording.text
