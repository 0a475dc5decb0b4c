"""Publish a bundle to PostgreSQL; rows of the last bundle that are the same are not sent again."""
