"""Tables of a site in PostgreSQL, and the statements that make and read them.

The table ``sites`` has a row for each site. The tables of an index carry its key in their names, so
that nothing that is published ever changes a row of what is served.
"""

from collections.abc import Mapping

SCHEMA = "answerable"
# Version of the tables: a reader refuses every other one.
TABLE_FORMAT = 9

# ``key`` is that of the index that is served, and ``previous`` that of the one before it, which
# questions under way may still read. ``columns`` are those that a function keeps in memory.
CREATE_SITES = f"""
CREATE TABLE IF NOT EXISTS {SCHEMA}.sites (
    name text PRIMARY KEY, key text, previous text, format integer, manifest text, columns bytea
)"""
SELECT_KEY = f"SELECT key FROM {SCHEMA}.sites WHERE name = %s"
SELECT_SITE = f"SELECT key, format, manifest, columns FROM {SCHEMA}.sites WHERE name = %s"
INSERT_SITE = f"INSERT INTO {SCHEMA}.sites (name) VALUES (%s) ON CONFLICT DO NOTHING"
LOCK_SITE = f"SELECT key, previous FROM {SCHEMA}.sites WHERE name = %s FOR UPDATE"
SERVE_SITE = f"""
UPDATE {SCHEMA}.sites
SET key = %s, previous = key, format = %s, manifest = %s, columns = %s WHERE name = %s"""

# The columns of each table of an index. Vectors are apart from texts, so that an exact search
# reads no more than it compares. Codes are whole numbers, which half precision holds exactly.
TABLES = {
    "passages": "number integer PRIMARY KEY, id text, url text, title text, markdown text",
    "vectors": "number integer PRIMARY KEY, norm real, codes halfvec({dimensions})",
    "postings": "number integer PRIMARY KEY, data bytea",
}
# By hash, since a url may be longer than what a tree takes.
INDEX_URLS = "CREATE INDEX ON {passages} USING hash (split_part(url, '#', 1))"
INDEX_VECTORS = "CREATE INDEX ON {vectors} USING hnsw (codes halfvec_cosine_ops)"
DROP_TABLES = "DROP TABLE IF EXISTS {passages}, {vectors}, {postings}"

SELECT_PASSAGES = (
    "SELECT number, id, url, title, markdown FROM {passages} WHERE number = ANY(%s::integer[]) "
    "ORDER BY number"
)
SELECT_URLS = "SELECT number FROM {passages} WHERE split_part(url, '#', 1) = %s"
SELECT_POSTINGS = "SELECT number, data FROM {postings} WHERE number = ANY(%s::integer[])"
SELECT_VECTORS = "SELECT number, norm, codes FROM {vectors} WHERE number = ANY(%s::integer[])"
# Without an index on vectors it is an exact search.
SELECT_NEAREST = (
    "SELECT number, norm, codes FROM {vectors} WHERE number >= %s AND number < %s "
    "ORDER BY codes <=> %s LIMIT %s"
)


def name_tables(key: str) -> Mapping[str, str]:
    """Name the tables of an index in full, each by its kind."""
    return {kind: f"{SCHEMA}.{kind}_{key}" for kind in TABLES}
