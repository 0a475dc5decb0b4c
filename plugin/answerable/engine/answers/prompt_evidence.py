"""Evidence of a model's prompt: the best passages by section, near misses included, no copies."""

from collections.abc import Iterator

from ..retrieval.rank import Scored, add_floored_boost
from ..retrieval.retrieve import RetrievalResult
from ..retrieval.sections import (
    POOL_SIZE,
    Shingles,
    choose_hints,
    is_near_duplicate,
    make_shingles,
    order_sections,
)
from ..retrieval.store import Store
from ..types import Evidence, Passage

# Sources of one prompt: the schema names each.
MAX_SOURCES = 24


def fill_prompt(store: Store, retrieved: RetrievalResult, characters: int) -> Evidence:
    """Fill a prompt with whole passages that have this many characters of text.

    Titles, addresses, and what pages say of themselves may take a quarter of that beside them. The
    passages are the best 32 of the ranking, also those under the floor; there are none if the best
    of them misses the call floor, and a model without hints is not called then.
    """
    profile = store.manifest.profile
    pool = _merge_candidates(retrieved)
    scores = (add_floored_boost(profile, scored.base, scored.boost) for scored in pool)
    # A section that is known to answer the question is above the floor whatever its words score.
    if not retrieved.passages and max(scores, default=-1.0) < profile.call_floor:
        pool = []
    passages: list[Passage] = []
    texts: list[Shingles] = []
    pages: set[str] = set()
    context_characters = characters // 4
    for scored in _group_by_section(store, retrieved, pool):
        passage = scored.item
        size, context = len(passage.text), len(passage.title) + len(passage.url)
        if passage.record not in pages:
            context += len(passage.title) + len(passage.summary) + sum(map(len, passage.themes))
        shingles = make_shingles(passage.text)
        is_copy = any(is_near_duplicate(shingles, text) for text in texts)
        is_full = size > characters or context > context_characters
        if is_copy or is_full or len(passages) == MAX_SOURCES:
            continue
        characters -= size
        context_characters -= context
        passages.append(passage)
        texts.append(shingles)
        pages.add(passage.record)
    return Evidence(tuple(passages), tuple(choose_hints(retrieved.hints)))


def _merge_candidates(retrieved: RetrievalResult) -> list[Scored[Passage]]:
    """Merge what is above the floor, its siblings and near misses; the best by score."""
    found = (*retrieved.near_passages, *retrieved.siblings, *retrieved.passages)
    by_row = {scored.row: scored for scored in found}
    return sorted(by_row.values(), key=lambda scored: -scored.score)[:POOL_SIZE]


def _group_by_section(
    store: Store, retrieved: RetrievalResult, pool: list[Scored[Passage]]
) -> Iterator[Scored[Passage]]:
    """Yield a pool section by section, best first, and the windows of a section in their order."""
    sections: dict[str, list[Scored[Passage]]] = {}
    for scored in order_sections(store, retrieved.reading, pool):
        sections.setdefault(scored.item.url, []).append(scored)
    for windows in sections.values():
        yield from sorted(windows, key=lambda scored: scored.row)
