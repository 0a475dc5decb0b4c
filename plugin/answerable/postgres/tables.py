"""Name a bundle's tables in PostgreSQL, their columns, and the statements that read them.

Public rows and the word index lie in the schema ``answerable``, hints and their vectors in
``answerable_private``. The tables of a bundle carry its key in their names, so nothing that is
published ever changes a row of what is served.
"""

import re
from dataclasses import dataclass

PUBLIC_SCHEMA, PRIVATE_SCHEMA = "answerable", "answerable_private"
# Version of the tables: a reader refuses every other one.
TABLE_FORMAT = 9

_BUNDLE_KEY = re.compile(r"[0-9a-f]{16}")

# What a url is without its anchor: a page has the same for all of its passages.
_PAGE_URL = "split_part(url, '#', 1)"

SELECT_SERVED_KEY = f"SELECT key FROM {PUBLIC_SCHEMA}.served WHERE name = %s"
SELECT_BUNDLE = f"SELECT format, id, manifest, search FROM {PUBLIC_SCHEMA}.bundles WHERE key = %s"

# Statements whose tables `BundleTables.name_tables` fills in. Parameters are numbers or terms, but
# for the page: its id, and its url.
SELECT_SNAPSHOT = "SELECT part, data FROM {snapshot}"
SELECT_VECTORS = "SELECT number, norm, codes FROM {vectors} WHERE number = ANY(%s::integer[])"
SELECT_WINDOWS = "SELECT hint, norm, codes FROM {windows} WHERE hint = ANY(%s::integer[])"
SELECT_PASSAGES = (
    "SELECT number, id, record, url, title, markdown, date, summary, themes "
    "FROM {passages} WHERE number = ANY(%s::integer[])"
)
SELECT_HINTS = (
    "SELECT number, id, label, locator, url FROM {hints} WHERE number = ANY(%s::integer[])"
)
SELECT_POSTINGS = "SELECT term, data FROM {postings} WHERE term = ANY(%s::text[])"
SELECT_PAGE = (
    "SELECT number FROM {passages} WHERE record IN (SELECT record FROM {passages} "
    f"WHERE record = %s OR {_PAGE_URL} = %s) ORDER BY number"
)


@dataclass(frozen=True, slots=True)
class StoredTable:
    """Describe a table of every bundle. The first column is its key.

    ``columns``: name and type, where ``codes`` is the type of vectors. ``indexes``: what stands
    after the table's name in a statement that makes one.
    """

    kind: str
    schema: str
    columns: tuple[str, ...]
    indexes: tuple[str, ...] = ()


# Vectors of passages are apart from their texts, so that an exact search reads no more than them.
TABLES = (
    StoredTable("snapshot", PUBLIC_SCHEMA, ("part text", "data bytea")),
    StoredTable(
        "passages",
        PUBLIC_SCHEMA,
        ("number integer", "id text", "record text", "url text", "title text",
         "markdown text", "date text", "summary text", "themes text[]"),
        # By hash, since a url may be longer than what a tree takes.
        ("USING hash (record)", f"USING hash ({_PAGE_URL})"),
    ),
    StoredTable("vectors", PUBLIC_SCHEMA, ("number integer", "norm real", "codes codes")),
    StoredTable("postings", PUBLIC_SCHEMA, ('term text COLLATE "C"', "data bytea")),
    StoredTable(
        "hints",
        PRIVATE_SCHEMA,
        ("number integer", "id text", "label text", "locator text", "url text"),
    ),
    StoredTable(
        "windows",
        PRIVATE_SCHEMA,
        ("number integer", "hint integer", "norm real", "codes codes"),
        ("(hint)",),
    ),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class BundleTables:
    """Name the tables of one bundle in full. ValueError for a malformed key."""

    key: str

    def __post_init__(self) -> None:
        # The key becomes a part of statements.
        if not _BUNDLE_KEY.fullmatch(self.key):
            raise ValueError(f"{self.key!r:.40} is not a key of a bundle")

    @property
    def names(self) -> dict[str, str]:
        """Return the full names of all tables by their kinds, the public ones first."""
        return {table.kind: f"{table.schema}.{table.kind}_{self.key}" for table in TABLES}

    def name_tables(self, statement: str) -> str:
        """Fill the names of the tables into a statement."""
        return statement.format(**self.names)


@dataclass(frozen=True, slots=True)
class VectorColumn:
    """Define the column of vectors, and the searches in it.

    Codes are whole numbers, which are exact in half precision, so that the column holds what the
    bundle holds.
    """

    dimensions: int

    @property
    def type(self) -> str:
        """Return the column's type in pgvector."""
        return f"halfvec({self.dimensions})"

    def select_nearest(self, *, indexed: bool, within: bool) -> str:
        """Select passages by their cosines. Parameters: the question, how many.

        indexed: by the index on their vectors, which may miss some. within: of some numbers only;
        the first and the last one are parameters before these.
        """
        distance = f"(codes <#> %s::{self.type}) * norm, number"
        if indexed:
            distance = f"codes <=> %s::{self.type}"
        where = "WHERE number BETWEEN %s AND %s " if within else ""
        return f"SELECT number, norm, codes FROM {{vectors}} {where}ORDER BY {distance} LIMIT %s"

    def select_nearest_hints(self) -> str:
        """Select all windows of the hints with the best windows. Parameters: as for passages."""
        return (
            "WITH best AS (SELECT hint FROM {windows} GROUP BY hint "
            f"ORDER BY min((codes <#> %s::{self.type}) * norm), hint LIMIT %s) "
            "SELECT hint, norm, codes FROM {windows} JOIN best USING (hint)"
        )
