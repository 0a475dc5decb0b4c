"""A site that a PostgreSQL database holds, with pgvector: the same answers as from its bundle."""
