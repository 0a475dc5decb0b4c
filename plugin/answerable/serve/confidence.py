"""Bound how near an answer comes to its question, and name it in three buckets."""

import math

from .types import Confidence

# How fast confidence approaches 1 as the best score rises above its floor: "high" begins .145 above
# it where one section is sure, "medium" .052 above it there and .085 where none is. Calibrated on
# two sites whose answers were judged by reading.
SCALE = 0.12
HIGH, MEDIUM = 0.70, 0.35
# What is left of it where no single section surely answers: never "high".
NOT_SURE = 0.69


def of_distance(distance: float) -> float:
    """Map the distance of the best score from its floor to [0, 1), rising."""
    return 1.0 - math.exp(-max(0.0, distance) / SCALE)


def bucket(value: float) -> Confidence:
    """Name the bucket of a confidence, which is all that is published of it."""
    if value >= HIGH:
        return "high"
    return "medium" if value >= MEDIUM else "low"
