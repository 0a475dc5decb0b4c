"""Publish a bundle to a PostgreSQL database, row by row."""
