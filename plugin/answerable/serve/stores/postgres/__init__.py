"""Serve a site from PostgreSQL with pgvector: the same answers as from its bundle."""
