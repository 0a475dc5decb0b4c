"""Summarize logged requests and votes: shares by ISO week, top questions, cited pages, votes."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from ...serve.http.refusal_log import normalize_question_words
from .log_events import QuestionRequest, Vote
from .log_reader import LogEvents

# A clock that was wrong once does not add a thousand years of empty weeks.
_MAX_WEEKS = 530


@dataclass(frozen=True, slots=True)
class WeekUsage:
    """Count the questions of an ISO week, ``week``, such as 2026-W53; ``monday`` is its first day.

    ``failed``: by an error, so that they were neither answered nor refused.
    """

    week: str
    monday: str
    answered: int = 0
    refused: int = 0
    failed: int = 0

    @property
    def decided(self) -> int:
        """Count the questions that were answered or refused."""
        return self.answered + self.refused

    @property
    def refused_share(self) -> float | None:
        """Compute the share of refused questions; None in a week without questions."""
        return self.refused / self.decided if self.decided else None


@dataclass(frozen=True, slots=True)
class QuestionUsage:
    """Count the answers and refusals of a question, as it was last typed."""

    text: str
    answered: int
    refused: int


@dataclass(frozen=True, slots=True)
class PageUsage:
    """Count the answers that cite a page, and the votes on them."""

    record: str
    answers: int
    helpful: int
    unhelpful: int


@dataclass(frozen=True, slots=True)
class VotedQuestion:
    """Hold a question whose answers were voted down: ``reasons`` of each No, pages that were cited.

    ``pages`` are known where the logs hold the request too.
    """

    text: str
    helpful: int
    unhelpful: int
    reasons: tuple[tuple[str, int], ...]
    pages: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class UsageSummary:
    """Hold what requests and votes tell, the largest counts first and weeks in order.

    ``undated``: requests without a time, which no week counts.
    """

    requests: int
    undated: int
    votes: int
    weeks: tuple[WeekUsage, ...] = ()
    questions: tuple[QuestionUsage, ...] = ()
    pages: tuple[PageUsage, ...] = ()
    voted_down: tuple[VotedQuestion, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.requests or self.votes)


def summarize_usage(events: LogEvents) -> UsageSummary:
    """Summarize the requests and votes of logs; the refusal log counts for neither."""
    requests = {request.request_id: request for request in events.requests}
    return UsageSummary(
        requests=len(events.requests),
        undated=sum(request.hour is None for request in events.requests),
        votes=len(events.votes),
        weeks=_count_weeks(events.requests),
        questions=_count_questions(events.requests),
        pages=_count_pages(events.requests, events.votes),
        voted_down=_collect_voted_down(events.votes, requests),
    )


def _count_weeks(requests: Iterable[QuestionRequest]) -> tuple[WeekUsage, ...]:
    """Count questions by ISO week; a week without any between two others is there too."""
    counts: dict[date, Counter[str]] = defaultdict(Counter)
    for request in requests:
        if monday := _find_monday(request.hour):
            counts[monday][_classify(request)] += 1
    mondays = sorted(counts)
    weeks = (mondays[-1] - mondays[0]).days // 7 + 1 if mondays else 0
    if weeks <= _MAX_WEEKS:
        mondays = [mondays[0] + timedelta(weeks=week) for week in range(weeks)]
    return tuple(
        WeekUsage(
            week="{}-W{:02}".format(*monday.isocalendar()[:2]),
            monday=monday.isoformat(),
            answered=counts[monday]["answered"],
            refused=counts[monday]["refused"],
            failed=counts[monday]["failed"],
        )
        for monday in mondays
    )


def _find_monday(hour: str | None) -> date | None:
    """Find the Monday of an hour's ISO week; None for a day that no calendar has."""
    if hour is None:
        return None
    try:
        day = date.fromisoformat(hour[:10])
        return day - timedelta(days=day.weekday())
    except (ValueError, OverflowError):
        return None


def _classify(request: QuestionRequest) -> str:
    if request.mode is None:
        return "failed"
    return "refused" if request.mode == "not-found" else "answered"


def _count_questions(requests: Iterable[QuestionRequest]) -> tuple[QuestionUsage, ...]:
    texts: dict[str, str] = {}
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for request in requests:
        if request.question is not None:
            words = normalize_question_words(request.question)
            texts[words] = request.question
            counts[words][_classify(request)] += 1
    questions = [
        QuestionUsage(texts[words], count["answered"], count["refused"])
        for words, count in counts.items()
    ]
    return tuple(sorted(questions, key=lambda each: (-each.answered - each.refused, each.text)))


def _count_pages(
    requests: Iterable[QuestionRequest], votes: Iterable[Vote]
) -> tuple[PageUsage, ...]:
    answers: Counter[str] = Counter()
    helpful: Counter[str] = Counter()
    unhelpful: Counter[str] = Counter()
    votes_by_request = {vote.request_id: vote for vote in votes}
    for request in requests:
        answers.update(request.cited)
        if vote := votes_by_request.get(request.request_id):
            (helpful if vote.is_helpful else unhelpful).update(request.cited)
    pages = [
        PageUsage(record, count, helpful[record], unhelpful[record])
        for record, count in answers.items()
    ]
    return tuple(sorted(pages, key=lambda page: (-page.answers, page.record)))


def _collect_voted_down(
    votes: Iterable[Vote], requests: dict[str, QuestionRequest]
) -> tuple[VotedQuestion, ...]:
    votes_by_words: dict[str, list[Vote]] = defaultdict(list)
    for vote in votes:
        votes_by_words[normalize_question_words(vote.question)].append(vote)
    questions = [
        _summarize_votes(group, requests)
        for group in votes_by_words.values()
        if any(not vote.is_helpful for vote in group)
    ]
    return tuple(sorted(questions, key=lambda each: (-each.unhelpful, each.helpful, each.text)))


def _summarize_votes(votes: Sequence[Vote], requests: dict[str, QuestionRequest]) -> VotedQuestion:
    against = [vote for vote in votes if not vote.is_helpful]
    cited = [requests[vote.request_id].cited for vote in against if vote.request_id in requests]
    return VotedQuestion(
        text=votes[-1].question,
        helpful=len(votes) - len(against),
        unhelpful=len(against),
        reasons=tuple(Counter(vote.reason or "no reason" for vote in against).most_common()),
        pages=tuple(dict.fromkeys(page for pages in cited for page in pages)),
    )
