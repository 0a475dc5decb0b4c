"""Serve a site from PostgreSQL with pgvector, searched exactly or by an HNSW index."""
