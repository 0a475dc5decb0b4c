"""Cluster questions by subject: shared terms by idf, cosine of content words, nearest section."""

import math
from array import array
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ...serve.retrieval.bm25 import compute_idf
from ...serve.retrieval.store import Floats
from ...serve.stores.bundle import Bundle

# Two questions are about one thing from this similarity on, the mean of the cosine of their terms
# and that of their vectors. Under the local embedder, on 169 refusals of real questions by two
# sites, 32 of 34 merges are right as read by hand; by a cosine of vectors from 0.45 on, 32 of 47.
MIN_SIMILARITY = 0.42
# Added where the same section comes nearest to both.
SECTION_BONUS = 0.1


@dataclass(frozen=True, slots=True)
class Subject:
    """Hold what tells the subject of a question.

    ``terms``: its content terms. ``vector``: (d,) of its content words, of length 1 or 0.
    ``section``: the id of the passage that it is near, None if it is far from all.
    """

    terms: Collection[str]
    vector: Floats
    section: str | None


def cluster_by_subject(subjects: Sequence[Subject], store: Bundle) -> list[list[int]]:
    """Put each question, in turn, to the cluster that it is most like, or into one of its own.

    Returns the numbers of each cluster's questions. The similarity to a cluster is the mean of
    those to its questions (average linkage), so that a chain of neighbors is not one cluster.
    """
    clusters: list[list[int]] = []
    weights = _weigh_terms(subjects, store)
    dimensions = len(subjects[0].vector) if subjects else 0
    vector_sums = np.zeros((len(subjects), dimensions), dtype=np.float32)
    postings: dict[str, _QuestionClusters] = defaultdict(_QuestionClusters)
    sections: dict[str, _QuestionClusters] = defaultdict(_QuestionClusters)
    sizes = np.ones(len(subjects))
    for number, subject in enumerate(subjects):
        sums = (vector_sums[: len(clusters)] @ subject.vector).astype(np.float64)
        for term, weight in weights[number].items():
            postings[term].add_products(sums, weight)
        sums /= 2
        if subject.section is not None:
            sections[subject.section].add_products(sums, SECTION_BONUS)
        similarities = sums / sizes[: len(clusters)]
        row = int(similarities.argmax()) if clusters else 0
        if not clusters or similarities[row] < MIN_SIMILARITY:
            row = len(clusters)
            clusters.append([])
        clusters[row].append(number)
        sizes[row] = len(clusters[row])
        vector_sums[row] += subject.vector
        for term, weight in weights[number].items():
            postings[term].append(row, weight)
        if subject.section is not None:
            sections[subject.section].append(row, 1.0)
    return clusters


@dataclass(slots=True)
class _QuestionClusters:
    """Collect the clusters of the questions with a term or a section, and the weight it has there.

    There is an entry for each question.
    """

    rows: "array[int]" = field(default_factory=lambda: array("q"))
    weights: "array[float]" = field(default_factory=lambda: array("d"))

    def append(self, row: int, weight: float) -> None:
        self.rows.append(row)
        self.weights.append(weight)

    def add_products(self, sums: NDArray[np.float64], weight: float) -> None:
        """Add the products of a weight with those of the clusters to their sums."""
        np.add.at(sums, np.array(self.rows), weight * np.array(self.weights))


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
    return [_scale_to_unit({term: idfs[term] for term in set(each.terms)}) for each in subjects]


def _scale_to_unit(weights: Mapping[str, float]) -> Mapping[str, float]:
    length = math.sqrt(sum(weight * weight for weight in weights.values())) or 1.0
    return {term: weight / length for term, weight in weights.items()}
