"""How passages near a question are found in a database: by looking at all, or by an index."""

import json
from dataclasses import asdict
from typing import Literal, get_args

from ..errors import BundleError
from ..frozen import frozen

How = Literal["exact", "hnsw"]
HOWS: tuple[How, ...] = get_args(How)


@frozen
class Search:
    """``exact``, or ``hnsw`` with its parameters, by pgvector's names for them.

    ``m`` and ``ef_construction`` are those of the index, ``ef_search`` how many passages it is
    asked for. ValueError for what is out of range.
    """

    how: How = "exact"
    m: int = 16
    ef_construction: int = 64
    ef_search: int = 400

    def __post_init__(self) -> None:
        if self.how not in HOWS:
            raise ValueError(f"{self.how!r:.40} is none of {', '.join(HOWS)}")
        ranges = (("m", 2, 100), ("ef_construction", 4, 1000), ("ef_search", 1, 1000))
        for name, low, high in ranges:
            value = getattr(self, name)
            if type(value) is not int or not low <= value <= high:
                raise ValueError(f"{name}: {value!r:.40} is no whole number from {low} to {high}")
        if self.ef_construction < 2 * self.m:
            raise ValueError(f"ef_construction: {self.ef_construction} is less than twice m")

    @property
    def label(self) -> str:
        """A short name, such as ``hnsw (m 16, ef_construction 64, ef_search 400)``."""
        if self.how == "exact":
            return self.how
        return (
            f"hnsw (m {self.m}, ef_construction {self.ef_construction}, ef_search {self.ef_search})"
        )

    def as_json(self) -> str:
        return json.dumps(asdict(self), sort_keys=True)


def parse(text: str) -> Search:
    """What ``as_json`` has made; BundleError if it is none."""
    try:
        return Search(**json.loads(text))
    except (TypeError, ValueError) as error:
        raise BundleError(
            f"the database holds a search that this version does not know ({error!s:.200}): "
            "publish again"
        ) from None
