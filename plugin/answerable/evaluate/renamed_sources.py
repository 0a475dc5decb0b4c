"""Suggest what a missing page or section is called now, by what its gold query retrieves."""

from collections.abc import Callable
from difflib import SequenceMatcher

from ..serve.engine import Engine
from ..serve.provider_registry import embeds_in_process
from ..serve.stores.bundle import Bundle
from .gold import GoldQuery
from .runner import embed_queries, retrieve_pool

# How alike two names have to be for a lower rank to be made up for.
_MIN_LIKENESS = 0.6

SourceFinder = Callable[[GoldQuery, str], str | None]


def make_source_finder(engine: Engine[Bundle]) -> SourceFinder | None:
    """Make a function that finds the public source that a query most likely means.

    None where a question costs a call of a provider: a mistake in a file should be free.
    """
    if not embeds_in_process(engine.embedder.identity.provider):
        return None
    return lambda query, source: find_renamed_source(query, source, engine)


def find_renamed_source(query: GoldQuery, source: str, engine: Engine[Bundle]) -> str | None:
    """Find the page or, for a source with an anchor, the section that a query's question retrieves.

    Of what is retrieved, a name like the missing one leads, and the best rank otherwise. What the
    query names already is left out. None if nothing is retrieved.
    """
    (vector,) = embed_queries([query], engine)
    pool = retrieve_pool(query, vector, engine)
    passages = [each.item for each in (*pool.passages, *pool.near_passages)]
    own_sources = {name for names in query.sources_by_field.values() for name in names}
    is_section = "#" in source
    names = [passage.id if is_section else passage.record for passage in passages]
    candidates = [name for name in dict.fromkeys(names) if name not in own_sources]
    if not candidates:
        return None
    likeness = {name: _compare_names(name, source) for name in candidates}
    likest = max(candidates, key=lambda name: likeness[name])
    return likest if likeness[likest] >= _MIN_LIKENESS else candidates[0]


def _compare_names(first: str, second: str) -> float:
    """Compare the last parts of two names, in [0, 1]: folders are what renaming often changes."""
    a, b = (name.rpartition("#")[2].rpartition("/")[2] for name in (first, second))
    return SequenceMatcher(None, a, b).ratio()
