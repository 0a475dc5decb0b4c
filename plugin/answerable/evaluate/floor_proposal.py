"""Propose a floor that refuses no less than the site's, if its gain holds on held-out questions."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal

import numpy as np

from .floor_curve import FloorPoint, FloorScores, evaluate_floors, trace_floor_curve

# A floor that is chosen by fewer questions would fit them alone.
MIN_ANSWERABLE = 5
MIN_NEAR_REFUSALS = 20
# A refusal that scores higher than this share of the bank is near the site's subject.
NEAR_SHARE = 0.9
# Other questions score a little higher or lower, so a floor keeps this distance from the gold
# queries that it would decide wrongly.
MARGIN = 0.05
# A higher floor may leave a wrong page alone above it, and has to refuse so many times as many
# refusals for that.
REFUSED_PER_ENDANGERED = 2
# Mean of both shares that a floor has to gain on questions that it was not chosen by.
MIN_HELD_OUT_GAIN = 0.01

_SPLITS = 25
_SEED = 0

# ``too-few``: questions are missing. ``best``: no floor does better than the site's. ``unsafe``:
# those that do may show wrong answers that the site's does not. ``chance``: one does better for
# these questions, and floors that are chosen by half of them do not for the other half.
ProposalOutcome = Literal["proposed", "best", "unsafe", "chance", "too-few"]


@dataclass(frozen=True, slots=True)
class HeldOutCheck:
    """Hold what floors that are chosen by half of the questions change on the other half.

    ``gain``: in the mean of both shares, on average over ``halves``. ``worse``: halves that are
    shown more wrong answers than with the site's floor.
    """

    gain: float
    worse: int
    halves: int


@dataclass(frozen=True, slots=True)
class FloorProposal:
    """Hold what is proposed in place of the site's floor, and why.

    ``best``: the floor with the best mean of both shares, safe or not if the outcome is
    ``unsafe``; None if questions are missing. ``check``: None where nothing had to be checked.
    """

    outcome: ProposalOutcome
    best: FloorPoint | None = None
    check: HeldOutCheck | None = None


def propose_floor(floor: float, scores: FloorScores) -> FloorProposal:
    """Choose the safe floor with the best mean of both shares, and check it by halves."""
    if len(scores.answerable) < MIN_ANSWERABLE or count_near_refusals(scores) < MIN_NEAR_REFUSALS:
        return FloorProposal("too-few")
    best = choose_floor(floor, scores)
    if best.floor == floor:
        ideal = choose_floor(floor, scores, is_guarded=False)
        return FloorProposal("best" if ideal.floor == floor else "unsafe", ideal)
    check = check_held_out(floor, scores)
    is_confirmed = check.gain >= MIN_HELD_OUT_GAIN and not check.worse
    return FloorProposal("proposed" if is_confirmed else "chance", best, check)


def choose_floor(floor: float, scores: FloorScores, *, is_guarded: bool = True) -> FloorPoint:
    """Choose the floor with the best mean of both shares; of equals the nearest one.

    is_guarded: leave out floors that are not safe.
    """
    points = (*evaluate_floors([floor], scores), *trace_floor_curve(scores))
    return min(
        (point for point in points if not is_guarded or is_safe(point.floor, floor, scores)),
        key=lambda point: (-point.balance, abs(point.floor - floor), point.floor),
    )


def is_safe(new: float, floor: float, scores: FloorScores) -> bool:
    """Tell whether another floor can be expected to show no more wrong answers than the site's.

    A lower one must endanger no refusal of the gold set and no question of the bank. A higher one
    must refuse, with a distance, twice as many refusals as it endangers answers.
    """
    # Scores are of single precision, and retrieval compares them so.
    new, floor = float(np.float32(new)), float(np.float32(floor))
    pairs = zip(scores.answerable, scores.best, strict=True)
    endangered = sum(endangers_answer(new, floor, score, best) for score, best in pairs)
    refused = sum(floor <= score < new - MARGIN for score in scores.refusable)
    return refused >= REFUSED_PER_ENDANGERED * endangered and not (
        any(endangers_refusal(new, floor, score) for score in scores.refusable)
        or any(endangers_off_topic(new, floor, score) for score in scores.off_topic)
    )


def endangers_refusal(new: float, floor: float, score: float) -> bool:
    """Tell whether a lower floor answers, or nearly, a refusal that the site's floor refuses."""
    return new < floor and new - MARGIN <= score < floor


def endangers_off_topic(new: float, floor: float, score: float) -> bool:
    """Tell whether a lower floor answers a question of the bank that the site's floor refuses."""
    return new <= score < floor


def endangers_answer(new: float, floor: float, score: float, best: float) -> bool:
    """Tell whether a higher floor leaves, or nearly, only wrong pages of a right answer.

    score: of the best that is expected. best: of the best of all.
    """
    return floor <= score < min(new + MARGIN, best) and floor < new <= best


def check_held_out(floor: float, scores: FloorScores) -> HeldOutCheck:
    """Choose floors by halves of the questions, and count what they change on the other halves.

    Against the site's floor, by 2-fold cross-validation, repeated with other halves.
    """
    gains, worse = [], 0
    for chosen_by, held_out in _split_in_halves(scores):
        best = choose_floor(floor, chosen_by).floor
        before, after = evaluate_floors([floor, best], held_out)
        gains.append(float(after.balance - before.balance))
        worse += after.wrong > before.wrong
    return HeldOutCheck(fmean(gains), worse, len(gains))


def count_near_refusals(scores: FloorScores) -> int:
    """Count the gold refusals that are near the site's subject."""
    limit = compute_near_limit(scores.off_topic)
    return sum(limit is None or score > limit for score in scores.refusable)


def compute_near_limit(off_topic: Sequence[float]) -> float | None:
    """Compute the score above which a refusal is near the subject; None without a bank."""
    if not off_topic:
        return None
    return float(np.quantile(np.asarray(off_topic), NEAR_SHARE, method="lower"))


def _split_in_halves(scores: FloorScores) -> Iterator[tuple[FloorScores, FloorScores]]:
    """Split the questions of each kind at random, and yield both halves both ways round.

    The bank stays whole: it chooses no floor, it only forbids some. The halves depend on the
    scores alone, so that the same questions give the same result.
    """
    random = np.random.default_rng(_SEED)
    answerable = sorted(zip(scores.answerable, scores.best, strict=True))
    refusable = sorted(scores.refusable)

    def select(halves: Sequence[Sequence[int]]) -> FloorScores:
        pairs = [answerable[place] for place in halves[0]]
        return FloorScores(
            tuple(score for score, _ in pairs),
            tuple(best for _, best in pairs),
            tuple(refusable[place] for place in halves[1]),
            scores.off_topic,
        )

    for _ in range(_SPLITS):
        orders = [random.permutation(len(kind)).tolist() for kind in (answerable, refusable)]
        first, second = (select([order[half::2] for order in orders]) for half in (0, 1))
        yield first, second
        yield second, first
