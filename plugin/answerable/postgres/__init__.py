"""Publish a bundle to PostgreSQL with pgvector, and serve a site from it."""
