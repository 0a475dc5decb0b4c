"""Name a bundle's tables in PostgreSQL, and build the SELECT statements that read them.

Public rows and the word index lie in the schema ``answerable``, hints and their vectors in
``answerable_private``. The tables of a bundle carry its key in their names, so nothing that is
published ever changes a row of what is served.
"""

import re
from dataclasses import dataclass

from ...vectors.encodings import Encoding

PUBLIC_SCHEMA, PRIVATE_SCHEMA = "answerable", "answerable_private"
# Version of the tables: a reader refuses every other one.
TABLE_FORMAT = 3

_BUNDLE_KEY = re.compile(r"[0-9a-f]{16}")

_WHERE_WITHIN = "WHERE number BETWEEN %s AND %s "
SELECT_SERVED_KEY = f"SELECT key FROM {PUBLIC_SCHEMA}.served WHERE name = %s"
SELECT_BUNDLE = f"SELECT format, id, manifest, search FROM {PUBLIC_SCHEMA}.bundles WHERE key = %s"


@dataclass(frozen=True, slots=True)
class BundleTables:
    """Name the tables of one bundle in full. ValueError for a malformed key."""

    key: str

    def __post_init__(self) -> None:
        # The key becomes a part of statements.
        if not _BUNDLE_KEY.fullmatch(self.key):
            raise ValueError(f"{self.key!r:.40} is not a key of a bundle")

    @property
    def frame(self) -> str:
        """Name the table of the snapshot's parts."""
        return f"{PUBLIC_SCHEMA}.frame_{self.key}"

    @property
    def passages(self) -> str:
        """Name the table of passages with their texts."""
        return f"{PUBLIC_SCHEMA}.passages_{self.key}"

    @property
    def vectors(self) -> str:
        """Name the table of passages' vectors, apart from texts: an exact search reads no more."""
        return f"{PUBLIC_SCHEMA}.vectors_{self.key}"

    @property
    def postings(self) -> str:
        """Name the table of the word index."""
        return f"{PUBLIC_SCHEMA}.postings_{self.key}"

    @property
    def hints(self) -> str:
        """Name the private table of hints."""
        return f"{PRIVATE_SCHEMA}.hints_{self.key}"

    @property
    def windows(self) -> str:
        """Name the private table of hints' vectors."""
        return f"{PRIVATE_SCHEMA}.windows_{self.key}"

    @property
    def all(self) -> tuple[str, ...]:
        """List all tables, the public ones first."""
        public = (self.frame, self.passages, self.vectors, self.postings)
        return (*public, self.hints, self.windows)


@dataclass(frozen=True, slots=True)
class VectorColumn:
    """Define the column of vectors of an encoding, and the searches in it.

    Codes that are whole numbers are exact in half precision, so that the column holds what the
    bundle holds; any others take single precision.
    """

    encoding: Encoding

    @property
    def is_whole(self) -> bool:
        """Test whether the codes are whole numbers."""
        return self.encoding.kind.is_whole

    @property
    def type(self) -> str:
        """Return the column's type in pgvector."""
        name = "halfvec" if self.is_whole else "vector"
        return f"{name}({self.encoding.dimensions})"

    @property
    def indexed(self) -> str:
        """Return the indexed expression: half precision in any case."""
        return "codes" if self.is_whole else f"(codes::halfvec({self.encoding.dimensions}))"

    def nearest(self, tables: BundleTables, *, within: bool = False) -> str:
        """Select passages by their cosines. Parameters: the question, how many.

        within: of some numbers only; the first and the last one are parameters before these.
        """
        return (
            f"SELECT number, norm, codes FROM {tables.vectors} {_WHERE_WITHIN if within else ''}"
            f"ORDER BY (codes <#> %s::{self.type}) * norm, number LIMIT %s"
        )

    def indexed_nearest(self, tables: BundleTables, *, within: bool = False) -> str:
        """Select passages by the index on their vectors; see ``nearest``."""
        return (
            f"SELECT number, norm, codes FROM {tables.vectors} {_WHERE_WITHIN if within else ''}"
            f"ORDER BY {self.indexed} <=> %s::halfvec({self.encoding.dimensions}) LIMIT %s"
        )

    def nearest_hints(self, tables: BundleTables) -> str:
        """Select the windows of the hints with the best windows. Parameters: as for ``nearest``."""
        return (
            f"WITH best AS (SELECT hint FROM {tables.windows} GROUP BY hint "
            f"ORDER BY min((codes <#> %s::{self.type}) * norm), hint LIMIT %s) "
            f"SELECT hint, norm, codes FROM {tables.windows} JOIN best USING (hint)"
        )


def select_hint_windows(tables: BundleTables) -> str:
    """Select the windows of some hints. Parameter: their numbers."""
    return f"SELECT hint, norm, codes FROM {tables.windows} WHERE hint = ANY(%s::integer[])"


def select_snapshot(tables: BundleTables) -> str:
    """Select all parts of a bundle's snapshot."""
    return f"SELECT part, data FROM {tables.frame}"


def select_vectors(tables: BundleTables) -> str:
    """Select the vectors of some passages. Parameter: their numbers."""
    return f"SELECT number, norm, codes FROM {tables.vectors} WHERE number = ANY(%s::integer[])"


def select_passages(tables: BundleTables) -> str:
    """Select some passages. Parameter: their numbers."""
    return (
        "SELECT number, id, record, url, title, text, sentences, structure, date, summary, themes "
        f"FROM {tables.passages} WHERE number = ANY(%s::integer[])"
    )


# What a url is without its anchor: a page has the same for all of its passages.
PAGE_URL = "split_part(url, '#', 1)"


def select_page(tables: BundleTables) -> str:
    """Select the numbers of a page's passages. Parameters: its id, and its url."""
    return (
        f"SELECT number FROM {tables.passages} WHERE record IN (SELECT record FROM "
        f"{tables.passages} WHERE record = %s OR {PAGE_URL} = %s) ORDER BY number"
    )


def select_hints(tables: BundleTables) -> str:
    """Select some hints. Parameter: their numbers."""
    return (
        f"SELECT number, id, label, locator, url FROM {tables.hints} "
        "WHERE number = ANY(%s::integer[])"
    )


def select_postings(tables: BundleTables) -> str:
    """Select the postings of some terms. Parameter: the terms."""
    return f"SELECT term, data FROM {tables.postings} WHERE term = ANY(%s::text[])"
